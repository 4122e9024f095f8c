# SPDX-License-Identifier: Apache-2.0
"""Makes the data set: espeak-ng says the words in many voices, NumPy puts them into rooms and noise.

Two steps.  `speak` calls espeak-ng once per utterance (word, accent, voice, speed, pitch, intonation) and keeps the
trimmed 16 kHz sound.  `record` makes one-second clips of it: another vocal tract length, a room, a microphone, noise, a
place in the second, a level.  No voice of the test set is used for training, nor are half of its accents or any of its
other words.  Everything follows from one seed.

    python3 examples/keyword_spotting/synthesize.py [--scale 1.0]      # writes data/train.npz and data/test.npz
"""

from __future__ import annotations

import argparse
import io
import subprocess
import wave
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from clips import KEYWORDS, LABELS
from mfcc import CLIP_SAMPLES, SAMPLE_RATE, mfcc

DATA = Path(__file__).resolve().parent / "data"
SEED = 20


@dataclass(frozen=True)
class Split:
    """Who speaks which words, and how much of it there is."""

    name: str
    seed: int
    voices: tuple[str, ...]
    accents: tuple[str, ...]
    other_words: tuple[str, ...]
    per_keyword: int
    others: int
    clips_per_utterance: int
    silences: int
    warp: float  # vocal tract lengths from 1 / warp to warp
    colour_db: float  # the microphone's response, up or down


TRAIN = Split(
    name="train",
    seed=SEED,
    voices=tuple(
        [
            "Alex",
            "Andrea",
            "Andy",
            "Annie",
            "AnxiousAndy",
            "Denis",
            "Diogo",
            "Gene",
            "Gene2",
            "Hugo",
            "Jacky",
            "Marco",
            "Mario",
            "Mike",
            "Nguyen",
            "RicishayMax",
            "RicishayMax2",
            "RicishayMax3",
            "Tweaky",
            "adam",
            "antonio",
            "aunty",
            "belinda",
            "benjamin",
            "boris",
            "caleb",
            "croak",
            "david",
            "ed",
            "f1",
            "f2",
            "f3",
            "f4",
            "grandpa",
            "gustave",
            "john",
            "kaukovalta",
            "klatt",
            "klatt2",
            "klatt4",
            "klatt6",
            "linda",
            "m1",
            "m2",
            "m4",
            "m5",
            "m6",
            "m8",
            "marcelo",
            "max",
            "michel",
            "miguel",
            "norbert",
            "pablo",
            "paul",
            "pedro",
            "rob",
            "robert",
            "sandro",
            "travis",
            "zac",
        ]
    ),
    accents=("en-gb", "en-us", "en-gb-x-rp", "en-gb-x-gbcwmd", "en-us-nyc", "en-029"),
    other_words=tuple(
        [
            "zero",
            "one",
            "two",
            "three",
            "four",
            "five",
            "six",
            "eight",
            "nine",
            "bed",
            "bird",
            "cat",
            "dog",
            "house",
            "marvin",
            "wow",
            "follow",
            "learn",
            "visual",
            "forward",
            "table",
            "window",
            "water",
            "music",
            "light",
            "door",
            "play",
            "pause",
            "volume",
            "hello",
            "thanks",
            "please",
            "morning",
            "coffee",
            "kitchen",
            "garden",
            "heat",
            "cold",
            "red",
            "green",
            "blue",
            "open",
            "close",
            "start",
            "next",
            "back",
            "more",
            "less",
            "call",
            "alarm",
            "timer",
            "mirror",
            "paper",
            "river",
            "sunny",
            "winter",
            "seven",
            "he",
            "it",
            "office",
            "upper",
            "gold",
            "load",
            "nose",
            "snow",
            "yet",
            "guess",
            "step",
            "stock",
            "town",
            "brown",
            "lift",
            "lost",
        ]
    ),
    per_keyword=750,
    others=1800,
    clips_per_utterance=4,
    silences=2400,
    warp=1.25,
    colour_db=10,
)
TEST = Split(
    name="test",
    seed=SEED + 1,
    voices=tuple(
        [
            "Alicia",
            "Henrique",
            "Lee",
            "Michael",
            "anika",
            "edward",
            "edward2",
            "f5",
            "grandma",
            "iven",
            "iven2",
            "iven3",
            "iven4",
            "klatt3",
            "klatt5",
            "m3",
            "m7",
            "quincy",
            "shelby",
            "steph",
            "steph2",
            "steph3",
            "victor",
        ]
    ),
    accents=("en-gb", "en-us", "en-gb-scotland", "en-gb-x-gbclan"),
    other_words=tuple(
        [
            "happy",
            "sheila",
            "tree",
            "thirteen",
            "backward",
            "yellow",
            "orange",
            "sugar",
            "summer",
            "monday",
            "street",
            "number",
            "letter",
            "picture",
            "sister",
            "ticket",
            "engine",
            "planet",
            "people",
            "signal",
            "market",
            "camera",
        ]
    ),
    per_keyword=150,
    others=200,
    clips_per_utterance=1,
    silences=150,
    warp=1.12,
    colour_db=6,
)


@dataclass(frozen=True)
class Utterance:
    word: str
    voice: str
    accent: str
    words_per_minute: int
    pitch: int
    mark: str

    @property
    def command(self) -> list[str]:
        return [
            *("espeak-ng", "-v", f"{self.accent}+{self.voice}", "-z", "--stdout"),
            *("-s", str(self.words_per_minute), "-p", str(self.pitch)),
            self.word + self.mark,
        ]


def plan(split: Split, scale: float) -> list[Utterance]:
    rng = np.random.default_rng(split.seed)
    words = [w for w in KEYWORDS for _ in range(round(split.per_keyword * scale))]
    words += [split.other_words[i % len(split.other_words)] for i in range(round(split.others * scale))]
    return [
        Utterance(
            word=word,
            voice=str(rng.choice(split.voices)),
            accent=str(rng.choice(split.accents)),
            words_per_minute=int(rng.integers(110, 221)),
            pitch=int(rng.integers(20, 81)),
            mark=str(rng.choice(["", ".", "?", "!", ","])),
        )
        for word in words
    ]


def speak(utterance: Utterance) -> np.ndarray:
    """float32 at 16 kHz, peak 1, without the silence around the word, at most one second."""
    done = subprocess.run(utterance.command, check=True, capture_output=True)
    with wave.open(io.BytesIO(done.stdout), "rb") as f:
        rate = f.getframerate()
        samples = np.frombuffer(f.readframes(f.getnframes()), "<i2")
    return trim(resample(samples / 32768.0, SAMPLE_RATE / rate)).astype(np.float32)


def resample(x: np.ndarray, ratio: float) -> np.ndarray:
    """Band-limited: the spectrum cut or zero-padded to the new length."""
    spectrum, length = np.fft.rfft(x), round(len(x) * ratio)
    kept = np.zeros(length // 2 + 1, complex)
    n = min(len(kept), len(spectrum))
    kept[:n] = spectrum[:n]
    return np.fft.irfft(kept, length) * (length / len(x))


def trim(x: np.ndarray) -> np.ndarray:
    """From 20 ms before to 20 ms after what is louder than -40 dB of the peak."""
    x = x / max(float(np.max(np.abs(x))), 1e-6)
    loud = np.flatnonzero(np.abs(x) > 0.01)
    margin = SAMPLE_RATE // 50
    return x[max(loud[0] - margin, 0) : loud[-1] + margin][:CLIP_SAMPLES]


def coloured_noise(rng: np.random.Generator, length: int) -> np.ndarray:
    """Power falling as f^-a with a of 0 (white) to 2 (brown), sometimes with mains hum.  RMS 1."""
    slope = rng.uniform(0, 2)
    bins = np.arange(1, length // 2 + 2)
    phases = rng.normal(size=(2, len(bins)))
    noise = np.fft.irfft((phases[0] + 1j * phases[1]) * bins ** (-slope / 2), length)
    noise /= np.std(noise)
    if rng.random() < 0.2:
        t = np.arange(length) / SAMPLE_RATE
        base = rng.choice([50.0, 60.0])
        noise += sum(rng.uniform(0, 1) * np.sin(2 * np.pi * base * k * t + k) for k in range(1, 6))
    return noise / np.std(noise)


def babble(rng: np.random.Generator, crowd: list[np.ndarray]) -> np.ndarray:
    """Several people at once, from their utterances laid over each other.  RMS 1."""
    out = np.zeros(CLIP_SAMPLES)
    for _ in range(8):
        x = crowd[rng.integers(len(crowd))]
        out += np.roll(np.pad(x, (0, CLIP_SAMPLES - len(x))), rng.integers(CLIP_SAMPLES)) * rng.uniform(0.3, 1)
    return out / np.std(out)


def room(rng: np.random.Generator, x: np.ndarray) -> np.ndarray:
    """A direct path and an exponentially decaying tail (60 dB in 0.1 to 0.5 s)."""
    length = SAMPLE_RATE // 4
    tail = rng.normal(size=length) * np.exp(-6.9 * np.arange(length) / SAMPLE_RATE / rng.uniform(0.1, 0.5))
    tail *= rng.uniform(0.05, 0.6) / np.linalg.norm(tail)
    tail[0] = 1.0
    size = len(x) + length
    return np.fft.irfft(np.fft.rfft(x, size) * np.fft.rfft(tail, size), size)[: len(x) + length // 2]


def microphone(rng: np.random.Generator, x: np.ndarray, colour_db: float) -> np.ndarray:
    """A smooth frequency response of +-colour_db and a high-pass at 20 to 200 Hz."""
    spectrum = np.fft.rfft(x)
    f = np.linspace(0, 1, len(spectrum))
    gain_db = np.interp(f, np.linspace(0, 1, 6), rng.uniform(-colour_db, colour_db, 6))
    hz = f * SAMPLE_RATE / 2
    return np.fft.irfft(spectrum * 10 ** (gain_db / 20) * hz / (hz + rng.uniform(20, 200)), len(x))


def place(rng: np.random.Generator, x: np.ndarray) -> np.ndarray:
    """Somewhere in the second; a longer sound loses its end."""
    start = rng.integers(max(CLIP_SAMPLES - len(x), 0) + 1)
    return np.pad(x, (start, CLIP_SAMPLES))[:CLIP_SAMPLES]


def record(rng: np.random.Generator, x: np.ndarray | None, split: Split, crowd: list[np.ndarray]) -> np.ndarray:
    """One clip, int16 (16000,): the word x, or None for a second in which nobody speaks to the device."""
    noise = babble(rng, crowd) if rng.random() < 0.3 else coloured_noise(rng, CLIP_SAMPLES)
    if x is None:
        clip, level_decades = noise, rng.uniform(-4, -1)
    else:
        clip, level_decades = in_noise(rng, x, split.warp, noise), rng.uniform(-1.3, -0.05)
    clip = microphone(rng, clip, split.colour_db)
    return to_int16(clip / np.max(np.abs(clip)) * 10**level_decades)


def in_noise(rng: np.random.Generator, x: np.ndarray, warp: float, noise: np.ndarray) -> np.ndarray:
    """The word by another vocal tract, perhaps in a room, 5 to 35 dB above the noise."""
    x = resample(x, warp ** rng.uniform(-1, 1))
    if rng.random() < 0.6:
        x = room(rng, x)
    speech_rms = np.sqrt(np.mean(x**2))
    return place(rng, x) + noise * speech_rms * 10 ** (-rng.uniform(5, 35) / 20)


def to_int16(x: np.ndarray) -> np.ndarray:
    return np.clip(np.round(x * 32768), -32768, 32767).astype(np.int16)


def build(split: Split, scale: float, keep_sound: bool) -> None:
    """data/<split>.npz: features (N, 1, 49, 10), labels (N,), voices (N,) and, if asked for, the clips themselves."""
    utterances = plan(split, scale)
    with ThreadPoolExecutor(2) as pool:
        sounds = list(pool.map(speak, utterances))
    print(f"{split.name}: {len(sounds)} utterances spoken", flush=True)
    rng = np.random.default_rng(split.seed + 1000)
    todo = [(u, x) for u, x in zip(utterances, sounds, strict=True) for _ in range(split.clips_per_utterance)]
    todo += [(None, None)] * round(split.silences * scale)
    clips = [record(rng, x, split, sounds) for _, x in todo]
    labels = [label_of(u) for u, _ in todo]
    out = {
        "features": np.stack([mfcc(c)[None] for c in clips]),
        "labels": np.array([LABELS.index(label) for label in labels]),
        "voices": np.array([f"{u.accent}+{u.voice}" if u else "" for u, _ in todo]),
    }
    if keep_sound:
        out["clips"] = np.stack(clips)
    np.savez(DATA / f"{split.name}.npz", **out)
    print(f"{split.name}: {len(clips)} clips recorded", flush=True)


def label_of(utterance: Utterance | None) -> str:
    if utterance is None:
        return "silence"
    return utterance.word if utterance.word in KEYWORDS else "unknown"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--scale", type=float, default=1.0, help="fraction of the full data set")
    scale = parser.parse_args().scale
    DATA.mkdir(exist_ok=True)
    build(TRAIN, scale, keep_sound=False)
    build(TEST, scale, keep_sound=True)


if __name__ == "__main__":
    main()
