"""A human approves a task, or takes the approval back."""

from __future__ import annotations

from typing import Any

from baton.domain.access.principal import Principal
from baton.domain.access.rights import Deed
from baton.domain.handoffs.workflow import ANY_AGENT
from baton.domain.idempotency import IdempotencyKey
from baton.domain.tasks import commands
from baton.domain.tasks.calls import Seen
from baton.domain.tasks.task import Task
from baton.ports.deps import Deps
from baton.ports.details import TaskDetails
from baton.steps.access.person_rights import former
from baton.steps.questions.handoff_rules import changed_for, givers_for, held_from
from baton.steps.tasks.change_task import TaskRequest, change_task


def approve_task(
    deps: Deps, by: Principal, task_id: str, seen: Seen | None, idempotency_key: IdempotencyKey | None = None
) -> TaskDetails:
    """Approves the task for dispatch after the undo window; a ready task for the agents that rules hold back from it.
    ``seen``: None for the present content."""
    by.must_have(Deed.APPROVE)

    def command(task: Task) -> commands.Approve:
        return commands.Approve(by=by, seen=seen, **_inputs(deps, by, task))

    return change_task(deps, TaskRequest(by.workspace, task_id, idempotency_key), command)


def approve_task_next(
    deps: Deps, by: Principal, task_id: str, seen: Seen | None, idempotency_key: IdempotencyKey | None = None
) -> TaskDetails:
    """Approves the task for the worker that takes it next; it is never dispatched."""
    by.must_have(Deed.APPROVE)

    def command(task: Task) -> commands.ApproveNext:
        return commands.ApproveNext(by=by, seen=seen, **_inputs(deps, by, task))

    return change_task(deps, TaskRequest(by.workspace, task_id, idempotency_key), command)


def _inputs(deps: Deps, by: Principal, task: Task) -> dict[str, Any]:
    """Returns the inputs for both kinds of approval. An approval of the person's own that doesn't count for an agent,
    as the agent has changed since, gives way to their new one."""
    roster = deps.store.agents.roster(by.workspace).version  # before the agents are compared: a later change ends it
    agent, settings = deps.store.agents.dispatch_inputs(by.workspace, task.target_agent or ANY_AGENT)
    held, former, changed = held_from(deps, task), _former(deps, task), () if agent else changed_for(deps, by, task)
    if any(by.id not in givers_for(deps, task, slug) for slug in held):
        former |= {by.id}
    compared = {"agent": agent, "held": held, "changed": changed, "roster": roster}
    return {**compared, "settings": settings, "former": former}


def _former(deps: Deps, task: Task) -> frozenset[str]:
    """Returns the people who approved the task already, and lost the right to."""
    given = () if task.approval is None else task.approval.given
    decided = [*((each.by, each.at) for each in given), *((each.by, each.at) for each in task.ok_by)]
    return former(deps, task.workspace, decided, Deed.APPROVE)


def undo_approval(
    deps: Deps, by: Principal, task_id: str, idempotency_key: IdempotencyKey | None = None
) -> TaskDetails:
    """Takes the approval back. Raises ``UndoWindowOver`` once the task may have been claimed."""
    by.must_have(Deed.UNDO)
    return change_task(deps, TaskRequest(by.workspace, task_id, idempotency_key), lambda _: commands.Undo(by=by))
