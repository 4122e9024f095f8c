# SPDX-License-Identifier: Apache-2.0
"""What the reader of a page has: the models and data that its blocks name.

usage: python tests/docs/stage.py FOLDER

Pages that need a float module and its data import them from here.
"""

from __future__ import annotations

import shutil
import sys
from collections import OrderedDict
from pathlib import Path

import numpy as np
import torch
from torch import nn

import rushlight

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
KEYWORDS = EXAMPLES / "keyword_spotting"

torch.manual_seed(1)
features = nn.Sequential(nn.Conv2d(3, 8, 3, stride=2), nn.ReLU(), nn.AvgPool2d(15), nn.Flatten())
net = nn.Sequential(OrderedDict(features=features, head=nn.Sequential(nn.Linear(8, 2)))).eval()
calibration = torch.rand(16, 3, 32, 32)
example = (calibration[:1],)
x = calibration.numpy()[:, np.newaxis]
y = net(calibration).argmax(1).numpy()


def fill(folder: Path) -> None:
    (folder / "examples").symlink_to(EXAMPLES)
    for name, model in (("model", "kws_int8"), ("model_f32", "kws_f32"), ("kws", "kws_int8"), ("person", "kws_f32")):
        shutil.copy(KEYWORDS / f"{model}.pt2", folder / f"{name}.pt2")
    words = np.load(KEYWORDS / "clips" / "features.npy")
    np.save(folder / "x.npy", words)
    np.savez(folder / "data.npz", x=words, y=np.arange(len(words)) % 12)
    rushlight.quantize(net, (calibration,)).save(folder / "camera.pt2")


if __name__ == "__main__":
    fill(Path(sys.argv[1]))
