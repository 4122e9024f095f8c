# SPDX-License-Identifier: Apache-2.0
"""The commands of `rushlight` that Python does: quantize and evaluate.

Exit codes as everywhere: 0 holds, 1 a comparison does not, 2 the user's error.
"""

from __future__ import annotations

import argparse
import json
import logging
import sys
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from rushlight._rushlight import Error
from rushlight.errors import user_error

if TYPE_CHECKING:
    import joblib


def add_quantize(commands: argparse._SubParsersAction) -> None:
    parser = commands.add_parser(
        "quantize",
        help="int8 after training",
        description="Quantizes a float model to int8 after training. Prints what was done with each layer.",
        epilog="Example: rushlight quantize model_f32.pt2 --calib x.npy -o model_int8.pt2",
    )
    parser.set_defaults(run=quantize)
    parser.add_argument("model", metavar="MODEL", help="MODEL_f32.pt2, written by torch.export.save")
    parser.add_argument(
        "--calib", metavar="X.npy", required=True, action="append",
        help="typical inputs, N samples stacked on axis 0; once for each input",
    )  # fmt: skip
    parser.add_argument("-o", "--output", metavar="OUT.pt2", required=True, help="the int8 model")
    parser.add_argument("--target", default="cortex-m55", help="core, see `rushlight targets` (%(default)s)")
    parser.add_argument(
        "--observer", default="min-max", metavar="NAME",
        help="ranges of activations by min-max, percentile or mse (%(default)s)",
    )  # fmt: skip
    parser.add_argument(
        "--keep", metavar="LAYERS=float", action="append", default=[],
        help="leave layers float: a module path, with * and ?; may be repeated",
    )  # fmt: skip
    parser.add_argument("--no-equalization", action="store_true", help="do not scale channels to similar ranges")
    parser.add_argument("--no-bias-correction", action="store_true", help="do not take out what rounding adds")
    parser.add_argument("--json", action="store_true", help="print the report as JSON")


def quantize(options: argparse.Namespace) -> None:
    quiet_torch()
    try:
        import rushlight.post_training as post_training
    except ModuleNotFoundError as missing:
        raise user_error(
            f"quantizing needs {missing.name}, which {sys.executable} does not have",
            "install torch and torchao beside rushlight",
        ) from None
    keep = {}
    for text in options.keep:
        layers, equals, dtype = text.partition("=")
        if not equals:
            raise user_error(f"--keep {text}: no = in it", 'write LAYERS=float, e.g. --keep "head.*=float"')
        keep[layers] = dtype
    quantized = post_training.quantize(
        existing(options.model),
        tuple(load_array(name) for name in options.calib),
        options.target,
        observer=options.observer,
        keep=keep,
        equalize_channels=not options.no_equalization,
        correct_bias=not options.no_bias_correction,
    )
    quantized.save(options.output)
    print(json.dumps(quantized.report(), indent=2) if options.json else quantized)


def add_evaluate(commands: argparse._SubParsersAction) -> None:
    parser = commands.add_parser(
        "evaluate",
        help="accuracy over a data set",
        description="Runs an image over a data set on all cores, bit for bit as the device, and counts what is right.",
        epilog="Example: rushlight evaluate out/model.rush test.npz --min-accuracy 0.9",
    )
    parser.set_defaults(run=evaluate)
    parser.add_argument("model", metavar="MODEL", help="model.rush, or a folder made by compile")
    parser.add_argument("data", metavar="DATA.npz", help="arrays x, samples stacked on axis 0, and y, class numbers")
    parser.add_argument("--x", default="x", metavar="NAME", help="the array of inputs (%(default)s)")
    parser.add_argument("--y", default="y", metavar="NAME", help="the array of classes (%(default)s)")
    parser.add_argument("--top", type=int, default=5, metavar="K", help="count also the K best classes (%(default)s)")
    parser.add_argument("--min-accuracy", type=float, metavar="SHARE", help="exit code 1 below, 0 to 1")
    parser.add_argument("--jobs", type=int, help="joblib's workers; each uses all cores of its machine (1, dask: all)")
    parser.add_argument(
        "--backend", choices=("threading", "loky", "multiprocessing", "dask"), default="threading",
        help="joblib's backend (%(default)s)",
    )  # fmt: skip
    parser.add_argument("--scheduler", metavar="HOST:PORT", help="of the Dask cluster, with --backend dask")
    parser.add_argument("--json", action="store_true", help="print JSON")


def evaluate(options: argparse.Namespace) -> int:
    from rushlight.evaluation import evaluate_image

    path = existing(options.model)
    if path.is_dir():
        path = existing(path / "model.rush")
    data = load_archive(options.data)
    for name in (options.x, options.y):
        if name not in data:
            raise user_error(f"{options.data} has no array {name}", f"choose among {', '.join(data)} with --x and --y")
    try:
        import joblib  # noqa: F401
        import tqdm
    except ModuleNotFoundError as missing:
        raise user_error(
            f"evaluate needs {missing.name}, which {sys.executable} does not have", f"pip install {missing.name}"
        ) from None
    with workers(options):
        evaluation = evaluate_image(
            path.read_bytes(), data[options.x], data[options.y], top=options.top, progress=tqdm.tqdm
        )
    print(json.dumps(evaluation.report(), indent=2) if options.json else evaluation)
    if options.min_accuracy is not None and evaluation.accuracy < options.min_accuracy:
        print(f"accuracy {evaluation.accuracy:.4f}, --min-accuracy wants {options.min_accuracy:g}", file=sys.stderr)
        return 1
    return 0


def workers(options: argparse.Namespace) -> joblib.parallel_config:
    import joblib

    on_cluster = options.backend == "dask"
    if on_cluster != bool(options.scheduler):
        raise user_error("--backend dask and --scheduler go together", "give --backend dask --scheduler HOST:PORT")
    cluster = {"scheduler_host": options.scheduler} if on_cluster else {}
    try:
        return joblib.parallel_config(options.backend, n_jobs=options.jobs or (-1 if on_cluster else 1), **cluster)
    except ImportError:
        raise user_error("--backend dask needs Dask", 'pip install "dask[distributed]"') from None
    except (OSError, ValueError) as error:
        raise user_error(
            f"no Dask cluster at {options.scheduler}: {error}", "start one, or correct --scheduler"
        ) from None


def existing(name: str | Path) -> Path:
    if not Path(name).exists():
        raise user_error(f"{name}: no such file", "check the path")
    return Path(name)


def load_array(name: str) -> np.ndarray:
    try:
        array = np.load(existing(name))
    except ValueError as error:
        raise user_error(f"{name} is no array: {error}", "write it with numpy.save") from None
    if not isinstance(array, np.ndarray):
        raise user_error(f"{name} holds several arrays", "name a .npy file with one")
    return array


def load_archive(name: str) -> dict[str, np.ndarray]:
    try:
        return dict(np.load(existing(name)))
    except (ValueError, TypeError) as error:
        raise user_error(f"{name} is no archive of arrays: {error}", "write it with numpy.savez") from None


def quiet_torch() -> None:
    """PyTorch's notes on its own innards are not about the user's model."""
    warnings.filterwarnings("ignore")
    logging.disable(logging.WARNING)


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(prog="rushlight")
    commands = parser.add_subparsers(required=True)
    add_quantize(commands)
    add_evaluate(commands)
    options = parser.parse_args(arguments)
    try:
        return options.run(options) or 0
    except Error as error:
        print(error.args[0], file=sys.stderr)
        return 2


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
