# SPDX-License-Identifier: Apache-2.0
"""Runs the code blocks of README.md, CONTRIBUTING.md, docs/ and examples/: what a page says works and prints what it shows.

usage: python tests/docs/blocks.py [PAGE ...]

Runs with the rushlight of the Python that runs it. The blocks of a page run in order, in one folder, which begins as
stage.py makes it.
  sh       by bash; every command must succeed
  python   all in one session
  c        compiled strictly, with the headers that the page's commands wrote
  text     right behind a block: all that it prints; elsewhere just text. `...` stands for anything, and behind the
           comment `<!-- figures vary -->` any number for any other
A comment before a block says what its reader has besides: `<!-- given: LINES -->`, of its language; C is then the
inside of a function. `<!-- not run: REASON -->` leaves a block out. A block without a language is a mistake.
"""

from __future__ import annotations

import contextlib
import doctest
import io
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
import traceback
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
LANGUAGES = ("sh", "python", "c", "text")
C_FLAGS = ("-std=c11", "-pedantic-errors", "-Wall", "-Wextra", "-Werror", "-mcpu=cortex-m55", "-fsyntax-only")


@dataclass
class Block:
    line: int  # of its first line of code
    language: str
    code: str
    given: str | None = None
    not_run: str = ""
    prints: str | None = None
    figures_vary: bool = False


def read_blocks(text: str) -> list[Block]:
    blocks: list[Block] = []
    comment, end = "", 0
    for match in re.finditer(r"<!--(.*?)-->|^```(\w*)\n(.*?)^```$", text, re.MULTILINE | re.DOTALL):
        between, end = text[end : match.start()].strip(), match.end()
        if match[1] is not None:
            comment = match[1].strip()
            continue
        if match[2] == "text" and blocks and not between and comment in ("", "figures vary"):
            blocks[-1].prints, blocks[-1].figures_vary = match[3], bool(comment)
            comment = ""
            continue
        kind, colon, rest = comment.partition(":")
        block = Block(text[: match.start(3)].count("\n") + 1, match[2], match[3])
        if not between and colon and kind == "given":
            block.given = rest.strip()
        elif not between and colon and kind == "not run":
            block.not_run = rest.strip()
        blocks.append(block)
        comment = ""
    return blocks


def differences(block: Block, printed: str, title: str) -> list[str]:
    example = doctest.Example("", block.prints)
    options = doctest.ELLIPSIS
    if block.figures_vary:
        example.want, printed = (re.sub(r"\d[\d.,]*", "0", text) for text in (example.want, printed))
        options |= doctest.NORMALIZE_WHITESPACE
    checker = doctest.OutputChecker()
    if checker.check_output(example.want, printed, options):
        return []
    return [f"{title}\n{checker.output_difference(example, printed, options | doctest.REPORT_NDIFF)}"]


class Page:
    def __init__(self, file: Path):
        self.name = str(file.relative_to(ROOT))
        self.blocks = read_blocks(file.read_text())
        self.session: dict = {"__name__": "__main__"}

    def run(self) -> list[str]:
        """What does not hold, in the folder that is the current one."""
        faults = []
        for block in self.blocks:
            if block.not_run or block.language == "text":
                continue
            try:
                printed = getattr(self, f"run_{block.language}")(block)
            except Exception as failure:
                faults.append(f"{self.name}:{block.line}: {failure}")
                break  # what follows builds on it
            if block.prints is not None:
                faults += differences(block, printed, f"{self.name}:{block.line}: prints something else")
        return faults

    def run_sh(self, block: Block) -> str:
        script = f"{block.given or ''}\n{block.code}"
        result = subprocess.run(["bash", "-euo", "pipefail", "-c", script], stdout=-1, stderr=-2, text=True)
        if result.returncode:
            raise RuntimeError(f"exit code {result.returncode}\n{result.stdout}")
        return result.stdout

    def run_python(self, block: Block) -> str:
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            try:
                exec(block.given or "", self.session)
                exec(compile("\n" * (block.line - 1) + block.code, self.name, "exec"), self.session)
            except Exception:
                raise RuntimeError(traceback.format_exc()) from None
        return printed.getvalue()

    def run_c(self, block: Block) -> str:
        lines = block.code.splitlines(keepends=True)
        source = block.code
        if block.given is not None:
            includes = [line for line in lines if line.startswith("#include")]
            inside = [line for line in lines if not line.startswith("#include")]
            source = f"{''.join(includes)}{block.given}\nvoid body(void);\nvoid body(void) {{\n{''.join(inside)}}}\n"
        headers = {f"-I{header.parent}" for header in Path().glob("*/*.h")}
        command = [
            "arm-none-eabi-gcc",
            *C_FLAGS,
            "-Wno-unused-variable",
            f"-I{ROOT / 'runtime/include'}",
            *sorted(headers),
        ]
        result = subprocess.run([*command, "-xc", "-"], input=source, capture_output=True, text=True)
        if result.returncode:
            raise RuntimeError(result.stderr)
        return ""


def run_page(file: Path) -> None:
    """In a process of its own, in a folder made by stage.py."""
    faults = Page(file).run()
    print(*faults, sep="\n")
    sys.exit(bool(faults))


def check_page(file: Path, stage: Path) -> bool:
    page, start = Page(file), time.monotonic()
    faults = [
        f"{page.name}:{block.line}: the block says no language of {', '.join(LANGUAGES)}"
        for block in page.blocks
        if block.language not in LANGUAGES
    ]
    code = [block for block in page.blocks if block.language not in ("", "text")]
    if not faults and any(not block.not_run for block in code):
        with tempfile.TemporaryDirectory() as folder:
            shutil.copytree(stage, folder, symlinks=True, dirs_exist_ok=True)
            path = f"{Path(sys.executable).parent}:{os.defpath}"
            env = {key: value for key, value in os.environ.items() if not key.startswith("RUSHLIGHT")} | {
                "PATH": path, "PYTHONPATH": str(Path(__file__).parent), "PYTHONWARNINGS": "ignore",
            }  # fmt: skip
            command = [sys.executable, __file__, "--here", file]
            result = subprocess.run(command, cwd=folder, env=env, stdout=-1, stderr=-2, text=True)
        if result.returncode:
            faults.append(result.stdout.rstrip())
    left_out = sum(bool(block.not_run) for block in code)
    print(
        f"{page.name}: {len(code) - left_out} blocks run, {left_out} left out, {time.monotonic() - start:.0f} s",
        flush=True,
    )
    print(*faults, sep="\n", end="\n" if faults else "", flush=True)
    return not faults


def main(names: list[str]) -> int:
    files = [Path(name).resolve() for name in names]
    if not files:
        files = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted(ROOT.glob("docs/**/*.md"))]
        files += sorted(ROOT.glob("examples/*/README.md"))
    with tempfile.TemporaryDirectory() as folder:
        stage = Path(folder)
        subprocess.run([sys.executable, Path(__file__).with_name("stage.py"), stage], check=True)
        held = [check_page(file, stage) for file in files]
    print(f"{sum(held)} passed, {len(held) - sum(held)} failed")
    return 0 if all(held) else 1


if __name__ == "__main__":
    if sys.argv[1:2] == ["--here"]:
        run_page(Path(sys.argv[2]))
    if any(name.startswith("-") for name in sys.argv[1:]):
        sys.exit(__doc__)
    sys.exit(main(sys.argv[1:]))
