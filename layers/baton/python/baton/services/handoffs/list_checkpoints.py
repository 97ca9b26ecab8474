"""The checkpoints of a workflow or task, newest first (docs/spec/protocol.md §6): the saved ones, and for each handoff
the state in its record, which is stored nowhere else. The ids of both rise with time, so the two lists are merged by
id."""

from __future__ import annotations

from collections.abc import Iterable

from baton.domain import errors
from baton.domain.access.principal import Principal
from baton.domain.canonical_json import canonical_json
from baton.domain.handoffs import handoff_message
from baton.domain.handoffs.workflow import ANY_AGENT, Checkpoint
from baton.domain.ids import first_checkpoint_id_of
from baton.domain.tasks.task import Task
from baton.ports.deps import Deps
from baton.ports.paging import Page
from baton.steps.access.read_rights import ReadRights, readable_task

# Ten of the largest are 2.6 MB, and a function answers with at most 6 MB: a page ends early once it is large.
AT_ONCE = 10
MAX_BYTES = 2_500_000
# A task may have few of its workflow's checkpoints: the caller continues with the cursor.
MAX_READS = 10


def checkpoints_of_workflow(deps: Deps, by: Principal, workflow_id: str, limit: int, cursor: str | None) -> Page:
    """Returns the checkpoints of the tasks that the caller may read. A page may be shorter than ``limit``. Raises
    ``Unknown``."""
    ids = [each.task_id for each in deps.store.workflows.members(by.workspace, workflow_id)]
    readable = ReadRights(deps, by).readable_among(ids)
    if not readable:
        raise errors.Unknown("workflow")
    return _Listing(deps, by.workspace, workflow_id, readable).page(limit, cursor)


def checkpoints_of_task(deps: Deps, by: Principal, task_id: str, limit: int, cursor: str | None) -> Page:
    """Returns the checkpoints of one task. A page may be shorter than ``limit``. Raises ``Unknown``."""
    task = readable_task(deps, by, task_id)
    return _Listing(deps, by.workspace, task.workflow_id, [task_id]).page(limit, cursor)


class _Listing:
    def __init__(self, deps: Deps, workspace: str, workflow_id: str, task_ids: Iterable[str]) -> None:
        self._store, self._workspace, self._workflow_id = deps.store, workspace, workflow_id
        self._firsts = {first_checkpoint_id_of(task_id): task_id for task_id in task_ids}
        self._tasks = frozenset(self._firsts.values())

    def page(self, limit: int, cursor: str | None) -> Page:
        found: list[Checkpoint] = []
        size = 0
        for _ in range(MAX_READS):
            items, cursor = self._next_items(min(limit - len(found), AT_ONCE), cursor)
            found += items
            size += sum(len(canonical_json(each.state).encode()) for each in items)
            if cursor is None or len(found) >= limit or size > MAX_BYTES:
                break
        return Page(tuple(found), cursor)

    def _next_items(self, most: int, before: str | None) -> tuple[list[Checkpoint], str | None]:
        """The next items, and the id before which the list continues."""
        page = self._store.workflows.checkpoints(self._workspace, self._workflow_id, most, before)
        saved: dict[str, Checkpoint] = {each.id: each for each in page.items if each.task_id in self._tasks}
        # An initial state that is older than the last item read may come after items that weren't read.
        floor = page.cursor or ""
        firsts = [each for each in self._firsts if floor <= each and (before is None or each < before)]
        ids = sorted([*saved, *firsts], reverse=True)
        shown = ids[:most]
        firsts_shown = self._initial_states([self._firsts[each] for each in shown if each not in saved])
        found = [saved.get(each) or firsts_shown.get(each) for each in shown]
        next_before = shown[-1] if len(ids) > most else page.cursor
        return [each for each in found if each is not None], next_before

    def _initial_states(self, task_ids: list[str]) -> dict[str, Checkpoint]:
        """The states in the handoffs' records; empty for a marker."""
        if not task_ids:
            return {}
        tasks = self._store.tasks.many(self._workspace, task_ids)
        bodies = self._store.tasks.bodies(self._workspace, task_ids)
        made = [
            _first(tasks[each], handoff_message.message_from(bodies.get(each))) for each in task_ids if each in tasks
        ]
        return {each.id: each for each in made}


def _first(task: Task, record: handoff_message.HandoffMessage) -> Checkpoint:
    return Checkpoint(
        id=first_checkpoint_id_of(task.id),
        workflow_id=task.workflow_id,
        task_id=task.id,
        step_name=f"pre_handoff_{task.source_agent}_to_{task.target_agent or ANY_AGENT}",
        state=record.context.state,
        at=task.created_at,
        by=task.created_by,
    )
