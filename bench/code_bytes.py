# SPDX-License-Identifier: Apache-2.0
"""Measures what linking takes and writes ops/code_bytes.def, of which estimates of flash are made; build again then.

usage: python bench/code_bytes.py

Families: the code that each reaches in a firmware that links all of them. The rest (runtime, start-up, the compiler's
library): what the keyword-spotting example has besides kernels and image.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

from measure import BOARDS, MODELS, ROOT, call, call_json, for_each, measure_kernels

TABLE = ROOT / "ops" / "code_bytes.def"
HEAD = """\
// SPDX-License-Identifier: Apache-2.0
//
// Bytes of code, by core and kernel family (ops/code_bytes.h). Written by bench/code_bytes.py.
"""


def rest_of(target: str) -> int:
    with tempfile.TemporaryDirectory() as folder:
        call("compile", MODELS["kws"], "--target", target, "-o", folder)
        call("build", folder, "--board", BOARDS[target])
        size = call_json("size", Path(folder))
    return size["flash_bytes"] - size["kernel_bytes"] - size["model_bytes"]


def lines_of(target: str) -> list[str]:
    families = measure_kernels(target, "gcc", "code")["family_bytes"]
    rows = {"runtime": rest_of(target), **{family: count for family, count in families.items() if count}}
    return [f'RUSH_CODE_BYTES("{target}", {row}, {count})' for row, count in rows.items()]


def main() -> None:
    lines = [line for target in for_each(lines_of, BOARDS) for line in target]
    TABLE.write_text(HEAD + "\n".join(lines) + "\n#undef RUSH_CODE_BYTES\n")


if __name__ == "__main__":
    main()
