# SPDX-License-Identifier: Apache-2.0
"""The check of the documentation notices what it is there for.

usage: python tests/docs/blocks_test.py
"""

from __future__ import annotations

import contextlib
import io
import tempfile
import unittest
from pathlib import Path

import blocks


class Blocks(unittest.TestCase):
    def setUp(self):
        temporary = tempfile.TemporaryDirectory(dir=blocks.ROOT)
        self.addCleanup(temporary.cleanup)
        self.folder = Path(temporary.name)
        (self.folder / "stage").mkdir()

    def check(self, text: str) -> str:
        """What is wrong with a page, or nothing."""
        page = self.folder / "page.md"
        page.write_text(text)
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            held = blocks.check_page(page, self.folder / "stage")
        faults = printed.getvalue().split("\n", 1)[1]
        self.assertEqual(held, faults == "")
        return faults

    def test_what_holds(self):
        self.assertEqual(self.check("```python\nx = 2\n```\nand\n```python\nprint(x)\n```\n```text\n2\n```\n"), "")
        self.assertEqual(self.check("```sh\necho a > f\n```\n```sh\ncat f; echo b\n```\n```text\na\n...\n```\n"), "")
        self.assertEqual(
            self.check("<!-- given: int f(void); -->\n```c\n#include <stdint.h>\nint8_t x = (int8_t)f();\n```\n"), ""
        )
        self.assertEqual(self.check("<!-- not run: needs a moon -->\n```sh\nfalse\n```\n"), "")

    def test_a_block_that_fails(self):
        self.assertIn("page.md:4: exit code 1", self.check("\n\n```sh\nfalse; echo late\n```\n"))
        self.assertIn("line 3, in <module>", self.check("\n```python\n1 / 0\n```\n"))
        self.assertIn("undeclared", self.check("```c\nint f(void) { return x; }\n```\n"))

    def test_other_output(self):
        self.assertIn("prints something else", self.check("```sh\necho 3 bytes\n```\n```text\n4 bytes\n```\n"))
        vary = "<!-- figures vary -->\n```text\n{}\n```\n"
        self.assertEqual(self.check("```sh\necho 3.5 bytes\n```\n" + vary.format("41  bytes")), "")
        self.assertIn("prints something else", self.check("```sh\necho 3 bytes\n```\n" + vary.format("4 bits")))

    def test_a_block_without_a_language_or_a_reason(self):
        self.assertIn("says no language", self.check("```\nrushlight fly\n```\n"))
        self.assertIn("exit code", self.check("<!-- not run -->\n```sh\nfalse\n```\n"))
        self.assertIn("exit code", self.check("<!-- not run: a reason -->\nsome words\n```sh\nfalse\n```\n"))


if __name__ == "__main__":
    unittest.main(verbosity=1)
