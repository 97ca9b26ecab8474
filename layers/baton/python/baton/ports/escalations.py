"""The store of directions and manual reviews."""

from __future__ import annotations

from typing import Any, NamedTuple, Protocol

from baton.domain.escalations.direction import Direction
from baton.domain.escalations.review import Review
from baton.domain.idempotency import IdempotencyKey, SavedResponse
from baton.domain.settings.settings import Settings
from baton.ports.paging import Page


class MarkerInputs(NamedTuple):
    """The items that a marker is decided on."""

    settings: Settings
    direction: Direction
    saved_response: SavedResponse | None


class MarkerStore(Protocol):
    def marker_inputs(
        self, workspace: str, pair: tuple[str, str] | None, idempotency_key: IdempotencyKey | None
    ) -> MarkerInputs:
        """Returns the items that a marker is decided on, in one read. ``pair``: source and target slug; None: the
        direction in the answer means nothing."""

    def review(self, workspace: str, review_id: str) -> Review:
        """Returns the review. Raises ``Unknown``."""

    def reviews(self, workspace: str, limit: int, cursor: str | None) -> Page:
        """Returns manual reviews, newest first."""

    def review_request(self, workspace: str, review_id: str) -> dict[str, Any] | None:
        """Returns the ``ReviewRequest``'s content."""
