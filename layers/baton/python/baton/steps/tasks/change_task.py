"""The steps that every command on a task shares: load, let the domain decide, commit, notify."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from baton.domain import errors
from baton.domain.alerts.alert import system_alert
from baton.domain.handoffs.workflow import BackgroundJob, JobKind
from baton.domain.idempotency import IdempotencyKey, SavedResponse
from baton.domain.ids import is_slug
from baton.domain.task_state import State
from baton.domain.tasks import commands
from baton.domain.tasks.change import Change
from baton.domain.tasks.event_type import EventType
from baton.domain.tasks.task import Task, TaskMeta
from baton.domain.tasks.task_items import TaskOutput
from baton.domain.tasks.transitions import transition
from baton.domain.tasks.wake import notice_delay
from baton.domain.tracker.page_sync import PageSync
from baton.ports.deps import Deps
from baton.ports.details import TaskDetails
from baton.ports.writes import Put, Save, Write
from baton.steps import idempotency
from baton.steps.tasks import trail_answers
from baton.steps.tasks.overtaken import overtaken


@dataclass(frozen=True, slots=True)
class TaskRequest:
    """A request to change one task."""

    workspace: str
    task_id: str
    idempotency_key: IdempotencyKey | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskItems:
    """The items that a change of a task brings along."""

    output: Any = None  # the caller's, and part of the answer
    also: Sequence[Write] = ()  # writes for the same transaction


def change_task(
    deps: Deps,
    request: TaskRequest,
    command_for: Callable[[Task], commands.TaskCommand],
    items: TaskItems | None = None,
) -> TaskDetails:
    """Returns the task after the command; for a repeat under the idempotency key, as it was after the first call.
    Raises the domain's errors, ``Unknown``, ``KeyReused`` and ``Busy``; nothing was written then."""
    items, idempotency_key = items or TaskItems(), request.idempotency_key
    key_beside = trail_answers.key_beside(idempotency_key)

    def read() -> tuple[Task, SavedResponse | None]:
        return deps.store.tasks.load(request.workspace, request.task_id, key_beside)

    def decide(task: Task) -> TaskDetails:
        receipt = trail_answers.first_receipt(deps, task, idempotency_key)
        if receipt is not None:
            return task_details(deps, trail_answers.task_after(deps, task, receipt), items.output)
        decided = transition(task, command_for(task), deps.clock.now())
        output = TaskOutput(items.output) if decided.task.has_output else None
        change = replace(decided, asked=trail_answers.asked_under(idempotency_key), output=output)
        commit(deps, change, *items.also, *trail_answers.empty_response_beside(idempotency_key))
        return task_details(deps, change.task, items.output)

    return idempotency.run_idempotently(deps, key_beside, read, decide, lambda _: decide(read()[0]))


def commit(deps: Deps, *writes: Write, notifies: bool = True) -> None:
    """Commits changes of tasks with every write that belongs to them, then sends every notice that is due. A crash
    between the two, or a lost notice, costs only time: the sweeper finds each task by its ``wake_at`` and each job by
    its due time, and sync-tracker each page that is behind its task. ``notifies``: False for a caller that sends the
    changed tasks' dispatch notices itself."""
    whole = _with_required_writes(deps, writes)
    changes = _changes(whole)
    workspace = changes[0].task.workspace
    deps.store.commit(workspace, *whole)
    for change in changes:
        _log(deps, change)
    for task_id in _pages_to_send(whole):
        deps.tracker_queue.notify(workspace, task_id)
    for change in changes:
        for agent, task_id in _others_to_notify(change):
            deps.dispatch_queue.notify(workspace, agent, task_id)
        if notifies and change.notifies:
            notify_agent(deps, change.task)


def _changes(writes: Sequence[Write]) -> list[Change]:
    return [write for write in writes if isinstance(write, Change)]


def _log(deps: Deps, change: Change) -> None:
    task = change.task
    for event in change.events:
        deps.log(event.type.replace("_", " "), action=event.type, task_id=task.id, fence=event.fence, seq=event.seq)


def _pages_to_send(writes: Sequence[Write]) -> Iterator[str]:
    """Yields the tasks whose page is new and made by no sender yet, or behind the task. What the page has to show
    follows from HEAD, so a change writes nothing else for it; sync-tracker finds what no notice told it of."""
    for write in writes:
        match write:
            case Change(before=Task(), task=Task(meta=TaskMeta(mirrored=True))) if write.events:
                yield write.task.id
            case Save(PageSync(task_id=task_id, page=None, sender=None)):
                yield task_id


def _others_to_notify(change: Change) -> Iterator[tuple[str, str]]:
    """Yields agent and task: the task that waits for this branch, and the task itself for an agent that was at its
    limit until this claim ended, as an earlier notice may have found no free slot."""
    task, before, now = change.task, change.before and change.before.claim, change.task.claim
    if change.ends and task.has_branch_ended and task.join_parent is not None:
        yield task.source_agent, task.join_parent
    if before and before.slot is not None and now is None and task.is_run:
        yield before.agent, task.id


def _with_required_writes(deps: Deps, writes: Sequence[Write]) -> list[Write]:
    """Adds what no change of a task may go without: what it overtakes, alerts for humans, and at its end the source
    agent's word of it, and the jobs that follow from it."""
    whole = [*writes, *(each for change in _changes(writes) for each in overtaken(deps, change))]
    changed = {change.task.id for change in _changes(whole)}
    required: list[Write] = []
    for number, change in enumerate(whole):
        if not isinstance(change, Change):
            continue
        required += _alerts(deps, change)
        required += _closed_questions(deps, change)
        if change.ends:
            required += _end_writes(deps, change, changed)
            if is_slug(change.task.source_agent):
                whole[number] = replace(change, inbox_id=deps.ids.new("inbox", change.task.meta.updated_at))
    return [*whole, *required]


def _end_writes(deps: Deps, change: Change, changed: Collection[str]) -> list[Write]:
    """Writes for the task that waits for its branch, unless it is ``changed`` itself, and for the descendants."""
    task, at = change.task, change.task.meta.updated_at
    writes: list[Write] = []
    if task.has_branch_ended and task.join_parent is not None and task.join_parent not in changed:
        writes.append(Put(new_job(deps, JobKind.JOIN, task.join_parent, at)))
    last = change.events[-1]
    is_by_cascade = last.data.get("ancestor") is not None
    if task.state is State.CANCELLED and task.fence > 0 and not task.successors and not is_by_cascade:
        # Only a claimed task can have descendants. An ancestor's cascade reaches all levels by itself. A split task
        # goes on in its parts.
        by = {"kind": last.principal_kind, "id": last.principal_id}
        writes.append(Put(new_job(deps, JobKind.CASCADE, task.id, at, by=by, reason=last.data.get("reason"))))
    return writes


def _closed_questions(deps: Deps, change: Change) -> list[Write]:
    """Stores what has become of questions that nobody closes: those whose time is over, and those that are open as the
    task ends. So no clock that is behind says otherwise later, and they leave the list of what is open."""
    task = change.task
    expired = {event.data["question_id"] for event in change.events if event.type == EventType.QUESTION_EXPIRED}
    if not expired and not (change.ends and task.questions):
        return []
    left = {each.id for each in task.questions} if change.ends else set()
    found = deps.store.questions.of_task(task.workspace, task.id)
    expired |= {each.id for each in task.questions if each.until <= task.meta.updated_at}
    return [
        Save(each.lapsed() if each.id in expired else each.withdrawn()) for each in found if each.id in expired | left
    ]


def new_job(deps: Deps, kind: JobKind, task_id: str, at: datetime, **data: Any) -> BackgroundJob:
    return BackgroundJob(kind=kind, task_id=task_id, stamp=deps.ids.new("errand", at), at=at, data=data)


def _alerts(deps: Deps, change: Change) -> list[Write]:
    """Alerts for humans, saved in the same transaction as their cause."""
    raised = [event for event in change.events if event.type == EventType.ALERT_RAISED]
    return [Save(system_alert(change.task, event, deps.ids.new("alert", event.at))) for event in raised]


def notify_agent(deps: Deps, task: Task) -> None:
    """Sends one dispatch notice for the task's agent, due when the task is."""
    if task.target_agent is None:
        return  # open work has no agent to notify
    now = deps.clock.now()
    delay = notice_delay(task.ready_at or now, now)
    deps.dispatch_queue.notify(task.workspace, task.target_agent, task.id, delay)


def task_details(deps: Deps, task: Task, output: Any = None) -> TaskDetails:
    """Returns a command's answer. The failure of an earlier attempt is read from the store, as it is rare."""
    is_shown = task.has_failure and not task.has_output
    failure = deps.store.tasks.read(task.workspace, task.id).failure if is_shown else None
    return TaskDetails(
        task=task, output=output if task.has_output else None, failure=failure, page_sync=page_sync_of(deps, task)
    )


def page_sync_of(deps: Deps, task: Task) -> PageSync | None:
    """Returns the task's page synchronisation for an answer; None if it can't be read now. The commit is done, so the
    answer isn't refused for that."""
    try:
        return deps.store.tracker.page_sync(task.workspace, task.id) if task.meta.mirrored else None
    except errors.Busy:
        return None
