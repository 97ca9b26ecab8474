"""Approval rules of the settings, applied to handoffs and claims (docs/spec/questions.md §6)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from baton.domain.access.principal import Principal
from baton.domain.access.rights import Deed
from baton.domain.agents.agent import Agent
from baton.domain.agents.guards import Guards, Offer
from baton.domain.questions.approval import ReadyApproval
from baton.domain.questions.approvers import Approvers, Groups
from baton.domain.task_state import State
from baton.domain.tasks.approval_rules import ClaimRules, offer_of
from baton.domain.tasks.task import Task
from baton.ports.deps import Deps
from baton.ports.details import TaskDetails
from baton.ports.queues import ReadyTask
from baton.steps.access.person_rights import former
from baton.steps.questions.chain import agents_above

READY = frozenset({State.DELEGATED, State.NEXT})


def rules_for_claim(deps: Deps, details: TaskDetails, agent: str) -> ClaimRules:
    """Returns the current requirements of the rules and the task before the agent may claim it. Reads like
    ``AgentStore.guards``."""
    task = details.task
    guards = deps.store.agents.guards(task.workspace)
    if guards.are_none and task.approval is None:
        return ClaimRules()
    above = frozenset(each.source for each in details.message.hops_to(task))
    asked = guards.asked(offer_of(task, above), agent)
    return ClaimRules(asked=asked, groups=guards.groups, givers=givers_for(deps, task, agent) if asked else ())


def is_guarded(deps: Deps, details: TaskDetails, agent: str) -> bool:
    """True if the agent claims the work by approvals that rules, or the work itself, ask for. Reads like
    ``AgentStore.guards``."""
    guards, task = deps.store.agents.guards(details.task.workspace), details.task
    if guards.are_none and task.approval is None:
        return False
    return bool(guards.asked(offer_of(task, frozenset(each.source for each in details.message.hops_to(task))), agent))


def standing(deps: Deps, workspace: str, given: Sequence[ReadyApproval]) -> tuple[ReadyApproval, ...]:
    """Returns the approvals of ready work that stand: their humans have had the right to approve ever since. Reads like
    ``TokenStore.person``."""
    gone = former(deps, workspace, ((each.by, each.at) for each in given), Deed.APPROVE)
    return tuple(each for each in given if each.by not in gone)


def givers_for(deps: Deps, task: Task, agent: str) -> tuple[str, ...]:
    """Returns the humans with approvals of the ready task that stand and count for the agent. Reads like
    ``standing``."""
    offer = offer_of(task, frozenset(), standing(deps, task.workspace, task.ok_by))
    return deps.store.agents.guards(task.workspace).givers(offer, agent)


def groups_of(deps: Deps, task: Task) -> Groups:
    """Returns the workspace's groups. Reads like ``AgentStore.guards``."""
    return deps.store.agents.guards(task.workspace).groups


def held_from(deps: Deps, task: Task) -> Mapping[str, tuple[Approvers, ...]]:
    """Returns the agents that would take a ready task and are held back from it, by rules or by its needs since it was
    made, each with the approvers that lack. None for a task that isn't ready. Reads like ``AgentStore.guards``, and
    like ``agents_above`` if a rule has a source."""
    if task.state not in READY or task.claim is not None:
        return {}
    guards = deps.store.agents.guards(task.workspace)
    return {} if guards.are_none and task.approval is None else guards.held(_offer(deps, guards, task))


def as_known_to(deps: Deps, by: Principal, task: Task) -> Task:
    """Returns a task that has ended, with the target as the human knows it: as it was approved, if the work was claimed
    under that approval or it is their own and stands; otherwise as it came. Reads like ``standing``."""
    is_known = task.attempt > 0 or any(each.by == by.id for each in standing(deps, task.workspace, task.ok_by))
    return task.changed(came_as=None) if is_known else task


def changed_for(deps: Deps, by: Principal, task: Task, since: int | None = None) -> tuple[Agent, ...]:
    """Returns the agents that the human's approval of open work would count for, and that a service or a member has
    changed since a version of the roster: by default, since the work came, or since the human last approved it. None
    for work with a target. Reads like ``held_from``."""
    guards = deps.store.agents.guards(task.workspace)
    if task.target_agent is not None or (guards.are_none and task.approval is None):
        return ()
    if since is None:
        own = (each.roster for each in standing(deps, task.workspace, task.ok_by) if each.by == by.id)
        since = max(task.shown_as, *own, 0)
    return guards.changed(_offer(deps, guards, task), by.id, since)


def _offer(deps: Deps, guards: Guards, task: Task) -> Offer:
    above = agents_above(deps, task) if guards.have_sources else frozenset()
    return offer_of(task, above, standing(deps, task.workspace, task.ok_by))


def is_held_back(deps: Deps, workspace: str, agent: str, ready: ReadyTask) -> bool:
    """True if rules hold the task back from the agent, as far as its queue shows: the queue knows neither its author
    nor its work type nor its chain nor its own needs, nor whether a next group may approve it, nor whether it is held
    to its target. Then the claim itself finds out, once in a process."""
    guards = deps.store.agents.guards(workspace)
    if guards.have_refused(agent, ready.task_id, ready.approved_by):
        return True
    if guards.are_none:
        return False
    offer = Offer(
        source=ready.source,
        target=agent,
        work_type=None,
        given=standing(deps, workspace, ready.approved_by),
        is_sent_back=True,
        waited=None,
    )
    return bool(guards.unmet(offer, agent))


def remember_refusal(deps: Deps, agent: str, task: Task) -> None:
    """Remembers that rules hold the task back from the agent, so that this process doesn't read it again for it."""
    deps.store.agents.guards(task.workspace).refuse(agent, task.id, task.ok_by)


def rules_stamp(deps: Deps, workspace: str) -> str:
    """Returns a text that changes with the rules about handoffs, their groups and the agents; the same one for every
    workspace without such rules."""
    guards = deps.store.agents.guards(workspace)
    return "" if guards.are_none else str(guards.version)
