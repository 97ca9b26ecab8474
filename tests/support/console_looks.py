"""Checks of how a page of the console looks: axe's verdict, and its pictures in docs/."""

from __future__ import annotations

import base64
import os
from pathlib import Path
from typing import Any

import pytest

PICTURES = Path(__file__).parents[2] / "docs" / "images" / "console"
SCHEMES = ("light", "dark")
# A PNG as a WebP of a third of its size: the browser is the only one here who makes them.
SMALLER = """async (png) => {
  const image = new Image();
  image.src = `data:image/png;base64,${png}`;
  await image.decode();
  const canvas = Object.assign(document.createElement("canvas"), { width: image.width, height: image.height });
  canvas.getContext("2d").drawImage(image, 0, 0);
  return canvas.toDataURL("image/webp", 0.6).split(",")[1];
}"""


def nothing_found(page: Any) -> None:
    axe = pytest.importorskip("axe_playwright_python.sync_playwright").Axe()
    found = axe.run(page)
    assert found.violations_count == 0, found.generate_report()


def pictures(page: Any, name: str) -> None:
    """Takes the page's pictures for docs/, in both schemes, only under WRITE_SCREENS."""
    if not os.environ.get("WRITE_SCREENS"):
        return
    PICTURES.mkdir(parents=True, exist_ok=True)
    page.set_viewport_size({"width": 1024, "height": 660})
    for message in page.locator(".toasts button:has-text('✕')").all():  # they cover what one wants to see
        message.click()
    blank = page.context.browser.new_page()
    for scheme in SCHEMES:
        page.emulate_media(color_scheme=scheme)
        png = base64.b64encode(page.screenshot()).decode()
        (PICTURES / f"{name}-{scheme}.webp").write_bytes(base64.b64decode(blank.evaluate(SMALLER, png)))
    blank.close()
