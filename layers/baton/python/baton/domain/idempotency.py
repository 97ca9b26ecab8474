"""Answering a repeated call as the first one was answered (docs/spec/requests.md §2)."""

from __future__ import annotations

import hashlib
import hmac
from dataclasses import dataclass, field
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from baton.domain.errors import KeyReused
from baton.domain.events import canonical_json

if TYPE_CHECKING:
    from datetime import datetime

    from baton.domain.principal import Principal


# A repeat after that is a new request.
REMEMBERED_FOR = timedelta(days=7)


@dataclass(frozen=True, slots=True)
class Remembered:
    """The answer that a commit left behind, in the same transaction as its effect. ``forget_at``: from then on it is as
    if it had never been given, whether the store has forgotten it yet or not; None keeps it."""

    body_hash: str
    answer: dict[str, Any]
    forget_at: datetime | None = None

    def is_over(self, now: datetime | None) -> bool:
        return self.forget_at is not None and now is not None and self.forget_at <= now


def forgotten_at(now: datetime) -> datetime:
    """Of what is answered now; a whole second, as stores forget by."""
    return (now + REMEMBERED_FOR).replace(microsecond=0)


@dataclass(frozen=True, slots=True)
class Once:
    """One request that may be sent again. ``route`` is the concrete path, so that a key means one thing in one
    place. ``at``: when it came; without it, it finds the answer however old, and its own is kept for good."""

    principal: Principal
    route: str
    key: str
    body_hash: str
    at: datetime | None = field(default=None, compare=False)

    @property
    def digest(self) -> str:
        """What the store finds it by: nothing that a caller chose gets into a key."""
        parts = [self.principal.workspace, self.principal.key, self.route, self.key]
        return hashlib.sha256(canonical_json(parts).encode()).hexdigest()

    def remember(self, answer: dict[str, Any]) -> Remembered:
        return Remembered(self.body_hash, answer, None if self.at is None else forgotten_at(self.at))

    def recall(self, remembered: Remembered | None) -> dict[str, Any] | None:
        """The first answer, or None for a first call. Raises ``KeyReused`` for another body under the same key."""
        if remembered is None or remembered.is_over(self.at):
            return None
        if not hmac.compare_digest(remembered.body_hash, self.body_hash):
            raise KeyReused
        return remembered.answer
