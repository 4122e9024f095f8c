# SPDX-License-Identifier: Apache-2.0
"""Compiles the int8 network, runs its firmware on an emulated board on recorded clips, and prints what it heard.

usage: python demo.py [--target cortex-m55] [--board mps3-an547] [--directory build/demo/keyword_spotting]

Needs `rushlight` (beside this Python or on the PATH) and NumPy; neither PyTorch nor a network.  Exits with 1 where the
board's outputs differ from the host's in a single bit, or the board hears another word than PyTorch.
"""

from __future__ import annotations

import argparse
import json
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np

import clips

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent


def rushlight() -> str:
    beside = Path(sys.executable).parent / "rushlight"
    found = str(beside) if beside.exists() else shutil.which("rushlight")
    if not found:
        sys.exit("error: rushlight is not installed\n  fix: ./dev build")
    return found


def call(*arguments: object) -> str:
    """Runs rushlight; its own message says what is wrong where it fails."""
    result = subprocess.run([rushlight(), *map(str, arguments)], stdout=subprocess.PIPE, text=True)
    if result.returncode:
        sys.exit(result.returncode)
    return result.stdout


def run(directory: Path, on: str, features: Path) -> tuple[np.ndarray, dict]:
    """Output codes (N, 12) and what the run reported."""
    codes = directory / f"codes_{on}.npy"
    report = call("run", directory, "--input", features, "--output", codes, "--raw", "--json", "--on", on)
    return np.load(codes).reshape(-1, len(clips.LABELS)), json.loads(report)


def pytorch_codes(scores: list[float], output: dict) -> np.ndarray:
    return np.rint(np.array(scores) / output["scale"]).astype(int) + output["zero_point"]


def print_rows(names: list[str], codes: np.ndarray, output: dict) -> int:
    """The table; returns how many clips the board hears otherwise than PyTorch."""
    expected = {clip["clip"]: clip for clip in clips.expected()["clips"]}
    print(f"{'clip':<12} {'board heard':<12} {'PyTorch heard':<14} largest difference in output steps")
    other = 0
    for name, row in zip(names, codes, strict=True):
        theirs = pytorch_codes(expected[name]["pytorch_scores"], output)
        word, difference = clips.LABELS[row.argmax()], np.abs(row.astype(int) - theirs).max()
        other += word != expected[name]["pytorch_word"]
        print(f"{name:<12} {word:<12} {expected[name]['pytorch_word']:<14} {difference}")
    return other


def print_figures(size: dict, run_report: dict) -> None:
    print(
        f"\nRAM          {size['ram_bytes'] / 1024:8.1f} KiB  (tensors {size['region_bytes']} bytes, stack {size['stack_bytes']} proven)"
    )
    print(
        f"flash        {size['flash_bytes'] / 1024:8.1f} KiB  (model {size['model_bytes']} bytes, kernels {size['kernel_bytes']}, core {size['core_bytes']})"
    )
    print(f"stack        {run_report['stack_bytes']:8} bytes measured on the board, {size['stack_bytes']} proven")
    print(f"instructions {run_report['instructions']:8} executed an inference")
    print(
        f"latency      {run_report['milliseconds']:8.2f} ms  modelled at the target's clock (docs/targets.md has the model and its error)"
    )


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--target", default="cortex-m55")
    parser.add_argument("--board", default="mps3-an547")
    parser.add_argument("--directory", type=Path, default=ROOT / "build" / "demo" / "keyword_spotting")
    options = parser.parse_args()
    directory = options.directory

    print(
        call(
            "compile",
            HERE / "kws_int8.pt2",
            "--target",
            options.target,
            "-o",
            directory,
            "--labels",
            ",".join(clips.LABELS),
        )
    )
    features, _, names = clips.load()
    np.save(directory / "features.npy", features)
    board, report = run(directory, options.board, directory / "features.npy")
    host, _ = run(directory, "host", directory / "features.npy")
    output = json.loads(call("show", directory, "--json"))["entries"][0]["outputs"][0]

    other = print_rows(names, board, output)
    print_figures(json.loads(call("size", directory, "--json")), report)
    if not np.array_equal(board, host):
        print("error: the board and the host differ", file=sys.stderr)
        return 1
    print(f"\n{len(names)} clips: board and host agree bit for bit; {len(names) - other} words as PyTorch hears them")
    return 1 if other else 0


if __name__ == "__main__":
    sys.exit(main())
