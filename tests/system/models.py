# SPDX-License-Identifier: Apache-2.0
"""The five models on the host against PyTorch, and on every class of cores against the host, bit for bit.

usage: python tests/system/models.py [--all] [--seed N]
  --all     every sample on every core; otherwise a few that change from day to day
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from cli import BOARDS, SHARED, call, for_each, need_shared

# Least SQNR in dB to PyTorch's evaluation of the quantized graph, and least samples with the same top-1 (None: no classes).
MODELS = {
    "ds_cnn": (42, 51),
    "mobilenet_v1_025": (40, 28),
    "resnet8": (28, 71),
    "autoencoder": (60, None),
    "sww": (42, 34),
}
SAMPLES = 2  # on each core, unless --all


def sqnr(reference: np.ndarray, value: np.ndarray) -> float:
    noise = np.square(reference.astype(np.float64) - value).sum()
    return np.inf if noise == 0 else 10 * np.log10(np.square(reference.astype(np.float64)).sum() / noise)


def against_pytorch(name: str, folder: Path) -> list[str]:
    """Runs every sample on the host; returns what does not hold."""
    data = SHARED / "models" / "data"
    expected = np.load(data / f"{name}_out_pt2e.npy")
    call(
        "run",
        SHARED / "models" / f"{name}_int8_pt2e.pt2",
        "--input",
        data / f"{name}_x.npy",
        "--output",
        folder / f"{name}.npy",
    )
    got = np.load(folder / f"{name}.npy").reshape(expected.shape)
    least, top1 = MODELS[name]
    decibels, same = sqnr(expected, got), int((expected.argmax(-1) == got.argmax(-1)).sum())
    print(f"{name:<18} {decibels:6.1f} dB to PyTorch (at least {least}), top-1 equal on {same} of {len(expected)}")
    problems = [] if decibels >= least else [f"{name}: {decibels:.1f} dB, at least {least} wanted"]
    wanted = min(top1 or 0, len(expected))
    return (
        problems
        if same >= wanted or top1 is None
        else [*problems, f"{name}: top-1 equal on {same}, at least {wanted} wanted"]
    )


def on_board(job: tuple[str, str, np.ndarray, Path]) -> str | None:
    """One model on one core; what does not hold, or None."""
    name, target, chosen, folder = job
    work = folder / f"{name}_{target}"
    call("compile", SHARED / "models" / f"{name}_int8_pt2e.pt2", "--target", target, "-o", work)
    np.save(work / "x.npy", np.load(SHARED / "models" / "data" / f"{name}_x.npy")[chosen])
    for place in ("host", BOARDS[target]):
        call("run", work, "--input", work / "x.npy", "--output", work / f"{place}.npy", "--raw", "--on", place)
    host, board = np.load(work / "host.npy"), np.load(work / f"{BOARDS[target]}.npy")
    different = int((host != board).sum())
    print(f"{name:<18} {target:<12} {len(chosen)} samples, {board.size} codes, {different} differ", flush=True)
    return f"{name} on {target}: {different} codes differ from the host" if different else None


def choose(name: str, seed: int, everything: bool) -> np.ndarray:
    count = len(np.load(SHARED / "models" / "data" / f"{name}_x.npy", mmap_mode="r"))
    return np.arange(count) if everything else np.unique((seed * SAMPLES + np.arange(SAMPLES)) % count)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--all", action="store_true")
    parser.add_argument("--seed", type=int, default=int(time.time() // 86400), help="which samples; default: the day")
    options = parser.parse_args()
    need_shared()
    with tempfile.TemporaryDirectory() as folder:
        problems = [p for name in MODELS for p in against_pytorch(name, Path(folder))]
        jobs = [
            (name, target, choose(name, options.seed, options.all), Path(folder))
            for target in BOARDS
            for name in MODELS
        ]
        problems += [p for p in for_each(on_board, jobs) if p]
    print(
        "\n".join(problems) if problems else f"{len(MODELS)} models on {len(BOARDS)} cores hold (seed {options.seed})"
    )
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
