# SPDX-License-Identifier: Apache-2.0
"""Checks that #includes point one way: cli, python -> compiler -> ops -> compiler/ir -> runtime, and that device
code includes nothing but the C library's headers that every toolchain has.

usage: python3 tools/check_dependencies.py        (from the repository's root)
"""

import re
import sys
from pathlib import Path

INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]', re.MULTILINE)
DEVICE_SYSTEM = {"stdint.h", "stddef.h", "string.h"}
VARIANT_SYSTEM = {"dsp": {"arm_acle.h"}, "mve": {"arm_acle.h", "arm_mve.h"}}

# What each layer may include, itself aside.
ALLOWED = {
    "cli": {"compiler", "ops", "kernels", "ir", "runtime"},
    "python": {"compiler", "ops", "kernels", "ir", "runtime"},
    "compiler": {"ops", "kernels", "ir", "runtime", "boards"},  # boards: the records that host and firmware share
    "ops": {"kernels", "ir", "runtime"},
    "ir": set(),
    "kernels": {"runtime"},
    "boards": {"runtime", "kernels"},
    "runtime": set(),
}


def is_host_operator_file(path: Path) -> bool:
    stem = path.stem
    return len(path.parts) == 2 or re.search(r"_(op|ref|packing|step|lowering|wide)$", stem) is not None


def layer(path: Path) -> str | None:
    """The layer of a repository file; None for tests, fuzz targets and what has no layer."""
    top = path.parts[0]
    if path.stem.endswith("_test") or top in {"tests", "fuzz", "tools", "docs", "examples", "bench"}:
        return None
    if top == "compiler":
        # A graph's text and its verifier ask the operators, so they lie above them.
        return "ir" if path.parts[1] == "ir" and path.stem not in {"print", "parse", "verify"} else "compiler"
    if top == "ops":
        if path.name.startswith("full_table") or path.suffix == ".def":
            return "kernels"
        return "ops" if is_host_operator_file(path) else "kernels"
    return top if top in ALLOWED else None


def resolve(root: Path, source: Path, name: str) -> Path | None:
    for base in (source.parent, Path("."), Path("runtime/include"), Path("ops"), Path("boards")):
        candidate = root / base / name
        if candidate.is_file():
            return candidate.resolve().relative_to(root)
    return None


def check_file(root: Path, source: Path) -> list[str]:
    own = layer(source)
    if own is None:
        return []
    problems = []
    for bracket, name in INCLUDE.findall((root / source).read_text()):
        if bracket == "<":
            if own in {"kernels", "runtime"}:
                variant = source.stem.rsplit("_", 1)[-1]
                if name not in DEVICE_SYSTEM | VARIANT_SYSTEM.get(variant, set()):
                    problems.append(f"{source}: device code includes <{name}>")
            continue
        target = resolve(root, source, name)
        other = layer(target) if target else None
        if target is not None and other is None:
            problems.append(f"{source}: includes {target}, which belongs to no layer")
        elif other is not None and other != own and other not in ALLOWED[own]:
            problems.append(f"{source}: {own} must not include {target} ({other})")
    return problems


def main() -> int:
    root = Path(__file__).resolve().parent.parent
    sources = [
        p.relative_to(root)
        for top in ("cli", "python", "compiler", "ops", "runtime", "boards")
        for p in sorted((root / top).rglob("*"))
        if p.suffix in {".h", ".cpp"}
    ]
    problems = [problem for source in sources for problem in check_file(root, source)]
    print("\n".join(problems) if problems else f"{len(sources)} files include in one direction")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
