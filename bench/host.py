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
BOARD_SAMPLES, BOARD_SECONDS = 20, 1.0  # of the emulator's: so many, and twice as many again until they take so long


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


def rate_of_host(work: Path, x: np.ndarray) -> float:
    """Samples a second, the start not counted."""
    return (len(x) - 1) / (seconds(work, "host", x) - seconds(work, "host", x[:1]))


def rate_of_board(work: Path, board: str, model: str) -> float:
    """The same in the emulator."""
    start, count = seconds(work, board, samples(model, 1)), BOARD_SAMPLES
    while (taken := seconds(work, board, samples(model, count)) - start) < BOARD_SECONDS and count < MOST_SAMPLES:
        count *= 2
    return (count - 1) / taken


def ratio(model: str, target: str, folder: Path) -> float:
    """The host's samples a second over the emulator's."""
    work, board = folder / f"{model}_{target}", BOARDS[target]
    call("compile", MODELS[model], "--target", target, "-o", work)
    call("build", work, "--board", board)
    one = samples(model, 1)
    of_host = min(MOST_SAMPLES, int(MOST_BYTES / one.nbytes))
    host = rate_of_host(work, samples(model, of_host))
    emulator = rate_of_board(work, board, model)
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
