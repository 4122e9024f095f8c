# SPDX-License-Identifier: Apache-2.0
"""Trains the network on data/, quantizes it to int8 and writes what the repository keeps of it.

    .venv/bin/python examples/keyword_spotting/train.py [--epochs 16]    # kws_f32.pt2, kws_int8.pt2, clips/
    .venv/bin/python examples/keyword_spotting/train.py --keep-weights   # the same from the weights in kws_f32.pt2

Prints the accuracy on the test set.  Needs rushlight with torch and torchao (`./dev build --torch`).  One thread and
fixed seeds, so that a machine gives the same weights again.
"""

from __future__ import annotations

import argparse
import json
import re
import time
from pathlib import Path

import numpy as np
import torch
from torch import Tensor, nn
from torch.export import ExportedProgram
from torchao.quantization.pt2e.quantize_pt2e import convert_pt2e, prepare_pt2e

import clips
import model
from rushlight.quantizer import CortexMQuantizer
from synthesize import DATA, SEED, TRAIN

HERE = Path(__file__).resolve().parent
BATCH = 64
CALIBRATION_CLIPS = 300
# The recorded clips: two of some labels, one of the others, twenty in all.
CLIPS_PER_LABEL = {label: 1 if label in ("left", "right", "on", "off") else 2 for label in clips.LABELS}


def load(split: str) -> dict[str, np.ndarray]:
    return dict(np.load(DATA / f"{split}.npz"))


def disturb(x: Tensor) -> Tensor:
    """Moves the maps by up to 3 frames and blanks up to 6 frames of every other one: a word may be late or covered."""
    shift = int(torch.randint(-3, 4, ()))
    x = torch.roll(x, shift, dims=2)
    width, start = int(torch.randint(0, 7, ())), int(torch.randint(0, 43, ()))
    keep = torch.ones(len(x), 1, x.shape[2], 1)
    keep[::2, :, start : start + width] = 0
    return x * keep


def train(net: model.KeywordNet, data: dict[str, np.ndarray], epochs: int) -> None:
    features, labels = torch.from_numpy(data["features"]), torch.from_numpy(data["labels"])
    steps = epochs * (len(labels) // BATCH)
    optimizer = torch.optim.AdamW(net.parameters(), lr=3e-3, weight_decay=1e-3)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, max_lr=3e-3, total_steps=steps)
    loss_of = nn.CrossEntropyLoss(label_smoothing=0.05)
    net.train()
    for epoch in range(epochs):
        started, total, order = time.monotonic(), 0.0, torch.randperm(len(labels))
        for batch in order[: len(order) // BATCH * BATCH].split(BATCH):
            loss = loss_of(net(disturb(features[batch])), labels[batch])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            schedule.step()
            total += loss.item() * len(batch)
        print(
            f"epoch {epoch + 1}/{epochs}: loss {total / len(labels):.4f}, {time.monotonic() - started:.0f} s",
            flush=True,
        )
    net.eval()


def quantize(net: nn.Module, calibration: Tensor) -> ExportedProgram:
    """PT2E after training; batch 1 as on the device."""
    example = (torch.zeros(model.INPUT_SHAPE),)
    prepared = prepare_pt2e(torch.export.export(net, example).module(), CortexMQuantizer())
    for x in calibration:
        prepared(x[None])
    return torch.export.export(convert_pt2e(prepared), example)


def own_frames(stack_trace: str) -> str:
    """The frames in model.py, without the folder; torch's own are nobody's business and name this machine's folders."""
    frames = re.findall(r'File "(?:[^"]*/)?(model\.py", line \d+, in \w+\n.*)', stack_trace)
    return "".join(f'  File "{frame}\n' for frame in frames)


def save(program: ExportedProgram, path: Path) -> None:
    for node in program.graph.nodes:
        node.meta["stack_trace"] = own_frames(node.meta.get("stack_trace", ""))
        node.meta.pop("from_node", None)
    torch.export.save(program, path)


def outputs(program: ExportedProgram, features: np.ndarray) -> np.ndarray:
    run = program.module()
    return np.concatenate([run(torch.from_numpy(x[None])).numpy() for x in features])


def choose_clips(test: dict[str, np.ndarray]) -> list[tuple[str, int]]:
    """(name, index into the test set): the first ones of each label, whatever the network makes of them."""
    chosen = []
    for label, count in CLIPS_PER_LABEL.items():
        for k, i in enumerate(np.flatnonzero(test["labels"] == clips.LABELS.index(label))[:count]):
            chosen.append((f"{label}_{k + 1}", int(i)))
    return sorted(chosen)


def write_clips(test: dict[str, np.ndarray]) -> None:
    """clips/*.wav and what the saved int8 program says about each."""
    clips.CLIPS.mkdir(exist_ok=True)
    for old in clips.CLIPS.glob("*.wav"):
        old.unlink()
    chosen = choose_clips(test)
    for name, i in chosen:
        clips.write_wav(clips.CLIPS / f"{name}.wav", test["clips"][i])
    features, labels, names = clips.load()
    scores = outputs(torch.export.load(HERE / "kws_int8.pt2"), features)
    voices = {name: str(test["voices"][i]) for name, i in chosen}
    rows = [
        {
            "clip": n,
            "label": w,
            "voice": voices[n],
            "pytorch_word": clips.LABELS[int(s.argmax())],
            "pytorch_scores": s.tolist(),
        }
        for n, w, s in zip(names, labels, scores, strict=True)
    ]
    np.save(clips.CLIPS / "features.npy", features)
    text = json.dumps({"labels": clips.LABELS, "clips": rows}, indent=1)
    # One line per list of scores.
    text = re.sub(r"\[\s+([^][{}]*?)\s+\]", lambda m: "[" + re.sub(r"\s+", " ", m[1]) + "]", text)
    (clips.CLIPS / "expected.json").write_text(text + "\n")


def report(name: str, scores: np.ndarray, test: dict[str, np.ndarray]) -> None:
    right = scores.argmax(1) == test["labels"]
    print(f"{name}: {100 * right.mean():.2f} % of {len(right)} clips of held-out voices")
    accents = np.array([voice.split("+")[0] for voice in test["voices"]])
    known = np.isin(accents, TRAIN.accents)
    groups = {"accents of the training set": known, "other accents": ~known & (accents != "")}
    groups |= {label: test["labels"] == i for i, label in enumerate(clips.LABELS)}
    for group, mine in groups.items():
        print(f"  {group}: {100 * right[mine].mean():.1f} % of {mine.sum()}")


def trained(data: dict[str, np.ndarray], epochs: int) -> nn.Module:
    net = model.KeywordNet()
    train(net, data, epochs)
    return net


def restored() -> nn.Module:
    net = model.KeywordNet().eval()
    net.load_state_dict(torch.export.load(HERE / "kws_f32.pt2").state_dict)
    return net


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--epochs", type=int, default=16)
    parser.add_argument("--keep-weights", action="store_true", help="quantize and export without training")
    options = parser.parse_args()
    torch.manual_seed(SEED)
    torch.set_num_threads(1)
    data, test = load("train"), load("test")
    net = restored() if options.keep_weights else trained(data, options.epochs)
    pick = np.random.default_rng(SEED).choice(len(data["labels"]), CALIBRATION_CLIPS, replace=False)
    with torch.no_grad():
        save(torch.export.export(net, (torch.zeros(model.INPUT_SHAPE),)), HERE / "kws_f32.pt2")
        save(quantize(net, torch.from_numpy(data["features"][pick])), HERE / "kws_int8.pt2")
        write_clips(test)
        for name in ("kws_f32", "kws_int8"):
            report(name, outputs(torch.export.load(HERE / f"{name}.pt2"), test["features"]), test)


if __name__ == "__main__":
    main()
