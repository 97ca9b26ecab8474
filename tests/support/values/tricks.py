"""Texts that attack a careless page (markup, scripts, links, hidden characters), and a check of a page that shows
them."""

from __future__ import annotations

from typing import Any

TRICKS = [
    "<img src=https://evil.example/x onerror=alert(1)>",
    "<script>window.hit = 1</script>",
    "[click](javascript:alert(1)) https://evil.example",
    "safe\u202egnp.exe \u200bhidden\ufeff \u2066iso\u2069",
    "Z" + "\u0310\u0311\u0312\u0313\u0314" * 40 + "algo",
    "{{constructor.constructor('alert(1)')()}} ${alert(1)}",
    "W" * 900,
]
# Of texts, how many could be drawn outside of their box.
OPEN_BOXES = "texts => texts.filter(text => getComputedStyle(text).overflowY !== 'clip').length"


def only_text(page: Any) -> None:
    """Checks that the page shows them as text: no element, no link elsewhere, nothing ran, nothing is too wide, nothing
    is reordered."""
    assert page.locator("main :is(img, script, iframe, object, embed, link, meta, style)").count() == 0
    hrefs = page.locator("a[href]").evaluate_all("links => links.map(link => link.getAttribute('href'))")
    assert [href for href in hrefs if not href.startswith("#")] == []
    assert page.evaluate("window.hit") is None
    assert page.locator(":is(article, .card) .said:not(pre .said)").evaluate_all(OPEN_BOXES) == 0
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert "\u202e" not in page.locator("body").inner_text()
