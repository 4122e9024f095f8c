# SPDX-License-Identifier: Apache-2.0
"""Ranges of activations from calibration: all of what was seen, all but a fraction, or where the error is least."""

from __future__ import annotations

import torch
from torch import Tensor
from torchao.quantization.pt2e import HistogramObserver, MinMaxObserver

BINS = 8192  # several bins for a code even where the best range is a fraction of the largest


class _RangeObserver(HistogramObserver):
    """A histogram of what was seen, and a choice of range from it."""

    def __init__(self, **arguments) -> None:
        super().__init__(bins=BINS, **arguments)

    def centers(self) -> Tensor:
        width = (self.max_val - self.min_val) / self.bins
        return self.min_val + width * (torch.arange(self.bins) + 0.5)

    def calculate_qparams(self) -> tuple[Tensor, Tensor]:
        if self.min_val > self.max_val:
            raise RuntimeError("calibrate first: nothing has been observed")
        low, high = self.min_val, self.max_val
        if low < high:
            low, high = self.choose_range()
        return self._calculate_qparams(low, high)

    def choose_range(self) -> tuple[Tensor, Tensor]:
        raise NotImplementedError


class PercentileObserver(_RangeObserver):
    """Cuts off (100 - percentile) / 2 percent of the values at either end."""

    def __init__(self, percentile: float = 99.99, **arguments) -> None:
        super().__init__(**arguments)
        self.percentile = percentile

    def choose_range(self) -> tuple[Tensor, Tensor]:
        share = torch.cumsum(self.histogram, 0) / self.histogram.sum()
        cut = (1 - self.percentile / 100) / 2
        width = (self.max_val - self.min_val) / self.bins
        below, above = (share <= cut).sum(), (share < 1 - cut).sum() + 1
        return self.min_val + below * width, self.min_val + above * width


class MSEObserver(_RangeObserver):
    """The range with the least mean square of value minus dequantized code, among 2 x 64 shrunken ones."""

    STEPS = 64

    def choose_range(self) -> tuple[Tensor, Tensor]:
        low, high = self.min_val.clamp(max=0), self.max_val.clamp(min=0)
        # One end after the other, twice: an end's best place depends on the other through the step alone.
        for _ in range(2):
            high = self._best(high, lambda end, low=low: (low, end))
            low = self._best(low, lambda end, high=high: (end, high))
        return low, high

    def _best(self, end: Tensor, bounds) -> Tensor:
        candidates = end * torch.linspace(1, 0.25, self.STEPS)
        errors = torch.stack([self._error(*bounds(candidate)) for candidate in candidates])
        return candidates[errors.argmin()]

    def _error(self, low: Tensor, high: Tensor) -> Tensor:
        scale, zero = self._calculate_qparams(low, high)
        values = self.centers()
        codes = torch.clamp(torch.round(values / scale) + zero, self.quant_min, self.quant_max)
        return (self.histogram * ((codes - zero) * scale - values) ** 2).sum()


OBSERVERS = {"min-max": MinMaxObserver, "percentile": PercentileObserver, "mse": MSEObserver}
