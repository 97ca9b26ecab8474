"""Finding manual reviews, newest first."""

from __future__ import annotations

from typing import TYPE_CHECKING

from baton.services.filtering import filtered

if TYPE_CHECKING:
    from baton.ports import Baton, Page


def list_reviews(baton: Baton, workspace: str, is_open: bool | None, limit: int, cursor: str | None) -> Page:
    """``is_open``: only open or only released ones, None for all. A page may be shorter than ``limit``."""
    return filtered(
        lambda size, at: baton.store.reviews(workspace, size, at),
        lambda review: is_open is None or review.is_open is is_open,
        limit,
        cursor,
    )
