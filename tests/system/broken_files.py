# SPDX-License-Identifier: Apache-2.0
"""Damaged and unsupported files: one clear message with the words that a user needs, exit code 2, nothing written, within
5 seconds and 1 GiB. Controls of the same kind work.

usage: [RUSHLIGHT=path] python tests/system/broken_files.py
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from cli import RUSHLIGHT, SHARED, for_each, need_shared

SECONDS = 5
KIBIBYTES = 1 << 20
SANITIZED = "asan" in RUSHLIGHT  # the sanitizer's own memory is not the compiler's


def run_measured(words: list[str], output: Path) -> tuple[int, str, float, int]:
    """(exit code, what it printed, seconds, peak KiB) of one process."""
    begin = time.monotonic()
    with output.open("w+") as file:
        process = subprocess.Popen(words, stdout=file, stderr=subprocess.STDOUT)
        _, status, usage = os.wait4(process.pid, 0)
        seconds = time.monotonic() - begin
        file.seek(0)
        return os.waitstatus_to_exitcode(status), file.read(), seconds, usage.ru_maxrss


def names(hint: str, message: str) -> bool:
    """Whether the message has the hint's words; "a / b" and "a or b" are alternatives, brackets explain."""
    if hint == "file name":
        return "model.pt2" in message
    alternatives = re.split(r" / | or ", re.sub(r"\(.*?\)", "", hint))
    return any(word.strip().lower() in message.lower() for word in alternatives)


def problems_of(case: dict, code: int, message: str) -> list[str]:
    if code == 0:
        return [] if case["expect"] == "ok" or case.get("alt") else ["accepted"]
    if case["expect"] == "ok":
        return [f"refused: {message}"]
    if code != 2:
        return [f"exit code {code}: {message[:500]}"]
    return [f'message without "{hint}": {message}' for hint in case["hint"] if not names(hint, message)]


def check(folder: Path) -> list[str]:
    case = json.loads((folder / "case.json").read_text())
    with tempfile.TemporaryDirectory() as temporary:
        made = Path(temporary) / "made"
        words = [RUSHLIGHT, "compile", str(folder / "model.pt2"), "-o", str(made)]
        code, message, seconds, peak = run_measured(words, Path(temporary) / "said")
        problems = problems_of(case, code, message)
        if code and made.exists():
            problems.append("left files behind")
        if (Path(temporary).parent / "x_pt2_evil").exists():
            problems.append("wrote outside its folder")
    if seconds > SECONDS:
        problems.append(f"took {seconds:.1f} s")
    if peak > KIBIBYTES and not SANITIZED:
        problems.append(f"took {peak} KiB")
    return [f"{folder.name}: {problem}" for problem in problems]


def main() -> int:
    need_shared()
    folders = [
        f.parent for f in sorted((SHARED / "cases").glob("*/case.json")) if json.loads(f.read_text())["kind"] == "bad"
    ]
    problems = [problem for found in for_each(check, folders) for problem in found]
    print("\n".join(problems) if problems else f"{len(folders)} files behave")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
