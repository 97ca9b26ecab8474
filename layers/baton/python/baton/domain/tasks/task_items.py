"""What is stored with a task besides its state and its trail."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from baton.domain.idempotency import SavedResponse
from baton.domain.tasks.task import Claim


@dataclass(frozen=True, slots=True)
class TaskBody:
    """The handoff's payload. Written with a new task, never rewritten."""

    task_id: str
    content: dict[str, Any]


@dataclass(frozen=True, slots=True)
class TaskOutput:
    """The output of a completed task. Committed with the change that ends the task."""

    task_id: str
    content: Any
    completion: dict[str, Any] | None = None  # the completion message, if there was one


@dataclass(frozen=True, slots=True)
class EndedClaim:
    """The saved response of the command that ended a claim, for its exact repeat (invariant 3)."""

    task_id: str
    claim_id: str
    answer: SavedResponse


@dataclass(frozen=True, slots=True)
class ClaimEndedByOther:
    """A claim that another principal ended. It tells a late result of its holder from a stranger's."""

    task_id: str
    claim: Claim


@dataclass(frozen=True, slots=True)
class Note:
    """A note about a task or a manual review. Changes neither."""

    about: str  # the id of the task or review
    id: str
    at: datetime
    by: str
    content: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Retry:
    """The latest retry of a task."""

    task_id: str  # the first task in a chain of retries
    retry_id: str
