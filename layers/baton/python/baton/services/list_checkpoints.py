"""The states that work can go on from, newest first (docs/spec/protocol.md §6): those that workers kept, and for each
handoff the state as it was handed over, which is in the handoff's record and stored nowhere else. Ids of both rise with
time, so the two lists are merged by them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from baton.domain.errors import Unknown
from baton.domain.events import canonical_json
from baton.domain.handoff import first_checkpoint_id_of
from baton.domain.workflow import ANY_AGENT, Checkpoint
from baton.ports import Page
from baton.services.reading import Rights, readable_task

if TYPE_CHECKING:
    from collections.abc import Iterable

    from baton.domain.handoff import Message
    from baton.domain.principal import Principal
    from baton.domain.task import Task
    from baton.ports import Baton

# Ten of the largest are 2.6 MB, and a function answers with at most 6 MB: a page ends early once it is large.
AT_ONCE = 10
MAX_BYTES = 2_500_000
# Those of one task may be few among those of its workflow: the cursor lets the caller go on.
MAX_READS = 10


def checkpoints_of_workflow(baton: Baton, by: Principal, workflow_id: str, limit: int, cursor: str | None) -> Page:
    """Those of the tasks that the caller may read. Raises ``Unknown``. A page may be shorter than ``limit``."""
    ids = [each.task_id for each in baton.store.workflow(by.workspace, workflow_id)]
    readable = Rights(baton, by).readable_among(ids)
    if not readable:
        raise Unknown("workflow")
    return _Listing(baton, by.workspace, workflow_id, readable).page(limit, cursor)


def checkpoints_of_task(baton: Baton, by: Principal, task_id: str, limit: int, cursor: str | None) -> Page:
    """The same for one of its tasks."""
    task = readable_task(baton, by, task_id)
    return _Listing(baton, by.workspace, task.workflow_id, [task_id]).page(limit, cursor)


class _Listing:
    def __init__(self, baton: Baton, workspace: str, workflow_id: str, task_ids: Iterable[str]) -> None:
        self._store, self._workspace, self._workflow_id = baton.store, workspace, workflow_id
        self._firsts = {first_checkpoint_id_of(task_id): task_id for task_id in task_ids}
        self._tasks = frozenset(self._firsts.values())

    def page(self, limit: int, cursor: str | None) -> Page:
        found: list[Checkpoint] = []
        size = 0
        for _ in range(MAX_READS):
            some, cursor = self._some(min(limit - len(found), AT_ONCE), cursor)
            found += some
            size += sum(len(canonical_json(each.state).encode()) for each in some)
            if cursor is None or len(found) >= limit or size > MAX_BYTES:
                break
        return Page(tuple(found), cursor)

    def _some(self, most: int, before: str | None) -> tuple[list[Checkpoint], str | None]:
        """The next ones, and the id before which it goes on."""
        page = self._store.checkpoints(self._workspace, self._workflow_id, most, before)
        kept: dict[str, Checkpoint] = {each.id: each for each in page.items if each.task_id in self._tasks}
        # What was made before the last one that was read may come after others that weren't.
        floor = page.cursor or ""
        firsts = [each for each in self._firsts if floor <= each and (before is None or each < before)]
        ids = sorted([*kept, *firsts], reverse=True)
        shown = ids[:most]
        firsts_shown = self._handed_over([self._firsts[each] for each in shown if each not in kept])
        found = [kept.get(each) or firsts_shown.get(each) for each in shown]
        goes_on_before = shown[-1] if len(ids) > most else page.cursor
        return [each for each in found if each is not None], goes_on_before

    def _handed_over(self, task_ids: list[str]) -> dict[str, Checkpoint]:
        """The states as they were handed over; what a marker hands over is an empty one."""
        if not task_ids:
            return {}
        tasks = self._store.tasks(self._workspace, task_ids)
        bodies = self._store.bodies(self._workspace, task_ids)
        made = [_first(tasks[each], bodies.get(each) or {}) for each in task_ids if each in tasks]
        return {each.id: each for each in made}


def _first(task: Task, body: Message) -> Checkpoint:
    return Checkpoint(
        id=first_checkpoint_id_of(task.id),
        workflow_id=task.workflow_id,
        task_id=task.id,
        step_name=f"pre_handoff_{task.source_agent}_to_{task.target_agent or ANY_AGENT}",
        state=_state_in(body),
        at=task.created_at,
        by=task.created_by,
    )


def _state_in(body: dict[str, Any]) -> dict[str, Any]:
    """None in the context of a conversation that calls something else by that name."""
    state = (body.get("context") or {}).get("state")
    return state if isinstance(state, dict) else {}
