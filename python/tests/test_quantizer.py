# SPDX-License-Identifier: Apache-2.0
"""The q/dq graphs that CortexMQuantizer leads to, against integers computed here from the float weights."""

import numpy as np
import pytest

pytest.importorskip("torchao", reason="needs the PyTorch environment")
import torch  # noqa: E402
from torch import nn  # noqa: E402
from torchao.quantization.pt2e.quantize_pt2e import convert_pt2e, prepare_pt2e, prepare_qat_pt2e  # noqa: E402

from rushlight.quantizer import CortexMQuantizer, training_specs  # noqa: E402

OPS = torch.ops.quantized_decomposed
ATEN = torch.ops.aten
QUANTIZE = OPS.quantize_per_tensor.default
DEQUANTIZE = OPS.dequantize_per_tensor.default
PER_CHANNEL = OPS.dequantize_per_channel.default


def quantized(net, *shape):
    """The converted graph module of `net`, calibrated on 20 random inputs."""
    torch.manual_seed(1)
    example = (torch.randn(shape),)
    prepared = prepare_pt2e(torch.export.export(net.eval(), example).module(), CortexMQuantizer())
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
        x = nn.functional.avg_pool2d(x, 2)
        x = x.permute(0, 2, 3, 1).reshape(1, -1, 2, 4)
        x = nn.functional.adaptive_avg_pool2d(x, 1)
        return nn.functional.dropout(x.flatten(1), training=False)


def test_pools_and_shape_operators_keep_one_scale():
    g = quantized(Moves(), 1, 3, 13, 15)
    kept = {params(n) for n in g.graph.nodes if n.target in (QUANTIZE, DEQUANTIZE)}
    assert len(kept) == 1 and targets(g).count(QUANTIZE) == 9


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


class MeanOfSigmoid(nn.Module):
    def forward(self, x):
        return torch.sigmoid(x).mean((2, 3))


def test_operators_without_a_row_stay_float():
    g = quantized(MeanOfSigmoid(), 1, 2, 4, 4)
    assert targets(g)[0] is ATEN.sigmoid.default
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


def test_training_specs_give_the_same_graph():
    torch.manual_seed(0)
    net = nn.Sequential(nn.Conv2d(1, 4, 3), nn.BatchNorm2d(4), nn.ReLU(), nn.Flatten(), nn.Linear(16, 3))
    example = (torch.randn(2, 1, 4, 4),)
    captured = torch.export.export(net.train(), example).module()
    prepared = prepare_qat_pt2e(captured, CortexMQuantizer(training_specs()))
    for _ in range(3):
        prepared(*example).sum().backward()
    trained = convert_pt2e(prepared)
    assert targets(trained) == targets(quantized(net, 2, 1, 4, 4))
    for op in (ATEN.conv2d.default, ATEN.linear.default):
        integers = stored(trained, only(trained, op).args[1])[0]
        assert integers.dtype == np.int8 and integers.min() >= -127
