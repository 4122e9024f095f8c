# SPDX-License-Identifier: Apache-2.0
"""report.html in headless Chromium: it draws without an error, asks the network for nothing, and shows the right numbers.

usage: python tests/system/report_page.py [--screenshots FOLDER]
  --screenshots   also write pictures of the page, light and dark, wide and narrow, for people to look at
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
from html.parser import HTMLParser
from pathlib import Path

from cli import ROOT, call, call_json

MODEL = ROOT / "examples" / "keyword_spotting" / "kws_int8.pt2"
CHROMIUM = shutil.which("chromium")
OPTIONS = ("--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--enable-logging=stderr", "--v=0")


def chromium(page: Path, *options: str) -> tuple[str, list[str]]:
    """What Chromium prints, and what the page's console said."""
    with tempfile.TemporaryDirectory() as profile:
        command = [CHROMIUM, *OPTIONS, f"--user-data-dir={profile}", *options, page.as_uri()]
        result = subprocess.run(command, capture_output=True, text=True, timeout=300)
    return result.stdout, [line for line in result.stderr.splitlines() if "CONSOLE" in line]


class Drawn(HTMLParser):
    """Text of the document without its scripts, its tags, and the labels that stand for pictures."""

    def __init__(self, dom: str):
        super().__init__()
        self.text, self.labels, self.rows, self.attributes, self._in_script = "", [], 0, {}, False
        self.feed(dom)

    def handle_starttag(self, tag, attributes):
        values = dict(attributes)
        self._in_script = tag in {"script", "style"}
        self.rows += tag == "tr"
        if values.get("role") == "img":
            self.labels.append(values["aria-label"])
        if tag == "body":
            self.attributes = values

    def handle_endtag(self, tag):
        self._in_script = False

    def handle_data(self, data):
        if not self._in_script:
            self.text += data + "\n"


def draw(page: Path) -> tuple[Drawn, list[str]]:
    dom, console = chromium(page, "--virtual-time-budget=5000", "--dump-dom")
    return Drawn(dom), console


def long_report(report: dict, times: int) -> dict:
    """The same model several times in a row."""
    steps = max(layer["first_step"] + layer["step_count"] for layer in report["layers"])
    long = {**report, "layers": [], "buffers": []}
    for i in range(times):
        shift = i * steps
        long["layers"] += [
            {**r, "layer": f"stage{i}.{r['layer']}", "first_step": r["first_step"] + shift} for r in report["layers"]
        ]
        long["buffers"] += [
            {**b, "first_step": b["first_step"] + shift, "last_step": b["last_step"] + shift} for b in report["buffers"]
        ]
    return long


def with_report(page: str, report: dict) -> str:
    """The page with another report in it."""
    data = json.dumps(report).replace("<", "\\u003c")
    begin = page.index('id="report-data">') + len('id="report-data">')
    return page[:begin] + data + page[page.index("</script>", begin) :]


class ReportPage(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        if CHROMIUM is None:
            raise RuntimeError("chromium is not installed: apt-get install chromium")
        cls.temporary = tempfile.TemporaryDirectory()
        cls.made = Path(cls.temporary.name) / "made"
        call("compile", MODEL, "--target", "cortex-m55", "--curve", "-o", cls.made)
        cls.page = (cls.made / "report.html").read_text()
        cls.fresh = cls.made / "fresh.html"  # as it was before `size` added the firmware
        cls.fresh.write_text(cls.page)
        cls.report = json.loads((cls.made / "report.json").read_text())

    @classmethod
    def tearDownClass(cls):
        cls.temporary.cleanup()

    def assert_drawn(self, page: Path) -> Drawn:
        drawn, console = draw(page)
        self.assertEqual(console, [])
        self.assertEqual(drawn.attributes.get("data-drawn"), "yes")
        return drawn

    def test_the_numbers_of_the_report_appear(self):
        drawn = self.assert_drawn(self.fresh)
        for key in ("ram_bytes", "image_bytes", "macs", "arena_lower_bound_bytes"):
            self.assertIn(f"{self.report[key]:,}", drawn.text, key)
        for layer in self.report["layers"]:
            for value in (layer["layer"], layer["kernel"], layer["source"], f"{layer['constant_bytes']:,}"):
                self.assertIn(value, drawn.text)
        for buffer in self.report["buffers"]:
            self.assertIn(buffer["name"], drawn.text)
        for point in self.report["trade_curve"]:
            self.assertIn(f"{point['ram_bytes']:,}", drawn.text)
        self.assertIn(f"peak: {self.report['peaks'][0]['bytes']:,} bytes", drawn.text)
        for advice in (a for layer in self.report["layers"] for a in layer["advice"]):
            self.assertIn(advice["what"], drawn.text)

    def test_every_picture_has_a_text(self):
        drawn = self.assert_drawn(self.fresh)
        self.assertEqual(len(drawn.labels), len(self.report["regions"]) + 1 + (len(self.report["trade_curve"]) > 1))
        self.assertIn(f"{self.report['regions'][0]['bytes']:,} bytes", drawn.labels[0])

    def test_nothing_is_loaded(self):
        self.assertIsNone(
            re.search(r"""(?:src|href)=|url\((?!#)|@import|https?://(?!www\.w3\.org/2000/svg)""", self.page)
        )
        self.assertIn("default-src 'none'", self.page)

    def test_the_built_firmware_is_added(self):
        call("build", self.made, "--board", "mps3-an547")
        size = call_json("size", self.made)
        drawn = self.assert_drawn(self.made / "report.html")
        self.assertIn(f"{size['flash_bytes']:,} bytes", drawn.text)
        for name in size["kernels"]:
            self.assertIn(name, drawn.text)

    def test_a_hundred_layers(self):
        page = self.made / "long.html"
        report = long_report(self.report, 100 // len(self.report["layers"]) + 1)
        page.write_text(with_report(self.page, report))
        drawn = self.assert_drawn(page)
        self.assertGreaterEqual(len(report["layers"]), 100)
        self.assertGreater(drawn.rows, len(report["layers"]) + len(report["buffers"]))
        self.assertIn(report["layers"][-1]["layer"], drawn.text)

    def test_names_cannot_leave_their_place(self):
        report = json.loads(json.dumps(self.report))
        name = "</script><b>bold</b>"
        report["layers"][0]["layer"] = name
        page = self.made / "names.html"
        page.write_text(with_report(self.page, report))
        self.assertIn(name, self.assert_drawn(page).text)

    def test_a_broken_page_is_noticed(self):
        page = self.made / "broken.html"
        page.write_text(self.page.replace("showFigures();\n", "showFigure();\n"))
        drawn, console = draw(page)
        self.assertNotEqual(console, [])
        self.assertNotIn("data-drawn", drawn.attributes)


def take_screenshots(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as temporary:
        made = Path(temporary) / "made"
        call("compile", MODEL, "--target", "cortex-m55", "--curve", "-o", made)
        call("build", made, "--board", "mps3-an547")
        call("size", made)
        for scheme, value in (("dark", 0), ("light", 1)):
            for width in (1250, 420):
                picture = folder / f"{scheme}-{width}.png"
                look = f"--blink-settings=preferredColorScheme={value}"
                chromium(made / "report.html", look, f"--window-size={width},3200", f"--screenshot={picture}")
                print(picture)


if __name__ == "__main__":
    if "--screenshots" in sys.argv[1:-1]:
        take_screenshots(Path(sys.argv[-1]))
    else:
        unittest.main(verbosity=1)
