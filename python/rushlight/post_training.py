# SPDX-License-Identifier: Apache-2.0
"""From a float model and calibration inputs to an int8 exported program, in one call."""

from __future__ import annotations

import copy
import math
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import torch
from torch import Tensor, nn
from torch.export import ExportedProgram
from torch.fx import GraphModule
from torchao.quantization.pt2e.quantize_pt2e import convert_pt2e, prepare_pt2e
from torchao.quantization.pt2e.quantizer import Quantizer

from rushlight import _rushlight
from rushlight.bias_correction import correct_biases
from rushlight.equalization import Equalized, equalize
from rushlight.errors import user_error
from rushlight.layerwise import Sample
from rushlight.quantizer import Choice, CortexMQuantizer

Inputs = np.ndarray | Tensor | Sequence[np.ndarray | Tensor]


@dataclass
class Quantized:
    """An int8 model and how it came about. str() is the report."""

    exported: ExportedProgram
    observer: str
    samples: int
    choices: list[Choice]
    equalized: list[Equalized] = field(default_factory=list)
    bias_corrections: dict[str, float] = field(default_factory=dict)

    def save(self, path: str | os.PathLike) -> None:
        """Writes a .pt2 file for `rushlight compile`."""
        partial = Path(path).with_name(f".{Path(path).name}.partial.pt2")
        torch.export.save(self.exported, partial)
        partial.replace(path)

    def module(self) -> nn.Module:
        """What PyTorch runs: the int8 model in floating point with quantize and dequantize."""
        return self.exported.module()

    def __call__(self, *inputs: Tensor) -> Tensor | tuple[Tensor, ...]:
        return self.module()(*inputs)

    def report(self) -> dict:
        """The choices for a script."""
        return {
            "observer": self.observer,
            "samples": self.samples,
            "operators": [vars(choice) for choice in self.choices],
            "equalized": [vars(e) for e in self.equalized],
            "bias_corrections": self.bias_corrections,
        }

    def __str__(self) -> str:
        lines = [f"calibrated on {self.samples} samples, ranges by {self.observer}"]
        lines += map(str, self.choices)
        if self.equalized:
            lines += ["", "channels equalized in the outputs of", *map(str, self.equalized)]
        if self.bias_corrections:
            lines += ["", "biases corrected by, in standard deviations of the layer's output at most"]
            lines += [f"{layer:<48} {most:.4f}" for layer, most in self.bias_corrections.items()]
        return "\n".join(lines)


def quantize(
    model: nn.Module | ExportedProgram | str | os.PathLike,
    calibration: Inputs,
    target: str = "cortex-m55",
    *,
    observer: str = "min-max",
    keep: Mapping[str, str] | None = None,
    equalize_channels: bool = True,
    correct_bias: bool = True,
) -> Quantized:
    """int8 after training: export, PT2E with CortexMQuantizer, convert.

    model: a float module in eval mode, a program from torch.export.export, or its .pt2 file.
    calibration: typical inputs, N samples stacked on axis 0: a batch of what the module takes, or (N, *shape) of the
        exported model with or without its batch axis of 1. A tuple of such arrays where the model has several inputs.
        A few dozen samples will do.
    target: a name of targets().
    observer: how ranges follow from calibration: "min-max", "percentile" or "mse", see rushlight.observers.
    keep: layers that stay as they are, {"head.*": "float"}, see CortexMQuantizer.keep.
    equalize_channels, correct_bias: see rushlight.equalization and rushlight.bias_correction.
    Raises Error where something does not fit.
    """
    if target not in _rushlight.targets():
        raise user_error(f'unknown target "{target}"', f"choose {', '.join(_rushlight.targets())}")
    quantizer = CortexMQuantizer(observer)
    for layers, dtype in (keep or {}).items():
        quantizer.keep(layers, dtype)
    with torch.no_grad():
        exported, samples = _exported(model, calibration)
        graph = fold_batch_norms(exported)
        equalized = equalize(graph, samples) if equalize_channels else []
        reference = copy.deepcopy(graph)
        prepared = prepare_pt2e(graph, quantizer)
        for sample in samples:
            prepared(*sample)
        converted = convert_pt2e(prepared)
        corrections = correct_biases(converted, reference, samples) if correct_bias else {}
        result = torch.export.export(converted, samples[0])
    return Quantized(result, observer, len(samples), quantizer.choices, equalized, corrections)


def fold_batch_norms(exported: ExportedProgram) -> GraphModule:
    """A copy of the program with its batch norms in the weights before them: what integer kernels compute."""
    return prepare_pt2e(copy.deepcopy(exported.module(check_guards=False)), _Nothing())


class _Nothing(Quantizer):
    """prepare_pt2e folds batch norms before it asks the quantizer, who here wants nothing observed."""

    def annotate(self, model: GraphModule) -> GraphModule:
        return model

    def validate(self, model: GraphModule) -> None:
        pass


def _exported(
    model: nn.Module | ExportedProgram | str | os.PathLike, calibration: Inputs
) -> tuple[ExportedProgram, list[Sample]]:
    arrays = calibration if isinstance(calibration, (tuple, list)) else (calibration,)
    stacked = [torch.as_tensor(array) for array in arrays]
    if len({len(x) for x in stacked}) != 1 or not len(stacked[0]):
        raise user_error(
            f"the calibration inputs hold {', '.join(str(len(x)) for x in stacked)} samples",
            "give every input the same number of samples, stacked on axis 0",
        )
    if isinstance(model, nn.Module):
        if model.training:
            raise user_error("the model is in training mode", "call model.eval() first")
        samples = list(zip(*(x.split(1) for x in stacked), strict=True))
        return torch.export.export(model, samples[0]), samples
    exported = torch.export.load(model) if isinstance(model, (str, os.PathLike)) else model
    shapes = [_shape(exported, name) for name in exported.graph_signature.user_inputs]
    if len(shapes) != len(stacked):
        raise user_error(
            f"the model has {len(shapes)} inputs, but {len(stacked)} were given to calibrate with",
            "give one array for each input, in the exported order",
        )
    for x, shape in zip(stacked, shapes, strict=True):
        if x[0].numel() != math.prod(shape):
            raise user_error(
                f"a calibration sample is {list(x.shape[1:])}, but the model takes {shape}",
                "stack the samples on axis 0, in the exported model's axis order",
            )
    return exported, [
        tuple(x.reshape(s) for x, s in zip(sample, shapes, strict=True)) for sample in zip(*stacked, strict=True)
    ]


def _shape(exported: ExportedProgram, name: str) -> list[int]:
    """A symbolic batch is one sample."""
    (node,) = [n for n in exported.graph.nodes if n.name == name]
    return [size if isinstance(size, int) else 1 for size in node.meta["val"].shape]
