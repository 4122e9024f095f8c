# SPDX-License-Identifier: Apache-2.0
"""How close int8 models are to their float originals: `rushlight quantize` against PyTorch's quantized references.

usage: python bench/accuracy.py [--each] [MODEL ...]

Calibrates on <data>_calib.npy and measures on <data>_x.npy, which share no sample. The outputs are those of the
bit-exact program. Prints SQNR to the float model's outputs and how often the largest output is the class, for the float
model, for the reference (<name>_out_pt2e.npy: a PT2E quantizer with per-tensor linear weights, evaluated by PyTorch) and
for ours; keeps the figures in bench/accuracy.csv. Needs torch and torchao (`./dev build --torch`). Exit
code 1: a model is further from float than the reference, or fewer than two are 3 dB closer.
"""

from __future__ import annotations

import argparse
import csv
import io
import sys

import numpy as np

import rushlight
from measure import MODELS, SHARED, write_text
from records import BENCH

NETWORKS = [name for name in MODELS if name != "kws"]
GAIN_DB, GAINED = 3.0, 2
OURS = "ours"
MEANS = {"ranges only": {"equalize_channels": False, "correct_bias": False}, OURS: {}}
EACH = {
    "+ equalization": {"correct_bias": False},
    "+ bias correction": {"equalize_channels": False},
    "ours, mse": {"observer": "mse"},
}


def sqnr_db(wanted: np.ndarray, given: np.ndarray) -> float:
    wanted = wanted.astype(np.float64).reshape(given.shape)
    return 10 * np.log10((wanted**2).sum() / ((wanted - given) ** 2).sum())


def right(outputs: np.ndarray, classes: np.ndarray) -> str:
    """Of the samples that have a class; nothing where the model is no classifier."""
    known = classes >= 0
    outputs = outputs.reshape(len(classes), -1)
    if outputs.shape[1] <= classes.max() or outputs.shape[1] > 100:
        return ""
    return f"{(outputs[known].argmax(1) == classes[known]).sum()}/{known.sum()}"


def measure(name: str, means: dict[str, dict]) -> list[dict]:
    data = SHARED / "models" / "data"
    calibration, x, classes, wanted, reference = (
        np.load(data / f"{name}_{what}.npy") for what in ("calib", "x", "y", "out_f32", "out_pt2e")
    )
    rows = [
        {"model": name, "int8 by": "float", "sqnr_db": "", "right": right(wanted, classes)},
        {
            "model": name,
            "int8 by": "reference",
            "sqnr_db": f"{sqnr_db(wanted, reference):.2f}",
            "right": right(reference, classes),
        },
    ]
    for what, options in means.items():
        quantized = rushlight.quantize(SHARED / "models" / f"{name}_f32.pt2", calibration, **options)
        outputs = rushlight.compile(quantized)(x)
        rows.append(
            {
                "model": name,
                "int8 by": what,
                "sqnr_db": f"{sqnr_db(wanted, outputs):.2f}",
                "right": right(outputs, classes),
            }
        )
        print(f"{name:<18} {what:<20} {rows[-1]['sqnr_db']:>6} dB {rows[-1]['right']:>6}", flush=True)
    return rows


def gains(rows: list[dict]) -> dict[str, float]:
    by = {(row["model"], row["int8 by"]): row["sqnr_db"] for row in rows}
    return {m: float(by[m, OURS]) - float(by[m, "reference"]) for m, who in by if who == OURS}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("models", nargs="*", help=f"of {', '.join(NETWORKS)}; default: all")
    parser.add_argument("--each", action="store_true", help="also each means alone, printed only")
    options = parser.parse_args()
    names = options.models or NETWORKS
    if unknown := set(names) - set(NETWORKS):
        parser.error(f"no such model: {', '.join(sorted(unknown))}")
    rows = [row for name in names for row in measure(name, MEANS | EACH if options.each else MEANS)]
    columns = [who for who in dict.fromkeys(row["int8 by"] for row in rows)]
    print(f"\n{'SQNR to float, dB; right':<26}" + "".join(f"{who:>20}" for who in columns))
    for name in names:
        cells = {row["int8 by"]: f"{row['sqnr_db']} {row['right']:>6}" for row in rows if row["model"] == name}
        print(f"{name:<26}" + "".join(f"{cells[who]:>20}" for who in columns))
    gained = gains(rows)
    print("\ncloser than the reference by " + ", ".join(f"{name} {db:+.2f} dB" for name, db in gained.items()))
    if names == NETWORKS and not options.each:
        table = io.StringIO()
        writer = csv.DictWriter(table, rows[0], lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
        write_text(BENCH / "accuracy.csv", table.getvalue())
    enough = names != NETWORKS or sum(db >= GAIN_DB for db in gained.values()) >= GAINED
    return 0 if enough and min(gained.values()) >= 0 else 1


if __name__ == "__main__":
    sys.exit(main())
