"""Pages of what a filter takes, read from pages that know nothing of the filter."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from baton.ports import Page

if TYPE_CHECKING:
    from collections.abc import Callable

# A filter that takes little must not read without end: the cursor lets the caller go on.
MAX_READS = 5


def filtered(
    read: Callable[[int, str | None], Page],
    takes: Callable[[Any], bool],
    limit: int,
    cursor: str | None,
    *,
    is_past: Callable[[Any], bool] = lambda _: False,
) -> Page:
    """At most ``limit`` that ``takes`` says yes to, and often fewer. ``read``: the page of a size at a cursor;
    ``is_past``: behind this one nothing can be wanted."""
    found: list[Any] = []
    for _ in range(MAX_READS):
        page = read(limit - len(found), cursor)
        found += [each for each in page.items if takes(each)]
        cursor = None if any(is_past(each) for each in page.items) else page.cursor
        if cursor is None or len(found) >= limit:
            break
    return Page(tuple(found), cursor)
