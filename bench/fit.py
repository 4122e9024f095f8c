# SPDX-License-Identifier: Apache-2.0
"""Fits the constants of the cost model and writes ops/cost_constants.def; build and bench again afterwards.

usage: python bench/fit.py [TARGET ...]

Each kernel family's cycles are a sum of the terms of its work (ops/cost.cpp) times constants. The constants are those
that are not negative and have the least squares of relative errors over the shapes of bench/kernels.cpp.
"""

from __future__ import annotations

import argparse
import re
import sys

import numpy as np

from measure import BOARDS, ROOT, for_each, measure_kernels, write_text

TABLE = ROOT / "ops" / "cost_constants.def"
HEAD = """\
// SPDX-License-Identifier: Apache-2.0
//
// Cycles for each term of a kernel call's work (ops/cost.h), by core and kernel family. Written by bench/fit.py.
"""


def least_squares(a: np.ndarray, b: np.ndarray, sweeps: int = 20000) -> np.ndarray:
    """x >= 0 with the least |a x - b|, by coordinate descent on scaled columns."""
    scale = np.linalg.norm(a, axis=0)
    scale[scale == 0] = np.inf  # a term that no shape has
    columns = a / scale
    gram, target, x = columns.T @ columns, columns.T @ b, np.zeros(a.shape[1])
    for _ in range(sweeps):
        before = x.copy()
        for i in range(len(x)):
            if np.isfinite(scale[i]):
                x[i] = max(0.0, x[i] + target[i] - gram[i] @ x)
        if np.abs(x - before).max() < 1e-12 * max(1.0, np.abs(x).max()):
            break
    x = np.where(np.isfinite(scale), x / scale, 0)
    return np.where(x < 1e-6, 0, x)


def fit_core(target: str) -> dict[str, np.ndarray]:
    """Constants by row of the table."""
    samples: dict[str, list] = {}
    for shape in measure_kernels(target)["shapes"]:
        rows = {step["row"] for step in shape["steps"]}
        if len(rows) != 1:
            continue
        work = np.sum([step["work"] for step in shape["steps"]], axis=0)
        samples.setdefault(rows.pop(), []).append((work, shape["cycles"]))
    constants = {}
    for row, measured in samples.items():
        work, cycles = np.array([m[0] for m in measured]), np.array([m[1] for m in measured])
        constants[row] = least_squares(work / cycles[:, None], np.ones(len(cycles)))
        errors = work @ constants[row] / cycles - 1
        print(f"{target:<14} {row:<24} {len(measured):3} shapes, median error {np.median(np.abs(errors)) * 100:5.1f} %")
    return constants


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("targets", nargs="*", help="default: every class of cores")
    wanted = parser.parse_args().targets or list(BOARDS)
    kept = [line for line in TABLE.read_text().splitlines() if line.startswith("RUSH_COST(")]
    kept = [line for line in kept if re.match(r'RUSH_COST\("([^"]+)"', line)[1] not in wanted]
    for target, constants in zip(wanted, for_each(fit_core, wanted), strict=True):
        for row, cycles in constants.items():
            kept.append(f'RUSH_COST("{target}", {row}, {", ".join(f"{c:.4g}" for c in np.trim_zeros(cycles, "b"))})')
    order = list(BOARDS)
    kept.sort(key=lambda line: order.index(re.match(r'RUSH_COST\("([^"]+)"', line)[1]))
    write_text(TABLE, HEAD + "\n".join(kept) + "\n#undef RUSH_COST\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
