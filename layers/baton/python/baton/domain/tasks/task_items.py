"""What is stored with a task besides its state and its trail."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any


@dataclass(frozen=True, slots=True)
class TaskOutput:
    """The output of a completed task."""

    content: Any
    completion: dict[str, Any] | None = None  # the completion message, if there was one


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
