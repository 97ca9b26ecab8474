"""The system's Chromium, driven by Playwright, which `make console-setup` installs."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from importlib.util import find_spec
from typing import Any


def what_is_missing() -> str:
    """Returns what has to be installed first; empty if nothing is missing."""
    if find_spec("playwright") is None:
        return "a real browser needs `make console-setup`"
    if not _path():
        return "a real browser needs Chromium: `apt-get install chromium`, or BATON_CHROMIUM names another"
    return ""


@contextmanager
def chromium() -> Iterator[Any]:
    with import_module("playwright.sync_api").sync_playwright() as started:
        browser = started.chromium.launch(executable_path=_path(), args=["--no-sandbox"])
        try:
            yield browser
        finally:
            browser.close()


def _path() -> str:
    return os.environ.get("BATON_CHROMIUM") or shutil.which("chromium") or ""
