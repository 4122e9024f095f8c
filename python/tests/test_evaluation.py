# SPDX-License-Identifier: Apache-2.0
"""rushlight.evaluate, without PyTorch: the recorded clips against the words that PyTorch heard."""

import json
import os
import subprocess
import sys
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


@pytest.fixture(scope="module")
def cluster():
    """The address of two workers on this machine's loopback interface."""
    distributed = pytest.importorskip("distributed")
    with distributed.LocalCluster(n_workers=2, threads_per_worker=1, host="127.0.0.1", dashboard_address=None) as made:
        yield made.scheduler_address


def test_a_dask_cluster_counts_the_same(cluster, program, data):
    from distributed import Client

    x, said, _ = data
    many = np.tile(x, (30, 1, 1, 1))
    with Client(cluster) as client, joblib.parallel_config("dask"):
        evaluation = rushlight.evaluate(program, many, np.tile(said, 30))
        ran = client.run_on_scheduler(lambda dask_scheduler: dask_scheduler.transition_counter)
    assert ran > 0
    assert np.array_equal(evaluation.confusion, 30 * rushlight.evaluate(program, x, said).confusion)


def evaluate_command(tmp_path, program, data, *options):
    x, said, _ = data
    (tmp_path / "model.rush").write_bytes(program.image)
    np.savez(tmp_path / "data.npz", x=x, y=said)
    tool = Path(sys.executable).parent / "rushlight"
    command = [tool, "evaluate", tmp_path / "model.rush", tmp_path / "data.npz", "--json", *options]
    soon = os.environ | {"DASK_DISTRIBUTED__COMM__TIMEOUTS__CONNECT": "2s"}
    return subprocess.run(command, capture_output=True, text=True, env=soon)


def test_the_command_reaches_a_cluster(tmp_path, cluster, program, data):
    result = evaluate_command(tmp_path, program, data, "--backend", "dask", "--scheduler", cluster)
    assert result.returncode == 0, result.stderr
    x, said, heard = data
    assert json.loads(result.stdout)["accuracy"] == np.mean(said == heard)


def test_the_command_refuses_a_cluster_that_is_not_there(tmp_path, cluster, program, data):
    for options, says in (
        (("--backend", "dask"), "go together"),
        (("--scheduler", "127.0.0.1:1"), "go together"),
        (("--backend", "dask", "--scheduler", "127.0.0.1:1"), "no Dask cluster at 127.0.0.1:1"),
        (("--backend", "cloud"), "invalid choice"),
    ):
        result = evaluate_command(tmp_path, program, data, *options)
        assert result.returncode == 2
        assert says in result.stderr and "Traceback" not in result.stderr


def test_refuses_classes_that_do_not_fit(program, data):
    x, said, _ = data
    with pytest.raises(rushlight.Error, match="give one integer for each sample"):
        rushlight.evaluate(program, x, said[1:])
    with pytest.raises(rushlight.Error, match="the classes go from 0 to 12, but the model has 12 outputs"):
        rushlight.evaluate(program, x, np.arange(len(said)) % 13)
