# SPDX-License-Identifier: Apache-2.0
"""Says which values of an exported PyTorch graph become int8, and how (torchao PT2E).

The compiler's own table (`rules`) says how the scales of each operator's integer form hang together. The quantizer
walks the graph once in order and annotates by it, so what it writes is what the compiler folds.

    quantizer = CortexMQuantizer().keep("head.*", "float")
    prepared = prepare_pt2e(torch.export.export(net, example).module(), quantizer)
    for x in calibration: prepared(x)
    program = torch.export.export(convert_pt2e(prepared), example)
    print(quantizer.report())

For training, `CortexMQuantizer(training=True)` with prepare_qat_pt2e. `rushlight.quantize` does all of it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cache, reduce

import torch
from torch import Tensor
from torch._ops import OpOverload
from torch.fx import GraphModule, Node
from torchao.quantization.pt2e import (
    FakeQuantize,
    FusedMovingAvgObsFakeQuantize,
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

from rushlight import _rushlight
from rushlight.errors import user_error
from rushlight.observers import OBSERVERS

LEAST_SCALE = 2**-16


@dataclass(frozen=True)
class Rule:
    """What the compiler makes of an ATen operator.

    op: its name in the compiler. scales: "weighted", "rescaled", "moved", "probability", "absorbed" or "float", as
    QuantRule in ops/op_def.h. takes_clamp: an activation behind it is part of its kernel.
    """

    op: str
    scales: str
    takes_clamp: bool

    @property
    def keeps_scale(self) -> bool:
        """A clamp narrows the range, so it earns a scale of its own."""
        return self.scales == "moved" and not self.takes_clamp


@cache
def rules() -> dict[OpOverload, Rule]:
    """Every operator that the compiler takes and this PyTorch has."""
    table = {}
    for name, *rule in _rushlight.operators():
        try:
            target = reduce(getattr, name.split("."), torch.ops)
        except AttributeError:
            continue
        table[target] = Rule(*rule)
    return table


@dataclass(frozen=True)
class Specs:
    """The quantization of activations and of weights; the rest follows from them."""

    activation: QuantizationSpec
    weight: QuantizationSpec

    @staticmethod
    def of(observer: str, training: bool) -> Specs:
        """int8 -128..127 affine per tensor, int8 -127..127 symmetric per output channel."""
        if training:
            activation = FusedMovingAvgObsFakeQuantize.with_args(observer=MovingAverageMinMaxObserver, eps=LEAST_SCALE)
            weight = FakeQuantize.with_args(observer=MovingAveragePerChannelMinMaxObserver)
        else:
            activation = OBSERVERS[observer].with_args(eps=LEAST_SCALE)
            weight = PerChannelMinMaxObserver.with_args()
        return Specs(
            QuantizationSpec(torch.int8, activation, -128, 127, torch.per_tensor_affine),
            QuantizationSpec(torch.int8, weight, -127, 127, torch.per_channel_symmetric, ch_axis=0),
        )


# exp(x) / sum lies in 0..1, so its range needs no calibration; 1.0 itself saturates to 255/256.
PROBABILITY = FixedQParamsQuantizationSpec(torch.int8, 1 / 256, -128, -128, 127, torch.per_tensor_affine)


@dataclass(frozen=True)
class Choice:
    """What became of one operator, for the report."""

    layer: str
    operator: str
    choice: str

    def __str__(self) -> str:
        return f"{self.layer or '(model)':<32} {self.operator:<16} {self.choice}"


CHOICES = {
    "weighted": "int8, weights per output channel",
    "rescaled": "int8",
    "moved": "int8, the input's scale",
    "probability": "int8, scale 1/256",
}


@dataclass(frozen=True)
class Match:
    """The nodes that become one integer kernel: `head` computes, `last` (maybe the same) gives the value stored."""

    head: Node
    last: Node

    def nodes(self) -> list[Node]:
        nodes = [self.head]
        while nodes[-1] is not self.last:
            nodes.append(next(iter(nodes[-1].users)))
        return nodes

    def annotate(self, inputs: dict[Node, QuantizationSpecBase], output: QuantizationSpecBase) -> None:
        """Writes the annotations; what lies between `head` and `last` is never stored, so it has none."""
        for node in self.nodes():
            node.meta[Q_ANNOTATION_KEY] = QuantizationAnnotation(_annotated=True)
        self.head.meta[Q_ANNOTATION_KEY].input_qspec_map = inputs
        self.last.meta[Q_ANNOTATION_KEY].output_qspec = output


class CortexMQuantizer(Quantizer):
    """int8 for Cortex-M: activations affine per tensor, weights symmetric per output channel, biases int32.

    observer: how ranges of activations follow from calibration: "min-max", "mse" (least mean square error) or
        "percentile" (99.99).
    training: fake quantization with moving averages, for prepare_qat_pt2e.
    """

    def __init__(self, observer: str = "min-max", *, training: bool = False) -> None:
        super().__init__()
        if observer not in OBSERVERS:
            raise user_error(f'there is no observer "{observer}"', f"choose {', '.join(OBSERVERS)}")
        self.specs = Specs.of(observer, training)
        self.choices: list[Choice] = []
        self._kept: list[str] = []

    def keep(self, layers: str, dtype: str) -> CortexMQuantizer:
        """Leaves layers as they are. layers: module path, with * and ?. dtype: "float". Returns self."""
        if dtype != "float":
            raise user_error(
                f'keep("{layers}", "{dtype}"): there is no kernel for {dtype}', 'leave it int8, or keep it in "float"'
            )
        self._kept.append(layers)
        return self

    def annotate(self, model: GraphModule) -> GraphModule:
        """Says what of the graph is observed; called by prepare_pt2e. Fills in `choices`. Raises Error."""
        self.choices = []
        self._check_kept(model)
        done: set[Node] = set()
        for node in model.graph.nodes:
            if node.op != "call_function" or node in done or Q_ANNOTATION_KEY in node.meta or not _is_float(node):
                continue
            match = _match(node)
            why = self._why_float(match)
            if why is None:
                self._annotate(match)
            done.update(match.nodes())
            rule = rules().get(node.target)
            self.choices.append(Choice(layer_of(node), _operator(node), why or CHOICES[rule.scales]))
        return model

    def validate(self, model: GraphModule) -> None:
        """Nothing to refuse: what stays float is in the report, and the compiler names it with its cost."""

    def report(self) -> str:
        """A line for each operator: layer, operator, what it became and why."""
        return "\n".join(str(choice) for choice in self.choices)

    def _check_kept(self, model: GraphModule) -> None:
        layers = sorted({layer_of(node) for node in model.graph.nodes if node.op == "call_function"} - {""})
        for pattern in self._kept:
            if not any(_covers(pattern, layer) for layer in layers):
                raise user_error(
                    f'keep("{pattern}", "float"): no layer has this name', f"choose among {', '.join(layers)}"
                )

    def _why_float(self, match: Match) -> str | None:
        """None where the operator becomes int8."""
        head = match.head
        rule = rules().get(head.target)
        if rule is None:
            return "float: the compiler does not have it"
        if rule.scales in ("float", "absorbed"):
            return "float: no integer form"
        for pattern in self._kept:
            if any(_covers(pattern, layer_of(node)) for node in match.nodes()):
                return f'float: keep("{pattern}", "float")'
        if not all(source.op == "get_attr" or _is_float(source) for source in head.all_input_nodes):
            return "float: an operand is not float32"
        if rule.scales == "weighted" and _constant(argument(head, "weight")) is None:
            return "float: the weight is computed"
        return None

    def _annotate(self, match: Match) -> None:
        rule = rules()[match.head.target]
        if rule.scales == "weighted":
            self._annotate_weighted(match)
        elif rule.keeps_scale and self._can_share(match.head):
            first, *others = match.head.all_input_nodes
            shared = SharedQuantizationSpec((first, match.head))
            match.annotate({first: self._input_spec(first), **dict.fromkeys(others, shared)}, shared)
        else:
            slope = argument(match.head, "weight")  # PReLU's becomes part of a table
            inputs = {source: self._input_spec(source) for source in match.head.all_input_nodes if source is not slope}
            match.annotate(inputs, PROBABILITY if rule.scales == "probability" else self.specs.activation)

    def _annotate_weighted(self, match: Match) -> None:
        """The int32 bias takes the sum's scale, x's times the weight's, per output channel."""
        x, weight, bias = (argument(match.head, name) for name in ("input", "weight", "bias"))
        inputs = {x: self._input_spec(x), weight: self.specs.weight}
        if isinstance(bias, Node):
            inputs[bias] = DerivedQuantizationSpec(
                derived_from=[(x, match.head), (weight, match.head)],
                derive_qparams_fn=_sum_qparams,
                dtype=torch.int32,
                quant_min=-(2**31) + 1,
                quant_max=2**31 - 1,
                qscheme=torch.per_channel_symmetric,
                ch_axis=0,
            )
        match.annotate(inputs, self.specs.activation)

    def _input_spec(self, source: Node) -> QuantizationSpecBase:
        """The producer's own quantization where it has one, so that no value is quantized twice."""
        return self.specs.activation if _output_spec(source) is None else SharedQuantizationSpec(source)

    def _can_share(self, head: Node) -> bool:
        """Padding's value lies in the input's range; of several inputs none has a scale that cannot move."""
        if rules()[head.target].op == "pad" and argument(head, "value"):
            return False
        sources = head.all_input_nodes
        return len(sources) == 1 or all(_root_spec(source) is not PROBABILITY for source in sources)


def _match(head: Node) -> Match:
    """`head`, then a batch norm and an activation of its kernel, as long as nothing else reads between."""
    rule = rules().get(head.target)
    last = head
    if rule is not None and rule.scales == "weighted":
        last = _follow(last, lambda next_rule: next_rule.scales == "absorbed")
    if rule is not None and rule.takes_clamp:
        last = _follow(last, lambda next_rule: next_rule.op == "clamp")
    return Match(head, last)


def _follow(node: Node, accepts) -> Node:
    follower = next(iter(node.users)) if len(node.users) == 1 else None
    rule = rules().get(follower.target) if follower is not None and follower.op == "call_function" else None
    return follower if rule is not None and accepts(rule) else node


def _sum_qparams(observers: Sequence) -> tuple[Tensor, Tensor]:
    (x_scale, _), (weight_scale, _) = (o.calculate_qparams() for o in observers)
    scale = (x_scale * weight_scale).to(torch.float32)
    return scale, torch.zeros(scale.shape, dtype=torch.int32)


def argument(node: Node, name: str) -> object:
    """A call's argument by the name that its operator's schema gives it."""
    for i, argument in enumerate(node.target._schema.arguments):
        if argument.name == name:
            return node.args[i] if i < len(node.args) else node.kwargs.get(name, argument.default_value)
    return None


def _constant(value: object) -> Node | None:
    return value if isinstance(value, Node) and value.op == "get_attr" else None


def _output_spec(node: Node) -> QuantizationSpecBase | None:
    annotation = node.meta.get(Q_ANNOTATION_KEY)
    return annotation.output_qspec if annotation is not None else None


def _root_spec(node: Node) -> QuantizationSpecBase | None:
    spec = _output_spec(node)
    while isinstance(spec, SharedQuantizationSpec):
        edge = spec.edge_or_node
        spec = _output_spec(edge) if isinstance(edge, Node) else edge[1].meta[Q_ANNOTATION_KEY].input_qspec_map[edge[0]]
    return spec


def layer_of(node: Node) -> str:
    """Path of the module that the node came from: "blocks.0.conv"."""
    stack = node.meta.get("nn_module_stack")
    return list(stack.values())[-1][0].removeprefix("L['self'].") if stack else ""


def _operator(node: Node) -> str:
    target = node.target
    return target._schema.name.removeprefix("aten::") if isinstance(target, OpOverload) else str(target)


def _covers(pattern: str, layer: str) -> bool:
    """The pattern names the layer or a module around it."""
    parts = layer.split(".")
    return any(fnmatchcase(".".join(parts[: i + 1]), pattern) for i in range(len(parts)))


def _is_float(node: Node) -> bool:
    value = node.meta.get("val")
    return isinstance(value, Tensor) and value.dtype == torch.float32
