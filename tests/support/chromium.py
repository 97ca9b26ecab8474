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


def fetched(route: Any, url: str | None = None, **headers: str) -> Any:
    """The answer to a request that a test has caught, sent on as the page's own: Playwright alone would leave out what
    the browser adds, the session's cookie and who asks."""
    cookies = route.request.frame.page.context.cookies()
    added = {
        "cookie": "; ".join(f"{each['name']}={each['value']}" for each in cookies),
        "sec-fetch-site": "same-origin",
        **{name.replace("_", "-"): value for name, value in headers.items()},
    }
    return route.fetch(url=url, headers={**route.request.headers, **added})


def _path() -> str:
    return os.environ.get("BATON_CHROMIUM") or shutil.which("chromium") or ""
