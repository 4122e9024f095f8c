# SPDX-License-Identifier: Apache-2.0
"""Program.compare from a float nn.Module to an emulated board, against what NumPy makes of PyTorch's outputs."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from torchao.quantization.pt2e.quantize_pt2e import convert_pt2e, prepare_pt2e

import rushlight
from rushlight.quantizer import CortexMQuantizer


class Net(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.stem = torch.nn.Sequential(torch.nn.Conv2d(3, 8, 3, padding=1), torch.nn.BatchNorm2d(8))
        self.head = torch.nn.Linear(8, 5)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.head(self.stem(x).mean((2, 3)))


@pytest.fixture(scope="module")
def net() -> Net:
    torch.manual_seed(3)
    net = Net()
    for _ in range(20):  # batch norms with statistics of their own
        net(torch.randn(16, 3, 8, 8) * 2)
    return net.eval()


@pytest.fixture(scope="module")
def x() -> np.ndarray:
    return np.random.default_rng(4).normal(0, 2, (6, 1, 3, 8, 8)).astype(np.float32)


@pytest.fixture(scope="module")
def program(net, x, tmp_path_factory) -> rushlight.Program:
    example = (torch.from_numpy(x[0]),)
    prepared = prepare_pt2e(torch.export.export(net, example).module(), CortexMQuantizer())
    for sample in x:
        prepared(torch.from_numpy(sample))
    file = tmp_path_factory.mktemp("net") / "net.pt2"
    torch.export.save(torch.export.export(convert_pt2e(prepared), example), file)
    return rushlight.compile(file)


def sqnr_db(reference: np.ndarray, value: np.ndarray) -> float:
    return 10 * np.log10((reference**2).sum() / ((reference - value) ** 2).sum())


def test_figures_are_those_of_the_outputs(net, x, program):
    compared = program.compare(net, x, board="mps3-an547")
    assert compared["program_is_exact"] and compared["board_is_exact"]
    with torch.no_grad():
        reference = np.stack([net(torch.from_numpy(sample)).numpy() for sample in x]).astype(np.float64)
    (output,) = compared["outputs"]
    assert output["float_to_program"]["sqnr_db"] == pytest.approx(sqnr_db(reference, program(x)), abs=0.01)
    largest = np.abs(reference - program(x)).max()
    assert output["float_to_program"]["max_error"] == pytest.approx(largest, rel=1e-5)


def test_a_folded_batch_norm_is_the_end_of_its_convolution(net, x, program):
    layers = {layer["layer"]: layer for layer in program.compare(net, x)["layers"]}
    with torch.no_grad():
        activations = net.stem(torch.from_numpy(x[:, 0])).numpy()
    stem = next(layer for name, layer in layers.items() if name.startswith("stem"))
    # A step of 8 bits over the range is about 0.4 %: if the value before the batch norm were meant, nothing would fit.
    assert stem["from_float"]["sqnr_db"] > 30
    assert stem["from_float"]["max_error"] < np.abs(activations).max() / 50
    assert layers["head"]["from_float"]["sqnr_db"] > 25


def test_exports_and_nothing_are_models_too(net, x, program):
    exported = torch.export.export(net, (torch.from_numpy(x[0]),))
    assert program.compare(exported, x) == program.compare(net, x)
    assert all("from_float" not in layer for layer in program.compare(None, x)["layers"])
