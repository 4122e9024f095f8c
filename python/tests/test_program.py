# SPDX-License-Identifier: Apache-2.0
"""rushlight.compile and Program, without PyTorch: the keyword-spotting model against the scores that PyTorch gave."""

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import rushlight

EXAMPLE = Path(__file__).resolve().parents[2] / "examples" / "keyword_spotting"
MODEL = EXAMPLE / "kws_int8.pt2"


@pytest.fixture(scope="module")
def features():
    return np.load(EXAMPLE / "clips" / "features.npy")


@pytest.fixture(scope="module")
def scores():
    clips = json.loads((EXAMPLE / "clips" / "expected.json").read_text())["clips"]
    return np.array([c["pytorch_scores"] for c in clips], np.float32)[:, np.newaxis]


@pytest.mark.parametrize("target", rushlight.targets())
def test_the_program_of_every_target_gives_the_scores_of_pytorch(target, features, scores):
    program = rushlight.compile(MODEL, target=target)
    assert np.array_equal(program(features), scores)
    assert np.array_equal(rushlight.run_image(program.image, features), scores)


def test_stages_agree_within_one_step_of_the_output(features, scores):
    program = rushlight.compile(MODEL)
    for stage in ("torch", "quantized"):
        assert np.abs(program(features, stage=stage) - scores).max() <= 1 / 256


def test_codes_go_in_and_come_out(features, scores):
    program = rushlight.compile(MODEL)
    quantize = program.report["entries"][0]["inputs"][0]
    codes = np.rint(features / quantize["scale"]) + quantize["zero_point"]
    codes = np.clip(codes, -128, 127).astype(np.int8)
    raw = program(codes, raw=True)
    assert raw.dtype == np.int8
    assert np.array_equal((raw.astype(np.float32) + 128) / 256, scores)


def test_bytes_as_input(features):
    port = rushlight.compile(MODEL).report["entries"][0]["inputs"][0]
    scale, mean = port["scale"], (port["zero_point"] + 128) * port["scale"]
    program = rushlight.compile(MODEL, input_bytes=rushlight.ByteInput(scale, mean), labels=["a", "b"])
    x = np.random.default_rng(1).integers(0, 256, (5, 1, 1, 49, 10), np.uint8)
    real = (x * scale - mean).astype(np.float32)
    assert np.array_equal(program(x), rushlight.compile(MODEL)(real))
    with pytest.raises(rushlight.Error, match="2 means and 1 standard deviations"):
        rushlight.compile(MODEL, input_bytes=rushlight.ByteInput(mean=[0, 1]))


def test_memory_and_effort_are_the_compilers(features, scores):
    small = rushlight.compile(MODEL, opt="size", ram="14K")
    arena = small.report["arena_bytes"]
    assert arena < 14 * 1024 < rushlight.compile(MODEL).report["arena_bytes"]
    assert np.array_equal(small(features), scores)
    with pytest.raises(rushlight.Error, match="there is no opt"):
        rushlight.compile(MODEL, opt="fast")
    with pytest.raises(rushlight.Error, match="no number of bytes"):
        rushlight.compile(MODEL, ram="much")


def test_ram_of_single_memories(features, scores):
    assert rushlight.compile(MODEL, ram={"dtcm": "14K"}).image == rushlight.compile(MODEL, ram="14K").image
    limits = {"dtcm": "4K", "sram": 8192}
    program = rushlight.compile(MODEL, target="ra8d1", ram=limits)
    used = {memory["name"]: memory.get("used_bytes", 0) for memory in program.report["memories"]}
    assert 0 < used["dtcm"] <= 4096
    assert 0 < used["sram"] <= 8192
    assert np.array_equal(program(features), scores)
    with pytest.raises(rushlight.Error, match="cortex-m55 is a core, of whose RAM there is one limit"):
        rushlight.compile(MODEL, ram=limits)
    with pytest.raises(rushlight.Error, match='ra8d1 has no RAM "itcm"'):
        rushlight.compile(MODEL, target="ra8d1", ram={"itcm": "4K"})
    with pytest.raises(rushlight.Error, match="no number of bytes"):
        rushlight.compile(MODEL, ram={"dtcm": "much"})


def test_one_sample_without_its_batch_axis(features, scores):
    program = rushlight.compile(MODEL)
    assert np.array_equal(program(features[:3]), scores[:3])


def test_save_writes_what_the_command_line_reads(tmp_path, features, scores):
    program = rushlight.compile(MODEL)
    program.save(tmp_path / "out")
    names = {p.name for p in (tmp_path / "out").iterdir()}
    assert names == {"model.rush", "model.h", "model.cpp", "report.json", "report.html"}
    assert (tmp_path / "out" / "model.rush").read_bytes() == program.image
    np.save(tmp_path / "x.npy", features)
    tool = Path(sys.executable).parent / "rushlight"
    command = [tool, "run", tmp_path / "out", "--input", tmp_path / "x.npy", "--output", tmp_path / "y.npy"]
    subprocess.run(command, check=True, capture_output=True)
    assert np.array_equal(np.load(tmp_path / "y.npy"), scores)


def test_summary_names_the_layers():
    program = rushlight.compile(MODEL)
    for layer in program.report["layers"]:
        assert layer["layer"] in program.summary()


def test_errors_say_what_to_do(tmp_path, features):
    with pytest.raises(rushlight.Error, match="no such file") as raised:
        rushlight.compile(tmp_path / "none.pt2")
    message, diagnostics = raised.value.args
    assert diagnostics[0]["fix"] and diagnostics[0]["fix"] in message
    with pytest.raises(rushlight.Error, match='unknown target "z80"'):
        rushlight.compile(MODEL, target="z80")
    program = rushlight.compile(MODEL)
    with pytest.raises(rushlight.Error, match="49"):
        program(features[:, :, :48])
    with pytest.raises(rushlight.Error, match="float64"):
        program(features.astype(np.float64))
    with pytest.raises(rushlight.Error, match="there is no stage"):
        program(features, stage="fast")
    with pytest.raises(rushlight.Error, match="truncated"):
        rushlight.run_image(program.image[:100], features)
    damaged = bytearray(program.image)
    damaged[-1] ^= 1
    with pytest.raises(rushlight.Error, match="CRC"):
        rushlight.run_image(bytes(damaged), features)
