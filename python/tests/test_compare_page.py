# SPDX-License-Identifier: Apache-2.0
"""The page that `rushlight compare --html` writes, as Chromium shows it."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

from selenium.webdriver.common.by import By

ROOT = Path(__file__).resolve().parents[2]
MODEL = ROOT / "examples" / "keyword_spotting" / "kws_int8.pt2"
FEATURES = ROOT / "examples" / "keyword_spotting" / "clips" / "features.npy"
RUSHLIGHT = Path(sys.executable).with_name("rushlight")


def test_every_layer_is_a_row(tmp_path, browser):
    page = tmp_path / "compare.html"
    words = [RUSHLIGHT, "compare", MODEL, "--input", FEATURES, "--on", "mps3-an547", "--html", page, "--json"]
    report = json.loads(subprocess.run([*map(str, words)], capture_output=True, text=True, check=True).stdout)
    browser.get(page.as_uri())
    rows = [row.text for row in browser.find_elements(By.CSS_SELECTOR, "#layers tbody tr")]
    assert len(rows) == len(report["layers"])
    for row, layer in zip(rows, report["layers"], strict=True):
        assert row.startswith(layer["layer"])
        assert layer["source"] in row
        assert ("exact" if layer["sqnr_db"] is None else f"{layer['sqnr_db']:.1f}") in row
        assert row.count("same bits") == 2 * (layer["program_codes_compared"] > 0)
    assert "On mps3-an547 every bit is the same." in browser.find_element(By.ID, "summary").text
    assert browser.get_log("browser") == []
