# SPDX-License-Identifier: Apache-2.0
"""Says which values of an exported PyTorch graph become int8, and how (torchao PT2E).

The quantizer walks the graph once in order.  A row of `PATTERNS` names the operators that begin an integer kernel,
those that may follow inside it, and the rule that writes the annotation; an operator without a row stays float.

    prepared = prepare_pt2e(torch.export.export(net, example).module(), CortexMQuantizer())
    for x in calibration: prepared(x)
    program = torch.export.export(convert_pt2e(prepared), example)
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor
from torch.fx import GraphModule, Node
from torchao.quantization.pt2e import (
    FakeQuantize,
    FusedMovingAvgObsFakeQuantize,
    HistogramObserver,
    MovingAverageMinMaxObserver,
    MovingAveragePerChannelMinMaxObserver,
    PerChannelMinMaxObserver,
)
from torchao.quantization.pt2e.quantizer import (
    DerivedQuantizationSpec,
    FixedQParamsQuantizationSpec,
    QuantizationAnnotation,
    QuantizationSpec,
    QuantizationSpecBase,
    Quantizer,
    SharedQuantizationSpec,
)
from torchao.quantization.pt2e.quantizer.quantizer import Q_ANNOTATION_KEY

_aten = torch.ops.aten
Targets = frozenset  # of operator overloads
ACTIVATIONS = Targets(
    {
        _aten.relu.default,
        _aten.relu_.default,
        _aten.hardtanh.default,
        _aten.hardtanh_.default,
        _aten.clamp.default,
    }
)
BATCH_NORMS = Targets({_aten.batch_norm.default})


@dataclass(frozen=True)
class Specs:
    """The quantization of activations and of weights; the rest follows from them."""

    activation: QuantizationSpec
    weight: QuantizationSpec


def post_training_specs() -> Specs:
    """int8 -128..127 affine per tensor, int8 -127..127 symmetric per output channel, from observed ranges."""
    return _specs(HistogramObserver.with_args(eps=2**-12), PerChannelMinMaxObserver.with_args())


def training_specs() -> Specs:
    """The same types with fake quantization, for quantization-aware training."""
    return _specs(
        FusedMovingAvgObsFakeQuantize.with_args(observer=MovingAverageMinMaxObserver, eps=2**-12),
        FakeQuantize.with_args(observer=MovingAveragePerChannelMinMaxObserver),
    )


def _specs(activation_observer: Callable, weight_observer: Callable) -> Specs:
    return Specs(
        activation=QuantizationSpec(
            dtype=torch.int8,
            observer_or_fake_quant_ctr=activation_observer,
            quant_min=-128,
            quant_max=127,
            qscheme=torch.per_tensor_affine,
        ),
        weight=QuantizationSpec(
            dtype=torch.int8,
            observer_or_fake_quant_ctr=weight_observer,
            quant_min=-127,
            quant_max=127,
            qscheme=torch.per_channel_symmetric,
            ch_axis=0,
        ),
    )


# exp(x) / sum lies in 0..1, so its range needs no calibration; 1.0 itself saturates to 255/256.
PROBABILITY = FixedQParamsQuantizationSpec(
    dtype=torch.int8,
    scale=1 / 256,
    zero_point=-128,
    quant_min=-128,
    quant_max=127,
    qscheme=torch.per_tensor_affine,
)


@dataclass(frozen=True)
class Match:
    """The nodes that become one integer kernel: `head` computes, `last` (maybe the same) gives the value stored."""

    head: Node
    last: Node
    specs: Specs

    def input_spec(self, source: Node) -> QuantizationSpecBase:
        """The producer's own quantization where it has one, so that no value is quantized twice."""
        produced = source.meta.get(Q_ANNOTATION_KEY)
        if produced is not None and produced.output_qspec is not None:
            return SharedQuantizationSpec(source)
        return self.specs.activation

    def annotate(self, inputs: dict[Node, QuantizationSpecBase], output: QuantizationSpecBase) -> None:
        """Writes the annotations; what lies between `head` and `last` is never stored, so it has none."""
        node = self.head
        node.meta[Q_ANNOTATION_KEY] = QuantizationAnnotation(inputs, _annotated=True)
        while node is not self.last:
            node = next(iter(node.users))
            node.meta[Q_ANNOTATION_KEY] = QuantizationAnnotation(_annotated=True)
        node.meta[Q_ANNOTATION_KEY].output_qspec = output


def annotate_weighted(match: Match) -> None:
    """x, weight, bias: the int32 bias takes the accumulator's scale, x's times the weight's, per output channel."""
    x, weight, *rest = match.head.args
    inputs = {x: match.input_spec(x), weight: match.specs.weight}
    bias = rest[0] if rest else None
    if isinstance(bias, Node):
        inputs[bias] = DerivedQuantizationSpec(
            derived_from=[(x, match.head), (weight, match.head)],
            derive_qparams_fn=_accumulator_qparams,
            dtype=torch.int32,
            quant_min=-(2**31) + 1,
            quant_max=2**31 - 1,
            qscheme=torch.per_channel_symmetric,
            ch_axis=0,
        )
    match.annotate(inputs, match.specs.activation)


def _accumulator_qparams(observers: Sequence) -> tuple[Tensor, Tensor]:
    (x_scale, _), (weight_scale, _) = (o.calculate_qparams() for o in observers)
    scale = (x_scale * weight_scale).to(torch.float32)
    return scale, torch.zeros(scale.shape, dtype=torch.int32)


def annotate_rescaled(match: Match) -> None:
    """Every tensor input keeps its scale, the output gets its own."""
    match.annotate(_tensor_inputs(match), match.specs.activation)


def annotate_shared(match: Match) -> None:
    """Values are only moved, chosen or averaged: the output has the input's scale and zero point."""
    if not _pad_value_in_range(match.head):
        return annotate_rescaled(match)
    inputs = _tensor_inputs(match)
    match.annotate(inputs, SharedQuantizationSpec((match.head.args[0], match.head)))


def annotate_probability(match: Match) -> None:
    match.annotate(_tensor_inputs(match), PROBABILITY)


def _tensor_inputs(match: Match) -> dict[Node, QuantizationSpecBase]:
    return {a: match.input_spec(a) for a in match.head.args if isinstance(a, Node)}


def _pad_value_in_range(node: Node) -> bool:
    """Zero is in every affine range; any other constant might be cut off by the input's."""
    if node.target is not _aten.pad.default:
        return True
    mode, value = (*node.args[2:], *("constant", None)[len(node.args) - 2 :])
    return mode != "constant" or not value


@dataclass(frozen=True)
class Pattern:
    """`head`, then at most one operator of each set in `tail`, in that order, as long as nothing else reads between."""

    head: Targets
    rule: Callable[[Match], None]
    tail: tuple[Targets, ...] = ()

    def match(self, head: Node, specs: Specs) -> Match:
        last = head
        for optional in self.tail:
            follower = next(iter(last.users)) if len(last.users) == 1 else None
            if follower is not None and follower.target in optional:
                last = follower
        return Match(head, last, specs)


PATTERNS: tuple[Pattern, ...] = (
    Pattern(
        Targets({_aten.conv2d.default, _aten.conv2d.padding, _aten.linear.default}),
        annotate_weighted,
        (BATCH_NORMS, ACTIVATIONS),
    ),
    Pattern(Targets({_aten.add.Tensor, _aten.add_.Tensor}), annotate_rescaled, (ACTIVATIONS,)),
    Pattern(Targets({_aten.mean.dim}) | ACTIVATIONS, annotate_rescaled),
    Pattern(Targets({_aten.softmax.int}), annotate_probability),
    Pattern(
        Targets(
            {
                _aten.max_pool2d.default,
                _aten.avg_pool2d.default,
                _aten.adaptive_avg_pool2d.default,
                _aten.flatten.using_ints,
                _aten.view.default,
                _aten.reshape.default,
                _aten.permute.default,
                _aten.dropout.default,
                _aten.dropout_.default,
                _aten.pad.default,
            }
        ),
        annotate_shared,
    ),
)

_PATTERN_OF = {target: pattern for pattern in PATTERNS for target in pattern.head}


class CortexMQuantizer(Quantizer):
    """int8 for Cortex-M: see `post_training_specs` for the types and `PATTERNS` for the operators."""

    def __init__(self, specs: Specs | None = None) -> None:
        self.specs = specs or post_training_specs()

    def annotate(self, model: GraphModule) -> GraphModule:
        for node in model.graph.nodes:
            pattern = _PATTERN_OF.get(node.target)
            if pattern is not None and Q_ANNOTATION_KEY not in node.meta and _is_float(node):
                pattern.rule(pattern.match(node, self.specs))
        return model

    def validate(self, model: GraphModule) -> None:
        """Nothing to refuse: an operator without a row stays float, and the compiler names it with its cost."""


def _is_float(node: Node) -> bool:
    value = node.meta.get("val")
    return isinstance(value, Tensor) and value.dtype == torch.float32
