"""Resumes a waiting task once its branches satisfy its join policy (docs/spec/lifecycle.md §9). Runs whenever a branch
has ended, and any number of times: everything is read anew, and the task's version lets it resume exactly once."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from itertools import chain
from typing import Any

from baton.domain import errors
from baton.domain.access.principal import JOINER, system
from baton.domain.canonical_json import canonical_json
from baton.domain.handoffs.workflow import JobKind
from baton.domain.task_state import State
from baton.domain.tasks import commands
from baton.domain.tasks.task import Task
from baton.domain.tasks.transitions import transition
from baton.ports.deps import Deps
from baton.ports.details import TaskDetails
from baton.ports.writes import FinishJob
from baton.steps.retrying import retry_on_conflict
from baton.steps.tasks.change_task import commit
from baton.steps.tasks.overtaken import leaves_of, unneeded

# The most bytes of all results in the resume payload, so that the store can take it.
MAX_RESULTS_BYTES = 300_000
_CLOSED = {"state": str(State.CANCELLED)}


def join_branches(deps: Deps, workspace: str, task_id: str) -> bool:
    """True if the task resumes now. The background job is read before the branches, and finished in that version: a
    branch that ends meanwhile leaves another job."""

    def attempt() -> bool:
        job = deps.store.queues.job(workspace, JobKind.JOIN, task_id)
        joined = _join(deps, workspace, task_id)
        if job is not None:
            deps.store.commit(workspace, FinishJob(job))
        return joined

    return retry_on_conflict(deps, attempt)


def _join(deps: Deps, workspace: str, task_id: str) -> bool:
    try:
        task, _ = deps.store.tasks.load(workspace, task_id)
    except errors.Unknown:
        return False
    wait = task.wait
    if task.state is not State.WAITING or wait is None or wait.what != "branches":
        return False
    leaves = leaves_of(deps, workspace, wait)
    ended = [branch for branch in leaves.values() if all(each.is_ended for each in branch)]
    done = [branch for branch in ended if all(each.state is State.DONE for each in branch)]
    if not wait.is_met(len(done), len(ended)):
        return False
    now = deps.clock.now()
    closed = unneeded(chain.from_iterable(leaves.values()), task, "has gone on without it", now)
    results = _results(deps, workspace, leaves, {each.task.id for each in closed})
    resume_payload = {"wait": wait.number, "policy": str(wait.policy), "results": results}
    command = commands.Resume(
        by=system(workspace, JOINER), wait=wait.number, how="joined", resume_payload=resume_payload
    )
    commit(deps, transition(task, command, now), *closed)
    return True


def _results(
    deps: Deps, workspace: str, leaves: dict[str, list[Task]], closed: Collection[str]
) -> list[dict[str, Any]]:
    """The results of the branches in the order of their calls, with the state of those that still run. ``closed``:
    those that are cancelled as the task goes on without them."""
    ids = [task.id for branch in leaves.values() for task in branch]
    details = deps.store.tasks.outcomes(workspace, ids)
    most = MAX_RESULTS_BYTES // max(len(ids), 1)
    return [
        {**_within(most, _result(call_id, details[task.id])), **(_CLOSED if task.id in closed else {})}
        for call_id, branch in leaves.items()
        for task in _in_order(branch)
    ]


def _within(most: int, result: dict[str, Any]) -> dict[str, Any]:
    """The result without its largest parts, which the task itself shows."""
    left_out: list[str] = []
    for name in ("output", "completion", "failure"):
        if result[name] is not None and len(canonical_json(result).encode()) > most:
            result[name] = None
            left_out.append(name)
    return {**result, "left_out": left_out}


def _result(call_id: str, of: TaskDetails) -> dict[str, Any]:
    task = of.task
    return {
        "call_id": call_id,
        "task_id": task.id,
        "handoff_id": task.handoff_id,
        "agent": task.agent,
        "state": str(task.state),
        "output": of.output if task.is_done else None,
        "completion": of.completion if task.is_done else None,
        "failure": None if task.is_done else of.why,
    }


def _in_order(tasks: Iterable[Task]) -> list[Task]:
    return sorted(tasks, key=lambda task: task.id)
