# SPDX-License-Identifier: Apache-2.0
"""What the bench measures: models and kernel shapes, each on one core. Everything is deterministic for one compiler
release, so a figure that changes was changed."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests" / "system"))
from cli import BOARDS, ROOT, SHARED, call, call_json, for_each  # noqa: E402, F401

MODELS = {
    "kws": ROOT / "examples" / "keyword_spotting" / "kws_int8.pt2",
    **{
        name: SHARED / "models" / f"{name}_int8_pt2e.pt2"
        for name in ("ds_cnn", "mobilenet_v1_025", "resnet8", "autoencoder", "sww")
    },
}
FIGURES = ("text", "data", "ram", "stack", "core", "kernels", "image", "instructions", "cycles")
KERNELS = os.environ.get("RUSHLIGHT_KERNELS", str(ROOT / "build" / "release" / "rushlight_kernels"))
ARMCYCLES = SHARED / "tools" / "armcycles" / "armcycles"


@dataclass(frozen=True)
class ModelJob:
    model: str
    target: str
    opt: str = "balanced"  # and further options of `rushlight compile`


@dataclass
class ModelResult:
    job: ModelJob
    figures: dict[str, int]
    milliseconds: float
    layers: list[dict]
    painted_ram: int = 0  # by the linker's map and the stack that was painted
    second_opinion: float | None = field(default=None)  # cycles by ARMCYCLES, where it is there

    @property
    def macs(self) -> int:
        return sum(layer["macs"] for layer in self.layers)


def write_text(path: Path, text: str) -> None:
    """All of the file or nothing."""
    partial = path.with_name(path.name + ".part")
    partial.write_text(text)
    partial.rename(path)


def any_input(folder: Path) -> Path:
    """One input of zeros: the figures do not depend on the values."""
    port = call_json("show", folder)["entries"][0]["inputs"][0]
    np.save(folder / "zeros.npy", np.zeros((1, *port["shape"]), np.int8))
    return folder / "zeros.npy"


def armcycles(target: str, elf: Path) -> float | None:
    """The cycles of a firmware's inference by the instrument that the bars were set with."""
    if not ARMCYCLES.exists():
        return None
    machine = BOARDS[target]
    command = [str(ARMCYCLES), "--cpu", target, "--machine", machine, str(elf), "--json"]
    return json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)["cycles"]


def measure_model(job: ModelJob, folder: Path, opinion: bool) -> ModelResult:
    work = folder / f"{job.model}_{job.target}_{job.opt}".replace(" ", "_")
    call("compile", MODELS[job.model], "--target", job.target, "--opt", *job.opt.split(), "-o", work)
    # What is fed row by row cannot be watched step by step.
    layers = [] if "--line-input" in job.opt else ["--layers"]
    run = call_json("run", work, "--input", any_input(work), "--on", BOARDS[job.target], *layers)
    size = call_json("size", work)
    values = (size["flash_bytes"], size["static_bytes"], size["ram_bytes"], size["stack_bytes"], size["core_bytes"],
              size["kernel_bytes"], size["model_bytes"], run["instructions"], round(run["cycles"]))  # fmt: skip
    second = armcycles(job.target, work / "firmware.elf") if opinion else None
    figures = dict(zip(FIGURES, values, strict=True))
    painted = size["ram_bytes"] - size["stack_bytes"] + run["stack_bytes"]
    return ModelResult(job, figures, run["milliseconds"], run.get("layers", []), painted, second)


def measure_kernels(target: str, compiler: str = "gcc", *only: str) -> dict:
    """What rushlight_kernels prints for a core: every shape, and the code bytes of every kernel source and family; with
    "code" only the bytes."""
    result = subprocess.run([KERNELS, target, compiler, *only], capture_output=True, text=True)
    if result.returncode:
        raise RuntimeError(f"rushlight_kernels {target} {compiler}: {result.stderr}")
    return {"compiler": compiler, **json.loads(result.stdout)}
