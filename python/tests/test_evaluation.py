# SPDX-License-Identifier: Apache-2.0
"""rushlight.evaluate, without PyTorch: the recorded clips against the words that PyTorch heard."""

import json
from pathlib import Path

import numpy as np
import pytest

joblib = pytest.importorskip("joblib")
import rushlight  # noqa: E402

EXAMPLE = Path(__file__).resolve().parents[2] / "examples" / "keyword_spotting"


@pytest.fixture(scope="module")
def program():
    return rushlight.compile(EXAMPLE / "kws_int8.pt2")


@pytest.fixture(scope="module")
def data():
    """(features, words that were said, words that PyTorch heard)."""
    recorded = json.loads((EXAMPLE / "clips" / "expected.json").read_text())
    said, heard = (
        np.array([recorded["labels"].index(c[key]) for c in recorded["clips"]]) for key in ("label", "pytorch_word")
    )
    return np.load(EXAMPLE / "clips" / "features.npy"), said, heard


def test_counts_what_pytorch_counts(program, data):
    x, said, heard = data
    evaluation = rushlight.evaluate(program, x, said)
    assert evaluation.samples == len(said)
    assert evaluation.accuracy == np.mean(said == heard)
    assert evaluation.confusion.sum() == len(said) and evaluation.confusion[said[0], heard[0]] >= 1
    assert rushlight.evaluate(program, x, heard).accuracy == 1


def test_top_counts_the_best_classes(program, data):
    x, said, _ = data
    order = np.argsort(-program(x)[:, 0], axis=1, kind="stable")
    third = order[:, 2]
    evaluation = rushlight.evaluate(program, x, third, top=3)
    assert evaluation.right_among == {1: 0, 3: len(said)}


def test_another_backend_of_joblib_counts_the_same(program, data):
    x, said, _ = data
    many = np.tile(x, (30, 1, 1, 1))
    with joblib.parallel_config("loky", n_jobs=2):
        evaluation = rushlight.evaluate(program, many, np.tile(said, 30))
    assert np.array_equal(evaluation.confusion, 30 * rushlight.evaluate(program, x, said).confusion)


def test_refuses_classes_that_do_not_fit(program, data):
    x, said, _ = data
    with pytest.raises(rushlight.Error, match="give one integer for each sample"):
        rushlight.evaluate(program, x, said[1:])
    with pytest.raises(rushlight.Error, match="the classes go from 0 to 12, but the model has 12 outputs"):
        rushlight.evaluate(program, x, np.arange(len(said)) % 13)
