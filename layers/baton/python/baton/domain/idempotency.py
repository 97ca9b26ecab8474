"""Idempotency: a repeated call gets the response of the first one (docs/spec/requests.md §2)."""

from __future__ import annotations

import hashlib
import hmac
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from baton.domain import errors
from baton.domain.access.principal import Principal
from baton.domain.canonical_json import canonical_json

# A request with the same key after that is a new one.
REMEMBERED_FOR = timedelta(days=7)


@dataclass(frozen=True, slots=True)
class SavedResponse:
    """The saved response of a call, committed in the same transaction as the call's effect."""

    body_hash: str
    answer: dict[str, Any]
    # From then on there is no saved response, even if the store still has the item. None keeps it for good.
    forget_at: datetime | None = None

    def is_over(self, now: datetime | None) -> bool:
        return self.forget_at is not None and now is not None and self.forget_at <= now


def response_expires_at(now: datetime) -> datetime:
    """Returns when a response of now expires: a whole second, the unit of the table's time to live."""
    return (now + REMEMBERED_FOR).replace(microsecond=0)


@dataclass(frozen=True, slots=True)
class IdempotencyKey:
    """The idempotency key of one request, in the scope of its principal and its route."""

    principal: Principal
    route: str  # the concrete path
    key: str
    body_hash: str
    # When the request came. None finds a saved response of any age, and saves one that never expires.
    at: datetime | None = field(default=None, compare=False)
    # A refusal may be saved under it too: then its own item decides between that and a change of a task, whose answer
    # is in the trail otherwise.
    saves_refusals: bool = field(default=False, compare=False)

    @property
    def digest(self) -> str:
        """The store's key: a hash, so that no text of a caller gets into a key."""
        parts = [self.principal.workspace, self.principal.key, self.route, self.key]
        return hashlib.sha256(canonical_json(parts).encode()).hexdigest()

    def remember(self, answer: dict[str, Any]) -> SavedResponse:
        return SavedResponse(self.body_hash, answer, None if self.at is None else response_expires_at(self.at))

    def replay(self, saved_response: SavedResponse | None) -> dict[str, Any] | None:
        """Returns the saved response to replay, None for a first call. Raises ``KeyReused`` for another body."""
        if saved_response is None or saved_response.is_over(self.at):
            return None
        if not hmac.compare_digest(saved_response.body_hash, self.body_hash):
            raise errors.KeyReused
        return saved_response.answer
