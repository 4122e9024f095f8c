# SPDX-License-Identifier: Apache-2.0
"""Small exported models with PyTorch's outputs: on the host, a Cortex-M55 and a Cortex-M0 each is within its tolerance, or is
refused with the operators named.

usage: python tests/system/cases.py [--host-only] [NAME ...]
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from pathlib import Path

import numpy as np

from cli import BOARDS, SHARED, CommandFailed, call, for_each, need_shared

# Cases with an operator that the compiler does not have yet; every other one must run.
REFUSED = {
    "056_lstm_f32", "058_lstm_core_unrolled", "060_a16w8_linear_k1024", "062_a16w8_linear_mlp",
    "050_bcast_mixed", "064_convt_k3_hardtanh", "070_convt_stride3_xnn", "104_mobilenetv3_se_int8",
    "106_mobilenetv3_se_f32", "112_tiny_unet_xnn", "114_gru_kws_head_f32", "116_lstm_bidir_2l_nobias_f32", "118_attention_layernorm_int8",
    "122_mean_keepdim_f32", "126_activations_all_core", "128_activations_qdq", "130_tied_weights_int8", "136_two_outputs_f32",
    "142_pad_reflect_f32", "146_chunk_split_slice_xnn", "152_weight_norm_conv_f32", "154_arith_qdq", "156_div_int16",
    "168_conv3d", "174_bmm_int8_int8", "176_upsample_bilinear_f32", "178_argmax_int_f32",
    "180_where_mask_f32", "182_f64_model", "188_scalar_io", "190_names_c_keywords", "192_conv3d_xnn",
    "194_gru_mixed", "312_mixed_float_tail",
}  # fmt: skip
PLACES = {
    "host": ("cortex-m55", "host"),
    "M55": ("cortex-m55", BOARDS["cortex-m55"]),
    "M0": ("cortex-m0", BOARDS["cortex-m0"]),
}


def files(folder: Path, letter: str) -> list[Path]:
    """x.npy, or x0.npy, x1.npy, ..."""
    single = folder / f"{letter}.npy"
    return [single] if single.exists() else sorted(folder.glob(f"{letter}[0-9]*.npy"))


def as_list(value) -> list:
    return value if isinstance(value, list) else [value]


def outside_tolerance(folder: Path, case: dict, got: list[np.ndarray]) -> str | None:
    """What is out of tolerance, or None."""
    scales, limits = as_list(case["output_scale"]), as_list(case["tolerance_lsb"])
    for i, path in enumerate(files(folder, "y")):
        expected = np.load(path)
        scale, limit = scales[i % len(scales)], limits[i % len(limits)]
        error = np.abs(expected.astype(np.float64) - got[i].reshape(expected.shape)).max(initial=0) / scale
        if not error <= limit * 1.0001:
            return f"output {i} is off by {error:.2f} steps, {limit} allowed"
    return None


def run_at(folder: Path, case: dict, place: str, work: Path) -> str | None:
    target, on = PLACES[place]
    inputs = [word for path in files(folder, "x") for word in ("--input", path)]
    call("run", folder / "model.pt2", *inputs, "--output", work / "y.npy", "--target", target, "--on", on)
    return outside_tolerance(folder, case, [np.load(path) for path in files(work, "y")])


def check(job: tuple[Path, str]) -> tuple[str, str, str | None]:
    """(case, outcome, problem) of one case at one place."""
    folder, place = job
    case = json.loads((folder / "case.json").read_text())
    with tempfile.TemporaryDirectory() as work:
        try:
            problem = run_at(folder, case, place, Path(work))
            outcome = "runs"
        except CommandFailed as failure:
            outcome = "refused" if failure.code == 2 else "broken"
            problem = (
                failure.message if outcome == "broken" or folder.name not in REFUSED and not case.get("alt") else None
            )
    if outcome == "runs" and folder.name in REFUSED and problem is None:
        outcome = "runs, though listed as refused"
    print(
        f"{folder.name:<34} {place:<5} {outcome}{'' if problem is None else ': ' + problem.splitlines()[0]}", flush=True
    )
    return folder.name, outcome, problem and f"{folder.name} on {place}: {problem}"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("names", nargs="*", help="only cases that begin so")
    parser.add_argument("--host-only", action="store_true")
    options = parser.parse_args()
    need_shared()
    folders = [
        f.parent
        for f in sorted((SHARED / "cases").glob("*/case.json"))
        if json.loads(f.read_text())["expect"] == "ok" and list(f.parent.glob("y*.npy"))
    ]
    if options.names:
        folders = [f for f in folders if any(f.name.startswith(n) for n in options.names)]
    places = ["host"] if options.host_only else list(PLACES)
    results = for_each(check, [(folder, place) for folder in folders for place in places])
    problems = [problem for _, _, problem in results if problem]
    runs = sum(outcome.startswith("runs") for _, outcome, _ in results)
    print("\n".join(problems))
    print(
        f"{len(folders)} cases at {len(places)} places: {runs} run, {len(results) - runs} refused, {len(problems)} problems"
    )
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
