# SPDX-License-Identifier: Apache-2.0
"""The rushlight command as the system tests call it, and where their data is."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SHARED = ROOT.parent / "shared"
RUSHLIGHT = os.environ.get("RUSHLIGHT", str(ROOT / ".venv" / "bin" / "rushlight"))

# One core for each class that the project tests on every model, and the board that runs its code.
BOARDS = {
    "cortex-m0": "mps2-an385",
    "cortex-m0plus": "mps2-an385",
    "cortex-m3": "mps2-an385",
    "cortex-m4": "mps2-an386",
    "cortex-m7": "mps2-an500",
    "cortex-m33": "mps2-an505",
    "cortex-m55": "mps3-an547",
}


class CommandFailed(Exception):
    """rushlight exited with something else than 0."""

    def __init__(self, arguments: list[str], code: int, message: str):
        super().__init__(f"rushlight {' '.join(arguments)}: exit code {code}\n{message}")
        self.code = code
        self.message = message


def call(*arguments: object) -> str:
    """Standard output of one command."""
    words = [str(a) for a in arguments]
    result = subprocess.run([RUSHLIGHT, *words], capture_output=True, text=True)
    if result.returncode:
        raise CommandFailed(words, result.returncode, result.stderr)
    return result.stdout


def call_json(*arguments: object) -> dict:
    return json.loads(call(*arguments, "--json"))


def for_each(function, items) -> list:
    """function(item) for all items, on all cores, results in order."""
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        return list(pool.map(function, items))


def need_shared() -> None:
    """Ends the test where the shared models and cases are not beside the repository."""
    if not SHARED.is_dir():
        print(f"skipped: {SHARED.name}/ is not beside the repository")
        sys.exit(0)
