"""Finding manual reviews, newest first."""

from __future__ import annotations

from typing import TYPE_CHECKING

from baton.ports import Page

if TYPE_CHECKING:
    from baton.domain.review import Review
    from baton.ports import Baton

# A filter that matches little must not read without end: the cursor lets the caller go on.
MAX_READS = 5


def list_reviews(baton: Baton, workspace: str, is_open: bool | None, limit: int, cursor: str | None) -> Page:
    """``is_open``: only open or only released ones, None for all. A page may be shorter than ``limit``."""
    found: list[Review] = []
    for _ in range(MAX_READS):
        page = baton.store.reviews(workspace, limit - len(found), cursor)
        found += [review for review in page.items if is_open is None or review.is_open is is_open]
        cursor = page.cursor
        if cursor is None or len(found) >= limit:
            break
    return Page(tuple(found), cursor)
