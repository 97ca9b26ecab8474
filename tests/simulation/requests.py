"""A client's request, however often it is sent."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

    from baton.domain.access.principal import Principal
    from baton.domain.errors import BatonError
    from baton.domain.idempotency import IdempotencyKey
    from baton.ports.details import TaskDetails
    from baton.steps.claims.take_task import Claimed


@dataclass(eq=False)
class Request:
    """``effects``: the writes that it came to, by attempt, and how many there may be; ``answers``: what of them must
    stay the same; ``first_answered_at``: at which step the first one came. ``word``: for a verb that ends a claim, the
    task, the claim, and by which entries of the trail it ends."""

    name: str
    by: Principal
    send: Callable[[IdempotencyKey | None], Any]
    idempotency_key: IdempotencyKey | None
    # None: its key is an earlier request's.
    most_effects: int = 1
    attempts: int = 0
    began_at: int = 0
    effects: dict[int, int] = field(default_factory=dict)
    answers: list[tuple[Any, ...]] = field(default_factory=list)
    first_answered_at: int = 0
    word: tuple[str, str, frozenset[str]] | None = None
    # Of an answer from outside: for which wait of which task, and what.
    posted: tuple[tuple[str, int], Any] | None = None
    # Of a change: the names of what it is to change.
    asked: frozenset[str] | None = None
    # Of a decision: it is about another content than there is.
    is_blind: bool = False
    # Of an approval of many: what each task's was told first.
    parts: dict[str, tuple[Any, ...]] = field(default_factory=dict)

    @property
    def is_keyed(self) -> bool:
        return self.idempotency_key is not None

    def answered(self, mark: tuple[Any, ...], step: int) -> None:
        self.first_answered_at = self.first_answered_at if self.answers else step
        self.answers.append(mark)

    def was_answered_by(self, step: int) -> bool:
        """Whoever begins to send it then is told the same."""
        return bool(self.answers) and self.first_answered_at <= step


def replace_request(request: Request, idempotency_key: IdempotencyKey, most_effects: int) -> Request:
    """The same, as a request of its own."""
    return Request(request.name, request.by, request.send, idempotency_key, most_effects)


def body_of(verb: str, idempotency_key: IdempotencyKey | None) -> str:
    """The same whenever a worker says it, but where its key is sent with another body."""
    is_changed = idempotency_key is not None and idempotency_key.body_hash.startswith("not ")
    return f"not {verb}" if is_changed else verb


@dataclass(frozen=True, slots=True)
class EndedAndNext:
    """The answer to a request that ends a claim and asks for the next one."""

    ended: TaskDetails
    following: Claimed | None


@dataclass(frozen=True, slots=True)
class Answered:
    value: Any


@dataclass(frozen=True, slots=True)
class Refused:
    error: BatonError


@dataclass(frozen=True, slots=True)
class Lost:
    """Nobody knows what came of it."""


Outcome = Answered | Refused | Lost
