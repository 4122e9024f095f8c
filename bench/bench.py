# SPDX-License-Identifier: Apache-2.0
"""Measures models and kernels on every class of cores, and holds the figures against the bars.

usage: python bench/bench.py [--against REV] [--check] [--models-only] [MODEL ...]
  --against REV   print what changed since a commit, not since the last bench
  --check         write nothing; exit with 1 also where a figure is worse than before
  --models-only   no kernel shapes, no host

Prints the models' time, the bars (bench/bars.csv) with met or not met, MAC per cycle of each kernel shape with its
share of the core's limit (targets/*.toml), how well the cost model and the estimates agree, and how fast the host runs
data sets.
Keeps the figures in budget.csv and bench/*.csv. Exit code 1: a bar is not met,
the cost model is off, or the host is slow.

Flash, RAM and stack come from the linker's map and the linked code, instructions from the emulator, cycles from the
cycle model (docs/targets.md). Bars of time are held against shared/tools/armcycles where it is beside the repository.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

import cost_model
import estimates
import host
import records
from measure import BOARDS, MODELS, ModelJob, ModelResult, call_json, for_each, measure_kernels, measure_model
from records import BENCH, BUDGET, CODE, KERNELS, read_csv

COMPILERS = ("gcc", "clang")


LIMITS = {target["name"]: target["macs_per_cycle"] for target in call_json("targets")}


def print_model(result: ModelResult) -> None:
    job, figures = result.job, result.figures
    rate = result.macs / figures["cycles"]
    print(
        f"{job.model:<18} {job.target:<14} {job.opt:<17} {result.milliseconds:9.3f} ms {rate:6.2f} MAC/cycle"
        f" {rate / LIMITS[job.target] * 100:4.0f} % of the limit  kernels {figures['kernels']:5} bytes"
        f"  flash {figures['text'] / 1024:6.1f} KiB  RAM {figures['ram'] / 1024:5.1f} KiB",
        flush=True,
    )


# What a bar of added time is held against.
FASTEST = "speed"
TIMES = ("ms", "Mcycles", "added_percent")


def run_models(names: list[str], bars: list[dict]) -> list[ModelResult]:
    barred = {(bar["model"], bar["target"], bar["opt"]) for bar in bars if bar["figure"] in TIMES}
    barred |= {(bar["model"], bar["target"], FASTEST) for bar in bars if bar["figure"] == "added_percent"}
    jobs = [ModelJob(name, target) for name in names for target in BOARDS]
    extra = {(bar["model"], bar["target"], bar["opt"]) for bar in bars} | barred
    extra = {key for key in extra if key[2] != "balanced"}
    jobs += [ModelJob(*key) for key in sorted(extra) if key[0] in names]
    with tempfile.TemporaryDirectory() as folder:

        def measure(job: ModelJob) -> ModelResult:
            result = measure_model(job, Path(folder), (job.model, job.target, job.opt) in barred)
            print_model(result)
            return result

        return for_each(measure, jobs)


def cycles_of(result: ModelResult) -> float:
    return result.second_opinion or result.figures["cycles"]


def value_of(result: ModelResult, figure: str, fastest: ModelResult | None) -> float:
    cycles = cycles_of(result)
    if figure == "added_percent":
        return (cycles / cycles_of(fastest) - 1) * 100
    return {
        "kernel_bytes": result.figures["kernels"],
        "ram_KiB": result.painted_ram / 1024,
        "flash_KiB": result.figures["text"] / 1024,
        "Mcycles": cycles / 1e6,
        "ms": cycles * result.milliseconds / result.figures["cycles"],
    }[figure]


def check_bars(bars: list[dict], results: list[ModelResult]) -> int:
    """Prints every bar; how many are not met."""
    by_job = {(r.job.model, r.job.target, r.job.opt): r for r in results}
    lines: dict[tuple, dict[str, str]] = {}
    missed = 0
    for bar in bars:
        result = by_job.get((bar["model"], bar["target"], bar["opt"]))
        if result is None:
            continue
        fastest = by_job.get((bar["model"], bar["target"], FASTEST))
        value, most = value_of(result, bar["figure"], fastest), float(bar["bar"])
        missed += value > most
        verdict = "NOT MET" if value > most else "met"
        if bar["goal"] and value <= float(bar["goal"]):
            verdict = "goal met"
        digits = {"kernel_bytes": 0, "ram_KiB": 2, "flash_KiB": 1, "added_percent": 1}.get(bar["figure"], 3)
        opt = "" if bar["opt"] == "balanced" else f" --opt {bar['opt']}"
        line = lines.setdefault((bar["target"], bar["figure"] + opt), {})
        line[bar["model"]] = f"{value:.{digits}f} / {most:g} {verdict}"
    models = list(dict.fromkeys(bar["model"] for bar in bars))
    instrument = "armcycles" if any(r.second_opinion for r in results) else "the project's own cycle model"
    print(f"\nBars: figure / bar, time by {instrument}")
    print(f"{'':<51}" + "".join(f"{model:>24}" for model in models))
    for (target, figure), cells in lines.items():
        print(f"{target:<14} {figure:<36}" + "".join(f"{cells.get(model, ''):>24}" for model in models))
    print(f"{missed} bars not met" if missed else "every bar is met")
    return missed


def print_cycle_model(results: list[ModelResult]) -> None:
    """The project's cycle model against the independent one, where that is there (docs/targets.md)."""
    ratios: dict[str, list[float]] = {}
    for result in results:
        if result.second_opinion:
            ratios.setdefault(result.job.target, []).append(result.figures["cycles"] / result.second_opinion)
    if ratios:
        print("\nCycle model / the independent one, over the models")
    for target, of_models in ratios.items():
        print(f"{target:<14} {min(of_models):.3f} to {max(of_models):.3f}")


def cell_of(shape: dict, target: str) -> str:
    """MAC per cycle and share of the limit; cycles for each output where nothing is multiplied."""
    if shape["macs"]:
        rate = shape["macs"] / shape["cycles"]
        return f"{rate:.2f} {rate / LIMITS[target] * 100:3.0f}%"
    return f"{shape['cycles'] / shape['outputs']:.2f}/out"


def print_shapes(measured: dict[str, dict]) -> None:
    print("\nKernel shapes: MAC/cycle and share of the limit, or cycles for each output")
    print(f"{'':<34}" + "".join(f"{target.removeprefix('cortex-'):>13}" for target in measured))
    names = [s["name"] for s in next(iter(measured.values()))["shapes"] if s["shown"]]
    for name in names:
        line = f"{name:<34}"
        for target, result in measured.items():
            line += f"{cell_of(next(s for s in result['shapes'] if s['name'] == name), target):>13}"
        print(line)


def print_code(measured: dict[str, dict]) -> None:
    """Bytes of each kernel source, all its functions linked; what a model links of it is in its own size report."""
    print("\nCode of the kernel sources, bytes")
    print(f"{'':<34}" + "".join(f"{target.removeprefix('cortex-'):>13}" for target in measured))
    sources = sorted({row["kernel"] for row in code_rows(list(measured.values()))})
    for source in sources:
        counts = [result["kernel_bytes"].get(source, 0) for result in measured.values()]
        print(f"{source:<34}" + "".join(f"{count or '-':>13}" for count in counts))


def print_compilers(gcc: dict[str, dict], clang: dict[str, dict]) -> None:
    """How far the slower compiler's code is behind, where the kernels multiply."""
    print("\nclang / gcc, cycles of the shapes with products: least, median, most")
    for target, result in gcc.items():
        other = {s["name"]: s["cycles"] for s in clang[target]["shapes"]}
        ratios = sorted(
            (other[s["name"]] / s["cycles"], s["name"]) for s in result["shapes"] if s["shown"] and s["macs"]
        )
        low, middle, high = ratios[0], ratios[len(ratios) // 2], ratios[-1]
        print(f"{target:<14} {low[0]:.2f} ({low[1]}), {middle[0]:.2f}, {high[0]:.2f} ({high[1]})")


def shape_rows(measured: list[dict]) -> list[dict]:
    return [
        {
            "shape": shape["name"],
            "target": result["target"],
            "compiler": result["compiler"],
            "instructions": shape["instructions"],
            "cycles": round(shape["cycles"]),
        }
        for result in measured
        for shape in result["shapes"]
        if shape["shown"]
    ]


def code_rows(measured: list[dict]) -> list[dict]:
    return [
        {"kernel": kernel, "target": result["target"], "compiler": result["compiler"], "bytes": count}
        for result in measured
        for kernel, count in result["kernel_bytes"].items()
        if count and not kernel.startswith("full_table")
    ]


def run_kernels() -> dict[str, dict[str, dict]]:
    """By compiler and core."""
    jobs = [(target, compiler) for compiler in COMPILERS for target in BOARDS]
    results = for_each(lambda job: measure_kernels(*job), jobs)
    return {c: {t: r for (t, compiler), r in zip(jobs, results, strict=True) if compiler == c} for c in COMPILERS}


def cost_pairs(results: list[ModelResult]) -> dict[str, list]:
    pairs: dict[str, list] = {}
    for result in results:
        if result.job.opt == "balanced" and result.job.model != "kws":  # kws is ds_cnn with other weights
            for layer in result.layers:
                pairs.setdefault(result.job.target, []).append((layer["cycles"], layer["estimated_cycles"]))
    return pairs


def report_kernels(kernels: dict[str, dict[str, dict]], results: list[ModelResult]) -> bool:
    print_shapes(kernels["gcc"])
    print_code(kernels["gcc"])
    print_compilers(kernels["gcc"], kernels["clang"])
    of_shapes = {t: [(s["cycles"], s["estimated_cycles"]) for s in r["shapes"]] for t, r in kernels["gcc"].items()}
    return cost_model.check(of_shapes, cost_pairs(results))


def budget_name(job: ModelJob) -> str:
    return job.model if job.opt == "balanced" else f"{job.model} --opt {job.opt}"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("models", nargs="*", help=f"of {', '.join(MODELS)}; default: all that are there")
    parser.add_argument("--against", metavar="REV")
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--models-only", action="store_true")
    options = parser.parse_args()
    unknown = set(options.models) - set(MODELS)
    if unknown:
        parser.error(f"no such model: {', '.join(sorted(unknown))}")
    names = [n for n in options.models or MODELS if MODELS[n].exists()]
    bars = read_csv(BENCH / "bars.csv")

    results = run_models(names, bars)
    kernels = {} if options.models_only else run_kernels()
    good = check_bars(bars, results) == 0
    print_cycle_model(results)
    close, estimated = estimates.check(results)
    good = good and close
    if kernels:
        good = report_kernels(kernels, results) and good
        good = host.check(names) and good

    measured = [result for by_target in kernels.values() for result in by_target.values()]
    budget = [{"model": budget_name(r.job), "target": r.job.target, **r.figures} for r in results]
    new = {BUDGET: budget, KERNELS: shape_rows(measured), CODE: code_rows(measured)}
    before = {table: table.at(options.against) if options.against else table.now() for table in new}
    different = [line for table, rows in new.items() for line in table.changes(before[table], rows)]
    print("\n" + ("\n".join(different) or "no figure changed"))
    if options.check:
        return 1 if not good or any(line.startswith("worse") for line in different) else 0
    for table, rows in new.items():
        table.merge(rows)
    estimates.TABLE.merge(estimated)
    records.write_history()
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
