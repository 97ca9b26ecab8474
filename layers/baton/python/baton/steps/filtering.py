"""Filtered pages, from pages that are read without the filter."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from baton.ports.paging import Page

# A filter with few hits must not read without end: the caller continues with the cursor.
MAX_READS = 5


def filtered(
    read: Callable[[int, str | None], Page],
    takes: Callable[[Any], bool],
    limit: int,
    cursor: str | None,
    *,
    is_past: Callable[[Any], bool] = lambda _: False,
) -> Page:
    """Returns at most ``limit`` items that ``takes`` accepts, and often fewer. ``read``: returns the page of a size at
    a cursor. ``is_past``: true if no later item can be accepted."""
    found: list[Any] = []
    for _ in range(MAX_READS):
        page = read(limit - len(found), cursor)
        found += [each for each in page.items if takes(each)]
        cursor = None if any(is_past(each) for each in page.items) else page.cursor
        if cursor is None or len(found) >= limit:
            break
    return Page(tuple(found), cursor)
