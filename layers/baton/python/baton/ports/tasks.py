"""The store of tasks and their trails."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import date, datetime
from typing import Any, Protocol

from baton.domain.handoffs.workflow import LateResult
from baton.domain.idempotency import IdempotencyKey, SavedResponse
from baton.domain.tasks import trail
from baton.domain.tasks.receipts import Receipt
from baton.domain.tasks.task import Task
from baton.domain.tasks.task_items import Note
from baton.ports.details import TaskDetails
from baton.ports.paging import Page


class TaskStore(Protocol):
    """Tasks with their items."""

    def load(
        self, workspace: str, task_id: str, idempotency_key: IdempotencyKey | None = None
    ) -> tuple[Task, SavedResponse | None]:
        """Returns the task, and the response saved under ``idempotency_key``. One read. Raises ``Unknown``."""

    def read(self, workspace: str, task_id: str, *, with_body: bool = False) -> TaskDetails:
        """Returns the task with its items, as of one moment per item. One read. Raises ``Unknown``."""

    def read_for_claim(self, workspace: str, task_id: str) -> TaskDetails:
        """Returns the task with every item that its claimer needs. One read, and one more for a task that came back.
        What isn't there costs nothing. Raises ``Unknown``."""

    def notes(self, workspace: str, about: str, limit: int, cursor: str | None = None) -> tuple[Note, ...]:
        """Returns the newest notes about a task or review, newest first. ``cursor``: any note id; the notes before
        it."""

    def many(self, workspace: str, task_ids: Sequence[str]) -> dict[str, Task]:
        """Returns the tasks that exist, by id. One read per hundred."""

    def talk(self, workspace: str, task_ids: Sequence[str]) -> tuple[dict[str, Task], dict[str, str]]:
        """Returns the tasks that exist, by id, and the next task of each conversation that was continued. One read
        per fifty, as of one moment per item."""

    def outcomes(self, workspace: str, task_ids: Sequence[str]) -> dict[str, TaskDetails]:
        """Returns tasks with output, completion and failure, without their other items. One read per about thirty."""

    def bodies(self, workspace: str, task_ids: Sequence[str]) -> dict[str, dict[str, Any]]:
        """Returns the tasks' bodies, by task id."""

    def papers(self, workspace: str, tasks: Sequence[Task], most_bytes: int) -> Iterator[TaskDetails]:
        """Yields the tasks in this order with body, output and completion, parsed one after the other, until they
        take more than ``most_bytes`` together. One read per twenty, and one if any has a large output."""


class TrailStore(Protocol):
    """What happened to tasks, in order."""

    def receipt(self, task: Task, name: str, since: datetime | None = None) -> Receipt | None:
        """Returns the latest receipt of this name in the trail of ``task``, which was read before: of a claim that has
        ended, or of a request under an idempotency key. If there was none when the task was read, it may be None. No
        read unless entries of the trail have left the task; then one for about 200 events, latest first. ``since``: an
        older receipt doesn't count, and isn't looked for."""

    def events(self, workspace: str, task_id: str, after: int, limit: int) -> tuple[trail.Event, ...]:
        """Returns the events with a number above ``after``, in order."""

    def late_results(self, workspace: str, task_id: str, limit: int = 100, after: int = 0) -> tuple[LateResult, ...]:
        """Returns the late results of claims with a fence above ``after``, by fence."""


class TaskListStore(Protocol):
    """Lists of tasks."""

    def tasks_of_agent(self, workspace: str, agent: str, limit: int, cursor: str | None) -> Page:
        """Returns tasks whose target is the agent, newest first."""

    def tasks_of_day(self, workspace: str, day: date, limit: int, cursor: str | None) -> Page:
        """Returns tasks created on a day (UTC), newest first."""

    def tasks_of_label(self, workspace: str, label: str, limit: int, cursor: str | None) -> Page:
        """Returns tasks with the label, as ``TaskMeta.labels`` has it whatever its case, newest first. None of those
        that an earlier release made."""
