"""A real browser, without a screen, for tests of pages."""

import os
import re
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from selenium import webdriver
from selenium.webdriver.chrome.service import Service

_OPTIONS = (
    "--headless=new",
    "--no-sandbox",  # which root, as in containers, cannot have
    "--disable-dev-shm-usage",
    "--disable-background-networking",
    "--hide-scrollbars",
)


@contextmanager
def chromium() -> Iterator[webdriver.Chrome]:
    """Start Debian's Chromium, and end it with its driver."""
    binaries = [shutil.which(name) for name in ("chromium", "chromedriver")]
    if not all(binaries):
        # Debian has them; Ubuntu has them in another form, which these tests cannot use.
        pytest.skip("chromium or chromedriver is not installed")
    options = webdriver.ChromeOptions()
    options.binary_location = binaries[0] or ""
    for option in _OPTIONS:
        options.add_argument(option)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    # It leaves files behind where it has its temporary ones.
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as directory:
        service = Service(binaries[1], env=os.environ | {"TMPDIR": directory})
        browser = webdriver.Chrome(options=options, service=service)
        try:
            yield browser
        finally:
            browser.quit()


def screen(browser: webdriver.Chrome, width: int, height: int = 900) -> None:
    """Set the size of the screen in pixels."""
    size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 500}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)


def scheme(browser: webdriver.Chrome, name: str, media: str = "") -> None:
    """Prefer ``light`` or ``dark`` from now on; ``media`` can be ``print``."""
    features = [{"name": "prefers-color-scheme", "value": name}]
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": media, "features": features})


def ask(browser: webdriver.Chrome, expression: str, *arguments: Any) -> Any:
    """Return what an expression in the page's own language is."""
    return browser.execute_script(f"return {expression}", *arguments)


def complaints(browser: webdriver.Chrome) -> list[str]:
    """Return what the browser's console has had to say since the last time."""
    return [entry["message"] for entry in browser.get_log("browser")]  # type: ignore[no-untyped-call]


def channels(colour: str) -> list[float]:
    """Return red, green and blue from 0 to 1."""
    return [int(part) / 255 for part in re.findall(r"\d+", colour)[:3]]


def luminance(colour: str) -> float:
    """Return how bright a colour is, by the formula of WCAG."""
    red, green, blue = (
        part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4
        for part in channels(colour)
    )
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: str, other: str) -> float:
    """Return the contrast of two colours, from 1 to 21."""
    bright, dim = sorted((luminance(one), luminance(other)), reverse=True)
    return (bright + 0.05) / (dim + 0.05)
