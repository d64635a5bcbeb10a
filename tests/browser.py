"""A real browser for tests: the system's Chromium, and pages that are watched."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from typing import Any

import pytest

CHROMIUM = os.environ.get("SHIFTSCOPE_CHROMIUM") or shutil.which("chromium") or shutil.which("chromium-browser")


def launch_chromium() -> Iterator[Any]:
    """The browser, for as long as the iterator is held; a test is skipped where there is none."""
    playwright = pytest.importorskip("playwright.sync_api")
    if CHROMIUM is None:
        pytest.skip("no Chromium on this machine; run `make setup-browser`")
    with playwright.sync_playwright() as running:
        opened = running.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield opened
        opened.close()


def open_page(browser: Any, own: str, **how: Any) -> tuple[Any, list[str]]:
    """A page in a window of its own, and what it complains of or asks for elsewhere than at its `own` addresses."""
    page = browser.new_context(**({"viewport": {"width": 1280, "height": 800}} | how)).new_page()
    trouble: list[str] = []
    page.on("request", lambda r: None if r.url.startswith((own, "data:")) else trouble.append(r.url))
    page.on("pageerror", lambda error: trouble.append(str(error)))
    page.on("console", lambda message: trouble.append(message.text))
    page.on("dialog", lambda dialog: (trouble.append(dialog.message), dialog.dismiss()))
    return page, trouble
