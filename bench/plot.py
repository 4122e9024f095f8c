# SPDX-License-Identifier: Apache-2.0
"""Draws docs/figures/cycles.svg: each model's cycles on each core, commit by commit, from bench/history.csv.

usage: python bench/plot.py
"""

from __future__ import annotations

import io
import sys

import matplotlib

matplotlib.use("svg")
import matplotlib.pyplot as plt  # noqa: E402
from matplotlib.ticker import FixedLocator, FuncFormatter, NullFormatter, NullLocator  # noqa: E402

from measure import ROOT, call_json, write_text  # noqa: E402
from records import BENCH, HISTORY, read_csv  # noqa: E402

OUT = ROOT / "docs" / "figures" / "cycles.svg"
TARGETS = ("cortex-m55", "cortex-m7", "cortex-m33", "cortex-m4", "cortex-m0plus")
MODELS = {
    "ds_cnn": "DS-CNN",
    "mobilenet_v1_025": "MobileNetV1-0.25",
    "resnet8": "ResNet-8",
    "autoencoder": "autoencoder",
    "sww": "wake word",
}
COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#8c6d1f")
TICKS = (0.5, 1, 2, 5, 10, 20)


def bar_cycles(bar: dict, megahertz: dict[str, float]) -> float:
    value = float(bar["bar"])
    return value * 1e6 if bar["figure"] == "Mcycles" else value * megahertz[bar["target"]] * 1e3


def draw_core(axes, target: str, history: list[dict], bars: dict[tuple, float]) -> None:
    for (model, title), colour in zip(MODELS.items(), COLOURS, strict=True):
        known = [(i, float(row[f"{model}/{target}"])) for i, row in enumerate(history) if row.get(f"{model}/{target}")]
        if known and (model, target) in bars:
            at, cycles = zip(*known, strict=True)
            relative = [c / bars[model, target] for c in cycles]
            axes.plot(at, relative, color=colour, label=title, marker="o", markersize=3, linewidth=1.5)
    axes.axhline(1, color="#444444", linewidth=1, linestyle="--")
    axes.set_yscale("log")
    axes.set_title(target.replace("cortex-m", "Cortex-M").replace("0plus", "0+"), fontsize=10)
    axes.yaxis.set_major_locator(FixedLocator(TICKS))
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axes.yaxis.set_minor_locator(NullLocator())
    axes.yaxis.set_minor_formatter(NullFormatter())
    axes.set_ylim(0.4, 20)
    axes.grid(axis="y", color="#dddddd", linewidth=0.6)
    axes.set_xticks([])
    axes.spines[["top", "right"]].set_visible(False)


def main() -> int:
    history = [row for row in read_csv(HISTORY) if row["figure"] == "cycles"]
    megahertz = {t["name"]: t["mhz"] for t in call_json("targets")}
    timed = [bar for bar in read_csv(BENCH / "bars.csv") if bar["figure"] in ("ms", "Mcycles")]
    bars = {(bar["model"], bar["target"]): bar_cycles(bar, megahertz) for bar in timed}
    plt.rcParams |= {"svg.hashsalt": "rushlight", "font.family": "sans-serif", "font.size": 9, "svg.fonttype": "none"}
    figure, all_axes = plt.subplots(1, len(TARGETS), figsize=(11, 3.4), sharey=True, layout="constrained")
    for axes, target in zip(all_axes, TARGETS, strict=True):
        draw_core(axes, target, history, bars)
    all_axes[0].set_ylabel("cycles / bar")
    figure.supxlabel("commits that changed budget.csv, oldest first", fontsize=9)
    handles, labels = all_axes[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside upper center", ncols=len(MODELS), frameon=False)
    OUT.parent.mkdir(exist_ok=True)
    svg = io.StringIO()
    figure.savefig(svg, metadata={"Date": None})
    write_text(OUT, svg.getvalue())
    return 0


if __name__ == "__main__":
    sys.exit(main())
