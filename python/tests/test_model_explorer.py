# SPDX-License-Identifier: Apache-2.0
"""The real Model Explorer shows what `rushlight view` writes, and opens .rush files through the adapter."""

from __future__ import annotations

import contextlib
import os
import re
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from model_explorer.extension_manager import ExtensionManager
from selenium.webdriver.common.by import By
from selenium.webdriver.support.ui import WebDriverWait

import rushlight

ROOT = Path(__file__).resolve().parents[2]
MODEL = ROOT / "examples" / "keyword_spotting" / "kws_int8.pt2"
FEATURES = ROOT / "examples" / "keyword_spotting" / "clips" / "features.npy"
RUSHLIGHT = Path(sys.executable).with_name("rushlight")


def test_the_adapter_opens_images(tmp_path):
    program = rushlight.compile(MODEL)
    program.save(tmp_path)
    manager = ExtensionManager(["rushlight.model_explorer"])
    manager.load_extensions()
    assert "rushlight" in {metadata["id"] for metadata in manager.get_extensions_metadata()}
    command = {
        "cmdId": "convert",
        "extensionId": "rushlight",
        "modelPath": str(tmp_path / "model.rush"),
        "settings": {},
    }
    (graph,) = manager.run_cmd(command | {"deleteAfterConversion": False})["graphs"]
    layers = [{a["key"]: a["value"] for a in node["attrs"]}["layer"] for node in graph["nodes"]]
    assert set(layers) == {layer["layer"] for layer in program.report["layers"]}


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("localhost", 0))
        return probe.getsockname()[1]


@contextlib.contextmanager
def viewed(folder: Path) -> Iterator[str]:
    """The address at which Model Explorer shows the model."""
    words = [
        str(w)
        for w in (RUSHLIGHT, "view", MODEL, "--input", FEATURES, "-o", folder, "--no-open", "--port", free_port())
    ]
    env = {name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"}
    server = subprocess.Popen(words, env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    try:
        found = (re.search(r"http://localhost:\d+/\S*", line) for line in server.stdout)
        address = next((match[0] for match in found if match), None)
        assert address is not None, "Model Explorer did not start"
        yield address
    finally:
        server.terminate()
        server.wait()


def test_view_is_shown_in_a_browser(tmp_path, browser):
    def text() -> str:
        return browser.find_element(By.TAG_NAME, "body").text

    def wait_for(word: str) -> None:
        WebDriverWait(browser, 120).until(lambda _: word in text(), f"{word} does not appear")

    def click(word: str) -> None:
        browser.find_elements(By.XPATH, f"//*[normalize-space(text())='{word}']")[-1].click()

    with viewed(tmp_path) as address:
        browser.get(address)
        wait_for("GRAPH INFO")
        click("torch")
        wait_for("quantized")
        click("program")
        wait_for("Aggregated stats")
        shown = text()
    for overlay in ("cycles.json", "output_bytes.json", "region.json", "kernel_kind.json", "sqnr_db.json"):
        assert overlay in shown
    estimated = rushlight.compile(MODEL).report["layers"]
    for layer in estimated:
        if layer["step_count"] == 1:
            assert str(layer["estimated_cycles"]) in shown
