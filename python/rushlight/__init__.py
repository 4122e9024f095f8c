# SPDX-License-Identifier: Apache-2.0
"""Rushlight: PyTorch models on Arm Cortex-M microcontrollers.

```python
import rushlight

q = rushlight.quantize(net, calibration)                 # needs torch and torchao
program = rushlight.compile(q, target="cortex-m55")      # also of a .pt2 file, without PyTorch
print(program.summary())
program.compare(net, x)                                  # layer by layer
y = program(x)                                           # bit for bit what the device gives
program.save("out")
```
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

from rushlight._rushlight import Error
from rushlight.evaluation import Evaluation, evaluate
from rushlight.program import ByteInput, Program, compile, run_image, targets

if TYPE_CHECKING:
    from rushlight.post_training import Quantized, quantize
    from rushlight.quantizer import CortexMQuantizer

__all__ = [
    "ByteInput",
    "CortexMQuantizer",
    "Error",
    "Evaluation",
    "Program",
    "Quantized",
    "compile",
    "evaluate",
    "quantize",
    "run_image",
    "targets",
]

# Loaded on first use, since compiling and running do without PyTorch.
_NEEDS_TORCH = {"CortexMQuantizer": "quantizer", "Quantized": "post_training", "quantize": "post_training"}


def __getattr__(name: str):
    if name in _NEEDS_TORCH:
        return getattr(importlib.import_module(f"rushlight.{_NEEDS_TORCH[name]}"), name)
    raise AttributeError(f"module 'rushlight' has no attribute {name!r}")
