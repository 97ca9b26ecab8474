"""Work that waits: the queues in the store, and the notices about them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Protocol

from baton.domain.handoffs.workflow import (
    BackgroundJob,
    JobKind,
)
from baton.domain.questions.approval import ReadyApproval
from baton.ports.paging import Page


@dataclass(frozen=True, slots=True)
class Skills:
    """An agent's abilities as its queue index stores them. A hint: they are checked again with the claim."""

    accepts: tuple[str, ...]
    produces: tuple[str, ...]
    max_concurrent: int | None = None


@dataclass(frozen=True, slots=True)
class ReadyTask:
    """A task that is ready for a claim. ``ready_at``: for a task that is still claimed, the end of its lease as the
    queue shows it."""

    task_id: str
    ready_at: datetime
    requires: tuple[str, ...] = ()  # of open work: the claimers' filter
    source: str = ""  # of open work: the claimers' filter
    # The fields that approval rules compare.
    approved_by: tuple[ReadyApproval, ...] = field(default=(), compare=False)
    priority: str = field(default="", compare=False)
    lapsed_claim: str | None = None  # the claim that holds the task, though its lease seems to be over; None if ready


class QueueStore(Protocol):
    """What can be taken, needs a human, or is due. Read from indexes, which lag."""

    def ready(self, workspace: str, agent: str, now: datetime) -> tuple[Skills | None, Iterator[ReadyTask]]:
        """Returns the agent's abilities (None if they aren't known) and its tasks that are ready at ``now``, best
        first: by priority, then by ready time. After them come the tasks that the agent's claims hold though their
        leases seem to be over at ``now``: a heartbeat may have extended them. Lags: every task must be checked by the
        condition of the write. One read for about 25 tasks."""

    def next_due(self, workspace: str, agent: str) -> datetime | None:
        """Returns when the first of the agent's own tasks is due, as the index shows it: in its queue, or at the end of
        a lease; None if there is none. Lags. One read, or a few where many tasks wait for their time."""

    def open_work(self, workspace: str, now: datetime) -> Iterator[ReadyTask]:
        """Returns ready open work, in the same way. The caller checks who may claim it."""

    def queued(self, workspace: str, agents: Sequence[str], limit: int, cursor: str | None) -> Page:
        """Returns ``ReadyTask`` of the open work and of the queues of these agents, also of work that isn't due. Lags.
        At most 20 reads: a page may be shorter than ``limit``, also empty."""

    def needs(self, workspace: str, limit: int, cursor: str | None) -> Page:
        """Returns tasks that wait for a human's approval, the most urgent and oldest first. The index lags, the tasks
        don't: tasks that have moved on since are left out."""

    def due(self, now: datetime) -> Iterator[tuple[str, str, JobKind | None]]:
        """Yields ``(workspace, task_id, None)`` for tasks whose ``wake_at`` has passed, or with the kind of the task's
        background job that is due: claims first, then jobs, then the rest, each from the longest due on. Lags. Reads
        page by page, and only items that are due. Raises ``Busy`` at its end if a part couldn't be read."""

    def job(self, workspace: str, kind: JobKind, task_id: str) -> BackgroundJob | None:
        """Returns the background job of that kind that is due for the task, if any."""


class DispatchQueue(Protocol):
    def notify(self, workspace: str, agent: str, task_id: str, delay_seconds: int = 0) -> None:
        """Sends a dispatch notice to process-task: the agent has work. Never raises. A notice may be lost, doubled,
        late or out of order; the sweeper sends it again (invariant 12)."""


class DeadLetters(Protocol):
    def give_up(self, body: str, reason: str) -> None:
        """Moves a message that can never be handled to the queue that alarms humans. Raises ``Busy``."""


class Visibility(Protocol):
    def hide(self, receipt_handle: str, seconds: int) -> None:
        """Lets a received message come again after so many seconds. Never raises: without it, the message comes again
        after the queue's own time."""
