# SPDX-License-Identifier: Apache-2.0
"""How fast the host runs data sets through images that were made for a board, against the board's emulator.

usage: python bench/host.py [MODEL ...]

Wall-clock time, so the figures are of this machine and are not kept; the ratio is a bar all the same.
"""

from __future__ import annotations

import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from measure import BOARDS, MODELS, SHARED, call

TARGETS = ("cortex-m55", "cortex-m4")
LEAST_RATIO = 20
MOST_SAMPLES, MOST_BYTES = 10000, 40e6  # of the host's data set
MOST_BOARD_SAMPLES, LEAST_BOARD_SAMPLES, BOARD_ELEMENTS = 100, 20, 1e5


def samples(model: str, count: int) -> np.ndarray:
    given = np.load(SHARED / "models" / "data" / f"{model}_x.npy")
    return np.resize(given, (count, *given.shape[1:]))


def seconds(work: Path, place: str, x: np.ndarray) -> float:
    """The whole command, start and files included; the best of two."""
    np.save(work / "x.npy", x)

    def once() -> float:
        begin = time.perf_counter()
        call("run", work, "--input", work / "x.npy", "--output", work / "y.npy", "--on", place)
        return time.perf_counter() - begin

    return min(once(), once())


def rate(work: Path, place: str, x: np.ndarray) -> float:
    """Samples a second, the start not counted."""
    return (len(x) - 1) / (seconds(work, place, x) - seconds(work, place, x[:1]))


def ratio(model: str, target: str, folder: Path) -> float:
    """The host's samples a second over the emulator's."""
    work, board = folder / f"{model}_{target}", BOARDS[target]
    call("compile", MODELS[model], "--target", target, "-o", work)
    call("build", work, "--board", board)
    one = samples(model, 1)
    of_host = min(MOST_SAMPLES, int(MOST_BYTES / one.nbytes))
    of_board = min(MOST_BOARD_SAMPLES, max(LEAST_BOARD_SAMPLES, int(BOARD_ELEMENTS / one.size)))
    host = rate(work, "host", samples(model, of_host))
    emulator = rate(work, board, samples(model, of_board))
    print(
        f"{model:<18} {target:<12} host {host:8.0f} samples/s  emulator {emulator:7.1f}  x{host / emulator:.0f}",
        flush=True,
    )
    return host / emulator


def check(models: list[str]) -> bool:
    """Whether the host is LEAST_RATIO times as fast everywhere."""
    print(f"\nThe host's program stage against the emulator, data sets without the start (at least x{LEAST_RATIO})")
    with tempfile.TemporaryDirectory() as folder:
        ratios = [ratio(m, t, Path(folder)) for m in models if m != "kws" for t in TARGETS]
    return all(r >= LEAST_RATIO for r in ratios)


if __name__ == "__main__":
    sys.exit(0 if check(sys.argv[1:] or [m for m in MODELS if MODELS[m].exists()]) else 1)
