# SPDX-License-Identifier: Apache-2.0
"""Cross-layer equalization: channels of a map are scaled to similar ranges, so that one int8 scale suits them all.

A factor on a channel passes through relu, sums, pools and padding with zeros. So the layers that make a map may be
multiplied by it, output channel by output channel, and the layers that read the map divided, and the network computes
what it did (Nagel et al., "Data-Free Quantization Through Weight Equalization and Bias Correction", 2019). Here the
ranges are those of the activations as calibrated: weights have a scale per output channel, so the producers lose
nothing; what the readers' weights lose is weighed against what the map gains.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import torch
from torch import Tensor
from torch.fx import GraphModule, Node

from rushlight.layerwise import Sample, layerwise
from rushlight.quantizer import argument, layer_of, rules

EXPONENTS = torch.linspace(0, 1, 9).tolist()
MOST = 2.0**6  # largest factor between two channels
WORTH_DB = 1.0  # scaled channels have no headroom left for inputs unlike the calibration's, so it must pay


@dataclass
class Group:
    """Maps whose channels must be scaled alike, with what makes and what reads them."""

    maps: list[Node] = field(default_factory=list)
    makers: list[Node] = field(default_factory=list)
    readers: list[Node] = field(default_factory=list)
    free: bool = True


@dataclass(frozen=True)
class Statistics:
    """Of each channel of a map over the calibration: largest magnitude and mean square."""

    largest: Tensor
    power: Tensor


@dataclass(frozen=True)
class Equalized:
    layers: list[str]
    exponent: float
    gain_db: float  # predicted, of the readers' outputs

    def __str__(self) -> str:
        return f"{' + '.join(self.layers):<48} exponent {self.exponent:g}, {self.gain_db:+.1f} dB predicted"


def equalize(model: GraphModule, samples: Sequence[Sample]) -> list[Equalized]:
    """Scales weights in place. The graph has its batch norms folded."""
    groups = [g for g in _groups(model) if g.free and g.makers and g.readers]
    statistics = _statistics(model, samples, {m for g in groups for m in g.maps})
    return [done for group in groups if (done := _equalize(model, group, statistics)) is not None]


def _groups(model: GraphModule) -> list[Group]:
    """Every map with a channel axis is in one group."""
    group_of: dict[Node, Group] = {}

    def join(a: Node, b: Node) -> None:
        keep, gone = group_of[a], group_of[b]
        if keep is gone:
            return
        for part in ("maps", "makers", "readers"):
            getattr(keep, part).extend(getattr(gone, part))
        keep.free &= gone.free
        for node in gone.maps:
            group_of[node] = keep

    for node in model.graph.nodes:
        if node.op == "get_attr":
            continue
        group_of[node] = Group(maps=[node], free=node.op == "call_function")
        sources = [n for n in node.all_input_nodes if n.op != "get_attr"]
        rule = rules().get(node.target)
        if rule is not None and rule.scales == "weighted" and len(sources) == 1:
            group_of[node].makers.append(node)
            group_of[sources[0]].readers.append(node)
            for map_ in (node, sources[0]):
                group_of[map_].free &= _works_on_channels(node)
        elif rule is not None and len(sources) == len(node.all_input_nodes) and _passes_factors(node, rule.op):
            for source in sources:
                join(source, node)
        else:
            for source in (node, *sources):
                group_of[source].free = False
    return list({id(g): g for g in group_of.values()}.values())


def _works_on_channels(node: Node) -> bool:
    """Axis 1 of input and output are the channels of a weight of its own, all of them or one map for each."""
    shape, groups = argument(node, "input").meta["val"].shape, argument(node, "groups") or 1
    weight = argument(node, "weight")
    dense = groups == 1 and (len(shape) == 2 or argument(node, "groups") is not None)
    return weight.op == "get_attr" and len(weight.users) == 1 and (dense or groups == shape[1])


def _passes_factors(node: Node, op: str) -> bool:
    """f(s x) = s f(x) for a positive s of each channel, and channels stay where they are."""
    if op == "clamp":
        return node.target in _RELUS
    if op == "add":
        shapes = {n.meta["val"].shape for n in node.all_input_nodes}
        return len(node.all_input_nodes) == 2 and len(shapes) == 1
    if op == "pad":
        shape = node.meta["val"].shape
        return not argument(node, "value") and shape[1] == node.args[0].meta["val"].shape[1]
    if op == "mean":
        rank = node.args[0].meta["val"].ndim
        return all(d % rank > 1 for d in argument(node, "dim") or [0])
    if op == "reshape":
        before, after = node.args[0].meta["val"].shape, node.meta["val"].shape
        return before[:2] == after[:2] and before.numel() == after.numel() == before[0] * before[1]
    return op in ("identity", "max_pool2d", "avg_pool2d")


_RELUS = {torch.ops.aten.relu.default, torch.ops.aten.relu_.default}


def _statistics(model: GraphModule, samples: Sequence[Sample], maps: set[Node]) -> dict[Node, Statistics]:
    found = {}
    for node, values in layerwise(model, samples):
        if node in maps:
            channels = torch.cat([v.transpose(0, 1).flatten(1) for v in values], 1)
            found[node] = Statistics(channels.abs().amax(1), channels.square().mean(1))
    return found


def _weight(model: GraphModule, node: Node) -> Tensor:
    return model.get_parameter(argument(node, "weight").target)


def _stored(group: Group) -> list[Node]:
    """The maps of a group that exist in memory: not what an activation follows."""
    return [m for m in group.maps if not any(u.target in _RELUS for u in m.users) or len(m.users) > 1]


def _equalize(model: GraphModule, group: Group, statistics: dict[Node, Statistics]) -> Equalized | None:
    stored = [statistics[m] for m in _stored(group)]
    largest = torch.stack([s.largest for s in stored]).amax(0)
    alive = largest > 0
    if not alive.any():
        return None

    def factors(exponent: float) -> Tensor:
        relative = torch.where(alive, largest / largest.max(), 1.0).clamp(min=1 / MOST)
        return relative**-exponent

    noises = {e: _noise(model, group, statistics, factors(e)) for e in EXPONENTS}
    best = min(noises, key=noises.get)
    gain = 10 * torch.log10(noises[0] / noises[best]).item()
    if gain < WORTH_DB:
        return None
    _scale(model, group, factors(best))
    return Equalized([layer_of(n) for n in group.makers], best, gain)


def _noise(model: GraphModule, group: Group, statistics: dict[Node, Statistics], factors: Tensor) -> Tensor:
    """Mean square error of the readers' outputs, relative to their power, that quantizing map and weights makes."""
    total = torch.tensor(0.0)
    for reader in group.readers:
        seen = statistics[argument(reader, "input")]
        weight = _weight(model, reader).detach()
        depthwise = (argument(reader, "groups") or 1) > 1
        rows = weight.flatten(2) if weight.ndim > 2 else weight[:, :, None]
        if depthwise:
            rows = rows.reshape(len(seen.power), -1, rows.shape[2]).transpose(0, 1)  # (multiplier, channel, taps)
        power, step = seen.power * factors**2, (seen.largest * factors).max() / 255
        rows = rows / factors[None, :, None]
        weight_step = rows.abs().amax(2 if depthwise else (1, 2), keepdim=True) / 127
        noise = step**2 * rows.square().sum() + (weight_step**2 * power[None, :, None]).expand_as(rows).sum()
        total = total + noise / (rows.square() * power[None, :, None]).sum()
    return total


def _scale(model: GraphModule, group: Group, factors: Tensor) -> None:
    for maker in group.makers:
        for name in ("weight", "bias"):
            attribute = argument(maker, name)
            if isinstance(attribute, Node):
                parameter = model.get_parameter(attribute.target)
                parameter.data.mul_(factors.reshape(-1, *[1] * (parameter.ndim - 1)))
    for reader in group.readers:
        weight = _weight(model, reader)
        groups = argument(reader, "groups") or 1
        if groups > 1:
            by_output = factors.repeat_interleave(len(weight) // groups)
            weight.data.div_(by_output.reshape(-1, *[1] * (weight.ndim - 1)))
        else:
            weight.data.div_(factors.reshape(1, -1, *[1] * (weight.ndim - 2)))
