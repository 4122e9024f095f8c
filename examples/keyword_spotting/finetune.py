# SPDX-License-Identifier: Apache-2.0
"""Quantization-aware training of the network in kws_f32.pt2, and float, PTQ and QAT side by side.

    .venv/bin/python examples/keyword_spotting/finetune.py [--steps 600]   # writes quantization.json

The batch norms are folded first, so what is trained is what the device computes: convolutions with int8 weights and
activations, rounded in the forward pass only. Then all three networks run over the test set, the integer ones as
compiled programs, bit for bit as on the device. Needs data/ (synthesize.py) and rushlight with torch and torchao.
"""

from __future__ import annotations

import argparse
import json
import time

import numpy as np
import torch
from torch import Tensor, nn
from torch.export import ExportedProgram
from torchao.quantization.pt2e import disable_observer
from torchao.quantization.pt2e.quantize_pt2e import convert_pt2e, prepare_qat_pt2e

import model
import rushlight
from rushlight.layerwise import layerwise
from rushlight.post_training import fold_batch_norms
from synthesize import SEED
from train import BATCH, CALIBRATION_CLIPS, HERE, disturb, load, restored

RATE = 3e-5
LABEL_SMOOTHING = 0.05
COMPARED_CLIPS = 100


def finetuned(net: nn.Module, data: dict[str, np.ndarray], steps: int) -> ExportedProgram:
    """int8 by training: fake quantization in the forward pass, straight through in the backward pass."""
    example = (torch.zeros(model.INPUT_SHAPE),)
    graph = fold_batch_norms(torch.export.export(net, example, dynamic_shapes=({0: torch.export.Dim.AUTO},)))
    prepared = prepare_qat_pt2e(graph, rushlight.CortexMQuantizer(training=True))
    train(prepared, data, steps)
    prepared.apply(disable_observer)
    return torch.export.export(convert_pt2e(prepared), example)


def train(prepared: nn.Module, data: dict[str, np.ndarray], steps: int) -> None:
    features, labels = torch.from_numpy(data["features"]), torch.from_numpy(data["labels"])
    parameters = [p.requires_grad_() for p in prepared.parameters()]
    optimizer = torch.optim.AdamW(parameters, lr=RATE)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, steps)
    started = time.monotonic()
    for step in range(steps):
        batch = torch.randint(len(labels), (BATCH,))
        loss = loss_of(prepared(disturb(features[batch])), labels[batch])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        schedule.step()
        if step == steps * 3 // 4:
            prepared.apply(disable_observer)  # ranges stand still while the weights settle
        if step % 100 == 99:
            print(f"step {step + 1}/{steps}: loss {loss.item():.4f}, {time.monotonic() - started:.0f} s", flush=True)


def loss_of(probabilities: Tensor, labels: Tensor) -> Tensor:
    """Cross entropy with smoothed labels; the probabilities are in steps of 1/256, so the least is half a step."""
    logarithms = torch.log(probabilities.clamp(min=1 / 512))
    smooth = torch.full_like(logarithms, LABEL_SMOOTHING / logarithms.shape[1])
    smooth.scatter_add_(1, labels[:, None], torch.full((len(labels), 1), 1 - LABEL_SMOOTHING))
    return -(smooth * logarithms).sum(1).mean()


def layer_db(reference: nn.Module, quantized: nn.Module, clips: Tensor) -> dict[str, float]:
    """SQNR of each layer with weights to the float network's, over the same clips."""
    samples = [(x[None],) for x in clips]

    def weighted(graph: nn.Module):
        return (pair for pair in layerwise(graph, samples) if pair[0].target in WEIGHTED)

    found = {}
    for (node, wanted), (_, given) in zip(weighted(reference), weighted(quantized), strict=True):
        signal, noise = torch.cat(wanted), torch.cat(given) - torch.cat(wanted)
        layer = list(node.meta["nn_module_stack"].values())[-1][0]
        found[layer] = round(10 * torch.log10(signal.square().sum() / noise.square().sum()).item(), 2)
    return found


WEIGHTED = (torch.ops.aten.conv2d.default, torch.ops.aten.linear.default)


def measured(exported: ExportedProgram, reference: nn.Module, test: dict[str, np.ndarray]) -> dict:
    """Accuracy of the compiled program, and how far each layer is from the float network."""
    program = rushlight.compile(exported)
    accuracy = rushlight.evaluate(program, test["features"], test["labels"].astype(np.int64)).accuracy
    clips = torch.from_numpy(test["features"][:: len(test["features"]) // COMPARED_CLIPS])
    return {
        "accuracy": round(accuracy, 4),
        "image_bytes": len(program.image),
        "layer_db": layer_db(reference, exported.module(check_guards=False), clips),
    }


def refusal(net: nn.Module, calibration: np.ndarray) -> str:
    """4-bit weights for one layer: what the quantizer says as long as there is no kernel."""
    try:
        rushlight.quantize(net, calibration, keep={"blocks.3.pointwise.conv": "int4"})
    except rushlight.Error as error:
        return error.args[0]
    raise AssertionError("4-bit weights were taken")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--steps", type=int, default=400, help="of 64 clips (%(default)s)")
    options = parser.parse_args()
    torch.manual_seed(SEED)
    torch.set_num_threads(1)
    data, test = load("train"), load("test")
    net = restored()
    pick = np.random.default_rng(SEED).choice(len(data["labels"]), CALIBRATION_CLIPS, replace=False)
    calibration = data["features"][pick]
    reference = fold_batch_norms(torch.export.export(net, (torch.zeros(model.INPUT_SHAPE),)))
    with torch.no_grad():
        floats = net(torch.from_numpy(test["features"])).argmax(1).numpy()
        results = {
            "float": {"accuracy": round(float((floats == test["labels"]).mean()), 4)},
            "ptq": measured(rushlight.quantize(net, calibration, equalize_channels=False).exported, reference, test),
        }
    results["qat"] = measured(finetuned(net, data, options.steps), reference, test) | {"steps": options.steps}
    results["int4"] = refusal(net, calibration)
    (HERE / "quantization.json").write_text(json.dumps(results, indent=1) + "\n")
    for name in ("float", "ptq", "qat"):
        print(f"{name:<6} {100 * results[name]['accuracy']:.2f} % of {len(floats)} clips of held-out voices")
    for layer, db in results["ptq"]["layer_db"].items():
        print(f"  {layer:<28} PTQ {db:6.2f} dB   QAT {results['qat']['layer_db'][layer]:6.2f} dB")
    print(results["int4"])


if __name__ == "__main__":
    main()
