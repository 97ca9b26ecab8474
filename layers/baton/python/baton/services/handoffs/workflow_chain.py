"""A whole workflow: its handoffs, and their outcomes (docs/spec/protocol.md §7)."""

from __future__ import annotations

from dataclasses import dataclass

from baton.domain import errors
from baton.domain.access.principal import Principal
from baton.domain.handoffs.chain import Step, tree
from baton.domain.handoffs.loop_guard import Budget
from baton.domain.runs.transcript import Usage
from baton.ports.deps import Deps
from baton.steps.access.read_rights import ReadRights
from baton.steps.handoffs.spending import spending


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
    for the usual workflow, and one more per about thirty tasks of a larger one: bodies aren't read. Raises
    ``Unknown``."""
    ids = [each.task_id for each in deps.store.workflows.members(by.workspace, workflow_id)]
    found = list(deps.store.tasks.outcomes(by.workspace, ids).values()) if ids else []
    rights = ReadRights(deps, by)
    if not found or not rights.may_read_any(each.task for each in found):
        raise errors.Unknown("workflow")
    steps = [Step(task=each.task, completion=each.completion, failure=each.failure) for each in found]
    return tree(each if rights.may_read(each.task) else each.without_words() for each in steps)
