# SPDX-License-Identifier: Apache-2.0
"""rushlight.quantize: equalization and bias correction against what they promise, the result against PyTorch."""

import copy
import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("torchao", reason="needs the PyTorch environment")
import torch  # noqa: E402
from torch import nn  # noqa: E402

import rushlight  # noqa: E402
from rushlight.bias_correction import correct_biases  # noqa: E402
from rushlight.equalization import equalize  # noqa: E402
from rushlight.layerwise import layerwise  # noqa: E402

TOOL = Path(sys.executable).parent / "rushlight"


class Block(nn.Module):
    """conv, then depthwise, then a shortcut around a conv, pools and a classifier."""

    def __init__(self):
        super().__init__()
        self.stem = nn.Sequential(nn.Conv2d(2, 8, 3, padding=1), nn.BatchNorm2d(8), nn.ReLU())
        self.depthwise = nn.Sequential(nn.Conv2d(8, 8, 3, padding=1, groups=8, bias=False), nn.ReLU())
        self.inner = nn.Sequential(nn.Conv2d(8, 8, 1), nn.ReLU(), nn.Conv2d(8, 8, 1))
        self.head = nn.Sequential(nn.MaxPool2d(2), nn.AvgPool2d(4), nn.Flatten(), nn.Linear(8, 4))

    def forward(self, x):
        x = self.depthwise(self.stem(x))
        return self.head(torch.relu(x + self.inner(x)))


def make_block():
    """Channels whose ranges differ up to 30 times."""
    torch.manual_seed(0)
    net = Block().eval()
    net.stem[1].running_var.uniform_(0.5, 2)
    net.stem[1].weight.data = torch.logspace(0, -1.5, 8)
    net.inner[0].weight.data *= torch.logspace(0, -1.5, 8)[:, None, None, None]
    return net


@pytest.fixture
def inputs():
    torch.manual_seed(1)
    return torch.randn(40, 2, 8, 8)


def sqnr(wanted, given):
    wanted, given = (np.asarray(a, np.float64).ravel() for a in (wanted, given))
    return 10 * np.log10((wanted**2).sum() / ((wanted - given) ** 2).sum())


def graph_of(net, x):
    return torch.export.export(net, (x[:1],)).module(check_guards=False)


def test_layerwise_gives_every_operators_value(inputs):
    net = nn.Sequential(nn.Conv2d(2, 3, 3), nn.ReLU(), nn.Flatten(), nn.Linear(108, 2)).eval()
    samples = [(x[None],) for x in inputs]
    seen = {node.name: torch.cat(values) for node, values in layerwise(graph_of(net, inputs), samples)}
    with torch.no_grad():
        np.testing.assert_allclose(seen["conv2d"], net[0](inputs), atol=1e-5)
        np.testing.assert_allclose(seen["linear"], net(inputs), atol=1e-5)


def test_layerwise_reads_weights_when_their_reader_runs(inputs):
    net = nn.Sequential(nn.Conv2d(2, 3, 3), nn.Conv2d(3, 3, 3)).eval()
    graph = graph_of(net, inputs)
    for node, values in layerwise(graph, [(inputs[:1],)]):
        if node.name == "conv2d":
            graph.get_parameter("1.weight").data.zero_()
        else:
            assert torch.equal(values[0][0, :, 0, 0], net[1].bias.detach())


def test_equalization_keeps_the_function_and_evens_the_channels(inputs):
    net = make_block()
    net.stem[1] = nn.Identity()
    net.stem[0].weight.data *= torch.logspace(0, -1.5, 8)[:, None, None, None]
    net.stem[0].bias.data *= torch.logspace(0, -1.5, 8)
    graph, samples = graph_of(net, inputs), [(x[None],) for x in inputs]
    before = {n.name: torch.cat(v).clone() for n, v in layerwise(graph, samples)}
    done = equalize(graph, samples)
    after = {n.name: torch.cat(v) for n, v in layerwise(graph, samples)}
    assert ["stem.0"] in [e.layers for e in done]
    assert sqnr(before["linear"], after["linear"]) > 100

    def spread(map_):
        ranges = map_.abs().amax((0, 2, 3))
        return (ranges.max() / ranges.min()).item()

    assert spread(before["relu"]) > 20 and spread(after["relu"]) < spread(before["relu"]) / 4


def test_equalization_leaves_what_is_not_homogeneous(inputs):
    """Hardtanh, what the input or the output is made of, and reshapes that mix channels with positions."""
    net = nn.Sequential(
        nn.Conv2d(2, 4, 1), nn.Hardtanh(), nn.Conv2d(4, 4, 1), nn.Flatten(), nn.Linear(256, 4), nn.Softmax(dim=1)
    ).eval()
    net[0].weight.data *= torch.logspace(0, -2, 4)[:, None, None, None]
    net[2].weight.data *= torch.logspace(0, -2, 4)[:, None, None, None]
    assert equalize(graph_of(net, inputs), [(x[None],) for x in inputs]) == []


class SharedWeight(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(2, 2, 1)
        self.conv.weight.data *= torch.tensor([1.0, 0.01])[:, None, None, None]

    def forward(self, x):
        return self.conv(torch.relu(self.conv(x)))


def test_equalization_leaves_shared_weights_and_features_on_the_last_axis(inputs):
    on_last_axis = nn.Sequential(nn.Linear(8, 8), nn.ReLU(), nn.Linear(8, 8))
    on_last_axis[0].weight.data *= torch.logspace(0, -2, 8)[:, None]
    for net in (SharedWeight(), on_last_axis):
        assert equalize(graph_of(net.eval(), inputs), [(x[None],) for x in inputs]) == []


def test_bias_correction_takes_the_mean_error_out(inputs):
    """Weights rounded to a grid far too coarse shift the output; after correction the means agree."""
    from torchao.quantization.pt2e.quantize_pt2e import convert_pt2e, prepare_pt2e

    torch.manual_seed(0)
    net = nn.Sequential(nn.Conv2d(2, 6, 3), nn.ReLU(), nn.Conv2d(6, 6, 3)).eval()
    samples = [(x[None] + 1,) for x in inputs]
    graph = graph_of(net, inputs)
    reference = copy.deepcopy(graph)
    prepared = prepare_pt2e(graph, rushlight.CortexMQuantizer())
    for sample in samples:
        prepared(*sample)
    converted = convert_pt2e(prepared)
    for buffer in converted.buffers():
        if buffer.dtype == torch.int8:
            buffer.copy_((torch.round(buffer.float() / 32) * 32).clamp(-127, 127))

    def mean_error():
        with torch.no_grad():
            return torch.cat([converted(*s) - reference(*s) for s in samples]).mean((0, 2, 3)).abs().max().item()

    before = mean_error()
    corrections = correct_biases(converted, reference, samples)
    assert set(corrections) == {"0", "2"} and max(corrections.values()) > 0.01
    assert mean_error() < before / 4


def test_bias_correction_leaves_chance_alone(inputs):
    """Errors of zero mean on few samples have some mean; it must not be believed."""
    from rushlight.bias_correction import _systematic

    torch.manual_seed(0)
    noise = list(torch.randn(20, 2000))
    assert _systematic(noise).square().mean() < torch.stack(noise).mean(0).square().mean() / 2
    shifted = [e + 5 for e in noise]
    np.testing.assert_allclose(_systematic(shifted), torch.stack(shifted).mean(0), rtol=0.02)


def test_quantize_compile_compare_and_run(inputs, tmp_path):
    net = make_block()
    quantized = rushlight.quantize(net, inputs, target="cortex-m55")
    program = rushlight.compile(quantized, target="cortex-m55")
    assert not [layer["kernel"] for layer in program.report["layers"] if "f32" in layer["kernel"]]
    with torch.no_grad():
        wanted = net(inputs)
        pytorch = torch.cat([quantized(x[None]) for x in inputs])
    given = program(inputs)[:, 0]
    step = program.report["entries"][0]["outputs"][0]["scale"]
    assert np.abs(given - pytorch.numpy()).max() <= 1.001 * step
    assert sqnr(wanted, given) > 30
    comparison = program.compare(net, inputs, expected=wanted.numpy()[:, None])
    (output,) = comparison["outputs"]
    print(output)
    assert {"stem.0", "depthwise.0", "head.3"} <= {layer["layer"] for layer in comparison["layers"]}
    program.save(tmp_path / "out")
    assert (tmp_path / "out" / "model.rush").read_bytes() == program.image


def test_each_means_helps_where_channels_differ_and_can_be_switched_off(inputs):
    net = make_block()
    with torch.no_grad():
        wanted = net(inputs)

    def closeness(**options):
        quantized = rushlight.quantize(net, inputs, **options)
        return quantized, sqnr(wanted, rushlight.compile(quantized)(inputs))

    plain, plain_db = closeness(equalize_channels=False, correct_bias=False)
    both, both_db = closeness()
    assert both_db > plain_db + 1
    assert plain.equalized == [] and plain.bias_corrections == {}
    assert both.equalized and both.bias_corrections and "dB predicted" in str(both)


def test_the_float_model_stays_as_it_was(inputs):
    net = make_block()
    before = copy.deepcopy(net.state_dict())
    assert rushlight.quantize(net, inputs).equalized
    assert all(torch.equal(value, before[name]) for name, value in net.state_dict().items())


def test_models_come_as_modules_programs_or_files(inputs, tmp_path):
    net = make_block()
    exported = torch.export.export(net, (inputs[:1],))
    torch.export.save(exported, tmp_path / "net.pt2")
    images = {
        rushlight.compile(rushlight.quantize(model, calibration)).image
        for model in (exported, tmp_path / "net.pt2")
        for calibration in (inputs, inputs[:, None].numpy())
    }
    assert len(images) == 1


def test_quantize_refuses_what_does_not_fit(inputs):
    net = make_block()
    with pytest.raises(rushlight.Error, match='unknown target "z80"'):
        rushlight.quantize(net, inputs, target="z80")
    with pytest.raises(rushlight.Error, match="training mode"):
        rushlight.quantize(make_block().train(), inputs)
    with pytest.raises(rushlight.Error, match="0 samples"):
        rushlight.quantize(net, inputs[:0])
    exported = torch.export.export(net, (inputs[:1],))
    with pytest.raises(rushlight.Error, match="but the model takes .1, 2, 8, 8."):
        rushlight.quantize(exported, inputs[:, :1])
    with pytest.raises(rushlight.Error, match="the model has 1 inputs, but 2 were given"):
        rushlight.quantize(exported, (inputs, inputs))


def call(*arguments):
    environment = os.environ | {"RUSHLIGHT_PYTHON": sys.executable}
    return subprocess.run([TOOL, *map(str, arguments)], capture_output=True, text=True, env=environment)


def test_command_line_quantizes_and_evaluates(inputs, tmp_path):
    net = make_block()
    torch.export.save(torch.export.export(net, (inputs[:1],)), tmp_path / "f32.pt2")
    np.save(tmp_path / "x.npy", inputs.numpy())
    made = call("quantize", tmp_path / "f32.pt2", "--calib", tmp_path / "x.npy", "-o", tmp_path / "int8.pt2", "--json")
    assert made.returncode == 0, made.stderr
    assert json.loads(made.stdout)["samples"] == 40
    image = rushlight.compile(tmp_path / "int8.pt2").image
    assert image == rushlight.compile(rushlight.quantize(net, inputs)).image
    assert call("compile", tmp_path / "int8.pt2", "-o", tmp_path / "out").returncode == 0
    answers = rushlight.run_image(image, inputs.numpy())[:, 0].argmax(1)
    np.savez(tmp_path / "data.npz", x=inputs.numpy(), y=np.where(np.arange(40) < 10, (answers + 1) % 4, answers))
    found = call("evaluate", tmp_path / "out", tmp_path / "data.npz", "--json", "--min-accuracy", "0.7")
    assert found.returncode == 0 and json.loads(found.stdout)["accuracy"] == 0.75, found.stderr
    missed = call("evaluate", tmp_path / "out", tmp_path / "data.npz", "--min-accuracy", "0.8")
    assert missed.returncode == 1 and "75.00 % of 40 samples are right" in missed.stdout


def test_command_line_says_what_is_wrong(inputs, tmp_path):
    none = call("quantize", tmp_path / "none.pt2", "--calib", tmp_path / "none.npy", "-o", tmp_path / "out.pt2")
    assert none.returncode == 2 and none.stderr == f"error: {tmp_path}/none.pt2: no such file\n  fix: check the path\n"
    assert call("quantize").returncode == 2
    assert "Example: rushlight quantize" in call("quantize", "--help").stdout
    assert "Example: rushlight evaluate" in call("evaluate", "--help").stdout
