"""What nobody has to decide on any more is closed, in the commit that makes it so (docs/spec/lifecycle.md §10). Each
task is closed on condition of its version: what a human approves at that moment goes on."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable
from datetime import datetime

from baton.domain import errors
from baton.domain.access.principal import SWEEPER, system
from baton.domain.task_state import State
from baton.domain.tasks import commands
from baton.domain.tasks.change import Change
from baton.domain.tasks.task import Kind, Task, Wait
from baton.domain.tasks.transitions import transition
from baton.ports.deps import Deps
from baton.ports.writes import Save, Write

HEADS_AT_ONCE = 100
# A transaction has room for so many. A task has no more branches, and rarely more than one rollback that waits.
MOST = 10


def overtaken(deps: Deps, change: Change) -> list[Write]:
    """Returns the writes that close what the end of a task leaves undecided: the rollbacks of attempts before a retry,
    and the branches of a task that doesn't wait for them any more. A cancel reaches the branches by itself."""
    task, wait = change.task, None if change.before is None else change.before.wait
    if not change.ends or task.state is State.CANCELLED:
        return []
    closed: list[Write] = []
    if wait is not None and wait.branches:
        leaves = [leaf for branch in leaves_of(deps, task.workspace, wait).values() for leaf in branch]
        closed += unneeded(leaves, task, "has ended", task.meta.updated_at)
    return closed + (_earlier_rollbacks(deps, change) if task.retry_of is not None else [])


def unneeded(leaves: Iterable[Task], parent: Task, has: str, at: datetime) -> list[Change]:
    """Closes the branches that nobody has approved yet, and whose results nobody waits for."""
    reason = f"Overtaken: {parent.id}, which had asked for this, {has}."
    return [_closed(leaf, parent.id, reason, at) for leaf in leaves if _is_undecided(leaf)][:MOST]


def leaves_of(deps: Deps, workspace: str, wait: Wait) -> dict[str, list[Task]]:
    """The last tasks of each branch: without a successor, or without one yet. Raises ``Conflict`` while a successor
    isn't readable yet: a batch read isn't of one moment."""
    leaves: dict[str, list[Task]] = {branch.call_id: [] for branch in wait.branches}
    pending = {branch.task_id: branch.call_id for branch in wait.branches}
    while pending:  # successors are always newer: this ends, however often a branch was handed off
        found = deps.store.tasks.many(workspace, list(pending))
        successors: dict[str, str] = {}
        for task_id, call_id in pending.items():
            task = found.get(task_id)
            if task is None:
                raise errors.Conflict("task")
            if not task.successors:
                leaves[call_id].append(task)
            successors |= dict.fromkeys(task.successors, call_id)
        pending = successors
    return leaves


def _earlier_rollbacks(deps: Deps, change: Change) -> list[Write]:
    """The work was done by a retry, or the retry failed and is rolled back itself: the rollbacks of the attempts before
    it have nothing left to decide. A rollback that a task waits for as its branch has."""
    task, at = change.task, change.task.meta.updated_at
    back = (change.failure or {}).get("rollback") or {}
    by = task.id if task.is_done else back.get("task_id") or back.get("review_id")
    if by is None:
        return []
    how = "was done" if task.is_done else f"failed as well, for which {by} waits"
    reason = f"Overtaken: the work was tried again in {task.id}, which {how}."
    attempts, children = _attempts_before(deps, task)
    rollbacks = [each for each in children if each.kind == Kind.ROLLBACK and each.join_parent is None]
    waiting = [each for each in rollbacks if _is_undecided(each)]
    closed: list[Write] = [_closed(each, by, reason, at) for each in waiting[:MOST]]
    answered = {each.parent_id for each in rollbacks}
    stopped = [each.id for each in attempts if each.has_failure and each.id not in answered]
    return closed + _reviews_in_their_place(deps, task.workspace, stopped, reason, at)


def _attempts_before(deps: Deps, retry: Task) -> tuple[list[Task], list[Task]]:
    """Returns the other attempts at the same work, and what was handed off from them. All stand beside each other in
    the workflow."""
    below: dict[str | None, list[str]] = defaultdict(list)
    for member in deps.store.workflows.members(retry.workspace, retry.workflow_id):
        below[member.parent_id].append(member.task_id)
    beside = _tasks(deps, retry.workspace, [each for each in below[retry.parent_id] if each != retry.id])
    origin = _origin({**beside, retry.id: retry}.get)
    attempts = [each for each in beside.values() if origin(each) == origin(retry)]
    children = _tasks(deps, retry.workspace, [child for each in attempts for child in below[each.id]])
    return attempts, list(children.values())


def _origin(known: Callable[[str], Task | None]) -> Callable[[Task], str]:
    def origin(task: Task) -> str:
        """The first in a chain of retries."""
        while task.retry_of is not None:
            first = known(task.retry_of)
            if first is None:
                return task.retry_of
            task = first
        return task.id

    return origin


def _tasks(deps: Deps, workspace: str, ids: list[str]) -> dict[str, Task]:
    starts = range(0, len(ids), HEADS_AT_ONCE)
    return {
        id_: task
        for start in starts
        for id_, task in deps.store.tasks.many(workspace, ids[start : start + HEADS_AT_ONCE]).items()
    }


def _reviews_in_their_place(deps: Deps, workspace: str, attempts: list[str], reason: str, at: datetime) -> list[Write]:
    """The entries for a human that took the places of rollbacks."""
    failures = [of.failure or {} for of in deps.store.tasks.outcomes(workspace, attempts).values()] if attempts else []
    ids = [back["review_id"] for each in failures if (back := each.get("rollback") or {}).get("review_id")]
    reviews = (deps.store.escalations.review(workspace, each) for each in dict.fromkeys(ids[:MOST]))
    still = (each for each in reviews if each.is_open and each.request.get("kind") == Kind.ROLLBACK)
    return [Save(each.overtaken(system(workspace, SWEEPER), at, reason)) for each in still]


def _is_undecided(task: Task) -> bool:
    """Nobody has begun on it: what somebody had claimed may have handed work on, and is a human's to close."""
    return task.state is State.NEEDS and not task.fence


def _closed(task: Task, by: str, reason: str, at: datetime) -> Change:
    command = commands.Overtake(by=system(task.workspace, SWEEPER), overtaken_by=by, reason=reason)
    return transition(task, command, at)
