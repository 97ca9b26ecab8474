"""The part of the memory store that is about directions and manual reviews."""

from __future__ import annotations

from copy import deepcopy
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from baton.adapters.memory_registry import MemoryRegistry, page
from baton.domain.direction import NO_PAIR, Direction, Escalation
from baton.domain.errors import Conflict, Unknown
from baton.ports import Closed, MarkerFacts, Opened, ReviewChanged, ReviewOpened, ReviewRequest

if TYPE_CHECKING:
    from baton.domain.idempotency import Once
    from baton.domain.review import Review
    from baton.ports import Page

Pair = tuple[str, str, str]
MarkerExtra = Opened | Closed | ReviewOpened | ReviewChanged | ReviewRequest


class MemoryMarkers(MemoryRegistry):
    def __init__(self) -> None:
        super().__init__()
        self._directions: dict[Pair, Direction] = {}
        self._reviews: dict[tuple[str, str], Review] = {}
        self._requests: dict[tuple[str, str], dict[str, Any]] = {}

    def marker_facts(self, workspace: str, pair: tuple[str, str] | None, once: Once | None) -> MarkerFacts:
        with self._lock:
            return MarkerFacts(
                settings=self.settings(workspace),
                direction=self._direction(workspace, *(pair or NO_PAIR)),
                remembered=self.remembered(once) if once else None,
                roster=self.roster(workspace).version,
            )

    def review(self, workspace: str, review_id: str) -> Review:
        with self._lock:
            if (workspace, review_id) not in self._reviews:
                raise Unknown("manual review")
            return deepcopy(self._reviews[workspace, review_id])

    def reviews(self, workspace: str, limit: int, cursor: str | None) -> Page:
        with self._lock:
            found = {review.id: deepcopy(review) for (owner, _), review in self._reviews.items() if owner == workspace}
        return page(found, limit, cursor, newest_first=True)

    def review_request(self, workspace: str, review_id: str) -> dict[str, Any] | None:
        with self._lock:
            return deepcopy(self._requests.get((workspace, review_id)))

    def _direction(self, workspace: str, source: str, target: str) -> Direction:
        return self._directions.get((workspace, source, target), Direction(workspace, source, target))

    def _check_marker(self, workspace: str, extra: MarkerExtra) -> None:
        """Raises what the condition of the extra's write would."""
        match extra:
            case Opened(direction=read) | ReviewOpened(direction=read):
                if self._direction(workspace, read.source, read.target).version != read.version:
                    raise Conflict("direction")
            case ReviewChanged(review):
                held = self._reviews.get((workspace, review.id))
                if (held.version if held else 0) != review.version - 1:
                    raise Conflict("manual review")
            case Closed() | ReviewRequest():
                pass

    def _write_marker(self, workspace: str, extra: MarkerExtra) -> None:
        match extra:
            case ReviewChanged(review):
                self._reviews[workspace, review.id] = deepcopy(review)
            case ReviewRequest(review_id, content):
                self._requests[workspace, review_id] = deepcopy(content)
            case _:
                self._write_direction(workspace, extra)

    def _write_direction(self, workspace: str, extra: Opened | ReviewOpened | Closed) -> None:
        pair = extra if isinstance(extra, Closed) else extra.direction
        held = self._direction(workspace, pair.source, pair.target)
        match extra:
            case Opened(_, task_id, at, forget, ends_review):
                kept = [e for e in held.escalations if e.task_id not in forget]
                held = replace(
                    held,
                    escalations=(*kept, Escalation(task_id, at)),
                    version=held.version + 1,
                    review_id=None if ends_review else held.review_id,
                )
            case ReviewOpened(review, _):
                self._reviews[workspace, review.id] = deepcopy(review)
                held = replace(held, review_id=review.id, version=held.version + 1)
            case Closed(_, _, closed_id):
                escalations = (replace(e, closed=True) if e.task_id == closed_id else e for e in held.escalations)
                held = replace(held, escalations=tuple(escalations))
        self._directions[workspace, held.source, held.target] = held
