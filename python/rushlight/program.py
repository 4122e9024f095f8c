# SPDX-License-Identifier: Apache-2.0
"""Compiling, and what comes of it. NumPy only; PyTorch's objects are taken where there are any."""

from __future__ import annotations

import contextlib
import json
import os
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

import numpy as np

from rushlight import _rushlight
from rushlight.errors import user_error

if TYPE_CHECKING:
    import torch
    from torch import nn
    from torch.export import ExportedProgram


@dataclass(frozen=True)
class ByteInput:
    """A sensor's bytes as the model's first input: x = (byte * scale - mean) / std.

    mean, std: one number for all channels, or one for each.
    """

    scale: float = 1 / 255
    mean: float | Sequence[float] = 0.0
    std: float | Sequence[float] = 1.0


class Saves(Protocol):
    """What quantize() returns."""

    def save(self, path: str | os.PathLike) -> None: ...


class Program:
    """A compiled model. Made by compile()."""

    def __init__(self, compilation: _rushlight.Compilation, made_from: str):
        self._compilation = compilation
        self._made_from = made_from

    def __call__(
        self, *inputs: np.ndarray | torch.Tensor, stage: str = "program", raw: bool = False
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

    def compare(
        self,
        model: nn.Module | ExportedProgram | str | os.PathLike | None,
        *inputs: np.ndarray | torch.Tensor,
        expected: np.ndarray | Sequence[np.ndarray] = (),
        board: str | None = None,
    ) -> dict:
        """Compares every layer on the model's whole way to the device: what `rushlight compare --json` prints.

        model: the model before quantization, to compare with as well: an nn.Module, an ExportedProgram, a .pt2 file, or
            None.
        inputs: as those of a call.
        expected: outputs from elsewhere, one array for each output.
        board: an emulated board to run the firmware on.
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
        """Writes model.rush, model.h, model.cpp, report.json and report.html into a folder, created if absent."""
        self._compilation.save(Path(directory), self._made_from)


def compile(
    model: str | os.PathLike | ExportedProgram | Saves,
    target: str = "cortex-m55",
    *,
    opt: str = "balanced",
    ram: int | str | Mapping[str, int | str] | None = None,
    batch: int = 1,
    input_bytes: ByteInput | None = None,
    labels: Sequence[str] = (),
) -> Program:
    """Compiles an exported model.

    model: a .pt2 file written by torch.export.save, an ExportedProgram, or what quantize() returns.
    target: a name of targets(). opt: "balanced", "speed" or "size".
    ram: most RAM in all, bytes or "64K", or of some of a chip's memories, {"dtcm": "64K"}: layers run through rings of
        rows as far as that needs it. All RAM of a core goes by any one name.
    batch: what a symbolic batch dimension becomes.
    input_bytes: the first input is uint8 then, as a camera gives it, and is normalized on the way.
    labels: class names that the image carries.
    Raises Error, which names the layer and line of the model, where it cannot be compiled.
    """
    with _as_file(model) as file:
        made_from = file.name if isinstance(model, (str, os.PathLike)) else "an exported program"
        limits = {memory: _bytes(most) for memory, most in ram.items()} if isinstance(ram, Mapping) else {}
        most_ram = None if ram is None or limits else _bytes(ram)
        given = None if input_bytes is None else _byte_input(input_bytes)
        return Program(_rushlight.compile(file, target, opt, batch, most_ram, limits, given, list(labels)), made_from)


def _byte_input(given: ByteInput) -> _rushlight.ByteInput:
    return _rushlight.ByteInput(given.scale, *(np.atleast_1d(x).tolist() for x in (given.mean, given.std)))


@contextlib.contextmanager
def _as_file(
    model: nn.Module | ExportedProgram | Saves | str | os.PathLike | None, example: Sequence[np.ndarray] = ()
) -> Iterator[Path | None]:
    """The path of a .pt2 file; what is none is saved for as long as it is needed, a module after its export on an example."""
    if model is None or isinstance(model, (str, os.PathLike)):
        yield None if model is None else Path(model)
        return
    import torch

    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "model.pt2"
        if isinstance(model, torch.nn.Module):
            model = torch.export.export(model.eval(), tuple(torch.from_numpy(x) for x in example))
        if isinstance(model, torch.export.ExportedProgram):
            torch.export.save(model, file)
        else:
            model.save(file)
        yield file


def _bytes(amount: int | str) -> int:
    """65536, "65536", "64K", "1.5M"."""
    number, unit = (amount, "") if isinstance(amount, int) else (amount.rstrip("KM"), amount[-1:])
    try:
        return int(float(number) * {"K": 1 << 10, "M": 1 << 20}.get(unit, 1))
    except ValueError:
        raise user_error(f"ram={amount!r}: no number of bytes", "give bytes or, e.g., 64K") from None


def run_image(
    image: bytes, *inputs: np.ndarray | torch.Tensor, raw: bool = False
) -> np.ndarray | tuple[np.ndarray, ...]:
    """Runs an image of any target on the host; inputs and result as Program's."""
    outputs = _rushlight.run_image(image, [np.asarray(x) for x in inputs], raw)
    return outputs[0] if len(outputs) == 1 else tuple(outputs)


def targets() -> list[str]:
    """Names of the cores that can be compiled for."""
    return _rushlight.targets()
