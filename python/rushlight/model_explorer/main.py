# SPDX-License-Identifier: Apache-2.0
"""The adapter: graphs of `rushlight view` in Model Explorer's own classes."""

from __future__ import annotations

import json
from pathlib import Path

from model_explorer import Adapter, AdapterMetadata, ModelExplorerGraphs, graph_builder

from rushlight import _rushlight


def _attributes(items: list[dict]) -> list[graph_builder.KeyValue]:
    return [graph_builder.KeyValue(**item) for item in items]


def _node(node: dict) -> graph_builder.GraphNode:
    return graph_builder.GraphNode(
        id=node["id"],
        label=node["label"],
        namespace=node["namespace"],
        attrs=_attributes(node["attrs"]),
        incomingEdges=[graph_builder.IncomingEdge(**edge) for edge in node["incomingEdges"]],
        outputsMetadata=[
            graph_builder.MetadataItem(id=item["id"], attrs=_attributes(item["attrs"]))
            for item in node["outputsMetadata"]
        ],
    )


class RushlightAdapter(Adapter):
    metadata = AdapterMetadata(
        id="rushlight",
        name="Rushlight program",
        description="Shows the steps of a compiled program, grouped by the layers of the model",
        source_repo="",
        fileExts=["rush"],
    )

    def convert(self, model_path: str, settings: dict) -> ModelExplorerGraphs:
        files = _rushlight.explore_image(Path(model_path).read_bytes(), model_path)
        graphs = json.loads(files["graphs.json"])
        return {"graphs": [graph_builder.Graph(id=g["id"], nodes=[_node(n) for n in g["nodes"]]) for g in graphs]}
