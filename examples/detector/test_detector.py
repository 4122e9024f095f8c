# SPDX-License-Identifier: Apache-2.0
"""Placement over the memories of two chips: faster than weights in flash, and the same results wherever they lie."""

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import torch

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
import detector  # noqa: E402

RUSHLIGHT = os.environ.get("RUSHLIGHT", str(HERE.parents[1] / "build/release/rushlight"))
CHIPS = {"ra8d1": "flash", "alif-e8-hp": "mram"}


def rushlight(*arguments):
    return subprocess.run([RUSHLIGHT, *map(str, arguments)], capture_output=True, text=True)


@pytest.fixture(scope="module")
def pt2(tmp_path_factory):
    path = tmp_path_factory.mktemp("detector") / "detector.pt2"
    torch.export.save(detector.quantized(), path)
    return path


def compiled(pt2, folder, chip, *options):
    made = rushlight("compile", pt2, "--target", chip, "-o", folder, *options)
    assert made.returncode == 0, made.stderr
    return json.loads((folder / "report.json").read_text())


@pytest.mark.parametrize("chip", CHIPS)
def test_placement_takes_less_time_than_weights_in_flash(pt2, tmp_path, chip):
    placed = compiled(pt2, tmp_path / "placed", chip)
    in_flash = compiled(pt2, tmp_path / "flash", chip, "--place", f"*.weight={CHIPS[chip]}")
    assert 430 * 1024 < placed["constant_bytes"] < 500 * 1024
    assert placed["estimated_cycles"] == in_flash["estimated_cycles"]
    assert placed["waiting_cycles"] < 0.5 * in_flash["waiting_cycles"]
    for report in (placed, in_flash):
        for memory in report["memories"]:
            assert memory.get("used_bytes", 0) <= memory["bytes"]
    where = {row["name"]: row["memory"] for row in in_flash["placed"]}
    assert all(memory == CHIPS[chip] for name, memory in where.items() if name.endswith(".weight"))


def test_every_arena_has_its_peak(pt2, tmp_path):
    report = compiled(pt2, tmp_path, "ra8d1", "--ram", "dtcm=16K")
    arenas = {region["name"]: region["bytes"] for region in report["regions"] if region["kind"] == "arena"}
    peaks = {peak["region"]: peak["bytes"] for peak in report["peaks"]}
    assert len(arenas) > 1
    assert peaks.keys() == arenas.keys()
    assert all(0 < peaks[name] <= arenas[name] for name in arenas)


def test_copied_weights_are_counted_and_linked(pt2, tmp_path):
    regions = {}
    for name, options in {"copied": (), "in_flash": ("--place", "*.weight=mram")}.items():
        report = compiled(pt2, tmp_path / name, "alif-e8-hp", *options)
        regions[name] = {region["name"]: region["bytes"] for region in report["regions"]}
    assert sum(size for name, size in regions["copied"].items() if name.startswith("weights")) > 100 * 1024
    linked = rushlight("link", tmp_path / "copied", tmp_path / "in_flash", "-o", tmp_path / "both")
    assert linked.returncode == 0, linked.stderr
    shared = dict(regions["copied"])
    for name, size in regions["in_flash"].items():
        shared[name] = max(size, shared.get(name, 0))
    for folder, expected in {"copied": regions["copied"], "both": shared}.items():
        size = rushlight("size", tmp_path / folder, "--json")
        assert size.returncode == 0, size.stderr
        assert json.loads(size.stdout)["region_bytes"] == sum(expected.values())


def test_results_do_not_depend_on_where_things_lie(pt2, tmp_path):
    np.save(tmp_path / "x.npy", np.random.default_rng(1).normal(size=detector.INPUT_SHAPE).astype(np.float32))
    outputs = {}
    for name, options in {
        "core": ("cortex-m55",),
        "placed": ("ra8d1",),
        "flash": ("ra8d1", "--place", "*.weight=flash"),
    }.items():
        compiled(pt2, tmp_path / name, *options)
        for place in ("host", "board"):
            on = [] if place == "host" else ["--on", "mps3-an547"]
            ran = rushlight(
                "run",
                tmp_path / name,
                "--input",
                tmp_path / "x.npy",
                "--output",
                tmp_path / f"{name}-{place}.npy",
                *on,
            )
            assert ran.returncode == 0, ran.stderr
            outputs[name, place] = [np.load(tmp_path / f"{name}-{place}{i}.npy") for i in range(2)]
    for got in outputs.values():
        for expected, value in zip(outputs["core", "host"], got, strict=True):
            np.testing.assert_array_equal(expected, value)
