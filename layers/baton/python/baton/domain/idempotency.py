"""Answering a repeated call as the first one was answered (DESIGN.md, Idempotency)."""

from __future__ import annotations

import hashlib
import hmac
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from baton.domain.errors import KeyReused
from baton.domain.events import canonical_json

if TYPE_CHECKING:
    from baton.domain.principal import Principal


@dataclass(frozen=True, slots=True)
class Remembered:
    """The answer that a commit left behind, in the same transaction as its effect."""

    body_hash: str
    answer: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Once:
    """One request that may be sent again. ``route`` is the concrete path, so that a key means one thing in one
    place."""

    principal: Principal
    route: str
    key: str
    body_hash: str

    @property
    def digest(self) -> str:
        """What the store finds it by: nothing that a caller chose gets into a key."""
        parts = [self.principal.workspace, self.principal.key, self.route, self.key]
        return hashlib.sha256(canonical_json(parts).encode()).hexdigest()

    def remember(self, answer: dict[str, Any]) -> Remembered:
        return Remembered(self.body_hash, answer)

    def recall(self, remembered: Remembered | None) -> dict[str, Any] | None:
        """The first answer, or None for a first call. Raises ``KeyReused`` for another body under the same key."""
        if remembered is None:
            return None
        if not hmac.compare_digest(remembered.body_hash, self.body_hash):
            raise KeyReused
        return remembered.answer
