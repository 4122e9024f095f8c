# SPDX-License-Identifier: Apache-2.0
"""A single-shot detector for 128x128 RGB pictures with about 450 KiB of int8 weights: what placement on a chip is shown
with. Its weights are random, since memories do not care what they hold.

    .venv/bin/python examples/detector/detector.py detector.pt2
"""

from __future__ import annotations

import sys

import torch
from torch import Tensor, nn
from torch.export import ExportedProgram
from torchao.quantization.pt2e.quantize_pt2e import convert_pt2e, prepare_pt2e

from rushlight.quantizer import CortexMQuantizer

INPUT_SHAPE = (1, 3, 128, 128)
CLASSES, BOXES = 3, 3
SEED = 20


def conv(channels: int, out: int, kernel: int, stride: int = 1, groups: int = 1) -> nn.Sequential:
    return nn.Sequential(
        nn.Conv2d(channels, out, kernel, stride, kernel // 2, groups=groups, bias=False), nn.BatchNorm2d(out), nn.ReLU()
    )


def separable(channels: int, out: int, stride: int = 1) -> nn.Sequential:
    return nn.Sequential(conv(channels, channels, 3, stride, groups=channels), conv(channels, out, 1))


class Detector(nn.Module):
    """MobileNetV1-like; for each cell of the 8x8 and 4x4 grids BOXES times (4 coordinates, objectness, CLASSES)."""

    def __init__(self) -> None:
        super().__init__()
        self.stem = conv(3, 16, 3, 2)
        self.blocks = nn.Sequential(
            separable(16, 32),
            separable(32, 48, 2),
            separable(48, 48),
            separable(48, 96, 2),
            separable(96, 96),
            separable(96, 192, 2),
            *[separable(192, 192) for _ in range(5)],
        )
        self.last = separable(192, 384, 2)
        self.again = separable(384, 256)
        self.near = nn.Conv2d(192, BOXES * (5 + CLASSES), 1)
        self.far = nn.Conv2d(256, BOXES * (5 + CLASSES), 1)

    def forward(self, picture: Tensor) -> tuple[Tensor, Tensor]:
        near = self.blocks(self.stem(picture))
        return self.near(near), self.far(self.again(self.last(near)))


def quantized() -> ExportedProgram:
    torch.manual_seed(SEED)
    net, example = Detector().eval(), (torch.zeros(INPUT_SHAPE),)
    prepared = prepare_pt2e(torch.export.export(net, example).module(), CortexMQuantizer())
    for _ in range(2):
        prepared(torch.randn(INPUT_SHAPE))
    return torch.export.export(convert_pt2e(prepared), example)


if __name__ == "__main__":
    torch.export.save(quantized(), sys.argv[1])
