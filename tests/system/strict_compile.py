# SPDX-License-Identifier: Apache-2.0
"""Runtime, kernels and generated code compile freestanding and without a warning on every core, with GCC and Clang, under
the language standards, char signs and float ABIs that users' builds have.

usage: python tests/system/strict_compile.py
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from pathlib import Path

from cli import ROOT, call, for_each

STRICT = [
    "-pedantic-errors",
    "-Wall",
    "-Wextra",
    "-Werror",
    "-ffreestanding",
    "-fno-exceptions",
    "-fno-rtti",
    "-fsyntax-only",
]
# Once each on a core of each class: newer standards, the other sign of char, other float ABIs.
EXTRA = [
    ("gnu++17", []), ("gnu++20", []), ("gnu++14", ["-fsigned-char"]), ("gnu++14", ["-funsigned-char"]),
    ("gnu++14", ["-mfloat-abi=soft"]), ("gnu++14", ["-mfloat-abi=softfp"]),
]  # fmt: skip
EXTRA_CORES = ("cortex-m0plus", "cortex-m4", "cortex-m55")
CLANG_ONLY = ("cortex-m85",)  # GCC 12 does not know it


def newlib_include() -> str:
    """Where the GNU toolchain keeps <string.h>: Clang brings no C library of its own."""
    libc = subprocess.run(
        ["arm-none-eabi-gcc", "-print-file-name=libc.a"], capture_output=True, text=True, check=True
    ).stdout.strip()
    for folder in (
        Path(libc).resolve().parent / "../include",
        Path("/usr/lib/arm-none-eabi/include"),
        Path("/usr/include/newlib"),
    ):
        if (folder / "string.h").exists():
            return str(folder)
    sys.exit("error: newlib's headers not found: install libnewlib-arm-none-eabi")


def sources(isa: str) -> list[Path]:
    patterns = ["runtime/src/*.cpp", "ops/*/*_scalar.cpp", "ops/*/*_extents.cpp", f"ops/full_table_{isa}.cpp"]
    if isa != "scalar":
        patterns.append(f"ops/*/*_{isa}.cpp")
    return [path for pattern in patterns for path in sorted(ROOT.glob(pattern))]


def assembly(isa: str) -> list[Path]:
    """Loops in assembly, which take the place of their twins where RUSH_ASM is defined."""
    return sorted(ROOT.glob(f"ops/*/*_{isa}_asm.S"))


def with_assembly(compiler: str, target: dict) -> list[tuple[list[str], list[Path]]]:
    """Assembles the loops, and compiles the kernels that call them."""
    loops = assembly(target["isa"])
    folders = {path.parent for path in loops}
    callers = [path for folder in sorted(folders) for path in sorted(folder.glob(f"*_{target['isa']}.cpp"))]
    flags = target[f"{compiler}_flags"]
    driver = {"gcc": "arm-none-eabi-gcc", "clang": "clang-19"}[compiler]
    each = [[driver, *flags, "-DRUSH_ASM=1", "-Wa,--fatal-warnings", "-c", "-o", "/dev/null"]] * len(loops)
    jobs = [(words, [path]) for words, path in zip(each, loops, strict=True)]
    return [*jobs, (command(compiler, target, "gnu++14", ["-DRUSH_ASM=1"]), callers)] if loops else []


def command(compiler: str, target: dict, standard: str, extra: list[str]) -> list[str]:
    if compiler == "gcc":
        head = ["arm-none-eabi-g++", *target["gcc_flags"]]
    else:
        head = ["clang++-19", *target["clang_flags"], "-isystem", newlib_include()]
    extra = [
        word
        for word in extra
        if not (word.startswith("-mfloat-abi") and "m0" in target["name"] and word != "-mfloat-abi=soft")
    ]
    return [
        *head,
        *extra,
        f"-std={standard}",
        *STRICT,
        "-I",
        str(ROOT / "runtime" / "include"),
        "-I",
        str(ROOT / "ops"),
    ]


def files_for(files: list[Path], target: dict, extra: list[str]) -> list[Path]:
    """Helium needs registers of the FPU, so a soft float ABI leaves it out: such a build takes the DSP kernels."""
    if target["isa"] != "mve" or "-mfloat-abi=soft" not in extra:
        return files
    return sources("dsp")


def check(job: tuple[list[str], list[Path]]) -> str | None:
    words, files = job
    result = subprocess.run([*words, *map(str, files)], capture_output=True, text=True)
    return None if result.returncode == 0 else f"{' '.join(words)}\n{result.stderr[:2000]}"


def main() -> int:
    targets = {t["name"]: t for t in json.loads(call("targets", "--json"))}
    with tempfile.TemporaryDirectory() as folder:
        jobs = []
        for name, target in targets.items():
            generated = Path(folder) / name
            call("compile", ROOT / "examples" / "keyword_spotting" / "kws_int8.pt2", "--target", name, "-o", generated)
            files = [*sources(target["isa"]), generated / "model.cpp"]
            compilers = ["clang"] if name in CLANG_ONLY else ["gcc", "clang"]
            variants = [("gnu++14", []), *(EXTRA if name in EXTRA_CORES else [])]
            jobs += [
                (command(c, target, standard, extra), files_for(files, target, extra))
                for c in compilers
                for standard, extra in variants
            ]
            jobs += [job for c in compilers for job in with_assembly(c, target)]
        problems = [p for p in for_each(check, jobs) if p]
    print("\n".join(problems) if problems else f"{sum(len(files) for _, files in jobs)} compilations without a warning")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
