"""The part of the memory store that belongs to the running of agents: profiles, transcripts, what was spent."""

from __future__ import annotations

from copy import deepcopy
from typing import TYPE_CHECKING

from baton.adapters.memory_registry import MemoryRegistry
from baton.domain.errors import Conflict
from baton.domain.run_profile import RunProfile
from baton.domain.transcript import Usage
from baton.ports import EntryKept, Spent

if TYPE_CHECKING:
    from baton.domain.transcript import Entry

RunExtra = EntryKept | Spent


class MemoryRuns(MemoryRegistry):
    def __init__(self) -> None:
        super().__init__()
        self._transcripts: dict[tuple[str, str], dict[int, Entry]] = {}
        self._spent_by_task: dict[tuple[str, str], Usage] = {}
        self._spent_by_workflow: dict[tuple[str, str], Usage] = {}

    def profile(self, workspace: str, agent: str) -> RunProfile:
        with self._lock:
            return self._profiles.get((workspace, agent), RunProfile(workspace=workspace, slug=agent))

    def transcript(self, workspace: str, task_id: str, after: int = 0) -> tuple[Entry, ...]:
        with self._lock:
            kept = self._transcripts.get((workspace, task_id), {})
            return tuple(deepcopy(kept[last]) for last in sorted(kept) if last > after)

    def usage(self, workspace: str, workflow_id: str, task_id: str) -> tuple[Usage, Usage]:
        with self._lock:
            of_task = self._spent_by_task.get((workspace, task_id), Usage())
            return of_task, self._spent_by_workflow.get((workspace, workflow_id), Usage())

    def _check_run(self, workspace: str, extra: RunExtra) -> None:
        """Raises what the condition of the extra's write would."""
        match extra:
            case EntryKept(task_id, entry):
                if entry.last in self._transcripts.get((workspace, task_id), {}):
                    raise Conflict("transcript")
            case Spent(workflow_id, _, _, most_calls, most_tokens):
                had = self._spent_by_workflow.get((workspace, workflow_id), Usage())
                if most_calls is not None and had.model_calls >= most_calls:
                    raise Conflict("workflow")
                if most_tokens is not None and had.tokens >= most_tokens:
                    raise Conflict("workflow")

    def _write_run(self, workspace: str, extra: RunExtra) -> None:
        match extra:
            case EntryKept(task_id, entry):
                self._transcripts.setdefault((workspace, task_id), {})[entry.last] = deepcopy(entry)
            case Spent(workflow_id, task_id, usage):
                of_task, of_workflow = self.usage(workspace, workflow_id, task_id)
                self._spent_by_task[workspace, task_id] = of_task.plus(usage)
                self._spent_by_workflow[workspace, workflow_id] = of_workflow.plus(usage)
