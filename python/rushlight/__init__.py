# SPDX-License-Identifier: Apache-2.0
"""Rushlight: PyTorch models on Arm Cortex-M microcontrollers.

import rushlight
program = rushlight.compile("model.pt2", target="cortex-m55")
print(program.summary())
y = program(x)            # bit for bit what the device gives
program.save("out")
"""

from __future__ import annotations

import contextlib
import json
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from rushlight import _rushlight
from rushlight._rushlight import Error

__all__ = ["Error", "Program", "compile", "run_image", "targets"]


class Program:
    """A compiled model. Made by compile()."""

    def __init__(self, compilation: _rushlight.Compilation, made_from: str):
        self._compilation = compilation
        self._made_from = made_from

    def __call__(
        self, *inputs: np.ndarray, stage: str = "program", raw: bool = False
    ) -> np.ndarray | tuple[np.ndarray, ...]:
        """Runs N samples on the host, on all cores.

        inputs: one array for each input of the model, N samples stacked on axis 0 in the exported model's axis order,
            (N, *shape), or without the batch axis where it is 1; of the exported dtype, or int8 codes.
        stage: "torch", "quantized" or "program"; the program's result is the device's, bit for bit.
        raw: the integers before the final dequantize.
        Returns (N, *output shape), a tuple where the model has several outputs. Raises Error where an input does not fit.
        """
        outputs = self._compilation.run(stage, [np.asarray(x) for x in inputs], raw)
        return outputs[0] if len(outputs) == 1 else tuple(outputs)

    @property
    def image(self) -> bytes:
        """The bytes of model.rush."""
        return self._compilation.image

    @property
    def report(self) -> dict:
        """What report.json holds: layers, kernels, memory."""
        return json.loads(self._compilation.report_json())

    def summary(self) -> str:
        """The table that `rushlight compile` prints."""
        return self._compilation.report_text()

    def compare(self, model, *inputs: np.ndarray, expected=(), board: str | None = None) -> dict:
        """Compares every layer on the model's whole way to the device: what `rushlight compare --json` prints.

        model: the model before quantization, to compare with as well: an nn.Module, an ExportedProgram, a .pt2 file, or
            None. inputs: as those of a call. expected: outputs from elsewhere, one array for each output. board: an
            emulated board to run the firmware on.
        Returns a dict with "layers" (SQNR in dB, None where nothing differs; largest error; saturation; codes that
        differ), "outputs" and "divergences": the first layer at which each stage departs. Raises Error.
        """
        expected = [expected] if isinstance(expected, np.ndarray) else list(expected)
        arrays = [np.asarray(x) for x in inputs]
        with _as_file(model, self._first_sample(arrays)) as file:
            options = {"float_model": file, "expected": [np.asarray(y) for y in expected], "board": board}
            return json.loads(self._compilation.compare(arrays, options))

    def _first_sample(self, inputs: list[np.ndarray]) -> list[np.ndarray]:
        """Of each input, in the exported shape."""
        ports = self.report["entries"][0]["inputs"]
        return [x.reshape(-1, *port["shape"])[0] for x, port in zip(inputs, ports, strict=True)]

    def save(self, directory: str | os.PathLike) -> None:
        """Writes model.rush, model.h, model.cpp and report.json into a folder, created if absent."""
        self._compilation.save(Path(directory), self._made_from)


@contextlib.contextmanager
def _as_file(model, example: list[np.ndarray]) -> Iterator[Path | None]:
    """The path of a .pt2 file; an nn.Module is exported on an example, and saved for as long as it is needed."""
    if model is None or isinstance(model, (str, os.PathLike)):
        yield None if model is None else Path(model)
        return
    import torch

    if isinstance(model, torch.nn.Module):
        model = torch.export.export(model.eval(), tuple(torch.from_numpy(x) for x in example))
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "model.pt2"
        torch.export.save(model, file)
        yield file


def compile(model: str | os.PathLike, target: str = "cortex-m55", *, batch: int = 1) -> Program:
    """Compiles a .pt2 file written by torch.export.save.

    target: a name of targets(). batch: what a symbolic batch dimension becomes.
    Raises Error, which names the layer and line of the model, where it cannot be compiled.
    """
    return Program(_rushlight.compile(Path(model), target, batch), Path(model).name)


def run_image(image: bytes, *inputs: np.ndarray, raw: bool = False) -> np.ndarray | tuple[np.ndarray, ...]:
    """Runs an image of any target on the host; inputs and result as Program's."""
    outputs = _rushlight.run_image(image, [np.asarray(x) for x in inputs], raw)
    return outputs[0] if len(outputs) == 1 else tuple(outputs)


def targets() -> list[str]:
    """Names of the cores that can be compiled for."""
    return _rushlight.targets()
