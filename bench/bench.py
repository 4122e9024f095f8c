# SPDX-License-Identifier: Apache-2.0
"""Measures every model on every class of cores and keeps the figures in budget.csv.

usage: python bench/bench.py [--against REV] [--check] [MODEL ...]
  --against REV   print what changed since a commit's budget.csv
  --check         write nothing; exit with 1 where a figure is worse than budget.csv's

Flash, RAM and stack come from the linker's map and the linked code, instructions from the emulator, cycles from the
cycle model (docs/targets.md). Everything is deterministic for one compiler release.
"""

from __future__ import annotations

import argparse
import csv
import io
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests" / "system"))
from cli import BOARDS, ROOT, SHARED, call, call_json, for_each  # noqa: E402

BUDGET = ROOT / "budget.csv"
KEYS = ("model", "target")
FIGURES = ("text", "data", "ram", "stack", "core", "kernels", "image", "instructions", "cycles")
MODELS = {
    "kws": ROOT / "examples" / "keyword_spotting" / "kws_int8.pt2",
    **{
        name: SHARED / "models" / f"{name}_int8_pt2e.pt2"
        for name in ("ds_cnn", "mobilenet_v1_025", "resnet8", "autoencoder", "sww")
    },
}


def any_input(folder: Path) -> Path:
    """One input of zeros: the figures do not depend on the values."""
    port = call_json("show", folder)["entries"][0]["inputs"][0]
    np.save(folder / "zeros.npy", np.zeros((1, *port["shape"]), np.int8))
    return folder / "zeros.npy"


def measure(job: tuple[str, str, Path]) -> dict:
    name, target, folder = job
    work = folder / f"{name}_{target}"
    call("compile", MODELS[name], "--target", target, "-o", work)
    run = call_json("run", work, "--input", any_input(work), "--on", BOARDS[target])
    size = call_json("size", work)
    figures = (size["flash_bytes"], size["static_bytes"], size["ram_bytes"], size["stack_bytes"], size["core_bytes"],
               size["kernel_bytes"], size["model_bytes"], run["instructions"], round(run["cycles"]))  # fmt: skip
    print(
        f"{name:<18} {target:<12} {run['milliseconds']:9.3f} ms  flash {figures[0] / 1024:6.1f} KiB  RAM {figures[2] / 1024:5.1f} KiB",
        flush=True,
    )
    return {"model": name, "target": target, **dict(zip(FIGURES, figures, strict=True))}


def read_budget(text: str) -> dict[tuple, dict]:
    return {tuple(row[k] for k in KEYS): row for row in csv.DictReader(io.StringIO(text))}


def changes(before: dict[tuple, dict], rows: list[dict]) -> list[str]:
    """A line for each figure that differs, worse ones marked."""
    lines = []
    for row in rows:
        old = before.get(tuple(row[k] for k in KEYS))
        for figure in FIGURES if old else ():
            was, now = int(old[figure]), int(row[figure])
            if was != now:
                change = (now - was) / was * 100 if was else float("inf")
                lines.append(
                    f"{'worse ' if now > was else 'better'} {row['model']} {row['target']} {figure}: {was} -> {now} ({change:+.1f} %)"
                )
    return lines


def write_budget(rows: list[dict]) -> None:
    merged = read_budget(BUDGET.read_text()) if BUDGET.exists() else {}
    merged |= {tuple(row[k] for k in KEYS): row for row in rows}
    order = {name: i for i, name in enumerate(MODELS)}
    partial = BUDGET.with_suffix(".part")
    with partial.open("w", newline="") as file:
        writer = csv.DictWriter(file, (*KEYS, *FIGURES), lineterminator="\n")
        writer.writeheader()
        writer.writerows(
            sorted(merged.values(), key=lambda r: (order.get(r["model"], len(order)), list(BOARDS).index(r["target"])))
        )
    partial.rename(BUDGET)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("models", nargs="*", help=f"of {', '.join(MODELS)}; default: all that are there")
    parser.add_argument("--against", metavar="REV")
    parser.add_argument("--check", action="store_true")
    options = parser.parse_args()
    unknown = set(options.models) - set(MODELS)
    if unknown:
        parser.error(f"no such model: {', '.join(sorted(unknown))}")
    names = [n for n in options.models or MODELS if MODELS[n].exists()]
    with tempfile.TemporaryDirectory() as folder:
        rows = for_each(measure, [(name, target, Path(folder)) for name in names for target in BOARDS])
    now = BUDGET.read_text() if BUDGET.exists() else ""
    base = (
        subprocess.run(
            ["git", "show", f"{options.against}:budget.csv"], cwd=ROOT, capture_output=True, text=True, check=True
        ).stdout
        if options.against
        else now
    )
    different = changes(read_budget(base), rows)
    print("\n".join(different) or "no figure changed")
    if options.check:
        return 1 if any(line.startswith("worse") for line in different) else 0
    write_budget(rows)
    return 0


if __name__ == "__main__":
    sys.exit(main())
