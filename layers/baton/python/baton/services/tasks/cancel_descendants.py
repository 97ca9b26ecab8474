"""Cancels the descendants of a cancelled task (docs/spec/lifecycle.md §1). Repeats until none is open, however often it
is interrupted and whatever the descendants do meanwhile."""

from __future__ import annotations

from collections.abc import Callable

from baton.domain import errors
from baton.domain.access.principal import Principal, PrincipalKind
from baton.domain.handoffs.workflow import BackgroundJob, JobKind, WorkflowMember
from baton.domain.tasks import commands
from baton.domain.tasks.task import Task
from baton.domain.tasks.transitions import transition
from baton.ports.deps import Deps
from baton.ports.writes import FinishJob
from baton.steps.tasks.change_task import commit

# Rounds of one run: the rest is due again at the next sweep.
MAX_ROUNDS = 20
HEADS_AT_ONCE = 100


def cancel_descendants(deps: Deps, workspace: str, task_id: str, may_go_on: Callable[[], bool] = lambda: True) -> bool:
    """True if no descendant is open any more. An open one is ended under its own version: if it hands off at that
    moment, either its child is found in the next round, or the handoff fails."""
    job = deps.store.queues.job(workspace, JobKind.CASCADE, task_id)
    if job is None:
        return True
    seen: frozenset[str] | None = None
    for _ in range(MAX_ROUNDS):
        if not may_go_on():
            return False
        below = _descendants(deps.store.workflows.members(workspace, _workflow_of(deps, workspace, task_id)), task_id)
        found = _open_among(deps, workspace, sorted(below))
        if not found and below == seen:
            # Found the same descendants twice, all ended in between: an ended task makes no children.
            deps.store.commit(workspace, FinishJob(job))
            return True
        seen = frozenset(below) if not found else None
        for task in found:
            if not may_go_on():
                return False
            _cancel(deps, job, task)
    return False


def _workflow_of(deps: Deps, workspace: str, task_id: str) -> str:
    return deps.store.tasks.load(workspace, task_id)[0].workflow_id


def _descendants(members: tuple[WorkflowMember, ...], task_id: str) -> frozenset[str]:
    children: dict[str, list[str]] = {}
    for member in members:
        if member.parent_id is not None:
            children.setdefault(member.parent_id, []).append(member.task_id)
    found: set[str] = set()
    looking = [task_id]
    while looking:
        below = [child for child in children.get(looking.pop(), ()) if child not in found]
        found.update(below)
        looking += below
    return frozenset(found)


def _open_among(deps: Deps, workspace: str, ids: list[str]) -> list[Task]:
    tasks: list[Task] = []
    for start in range(0, len(ids), HEADS_AT_ONCE):
        tasks += deps.store.tasks.many(workspace, ids[start : start + HEADS_AT_ONCE]).values()
    return [task for task in tasks if not task.is_ended]


def _cancel(deps: Deps, job: BackgroundJob, task: Task) -> None:
    """Cancels in the name of the principal that cancelled the ancestor. A task that changed meanwhile is left to the
    next round."""
    principal = job.data["by"]
    by = Principal(task.workspace, PrincipalKind(principal["kind"]), principal["id"])
    command = commands.Cancel(by=by, reason=job.data.get("reason"), ancestor=job.task_id)
    try:
        commit(deps, transition(task, command, deps.clock.now()))
    except (errors.Conflict, errors.TaskEnded):
        return
    except (errors.Busy, errors.Unknown) as exc:
        deps.log(
            "a descendant isn't cancelled yet", action="cascade_delayed", task_id=task.id, error=type(exc).__name__
        )
