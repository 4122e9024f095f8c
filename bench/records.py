# SPDX-License-Identifier: Apache-2.0
"""The files that the bench keeps, how they are merged and compared.

budget.csv          models, some with options, x cores: flash, RAM, stack, code, instructions, cycles
bench/kernels.csv   kernel shapes x cores x compilers: instructions, cycles
bench/code.csv      code bytes of every kernel source on every core
bench/estimates.csv by how many percent estimates of models are too large, on every core
bench/history.csv   two rows a commit: the models' cycles, and the bytes of their kernels
"""

from __future__ import annotations

import csv
import io
import subprocess
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

from measure import BOARDS, FIGURES, MODELS, ROOT, write_text


@dataclass(frozen=True)
class Table:
    path: Path
    keys: tuple[str, ...]
    figures: tuple[str, ...]
    order: Callable[[dict], tuple] = lambda row: ()

    def parse(self, text: str) -> dict[tuple, dict]:
        rows = list(csv.DictReader(io.StringIO(text)))
        return {tuple(row[k] for k in self.keys): row for row in rows}

    def now(self) -> dict[tuple, dict]:
        return self.parse(self.path.read_text()) if self.path.exists() else {}

    def at(self, revision: str) -> dict[tuple, dict]:
        """The rows that a commit has; none where it has no such file."""
        return self.parse(git("show", f"{revision}:{self.path.relative_to(ROOT)}", allow_failure=True))

    def merge(self, rows: list[dict]) -> None:
        """Writes the rows over those with the same keys."""
        merged = self.now() | {tuple(str(row[k]) for k in self.keys): row for row in rows}
        write_csv(self.path, (*self.keys, *self.figures), sorted(merged.values(), key=self.order))

    def changes(self, before: dict[tuple, dict], rows: list[dict]) -> list[str]:
        """A line for each figure that differs, worse ones marked."""
        lines = []
        for row in rows:
            old = before.get(tuple(str(row[k]) for k in self.keys))
            for figure in self.figures if old else ():
                was, now = round(float(old[figure])), int(row[figure])
                if was == now:
                    continue
                change = (now - was) / was * 100 if was else float("inf")
                what = " ".join(str(row[k]) for k in self.keys)
                lines.append(f"{'worse ' if now > was else 'better'} {what} {figure}: {was} -> {now} ({change:+.1f} %)")
        return lines


def git(*arguments: str, allow_failure: bool = False) -> str:
    result = subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, text=True)
    if result.returncode and not allow_failure:
        raise RuntimeError(f"git {' '.join(arguments)}: {result.stderr}")
    return result.stdout if result.returncode == 0 else ""


def read_csv(path: Path) -> list[dict]:
    with path.open() as file:
        return list(csv.DictReader(file))


def write_csv(path: Path, columns: Iterable[str], rows: Iterable[dict]) -> None:
    text = io.StringIO()
    writer = csv.DictWriter(text, tuple(columns), lineterminator="\n", restval="")
    writer.writeheader()
    writer.writerows(rows)
    write_text(path, text.getvalue())


def place(names: Iterable[str], name: str) -> int:
    known = list(names)
    return known.index(name) if name in known else len(known)


def by_model(row: dict) -> tuple:
    model, _, options = row["model"].partition(" ")
    return place(MODELS, model), options, place(BOARDS, row["target"])


def by_target(row: dict) -> tuple:
    return place(BOARDS, row["target"]), row["compiler"], row.get("shape", row.get("kernel"))


BENCH = ROOT / "bench"
BUDGET = Table(ROOT / "budget.csv", ("model", "target"), FIGURES, by_model)
KERNELS = Table(BENCH / "kernels.csv", ("shape", "target", "compiler"), ("instructions", "cycles"), by_target)
CODE = Table(BENCH / "code.csv", ("kernel", "target", "compiler"), ("bytes",), by_target)
HISTORY = BENCH / "history.csv"
HISTORY_FIGURES = ("cycles", "kernels")
TO_COME = "next"  # a row's commit until that commit exists


def history_columns() -> list[str]:
    return [f"{model}/{target}" for model in MODELS for target in BOARDS]


def history_rows(commit: str, date: str, budget: dict[tuple, dict]) -> list[dict]:
    cells = {
        figure: {f"{m}/{t}": round(float(row[figure])) for (m, t), row in budget.items()} for figure in HISTORY_FIGURES
    }
    return [{"commit": commit, "date": date, "figure": figure, **cells[figure]} for figure in HISTORY_FIGURES]


def earlier_history() -> list[dict]:
    """What the file has already, and rows of every later commit that changed budget.csv, oldest first."""
    rows = [row for row in (read_csv(HISTORY) if HISTORY.exists() else []) if row["commit"] != TO_COME]
    known = {row["commit"] for row in rows}
    for line in git("log", "--reverse", "--format=%h %cI", "--", "budget.csv").splitlines():
        commit, date = line.split()
        if commit not in known:
            rows += history_rows(commit, date, BUDGET.at(commit))
    return rows


def write_history() -> None:
    """All commits so far, and the figures as they are now as those of the commit to come."""
    rows = earlier_history()
    if BUDGET.now() != BUDGET.at("HEAD"):
        rows += history_rows(TO_COME, "", BUDGET.now())
    columns = ["commit", "date", "figure", *history_columns()]
    known = set(columns)
    write_csv(HISTORY, columns, [{k: v for k, v in row.items() if k in known} for row in rows])
