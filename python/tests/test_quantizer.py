# SPDX-License-Identifier: Apache-2.0
"""The q/dq graphs that CortexMQuantizer leads to, against integers computed here from the float weights."""

import numpy as np
import pytest

pytest.importorskip("torchao", reason="needs the PyTorch environment")
import torch  # noqa: E402
from torch import nn  # noqa: E402
from torchao.quantization.pt2e.quantize_pt2e import convert_pt2e, prepare_pt2e, prepare_qat_pt2e  # noqa: E402

import rushlight  # noqa: E402
from rushlight import CortexMQuantizer, _rushlight  # noqa: E402

OPS = torch.ops.quantized_decomposed
ATEN = torch.ops.aten
QUANTIZE = OPS.quantize_per_tensor.default
DEQUANTIZE = OPS.dequantize_per_tensor.default
PER_CHANNEL = OPS.dequantize_per_channel.default


def quantized(net, *shape, quantizer=None):
    """The converted graph module of `net`, calibrated on 20 random inputs."""
    torch.manual_seed(1)
    example = (torch.randn(shape),)
    prepared = prepare_pt2e(torch.export.export(net.eval(), example).module(), quantizer or CortexMQuantizer())
    for _ in range(20):
        prepared(torch.randn(shape))
    return convert_pt2e(prepared)


def only(graph_module, target):
    (node,) = [n for n in graph_module.graph.nodes if n.target is target]
    return node


def targets(graph_module):
    return [n.target for n in graph_module.graph.nodes if n.op == "call_function" and n.target is not PER_CHANNEL]


def params(quantize):
    """(scale, zero point, min, max, dtype) of a per-tensor node."""
    return quantize.args[1:]


def before(node):
    return params(node.args[0])


def after(node):
    (user,) = node.users
    assert user.target is QUANTIZE
    return params(user)


def stored(graph_module, dequantize):
    """(integers, scales, zero points) behind a dequantize_per_channel node."""
    return [getattr(graph_module, a.target).detach().numpy() for a in dequantize.args[:3]]


def assert_accumulator_bias(graph_module, op, bias):
    (in_scale, *_), (_, weight_scales, _) = before(op), stored(graph_module, op.args[1])
    integers, scales, zeros = stored(graph_module, op.args[2])
    np.testing.assert_allclose(scales, in_scale * weight_scales, rtol=1e-6)
    np.testing.assert_allclose(integers, bias / (in_scale * weight_scales), atol=0.6)
    assert integers.dtype == np.int32 and not zeros.any()


def assert_symmetric_weights(graph_module, op, weight):
    integers, scales, zeros = stored(graph_module, op.args[1])
    expected = np.abs(weight).reshape(len(weight), -1).max(1) / 127
    np.testing.assert_allclose(scales, expected, rtol=1e-5)
    steps = weight / scales.reshape(-1, *[1] * (weight.ndim - 1))
    np.testing.assert_allclose(integers, steps, atol=0.501)
    assert integers.dtype == np.int8 and np.abs(integers.astype(int)).max() == 127 and not zeros.any()


def test_convolution_batch_norm_and_relu_are_one_kernel_with_folded_weights():
    torch.manual_seed(0)
    conv, norm = nn.Conv2d(3, 8, 3), nn.BatchNorm2d(8)
    for p in (norm.weight, norm.running_var):
        nn.init.uniform_(p, 0.5, 2.0)
    for p in (norm.bias, norm.running_mean):
        nn.init.uniform_(p, -1.0, 1.0)
    g = quantized(nn.Sequential(conv, norm, nn.ReLU()), 1, 3, 9, 9)
    assert targets(g) == [QUANTIZE, DEQUANTIZE, ATEN.conv2d.default, ATEN.relu.default, QUANTIZE, DEQUANTIZE]
    gain = (norm.weight / torch.sqrt(norm.running_var + norm.eps)).detach()
    folded = (conv.weight * gain[:, None, None, None]).detach().numpy()
    bias = ((conv.bias - norm.running_mean) * gain + norm.bias).detach().numpy()
    op = only(g, ATEN.conv2d.default)
    assert_symmetric_weights(g, op, folded)
    assert_accumulator_bias(g, op, bias)
    assert after(only(g, ATEN.relu.default))[1:] == (-128, -128, 127, torch.int8)


def test_linear_has_a_scale_per_output():
    torch.manual_seed(0)
    linear = nn.Linear(16, 5)
    g = quantized(linear, 2, 16)
    op = only(g, ATEN.linear.default)
    assert_symmetric_weights(g, op, linear.weight.detach().numpy())
    assert_accumulator_bias(g, op, linear.bias.detach().numpy())
    assert after(op)[2:] == (-128, 127, torch.int8)


class Moves(nn.Module):
    def forward(self, x):
        x = nn.functional.pad(x, (1, 0, 2, 1))
        x = nn.functional.max_pool2d(x, 2)
        x = torch.cat([x, x], 1)
        x = x.permute(0, 2, 3, 1).reshape(1, -1, 2, 4)
        return nn.functional.dropout(x.flatten(1), training=False)


def test_operators_that_move_elements_keep_one_scale():
    g = quantized(Moves(), 1, 3, 12, 15)
    kept = {params(n) for n in g.graph.nodes if n.target in (QUANTIZE, DEQUANTIZE)}
    assert len(kept) == 1 and targets(g).count(QUANTIZE) == 8


class Branches(nn.Module):
    """What one branch gives is far larger than what the other gives."""

    def __init__(self, last):
        super().__init__()
        self.a, self.b, self.last = nn.Conv2d(2, 3, 1), nn.Conv2d(2, 4, 1), last
        nn.init.constant_(self.a.bias, 50.0)

    def forward(self, x):
        return torch.cat([self.a(x), self.last(self.b(x))], 1)


def test_what_is_concatenated_shares_one_scale():
    g = quantized(Branches(nn.ReLU()), 1, 2, 4, 4)
    cat = only(g, ATEN.cat.default)
    a, b = cat.args[0]
    assert params(a) == params(b) == after(cat) and after(cat)[0] > 50 / 255


def test_a_concatenation_with_probabilities_rescales():
    g = quantized(Branches(nn.Softmax(dim=1)), 1, 2, 4, 4)
    cat = only(g, ATEN.cat.default)
    large, probabilities = cat.args[0]
    assert params(probabilities) == (1 / 256, -128, -128, 127, torch.int8)
    assert params(large)[0] > 50 / 255 and after(cat)[0] > 50 / 255


def test_an_average_has_a_scale_of_its_own():
    g = quantized(nn.Sequential(nn.AvgPool2d(4), nn.AdaptiveAvgPool2d(1)), 1, 3, 16, 16)
    for pool in (only(g, ATEN.avg_pool2d.default), only(g, ATEN.adaptive_avg_pool2d.default)):
        assert after(pool)[0] < before(pool)[0] / 2


class PadOnes(nn.Module):
    def forward(self, x):
        return nn.functional.pad(x / 8, (1, 1), value=7.0)


def test_pad_with_a_value_outside_the_range_has_its_own_scale():
    g = quantized(PadOnes(), 1, 1, 4, 4)
    scale, zero, *_ = after(only(g, ATEN.pad.default))
    assert (127 - zero) * scale > 6.9 and before(only(g, ATEN.pad.default))[0] < scale / 4


class Residual(nn.Module):
    def forward(self, x):
        return torch.relu(torch.max_pool2d(x, 1) + x)


def test_add_and_relu_are_one_kernel():
    g = quantized(Residual(), 1, 2, 4, 4)
    add = only(g, ATEN.add.Tensor)
    assert [n.target for n in add.args] == [DEQUANTIZE, DEQUANTIZE]
    assert [n.target for n in add.users] == [ATEN.relu.default]
    assert after(only(g, ATEN.relu.default))[1] == -128


def test_softmax_is_fixed_and_quantized_once():
    g = quantized(nn.Sequential(nn.Linear(6, 4), nn.Softmax(dim=1), nn.Flatten()), 1, 6)
    assert after(only(g, ATEN.softmax.int)) == (1 / 256, -128, -128, 127, torch.int8)
    assert after(only(g, ATEN.flatten.using_ints)) == (1 / 256, -128, -128, 127, torch.int8)


class MeanOfSine(nn.Module):
    def forward(self, x):
        return torch.sin(x).mean((2, 3))


def test_operators_without_a_row_stay_float():
    g = quantized(MeanOfSine(), 1, 2, 4, 4)
    assert targets(g)[0] is ATEN.sin.default
    mean = only(g, ATEN.mean.dim)
    assert mean.args[0].target is DEQUANTIZE and after(mean)[0] < before(mean)[0]


def test_a_value_that_two_operators_read_is_not_hidden_in_a_kernel():
    class Fork(nn.Module):
        def __init__(self):
            super().__init__()
            self.conv = nn.Conv2d(1, 2, 1)

        def forward(self, x):
            y = self.conv(x)
            return torch.relu(y) + y

    g = quantized(Fork(), 1, 1, 3, 3)
    assert {n.target for n in only(g, ATEN.conv2d.default).users} == {QUANTIZE}


def test_training_gives_the_same_graph():
    torch.manual_seed(0)
    net = nn.Sequential(nn.Conv2d(1, 4, 3), nn.BatchNorm2d(4), nn.ReLU(), nn.Flatten(), nn.Linear(16, 3))
    example = (torch.randn(2, 1, 4, 4),)
    captured = torch.export.export(net.train(), example).module()
    prepared = prepare_qat_pt2e(captured, CortexMQuantizer(training=True))
    for _ in range(3):
        prepared(*example).sum().backward()
    trained = convert_pt2e(prepared)
    assert targets(trained) == targets(quantized(net, 2, 1, 4, 4))
    for op in (ATEN.conv2d.default, ATEN.linear.default):
        integers = stored(trained, only(trained, op).args[1])[0]
        assert integers.dtype == np.int8 and integers.min() >= -127


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Conv2d(1, 4, 3), nn.ReLU6(), nn.Conv2d(4, 4, 3), nn.BatchNorm2d(4), nn.Hardtanh())
        self.head = nn.Sequential(nn.Flatten(), nn.Linear(64, 8), nn.ReLU(), nn.Linear(8, 3))

    def forward(self, x):
        return self.head(self.body(x))


def test_layers_are_kept_float_by_name():
    quantizer = CortexMQuantizer().keep("head", "float").keep("body.2", "float")
    g = quantized(Net(), 1, 1, 8, 8, quantizer=quantizer)
    kinds = targets(g)
    assert kinds.count(QUANTIZE) == 2  # the input, and the first convolution with its activation
    assert {n.args[1].op for n in g.graph.nodes if n.target is ATEN.linear.default} == {"get_attr"}
    lines = [line for line in quantizer.report().splitlines() if 'keep("' in line]
    assert [line.split()[0] for line in lines] == ["body.2", "head.0", "head.1", "head.3"]


def test_choices_name_every_operator_once():
    quantizer = CortexMQuantizer()
    quantized(nn.Sequential(Net(), MeanOfSine4()), 1, 1, 8, 8, quantizer=quantizer)
    assert [(c.layer, c.operator, c.choice) for c in quantizer.choices] == [
        ("0.body.0", "conv2d", "int8, weights per output channel"),
        ("0.body.2", "conv2d", "int8, weights per output channel"),
        ("0.head.0", "flatten", "int8, the input's scale"),
        ("0.head.1", "linear", "int8, weights per output channel"),
        ("0.head.3", "linear", "int8, weights per output channel"),
        ("1", "sin", "float: the compiler does not have it"),
        ("1", "mean", "int8"),
    ]


class MeanOfSine4(nn.Module):
    def forward(self, x):
        return torch.sin(x).mean(1)


def test_what_cannot_be_kept_is_refused():
    with pytest.raises(rushlight.Error, match='keep."fc", "int4".: there is no kernel for int4') as raised:
        CortexMQuantizer().keep("fc", "int4")
    assert "fix:" in str(raised.value)
    with pytest.raises(rushlight.Error, match='keep."haed[.][*]", "float".: no layer has this name') as raised:
        quantized(Net(), 1, 1, 8, 8, quantizer=CortexMQuantizer().keep("haed.*", "float"))
    assert "head.1" in str(raised.value)
    with pytest.raises(rushlight.Error, match="choose min-max, percentile, mse"):
        CortexMQuantizer("median")


def test_observers_cut_outliers_as_far_as_it_pays():
    """A normal distribution with one far outlier in 40,000 values: min-max keeps it, the others do not."""
    torch.manual_seed(0)
    x = torch.randn(40_000)
    x[0] = 40.0
    scales, errors = {}, {}
    for name in ("min-max", "percentile", "mse"):
        observer = CortexMQuantizer(name).specs.activation.observer_or_fake_quant_ctr(
            dtype=torch.int8, quant_min=-128, quant_max=127, qscheme=torch.per_tensor_affine
        )
        observer(x[:5000])
        observer(x[5000:])
        scale, zero = observer.calculate_qparams()
        codes = torch.clamp(torch.round(x / scale) + zero, -128, 127)
        scales[name], errors[name] = scale.item(), ((codes - zero) * scale - x)[1:].square().mean().item()
    assert scales["min-max"] == pytest.approx((40 - x.min().item()) / 255, rel=1e-3)
    assert scales["mse"] < scales["min-max"] and errors["mse"] < errors["min-max"]
    inner = torch.sort(x).values[2:-2]  # 99.99 % of 40,000 leaves two at either end
    assert scales["percentile"] == pytest.approx((inner[-1] - inner[0]).item() / 255, rel=0.02)


def test_mse_finds_the_best_range_of_a_laplace_distribution():
    """Against an exhaustive search over symmetric ranges on the values themselves."""
    torch.manual_seed(0)
    uniform = torch.rand(20_000) - 0.5
    x = -uniform.sign() * torch.log1p(-2 * uniform.abs())
    observer = CortexMQuantizer("mse").specs.activation.observer_or_fake_quant_ctr(
        dtype=torch.int8, quant_min=-128, quant_max=127, qscheme=torch.per_tensor_affine
    )
    observer(x)

    def error(scale, zero):
        codes = torch.clamp(torch.round(x / scale) + zero, -128, 127)
        return ((codes - zero) * scale - x).square().mean().item()

    best = min(error(2 * bound / 255, 0) for bound in torch.linspace(2, 12, 200).tolist())
    assert error(*observer.calculate_qparams()) < 1.02 * best


def test_every_operator_of_the_compiler_has_a_rule_that_the_passes_fold_by():
    rows = {name: rest for name, *rest in _rushlight.operators()}
    assert rows["aten.conv2d.default"] == ["conv2d", "weighted", True]
    assert rows["aten.linear.default"] == ["linear", "weighted", True]
    assert rows["aten.batch_norm.default"] == ["batch_norm", "absorbed", False]
    assert rows["aten.avg_pool2d.default"] == ["avg_pool2d", "rescaled", False]
    assert rows["aten.max_pool2d.default"] == ["max_pool2d", "moved", False]
    assert {scales for _, scales, _ in rows.values()} == {
        "weighted", "rescaled", "moved", "probability", "absorbed", "float"
    }  # fmt: skip


ACTIVATIONS = [
    nn.Hardswish(), nn.SiLU(), nn.GELU(), nn.ELU(0.7), nn.Mish(), nn.LeakyReLU(0.2), nn.PReLU(), nn.Softplus(),
    nn.LogSigmoid(), nn.SELU(), nn.CELU(0.6), nn.GELU("tanh"), nn.Hardsigmoid(), nn.Sigmoid(), nn.Tanh(),
]  # fmt: skip
INTEGER_NETS = {
    "conv1d": (lambda: nn.Sequential(nn.Conv1d(3, 4, 3), nn.ReLU()), (1, 3, 12)),
    "conv2d same": (lambda: nn.Conv2d(3, 4, 3, padding="same"), (1, 3, 6, 6)),
    "clipped conv": (lambda: nn.Sequential(nn.Conv2d(3, 4, 3), nn.BatchNorm2d(4), nn.Hardtanh(-0.5, 0.75)), (1, 3, 6, 6)),
    "linear, norm, relu": (lambda: nn.Sequential(nn.Linear(6, 5), nn.BatchNorm1d(5), nn.ReLU()), (1, 6)),
    "concat": (lambda: Branches(nn.ReLU()), (1, 2, 4, 4)),
    "concat with probabilities": (lambda: Branches(nn.Softmax(dim=1)), (1, 2, 4, 4)),
    "add, relu": (lambda: Residual(), (1, 2, 4, 4)),
    "moves": (lambda: Moves(), (1, 3, 12, 15)),
    "average pools": (lambda: nn.Sequential(nn.AvgPool2d(2), nn.AdaptiveAvgPool2d(1), nn.Flatten()), (1, 3, 8, 8)),
    "average of a line": (lambda: nn.Sequential(nn.Conv1d(2, 3, 3), nn.AvgPool1d(2), nn.MaxPool1d(2)), (1, 2, 14)),
    "activations": (lambda: nn.Sequential(nn.Conv2d(2, 4, 3), *ACTIVATIONS, nn.Conv2d(4, 2, 1)), (1, 2, 6, 6)),
    "relu alone": (lambda: nn.Sequential(nn.MaxPool2d(2), nn.ReLU(), nn.MaxPool2d(2)), (1, 2, 8, 8)),
}  # fmt: skip


@pytest.mark.parametrize("name", INTEGER_NETS)
def test_what_the_quantizer_annotates_the_compiler_makes_integer(name, tmp_path):
    """No float kernel, and the program within one step of PyTorch's own evaluation of the quantized graph."""
    make, shape = INTEGER_NETS[name]
    torch.manual_seed(0)
    net = make()
    g = quantized(net, *shape)
    torch.export.save(torch.export.export(g, (torch.randn(shape),)), tmp_path / "net.pt2")
    program = rushlight.compile(tmp_path / "net.pt2")
    assert not [layer["kernel"] for layer in program.report["layers"] if "f32" in layer["kernel"]]
    x = torch.randn(8, *shape)
    wanted = torch.stack([g(one) for one in x]).numpy()
    step = program.report["entries"][0]["outputs"][0]["scale"]
    np.testing.assert_allclose(program(x.numpy()), wanted, atol=1.001 * step)
