# SPDX-License-Identifier: Apache-2.0
"""Runs a graph operator by operator, each over all samples, so that what follows may be changed in between."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

import torch
from torch import Tensor
from torch.fx import GraphModule, Interpreter, Node

Sample = tuple[Tensor, ...]


def layerwise(model: GraphModule, samples: Sequence[Sample]) -> Iterator[tuple[Node, list[Tensor]]]:
    """Yields each operator with its value for every sample, in the graph's order.

    Weights are read when their reader runs: whoever changes a later layer's weights before going on sees it computed
    with them. Values are kept until their last reader has run.
    """
    interpreter = Interpreter(model, garbage_collect_values=False)
    placeholders = iter(range(len(samples[0])))
    waiting = Counter({node: len(node.users) for node in model.graph.nodes})
    values: dict[Node, list] = {}
    for node in model.graph.nodes:
        if node.op == "output":
            return
        if node.op == "placeholder":
            index = next(placeholders)
            values[node] = [sample[index] for sample in samples]
            continue
        if node.op == "get_attr":
            continue
        values[node] = [_evaluate(interpreter, node, values, i) for i in range(len(samples))]
        if node.op == "call_function":
            yield node, values[node]
        for source in node.all_input_nodes:
            waiting[source] -= 1
            if not waiting[source]:
                values.pop(source, None)


@torch.no_grad()
def _evaluate(interpreter: Interpreter, node: Node, values: dict[Node, list], i: int):
    def load(source: Node):
        if source.op == "get_attr":
            return interpreter.fetch_attr(source.target)
        return values[source][i]

    args, kwargs = (torch.fx.node.map_arg(a, load) for a in (node.args, node.kwargs))
    return getattr(interpreter, node.op)(node.target, args, kwargs)
