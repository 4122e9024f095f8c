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
SAMPLES = 1000  # of the data set; the emulator's time is extrapolated from fewer
BOARD_SAMPLES = 20


def samples(model: str, count: int) -> np.ndarray:
    given = np.load(SHARED / "models" / "data" / f"{model}_x.npy")
    return np.resize(given, (count, *given.shape[1:]))


def seconds(work: Path, place: str, count: int) -> float:
    """The whole command, start and files included; the best of two."""

    def once() -> float:
        begin = time.perf_counter()
        call("run", work, "--input", work / f"{count}.npy", "--output", work / "y.npy", "--on", place)
        return time.perf_counter() - begin

    return min(once(), once())


def ratio(model: str, target: str, folder: Path) -> float:
    """The emulator's time for the data set over the host's."""
    work, board = folder / f"{model}_{target}", BOARDS[target]
    call("compile", MODELS[model], "--target", target, "-o", work)
    call("build", work, "--board", board)
    for count in (SAMPLES, BOARD_SAMPLES, 1):
        np.save(work / f"{count}.npy", samples(model, count))
    host = seconds(work, "host", SAMPLES)
    start = seconds(work, board, 1)
    emulated = start + (seconds(work, board, BOARD_SAMPLES) - start) * (SAMPLES - 1) / (BOARD_SAMPLES - 1)
    print(
        f"{model:<18} {target:<12} host {SAMPLES / host:8.0f} samples/s  emulator {SAMPLES / emulated:7.1f}"
        f"  x{emulated / host:.0f}",
        flush=True,
    )
    return emulated / host


def check(models: list[str]) -> bool:
    """Whether the host is LEAST_RATIO times as fast everywhere."""
    print(f"\nThe host's program stage against the emulator, {SAMPLES} samples (at least x{LEAST_RATIO})")
    with tempfile.TemporaryDirectory() as folder:
        ratios = [ratio(m, t, Path(folder)) for m in models if m != "kws" for t in TARGETS]
    return all(r >= LEAST_RATIO for r in ratios)


if __name__ == "__main__":
    sys.exit(0 if check(sys.argv[1:] or [m for m in MODELS if MODELS[m].exists()]) else 1)
