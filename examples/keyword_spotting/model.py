# SPDX-License-Identifier: Apache-2.0
"""The network: a depthwise-separable CNN for twelve classes from a map of 49 frames x 10 cepstral coefficients."""

from collections import OrderedDict

import torch
from torch import Tensor, nn

from clips import LABELS

INPUT_SHAPE = (1, 1, 49, 10)


def conv_norm_relu(conv: nn.Conv2d) -> nn.Sequential:
    norm = nn.BatchNorm2d(conv.out_channels)
    return nn.Sequential(OrderedDict(conv=conv, norm=norm, relu=nn.ReLU()))


class Separable(nn.Module):
    """3x3 over each channel alone, then 1x1 across channels."""

    def __init__(self, channels: int) -> None:
        super().__init__()
        self.depthwise = conv_norm_relu(nn.Conv2d(channels, channels, 3, padding=1, groups=channels, bias=False))
        self.pointwise = conv_norm_relu(nn.Conv2d(channels, channels, 1, bias=False))

    def forward(self, x: Tensor) -> Tensor:
        x = self.depthwise(x)
        return self.pointwise(x)


class KeywordNet(nn.Module):
    """(N, 1, 49, 10) -> (N, 12) probabilities in the order of LABELS (logits while training)."""

    def __init__(self, channels: int = 64, blocks: int = 4) -> None:
        super().__init__()
        self.stem = conv_norm_relu(nn.Conv2d(1, channels, (10, 4), stride=2, padding=(5, 1), bias=False))
        self.blocks = nn.Sequential(*(Separable(channels) for _ in range(blocks)))
        self.pool = nn.AvgPool2d((25, 5))
        self.dropout = nn.Dropout(0.2)
        self.classifier = nn.Linear(channels, len(LABELS))
        self.softmax = nn.Softmax(dim=1)

    def forward(self, x: Tensor) -> Tensor:
        x = self.stem(x)
        x = self.blocks(x)
        x = self.pool(x)
        x = torch.flatten(x, 1)
        x = self.dropout(x)
        x = self.classifier(x)
        if self.training:
            return x
        return self.softmax(x)
