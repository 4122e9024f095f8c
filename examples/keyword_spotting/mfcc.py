# SPDX-License-Identifier: Apache-2.0
"""The front end: one second of sound becomes the 49 x 10 map that the network hears.  NumPy only, float64 inside.

Definition, for x = int16 samples / 32768 at 16 kHz:
  frames   49 of 480 samples (30 ms), one every 320 (20 ms), from sample 0; the last 160 samples are not used
  window   Hann, periodic: w[n] = 0.5 - 0.5 cos(2 pi n / 480)
  power    |FFT_512(w x)|^2, zero-padded, bins 0..256 (31.25 Hz apart)
  mel      32 triangles, peak 1, equally spaced from 60 to 7600 Hz on mel(f) = 1127 ln(1 + f / 700),
           evaluated at the bins' frequencies (straight lines in mel)
  log      ln(mel energy + 1e-4)
  cepstrum orthonormal DCT-II over the 32 values, coefficients 0..9
  scale    (c[k] - OFFSET[k]) / SPREAD[k], constants near the mean and deviation over the training set, so that all ten
           coefficients use the int8 range of the network's input alike
"""

from __future__ import annotations

import numpy as np

SAMPLE_RATE = 16000
CLIP_SAMPLES = SAMPLE_RATE
FRAME = 480
HOP = 320
FFT = 512
FRAMES = 1 + (CLIP_SAMPLES - FRAME) // HOP
MELS = 32
COEFFICIENTS = 10
MEL_RANGE_HZ = (60.0, 7600.0)
ENERGY_FLOOR = 1e-4
OFFSET = np.array([-26.0, 4.5, 0.5, 1.0, -1.0, -0.5, 0.0, -0.5, 0.0, -0.5])
SPREAD = np.array([15.5, 6.5, 3.0, 3.0, 3.0, 2.5, 2.5, 2.0, 1.5, 1.5])


def mel(hz: np.ndarray | float) -> np.ndarray:
    return 1127.0 * np.log1p(np.asarray(hz) / 700.0)


def mel_triangles() -> np.ndarray:
    """(MELS, FFT / 2 + 1) weights."""
    edges = np.linspace(mel(MEL_RANGE_HZ[0]), mel(MEL_RANGE_HZ[1]), MELS + 2)
    bins = mel(np.arange(FFT // 2 + 1) * SAMPLE_RATE / FFT)
    step = edges[1] - edges[0]
    return np.maximum(0.0, 1.0 - np.abs(bins[None, :] - edges[1:-1, None]) / step)


def dct() -> np.ndarray:
    """(COEFFICIENTS, MELS) rows of the orthonormal DCT-II."""
    k = np.arange(COEFFICIENTS)[:, None]
    rows = np.cos(np.pi * k * (np.arange(MELS) + 0.5) / MELS) * np.sqrt(2.0 / MELS)
    rows[0] /= np.sqrt(2.0)
    return rows


_WINDOW = 0.5 - 0.5 * np.cos(2 * np.pi * np.arange(FRAME) / FRAME)
_TRIANGLES = mel_triangles().T
_DCT = dct().T


def cepstrum(samples: np.ndarray) -> np.ndarray:
    """int16 (16000,) -> float64 (49, 10), before scaling."""
    if samples.shape != (CLIP_SAMPLES,) or samples.dtype != np.int16:
        raise ValueError(f"a clip is {CLIP_SAMPLES} int16 samples, not {samples.shape} {samples.dtype}")
    frames = np.lib.stride_tricks.sliding_window_view(samples / 32768.0, FRAME)[::HOP]
    power = np.abs(np.fft.rfft(frames * _WINDOW, FFT)) ** 2
    return np.log(power @ _TRIANGLES + ENERGY_FLOOR) @ _DCT


def mfcc(samples: np.ndarray) -> np.ndarray:
    """int16 (16000,) -> float32 (49, 10), the network's input without its batch and channel axes."""
    return ((cepstrum(samples) - OFFSET) / SPREAD).astype(np.float32)
