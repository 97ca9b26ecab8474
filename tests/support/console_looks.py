"""Checks of how a page of the console looks: axe's verdict, and its picture in docs/."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

PICTURES = Path(__file__).parents[2] / "docs" / "images" / "console"


def nothing_found(page: Any) -> None:
    axe = pytest.importorskip("axe_playwright_python.sync_playwright").Axe()
    found = axe.run(page)
    assert found.violations_count == 0, found.generate_report()


def picture(page: Any, name: str) -> None:
    """Takes the page's picture for docs/, only under WRITE_SCREENS."""
    if os.environ.get("WRITE_SCREENS"):
        PICTURES.mkdir(parents=True, exist_ok=True)
        page.set_viewport_size({"width": 1180, "height": 740})
        for message in page.locator(".toasts button:has-text('✕')").all():  # they cover what one wants to see
            message.click()
        page.screenshot(path=PICTURES / f"{name}.png")
