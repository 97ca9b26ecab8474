"""A task as use cases read it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from baton.domain.handoffs import handoff_message
from baton.domain.handoffs.workflow import (
    Checkpoint,
    RunState,
)
from baton.domain.tasks.failure import failure_in
from baton.domain.tasks.task import Claim, Recovery, Task
from baton.domain.tracker.page_sync import PageSync

Json = Any


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskDetails:
    """A task with its items."""

    task: Task
    body: dict[str, Any] | None = None  # read only if asked for
    output: Json = None
    completion: dict[str, Any] | None = None
    # the record of the latest failure, in the shape of the message (docs/spec/protocol.md §5)
    failure: dict[str, Any] | None = None
    resume_payload: dict[str, Any] | None = None  # the resume payload
    checkpoint: Checkpoint | None = None
    run_state: RunState | None = None
    recoveries: tuple[Recovery, ...] = ()
    page_sync: PageSync | None = None
    ended_claim: Claim | None = None  # the claim that the command ended, without its id; None for a repeat

    @property
    def message(self) -> handoff_message.HandoffMessage:
        """The body as a handoff's message; an empty one if it wasn't read."""
        return handoff_message.message_from(self.body)

    @property
    def why(self) -> dict[str, Any] | None:
        """The error of the latest failure: ``{type, description, …}``."""
        return None if self.failure is None else failure_in(self.failure)
