"""The chain of handoffs above a task, for rules with a source."""

from __future__ import annotations

from baton.domain.handoffs.handoff_draft import ROOT_DEPTH
from baton.domain.handoffs.handoff_message import message_from
from baton.domain.tasks.task import Task
from baton.ports.deps import Deps


def agents_above(deps: Deps, task: Task) -> frozenset[str]:
    """Returns the agents that handed the work on, from the root: a colleague in between lifts no rule. One read for
    each task below a root, once in a process."""
    if task.depth <= ROOT_DEPTH:
        return frozenset()
    chains = deps.store.agents.guards(task.workspace).chains
    found = chains.get(task.id)
    if found is None:
        message = message_from(deps.store.tasks.bodies(task.workspace, [task.id]).get(task.id))
        found = frozenset(each.source for each in message.hops_to(task))
        chains.keep(task.id, found)
    return found
