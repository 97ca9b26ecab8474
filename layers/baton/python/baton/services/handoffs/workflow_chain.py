"""A whole workflow: its handoffs, and their outcomes (docs/spec/protocol.md §7)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from baton.domain import errors
from baton.domain.access.principal import Principal
from baton.domain.handoffs.chain import Step, tree
from baton.domain.handoffs.loop_guard import Budget
from baton.domain.runs.transcript import Usage
from baton.ports.deps import Deps
from baton.ports.details import TaskDetails
from baton.steps.access.read_rights import ReadRights
from baton.steps.handoffs.follow_up import CREATED
from baton.steps.handoffs.spending import spending

# Each look after the first means that a task has ended during the one before.
MAX_LOOKS = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkflowOverview:
    """A workflow's chain with what it has used so far, and its budget."""

    workflow_id: str
    roots: tuple[Step, ...]
    usage: Usage
    budget: Budget


def see_workflow(deps: Deps, by: Principal, workflow_id: str) -> WorkflowOverview:
    """Returns the workflow's chain as ``workflow_chain`` does, its usage and its budget. Two more reads."""
    roots = workflow_chain(deps, by, workflow_id)
    usage, budget = spending(deps, by.workspace, workflow_id, roots[0].task.id)
    return WorkflowOverview(workflow_id=workflow_id, roots=roots, usage=usage, budget=budget)


def workflow_chain(deps: Deps, by: Principal, workflow_id: str) -> tuple[Step, ...]:
    """Returns the roots with their descendants; tasks that the caller may not read come without their texts. Two reads
    for the usual workflow, and one more per about thirty tasks of a larger one: bodies aren't read. What follows from
    an end that it tells of is in it. Raises ``Unknown``."""
    found: dict[str, TaskDetails] = {}
    for _ in range(MAX_LOOKS):
        members = (each.task_id for each in deps.store.workflows.members(by.workspace, workflow_id))
        if not (ids := [each for each in members if each not in found]):
            break
        found |= deps.store.tasks.outcomes(by.workspace, ids)
        # A task that ended between the two reads has a follow-up that the first of them couldn't show.
        if all(each in found for details in found.values() for each in _followed_by(details)):
            break
    rights = ReadRights(deps, by)
    if not found or not rights.may_read_any(each.task for each in found.values()):
        raise errors.Unknown("workflow")
    steps = [Step(task=each.task, completion=each.completion, failure=each.failure) for each in found.values()]
    return tree(each if rights.may_read(each.task) else each.without_words() for each in steps)


def _followed_by(ended: TaskDetails) -> Iterator[str]:
    """Yields the ids of the tasks that the end of this one has created."""
    for outcome in ((ended.completion or {}).get("continuation"), (ended.failure or {}).get("rollback")):
        if outcome and outcome.get("status") == CREATED:
            yield outcome["task_id"]
