"""Notes, reviews and tokens, and putting them into a store."""

from __future__ import annotations

from typing import Any

from baton.domain.direction import Direction
from baton.domain.principal import ACT_AS, Kind
from baton.domain.review import Review
from baton.domain.times import seconds
from baton.domain.token import Token
from baton.ports import Note, ReviewOpened, Store
from support.clock import NOON
from support.world import WORKSPACE


def a_note(number: int = 1, about: str = "task_1") -> Note:
    return Note(about, f"note_{number:02d}", NOON + seconds(number), "human:alice", {"escalation_reason": "again"})


def a_review(number: int = 1, workspace: str = WORKSPACE, **values: Any) -> Review:
    usual: dict[str, Any] = {
        "workspace": workspace,
        "id": f"review_{number:02d}",
        "reason": "escalation_cap",
        "source_agent": "scout",
        "target_agent": "auditor",
        "request": {"escalation_reason": "third time"},
        "requested_by": "agent:scout",
        "opened_at": NOON + seconds(number),
        "last_at": NOON + seconds(number),
    }
    return Review(**{**usual, **values})


def a_token(number: int = 1, **values: Any) -> Token:
    usual: dict[str, Any] = {
        "id": f"01hzzzzz{number:02d}",
        "workspace": WORKSPACE,
        "kind": Kind.SERVICE,
        "subject": "ci",
        "scopes": frozenset({ACT_AS}),
        "digest": "d" * 64,
        "created_at": NOON,
        "created_by": "human:alice",
    }
    return Token(**{**usual, **values})


def add_review(store: Store, number: int, workspace: str = WORKSPACE, **values: Any) -> Review:
    """In a direction of its own."""
    review = a_review(number, workspace, target_agent=f"auditor-{number}", **values)
    direction = Direction(workspace, "scout", review.target_agent)
    store.commit(workspace, None, [ReviewOpened(review, direction), a_note(number, about=review.id)])
    return review


def add_token(store: Store, number: int, workspace: str = WORKSPACE) -> Token:
    token = a_token(number, workspace=workspace)
    store.add_token(token)
    return token
