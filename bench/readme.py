# SPDX-License-Identifier: Apache-2.0
"""Writes the figures of budget.csv into the table of README.md.

usage: python bench/readme.py
"""

from __future__ import annotations

import sys

from measure import ROOT, call_json, write_text
from records import BUDGET

README = ROOT / "README.md"
HEAD = "| network, int8 |"
NETWORKS = {
    "kws": "keyword spotting (ours)",
    "ds_cnn": "DS-CNN keyword spotting",
    "mobilenet_v1_025": "MobileNetV1-0.25 person detection",
    "resnet8": "ResNet-8 image classification",
    "autoencoder": "autoencoder anomaly detection",
    "sww": "streaming wake word",
}
TARGETS = ("cortex-m55", "cortex-m7", "cortex-m33", "cortex-m4", "cortex-m0plus")


def title(target: str, megahertz: dict[str, float]) -> str:
    return f"{target.replace('cortex-m', 'M').replace('plus', '+')}, {megahertz[target]:g} MHz"


def milliseconds(cycles: int, megahertz: float) -> str:
    value = cycles / megahertz / 1000
    return f"{value:.3g} ms" if value < 1000 else f"{value:.0f} ms"


def table() -> list[str]:
    megahertz = {t["name"]: t["mhz"] for t in call_json("targets")}
    budget = BUDGET.now()
    lines = [f"{HEAD} {' | '.join(title(t, megahertz) for t in TARGETS)} | RAM, M55 | flash, M55 |"]
    lines.append("|" + "---|" * (len(TARGETS) + 3))
    for model, network in NETWORKS.items():
        cells = [milliseconds(int(budget[model, t]["cycles"]), megahertz[t]) for t in TARGETS]
        m55 = budget[model, "cortex-m55"]
        cells += [f"{int(m55[figure]) / 1024:.1f} KiB" for figure in ("ram", "text")]
        lines.append(f"| {network} | {' | '.join(cells)} |")
    return lines


def main() -> int:
    lines = README.read_text().splitlines()
    first = next(i for i, line in enumerate(lines) if line.startswith(HEAD))
    last = first
    while last < len(lines) and lines[last].startswith("|"):
        last += 1
    write_text(README, "\n".join(lines[:first] + table() + lines[last:]) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
