# SPDX-License-Identifier: Apache-2.0
"""Holds the cost model (ops/cost.h) against measurement."""

from __future__ import annotations

import numpy as np

LEAST_RANK_CORRELATION = 0.95


def ranks(values: np.ndarray) -> np.ndarray:
    """Ranks from 0, ties sharing their mean."""
    order = np.argsort(values, kind="stable")
    result = np.empty(len(values))
    result[order] = np.arange(len(values))
    for value in np.unique(values):
        result[values == value] = result[values == value].mean()
    return result


def rank_correlation(a: np.ndarray, b: np.ndarray) -> float:
    """Spearman's."""
    return float(np.corrcoef(ranks(a), ranks(b))[0, 1])


def agreement(pairs: list[tuple[float, float]]) -> tuple[float, float]:
    """Rank correlation and median relative error of (measured, estimated) pairs."""
    measured, estimated = np.array(pairs, dtype=float).T
    return rank_correlation(measured, estimated), float(np.median(np.abs(estimated / measured - 1)))


def check(of_shapes: dict[str, list], of_layers: dict[str, list]) -> bool:
    """Prints the agreement on each core; whether every correlation reaches the floor."""
    print(f"\nCost model: rank correlation (floor {LEAST_RANK_CORRELATION}) and median error")
    print(f"{'':<14} {'kernel shapes':>20} {'layers of models':>24}")
    holds = True
    for target in of_shapes:
        text = f"{target:<14}"
        for pairs in (of_shapes[target], of_layers.get(target, [])):
            if len(pairs) < 3:
                text += f" {'-':>20}"
                continue
            correlation, error = agreement(pairs)
            holds = holds and correlation >= LEAST_RANK_CORRELATION
            text += f" {correlation:10.3f} {error * 100:5.1f} % ({len(pairs)})"
        print(text)
    return holds
