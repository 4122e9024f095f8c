# SPDX-License-Identifier: Apache-2.0
"""Bias correction: what rounding adds to a layer's output on average is taken out of its integer bias.

Layer after layer, over the calibration samples, the quantized graph's output is compared with the float graph's, and
the mean difference of each channel subtracted (Nagel et al., 2019, section 4.2). The bias is int32 in steps of the
sum, so the correction itself is nearly exact and costs the device nothing.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor
from torch.fx import GraphModule, Node

from rushlight.layerwise import Sample, layerwise
from rushlight.quantizer import argument, layer_of, rules


def correct_biases(quantized: GraphModule, reference: GraphModule, samples: Sequence[Sample]) -> dict[str, float]:
    """Changes the biases of `quantized` in place. Returns each layer's largest correction, in parts of the output's
    standard deviation."""
    corrections = {}
    for (node, values), (_, wanted) in zip(
        _weighted_outputs(quantized, samples), _weighted_outputs(reference, samples), strict=True
    ):
        codes, scale = _stored_bias(quantized, node)
        if codes is None:
            continue
        shift = _systematic([_channel_means(y - w) for y, w in zip(values, wanted, strict=True)])
        codes.sub_(torch.round(shift / scale).to(codes.dtype))
        for value in values:
            value.sub_(shift.reshape(-1, *[1] * (value.ndim - _axis(value) - 1)))
        corrections[layer_of(node)] = (shift.abs().max() / torch.cat([w.flatten() for w in wanted]).std()).item()
    return corrections


def _systematic(errors: list[Tensor]) -> Tensor:
    """The mean over samples, shrunk by what of it may be chance: a few samples know their own mean, not everyone's."""
    errors = torch.stack(errors)
    mean, chance = errors.mean(0), errors.var(0, correction=0) / max(len(errors) - 1, 1)
    return mean * (1 - chance / mean.square().clamp(min=torch.finfo(mean.dtype).tiny)).clamp(min=0)


def _weighted_outputs(model: GraphModule, samples: Sequence[Sample]):
    for node, values in layerwise(model, samples):
        rule = rules().get(node.target)
        if rule is not None and rule.scales == "weighted":
            yield node, values


def _axis(value: Tensor) -> int:
    return 1 if value.ndim > 2 else value.ndim - 1


def _channel_means(value: Tensor) -> Tensor:
    return value.movedim(_axis(value), 0).flatten(1).mean(1)


def _stored_bias(model: GraphModule, node: Node) -> tuple[Tensor, Tensor] | tuple[None, None]:
    """Codes and scales behind the dequantize of a layer's bias, if it has one and is quantized."""
    dequantize = argument(node, "bias")
    if not isinstance(dequantize, Node) or dequantize.op != "call_function":
        return None, None
    codes, scale = (getattr(model, a.target) for a in dequantize.args[:2])
    return codes, scale
