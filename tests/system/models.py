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

from cli import BOARDS, SHARED, call, call_json, for_each, need_shared

# Least SQNR in dB to PyTorch's evaluation of the quantized graph, and least samples with the same top-1 (None: no classes).
MODELS = {
    "ds_cnn": (42, 51),
    "mobilenet_v1_025": (40, 28),
    "resnet8": (28, 71),
    "autoencoder": (60, None),
    "sww": (42, 34),
}
CORE_BYTES, EXTENTS_BYTES = 4096, 400
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


def beyond_bounds(size: dict, stack_bytes: int) -> list[str]:
    """What a firmware takes more of than it may: the core's flash, an extents function's flash, the proven stack."""
    problems = [] if size["core_bytes"] <= CORE_BYTES else [f"the core takes {size['core_bytes']} bytes"]
    if stack_bytes > size["stack_bytes"]:
        problems.append(f"{stack_bytes} bytes of stack painted, {size['stack_bytes']} proven")
    if size["stack_bytes"] > size["declared_stack_bytes"]:
        problems.append(f"{size['stack_bytes']} bytes of stack proven, {size['declared_stack_bytes']} declared")
    large = {name: n for name, n in size["functions"].items() if "extents" in name and n > EXTENTS_BYTES}
    return problems + [f"{name} takes {n} bytes" for name, n in large.items()]


def on_board(job: tuple[str, str, str, np.ndarray, Path]) -> list[str]:
    """One model on one core; what does not hold."""
    name, target, opt, chosen, folder = job
    work = folder / f"{name}_{target}_{opt}"
    call("compile", SHARED / "models" / f"{name}_int8_pt2e.pt2", "--target", target, "--opt", opt, "-o", work)
    np.save(work / "x.npy", np.load(SHARED / "models" / "data" / f"{name}_x.npy")[chosen])
    board = BOARDS[target]
    for place in ("host", board):
        options = ("--input", work / "x.npy", "--output", work / f"{place}.npy", "--raw", "--on", place)
        report = call_json("run", work, *options)
    different = int((np.load(work / "host.npy") != np.load(work / f"{board}.npy")).sum())
    print(f"{name:<18} {target:<14} {opt:<9} {len(chosen)} samples, {different} codes differ", flush=True)
    problems = beyond_bounds(call_json("size", work), report["stack_bytes"])
    if different:
        problems.append(f"{different} codes differ from the host")
    return [f"{name} on {target}, {opt}: {problem}" for problem in problems]


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
            (name, target, opt, choose(name, options.seed, options.all), Path(folder))
            for target, opt in [*((target, "balanced") for target in BOARDS), ("cortex-m55", "size")]
            for name in MODELS
        ]
        problems += [p for found in for_each(on_board, jobs) for p in found]
    print(
        "\n".join(problems) if problems else f"{len(MODELS)} models on {len(BOARDS)} cores hold (seed {options.seed})"
    )
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
