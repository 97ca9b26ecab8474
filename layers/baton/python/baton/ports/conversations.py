"""The store of conversations."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from baton.domain.tasks.task import Task
from baton.ports.paging import Page


@dataclass(frozen=True, slots=True)
class TalkTasks:
    """What the thread of a conversation is found in."""

    tasks: Mapping[str, Task]  # by id
    followed: Mapping[str, str]  # task id → the task of the user's next message


class ConversationStore(Protocol):
    def begun(self, workspace: str, limit: int, cursor: str | None, begun_by: str | None = None) -> Page:
        """Returns each ``BegunConversation``, the latest begun first. ``cursor``: any task id; those before it.
        ``begun_by``: only those of this principal; then a page may be shorter than ``limit`` and still be followed by
        another. Lags: a conversation is missing for milliseconds after it began. Reads no task."""

    def talks(self, workspace: str, conversation_ids: Sequence[str]) -> dict[str, TalkTasks]:
        """Returns the tasks of the first of these conversations, at least of one: as many as have a thousand tasks
        together. For lists alone: a conversation that no task was added to since all of its tasks had ended is read
        with one small read."""
