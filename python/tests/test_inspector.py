# SPDX-License-Identifier: Apache-2.0
"""ExecuTorch's own Inspector opens what `rushlight profile` and `rushlight compare` write."""

from __future__ import annotations

import io
import json
import subprocess
import sys
from pathlib import Path

import numpy as np
from executorch.devtools.inspector import Inspector, TimeScale

import rushlight

ROOT = Path(__file__).resolve().parents[2]
MODEL = ROOT / "examples" / "keyword_spotting" / "kws_int8.pt2"
RUSHLIGHT = Path(sys.executable).with_name("rushlight")
BOARD = "mps3-an547"


def call(*arguments: object) -> str:
    return subprocess.run([RUSHLIGHT, *map(str, arguments)], capture_output=True, text=True, check=True).stdout


def opened(etdump: Path, **options: object) -> Inspector:
    cycles = TimeScale.CYCLES
    return Inspector(etdump_path=str(etdump), source_time_scale=cycles, target_time_scale=cycles, **options)


def test_profile_is_read(tmp_path):
    call("compile", MODEL, "-o", tmp_path / "out")
    profile = json.loads(call("profile", tmp_path / "out", "--on", BOARD, "--etdump", tmp_path / "out.etdp", "--json"))
    inspector = opened(tmp_path / "out.etdp")
    (block,) = inspector.event_blocks
    whole, *layers = block.events
    assert whole.name == "Method::execute"
    assert whole.perf_data.raw == [round(profile["cycles"])]
    assert [event.name for event in layers] == [layer["layer"] for layer in profile["layers"]]
    assert [event.perf_data.raw for event in layers] == [[round(layer["cycles"])] for layer in profile["layers"]]
    printed = io.StringIO()
    inspector.print_data_tabular(file=printed)
    for layer in profile["layers"]:
        assert layer["layer"] in printed.getvalue()


def test_outputs_of_layers_are_read(tmp_path):
    program = rushlight.compile(MODEL)
    x = np.random.default_rng(5).normal(0, 30, (2, 1, 49, 10)).astype(np.float32)
    np.save(tmp_path / "x.npy", x)
    call("compare", MODEL, "--input", tmp_path / "x.npy", "--on", BOARD, "--etdump", tmp_path / "out.etdp")
    (block,) = opened(tmp_path / "out.etdp", debug_buffer_path=str(tmp_path / "out.etdp.bin")).event_blocks
    values = {event.name: event.debug_data for event in block.events if event.debug_data}
    convolution = next(layer for layer in program.report["layers"] if layer["op"] == "conv2d")
    batch, height, width, channels = map(int, convolution["outputs"][-1].split("[")[1].rstrip("]").split(","))
    assert values[convolution["layer"]][0].shape == (batch, channels, height, width)
    last = [event for event in block.events if event.debug_data][-1]
    np.testing.assert_array_equal(last.debug_data[0].numpy().ravel(), program(x)[0].ravel())
