# SPDX-License-Identifier: Apache-2.0
"""What several tests need: a browser."""

from __future__ import annotations

from collections.abc import Iterator

import pytest


@pytest.fixture
def browser() -> Iterator:
    """Headless Chromium; imported only where a test asks for it."""
    from selenium import webdriver

    options = webdriver.ChromeOptions()
    options.binary_location = "/usr/bin/chromium"
    for word in ("--headless=new", "--no-sandbox", "--enable-unsafe-swiftshader", "--window-size=1600,1000"):
        options.add_argument(word)
    chrome = webdriver.Chrome(options=options, service=webdriver.ChromeService("/usr/bin/chromedriver"))
    yield chrome
    chrome.quit()
