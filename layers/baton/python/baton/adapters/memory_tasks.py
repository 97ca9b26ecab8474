"""The part of the memory store that holds tasks and what lies beside them: here they are read, one or many."""

from __future__ import annotations

from copy import deepcopy
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from baton.adapters.memory_outbox import MemoryOutbox
from baton.domain.errors import Unknown
from baton.ports import Dossier

if TYPE_CHECKING:
    from collections.abc import Sequence

    from baton.domain.agent import Agent
    from baton.domain.events import Event
    from baton.domain.idempotency import Once, Remembered
    from baton.domain.task import Claim, Recovery, Task
    from baton.domain.workflow import Checkpoint, DueErrand, Errand, LateResult


@dataclass
class Beside:
    """What lies beside a task's HEAD."""

    body: dict[str, Any] | None = None
    output: Any = None
    completion: dict[str, Any] | None = None
    failure: dict[str, Any] | None = None
    brought: dict[str, Any] | None = None
    checkpoint: Checkpoint | None = None
    recoveries: list[Recovery] = field(default_factory=list)
    events: list[Event] = field(default_factory=list)
    ended_claims: dict[str, Remembered | Claim] = field(default_factory=dict)
    late: dict[str, LateResult] = field(default_factory=dict)
    errands: dict[Errand, DueErrand] = field(default_factory=dict)
    retry_id: str | None = None
    followed_by: str | None = None


class MemoryTasks(MemoryOutbox):
    def __init__(self) -> None:
        super().__init__()
        self._tasks: dict[tuple[str, str], Task] = {}
        self._besides: dict[tuple[str, str], Beside] = {}

    def load(self, workspace: str, task_id: str, once: Once | None = None) -> tuple[Task, Remembered | None]:
        with self._lock:
            return self._task(workspace, task_id), self.remembered(once) if once else None

    def read(self, workspace: str, task_id: str, *, with_body: bool = False) -> Dossier:
        with self._lock:
            task, beside = self._task(workspace, task_id), self._beside(workspace, task_id)
            return Dossier(
                task=task,
                body=deepcopy(beside.body) if with_body else None,
                output=deepcopy(beside.output),
                completion=deepcopy(beside.completion),
                failure=deepcopy(beside.failure),
                brought=deepcopy(beside.brought),
                checkpoint=deepcopy(beside.checkpoint),
                recoveries=tuple(beside.recoveries),
                mirror=self.mirror(workspace, task_id),
            )

    def read_for_claim(self, workspace: str, task_id: str, agent: str) -> tuple[Dossier, Agent | None]:
        with self._lock:
            whole = self.read(workspace, task_id, with_body=True)
            return replace(whole, output=None, completion=None, mirror=None), self.agent(workspace, agent)

    def read_bell(self, workspace: str, task_id: str, agent: str) -> tuple[Task | None, Agent | None]:
        with self._lock:
            return self._tasks.get((workspace, task_id)), self.agent(workspace, agent)

    def tasks(self, workspace: str, task_ids: Sequence[str]) -> dict[str, Task]:
        with self._lock:
            return {each: self._tasks[workspace, each] for each in task_ids if (workspace, each) in self._tasks}

    def talk(self, workspace: str, task_ids: Sequence[str]) -> tuple[dict[str, Task], dict[str, str]]:
        with self._lock:
            followed = {each: self._beside(workspace, each).followed_by for each in task_ids}
            tasks = self.tasks(workspace, task_ids)
        return tasks, {task_id: next_id for task_id, next_id in followed.items() if next_id is not None}

    def papers(self, workspace: str, task_ids: Sequence[str]) -> dict[str, Dossier]:
        with self._lock:
            return {task_id: self._papers(task) for task_id, task in self.tasks(workspace, task_ids).items()}

    def bodies(self, workspace: str, task_ids: Sequence[str]) -> dict[str, dict[str, Any]]:
        with self._lock:
            found = {each: deepcopy(self._beside(workspace, each).body) for each in task_ids}
        return {task_id: body for task_id, body in found.items() if body is not None}

    def events(self, workspace: str, task_id: str, after: int, limit: int) -> tuple[Event, ...]:
        first = max(after, 0)
        with self._lock:
            return tuple(deepcopy(self._beside(workspace, task_id).events[first : first + limit]))

    def ended_claim(self, workspace: str, task_id: str, claim_id: str) -> Remembered | Claim | None:
        with self._lock:
            return deepcopy(self._beside(workspace, task_id).ended_claims.get(claim_id))

    def late_results(self, workspace: str, task_id: str, limit: int = 100, after: int = 0) -> tuple[LateResult, ...]:
        with self._lock:
            late = deepcopy(
                [each for each in self._beside(workspace, task_id).late.values() if each.claim_fence > after]
            )
        return tuple(sorted(late, key=lambda result: result.claim_fence)[:limit])

    def errand(self, workspace: str, kind: Errand, task_id: str) -> DueErrand | None:
        with self._lock:
            return deepcopy(self._beside(workspace, task_id).errands.get(kind))

    def retry_of(self, workspace: str, task_id: str) -> str | None:
        with self._lock:
            return self._beside(workspace, task_id).retry_id

    def _task(self, workspace: str, task_id: str) -> Task:
        if (workspace, task_id) not in self._tasks:
            raise Unknown("task")
        return self._tasks[workspace, task_id]

    def _with_body(self, workspace: str, task_id: str) -> Dossier:
        return Dossier(task=self._task(workspace, task_id), body=deepcopy(self._beside(workspace, task_id).body))

    def _papers(self, task: Task) -> Dossier:
        beside = self._beside(task.workspace, task.id)
        papers = {name: deepcopy(getattr(beside, name)) for name in ("output", "completion", "failure")}
        return Dossier(task=task, **papers)

    def _beside(self, workspace: str, task_id: str) -> Beside:
        """For reading: whoever asked gets copies."""
        return self._besides.get((workspace, task_id), _NOTHING)

    def _keep(self, workspace: str, task_id: str) -> Beside:
        """For writing."""
        return self._besides.setdefault((workspace, task_id), Beside())


_NOTHING = Beside()
