# SPDX-License-Identifier: Apache-2.0
"""Accuracy over a data set with the bit-exact program.

Batches go through joblib. The program itself uses all cores of a machine, so one worker is right on one machine; a
cluster is a backend of joblib's (Dask, Ray), chosen around the call:

    with joblib.parallel_config("dask"):
        evaluation = rushlight.evaluate(program, x, y)
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from rushlight import _rushlight
from rushlight.errors import user_error
from rushlight.program import Program, run_image

BATCH = 256


@dataclass(frozen=True)
class Evaluation:
    """How often the largest output is the right class. str() is a table."""

    confusion: np.ndarray  # [class, answer] counts
    right_among: dict[int, int]  # how many samples have their class among the k best
    labels: list[str]

    @property
    def samples(self) -> int:
        return int(self.confusion.sum())

    @property
    def accuracy(self) -> float:
        return float(np.trace(self.confusion) / self.samples)

    def report(self) -> dict:
        """For a script."""
        return {
            "samples": self.samples,
            "accuracy": self.accuracy,
            "top": {str(k): right / self.samples for k, right in self.right_among.items()},
            "labels": self.labels,
            "confusion": self.confusion.tolist(),
        }

    def __str__(self) -> str:
        lines = [f"{100 * self.accuracy:.2f} % of {self.samples} samples are right"]
        lines += [
            f"{100 * right / self.samples:.2f} % have their class among the {k} best"
            for k, right in self.right_among.items()
            if k > 1
        ]
        for i, (label, row) in enumerate(zip(self.labels, self.confusion, strict=True)):
            if row.sum():
                lines.append(f"  {label:<20} {100 * row[i] / row.sum():6.2f} % of {row.sum()}{_confused(self, i)}")
        return "\n".join(lines)


def _confused(evaluation: Evaluation, i: int) -> str:
    others = evaluation.confusion[i].copy()
    others[i] = 0
    most = others.argmax()
    return f", {others[most]} taken for {evaluation.labels[most]}" if others[most] else ""


def evaluate(program: Program | bytes, x: np.ndarray, y: np.ndarray, *, top: int = 5) -> Evaluation:
    """Runs every sample and compares the largest output with the class.

    program: of one input and one output, or its image. x: N samples stacked on axis 0, as for a call of the program.
    y: N class numbers. top: counts also how often the class is among so many best.
    Batches run under joblib's current configuration.
    """
    image = program.image if isinstance(program, Program) else program
    return evaluate_image(image, x, y, top=top)


def evaluate_image(
    image: bytes, x: np.ndarray, y: np.ndarray, *, top: int, progress: Callable[..., Iterable[Any]] | None = None
) -> Evaluation:
    import joblib

    x, y = np.asarray(x), np.asarray(y)
    if y.ndim != 1 or not np.issubdtype(y.dtype, np.integer) or len(x) != len(y) or not len(y):
        raise user_error(
            f"{len(x)} samples do not go with classes {y.dtype} {list(y.shape)}", "give one integer for each sample"
        )
    batches = [slice(i, i + BATCH) for i in range(0, len(x), BATCH)]
    parallel = joblib.Parallel(return_as="generator")
    results = parallel(joblib.delayed(run_image)(image, x[batch]) for batch in batches)
    if progress is not None:
        results = progress(results, total=len(batches), unit=f" x {BATCH} samples", disable=None)
    outputs = np.concatenate([_one_output(result) for result in results]).reshape(len(y), -1)
    classes = outputs.shape[1]
    if y.min() < 0 or y.max() >= classes:
        raise user_error(
            f"the classes go from {y.min()} to {y.max()}, but the model has {classes} outputs",
            f"give numbers from 0 to {classes - 1}",
        )
    order = np.argsort(-outputs, axis=1, kind="stable")
    confusion = np.zeros((classes, classes), np.int64)
    np.add.at(confusion, (y, order[:, 0]), 1)
    rank = (order == y[:, np.newaxis]).argmax(1)
    among = {k: int((rank < k).sum()) for k in sorted({1, top}) if k < classes}
    return Evaluation(confusion, among, _labels(image, classes))


def _one_output(result: np.ndarray | tuple[np.ndarray, ...]) -> np.ndarray:
    if isinstance(result, tuple):
        raise user_error("the model has several outputs", "evaluate a model with one output, a number for each class")
    return result


def _labels(image: bytes, classes: int) -> list[str]:
    labels = _rushlight.labels(image)
    return labels if len(labels) == classes else [str(i) for i in range(classes)]
