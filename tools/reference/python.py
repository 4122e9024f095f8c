# SPDX-License-Identifier: Apache-2.0
"""The Python package's reference as HTML, from its docstrings by pdoc. Fails where something public has none.

usage: python tools/reference/python.py FOLDER
"""

from __future__ import annotations

import inspect
import re
import sys
from pathlib import Path

import pdoc

import rushlight


def public() -> dict[str, object]:
    """What `rushlight` exports, and the public members of its classes, by name."""
    found = {}
    for name in rushlight.__all__:
        thing = found[name] = getattr(rushlight, name)
        if inspect.isclass(thing) and thing.__module__.startswith("rushlight"):
            for member, value in vars(thing).items():
                if inspect.isfunction(value) and (member == "__call__" or not member.startswith("_")):
                    found[f"{name}.{member}"] = value
    return found


def with_list(docstring: str, parameters: list[str]) -> str:
    """`name: what it is` of parameters at the beginning of lines, as a list of Markdown."""
    names = "|".join(map(re.escape, parameters)) or "(?!)"
    beginning = re.compile(rf"^((?:{names})(?:, (?:{names}))*): ")
    lines: list[str] = []
    in_list = False
    for line in docstring.splitlines():
        found = beginning.match(line)
        if found:
            lines += [] if in_list else [""]
            line = f"- **{found[1]}**: {line[found.end() :]}"
        elif in_list and line and not line.startswith(" "):
            lines.append("")
        in_list = bool(found) or (in_list and line.startswith(" "))
        lines.append(line)
    return "\n".join(lines)


def parameters_of(thing: object) -> list[str]:
    try:
        return list(inspect.signature(thing).parameters)
    except (TypeError, ValueError):  # a built-in one has none
        return []


def main(folder: Path) -> None:
    things = public()
    missing = [name for name, thing in things.items() if not inspect.getdoc(thing)]
    if missing:
        sys.exit(f"error: no docstring: {', '.join(missing)}")
    for name, thing in things.items():
        vars(rushlight).setdefault(name.split(".")[0], thing)  # what is loaded on first use, too
        if inspect.isfunction(thing) or inspect.isclass(thing):
            thing.__doc__ = with_list(inspect.getdoc(thing), parameters_of(thing))
        if name.endswith(".__call__"):
            thing.__doc__ += "\n\n@public"  # pdoc leaves out what begins with an underscore
    pdoc.render.configure(show_source=False, docformat="markdown")
    pdoc.pdoc("rushlight", output_directory=folder)


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    main(Path(sys.argv[1]))
