# SPDX-License-Identifier: Apache-2.0
"""Reads and writes the recorded clips: 16 kHz mono 16-bit WAV files of one second.  NumPy and the standard library."""

from __future__ import annotations

import json
import wave
from pathlib import Path

import numpy as np

import mfcc

HERE = Path(__file__).resolve().parent
CLIPS = HERE / "clips"
KEYWORDS = ("yes", "no", "up", "down", "left", "right", "on", "off", "stop", "go")
LABELS = (*KEYWORDS, "silence", "unknown")  # in the order of the network's outputs


def read_wav(path: Path) -> np.ndarray:
    """int16 (16000,)."""
    with wave.open(str(path), "rb") as f:
        layout = (f.getnchannels(), f.getsampwidth(), f.getframerate(), f.getnframes())
        if layout != (1, 2, mfcc.SAMPLE_RATE, mfcc.CLIP_SAMPLES):
            raise ValueError(
                f"{path.name}: (channels, bytes a sample, Hz, samples) must be "
                f"{(1, 2, mfcc.SAMPLE_RATE, mfcc.CLIP_SAMPLES)}, not {layout}"
            )
        return np.frombuffer(f.readframes(mfcc.CLIP_SAMPLES), "<i2").astype(np.int16)


def write_wav(path: Path, samples: np.ndarray) -> None:
    with wave.open(str(path), "wb") as f:
        f.setnchannels(1)
        f.setsampwidth(2)
        f.setframerate(mfcc.SAMPLE_RATE)
        f.writeframes(samples.astype("<i2").tobytes())


def expected() -> dict:
    """clips/expected.json: the words in output order and, per clip, what PyTorch heard."""
    return json.loads((CLIPS / "expected.json").read_text())


def load(folder: Path = CLIPS) -> tuple[np.ndarray, list[str], list[str]]:
    """(features float32 (N, 1, 49, 10), labels, names) of the folder's WAV files, which are named <label>_<number>."""
    paths = sorted(folder.glob("*.wav"))
    if not paths:
        raise FileNotFoundError(f"no .wav files in {folder}")
    features = np.stack([mfcc.mfcc(read_wav(p))[None] for p in paths])
    return features, [p.stem.rsplit("_", 1)[0] for p in paths], [p.stem for p in paths]
