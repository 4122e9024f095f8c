# SPDX-License-Identifier: Apache-2.0
"""Holds `rushlight estimate` against the measured table: the error that it states must not be exceeded."""

from __future__ import annotations

import numpy as np

import records
from measure import BOARDS, MODELS, ModelResult, call_json
from records import BENCH

# What is estimated, and the measured figure.
PAIRS = {"time": ("cycles", "cycles"), "flash": ("flash_bytes", "text"), "ram": ("ram_bytes", "ram")}


def errors_of(results: list[ModelResult]) -> tuple[dict[str, dict[tuple, float]], dict[str, float]]:
    """Relative errors by kind and (model, target), and the largest that the tool states."""
    measured = {(r.job.model, r.job.target): r.figures for r in results if r.job.opt == "balanced"}
    errors: dict[str, dict[tuple, float]] = {kind: {} for kind in PAIRS}
    stated: dict[str, float] = {}
    for model in dict.fromkeys(model for model, _ in measured):
        answer = call_json("estimate", MODELS[model])
        stated = answer["largest_error"]
        for row in answer["targets"]:
            figures = measured.get((model, row["target"]))
            if figures is None:
                continue
            for kind, (estimate, figure) in PAIRS.items():
                errors[kind][model, row["target"]] = row[estimate] / figures[figure] - 1
    return errors, stated


TABLE = records.Table(
    BENCH / "estimates.csv",
    ("model", "target"),
    tuple(f"{kind}_percent" for kind in PAIRS),
    lambda row: (list(MODELS).index(row["model"]), list(BOARDS).index(row["target"])),
)


def rows_of(errors: dict[str, dict[tuple, float]]) -> list[dict]:
    """Of the table: by how many percent the estimates are too large."""
    return [
        {"model": model, "target": target, **{f"{k}_percent": f"{errors[k][model, target] * 100:.1f}" for k in PAIRS}}
        for model, target in errors["time"]
    ]


def check(results: list[ModelResult]) -> tuple[bool, list[dict]]:
    """Prints the errors; whether none is larger than stated, and the rows of the table."""
    errors, stated = errors_of(results)
    print(f"\n{'Estimates':<14} {'median error':>14} {'largest':>9} {'stated':>9}")
    good = True
    for kind, by_job in errors.items():
        if not by_job:
            continue
        worst = max(by_job, key=lambda job: abs(by_job[job]))
        middle, largest = np.median(np.abs(list(by_job.values()))), abs(by_job[worst])
        verdict = "" if largest <= stated[kind] else "  MORE THAN STATED"
        good = good and not verdict
        print(
            f"{kind:<14} {middle * 100:12.1f} % {largest * 100:7.1f} % {stated[kind] * 100:7.1f} %"
            f"  {by_job[worst] * 100:+.1f} % for {worst[0]} on {worst[1]}{verdict}"
        )
    return good, rows_of(errors)
