"""What a marker is decided on, and the store's manual reviews."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from baton.adapters.dynamodb import items, keys
from baton.adapters.dynamodb.agents.workspace_configs import WorkspaceConfigs
from baton.adapters.dynamodb.table import Table
from baton.domain import errors
from baton.domain.escalations.direction import NO_PAIR
from baton.domain.escalations.review import Review
from baton.domain.idempotency import IdempotencyKey
from baton.ports.escalations import MarkerInputs
from baton.ports.paging import Page


@dataclass(eq=False)
class Escalations:
    _table: Table
    _configs: WorkspaceConfigs

    def marker_inputs(
        self, workspace: str, pair: tuple[str, str] | None, idempotency_key: IdempotencyKey | None
    ) -> MarkerInputs:
        direction_key = keys.direction(workspace, *pair) if pair else None
        once_key = keys.idempotency_key(workspace, idempotency_key.digest) if idempotency_key else None
        found = self._table.get_many([key for key in (direction_key, once_key) if key])
        direction = found.get(direction_key) if direction_key else None
        return MarkerInputs(
            settings=self._configs.config(workspace).settings,
            direction=items.direction_from(workspace, *(pair or NO_PAIR), direction),
            saved_response=items.saved_response_from(found.get(once_key)) if once_key else None,
        )

    def review(self, workspace: str, review_id: str) -> Review:
        item = self._table.get(keys.Key(keys.reviews(workspace), review_id))
        if item is None:
            raise errors.Unknown("manual review")
        return items.review_from(item)

    def reviews(self, workspace: str, limit: int, cursor: str | None) -> Page:
        found, cursor = self._table.newest(keys.reviews(workspace), limit, cursor)
        return Page(tuple(map(items.review_from, found)), cursor)

    def review_request(self, workspace: str, review_id: str) -> dict[str, Any] | None:
        kept: dict[str, Any] | None = items.payload_from(self._table.get(keys.review_request(workspace, review_id)))
        return kept
