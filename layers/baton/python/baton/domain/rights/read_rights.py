"""Read rights (docs/reading-rights.md). Pure; ``steps/access/read_rights.py`` applies them.

Humans, and services with the scope ``act_as``, read everything. An agent reads the work that it has a part in, a
service without ``act_as`` the work that it created. All other work answers as if it didn't exist."""

from __future__ import annotations

from baton.domain.access.principal import ACT_AS, Principal, PrincipalKind
from baton.domain.alerts.alert import Alert
from baton.domain.escalations.review import Review
from baton.domain.memory.entry import Entry
from baton.domain.tasks.task import Task


def reads_all(by: Principal) -> bool:
    """True if the principal reads everything, guardrails and prompts included, whatever the workspace's setting is."""
    return by.is_human or (by.kind is PrincipalKind.SERVICE and ACT_AS in by.scopes)


def may_share(by: Principal) -> bool:
    """True if ``AgentsRead.WORKSPACE`` lets the principal read the work of others."""
    return by.kind is PrincipalKind.AGENT


def has_part_in(by: Principal, task: Task) -> bool:
    """True if the principal created the task, or is its source agent, its target or an agent that claimed it."""
    if by.key in {task.created_by, task.source_agent}:
        return True
    return by.kind is PrincipalKind.AGENT and by.id in agents_of(task)


def agents_of(task: Task) -> frozenset[str]:
    named = (task.source_agent, task.target_agent, *task.takers, task.claim.agent if task.claim else None)
    return frozenset(each for each in named if each is not None)


def is_open_offer(task: Task) -> bool:
    """True if the task is open work that hasn't ended: every agent may try to claim it, and learns why that fails."""
    return task.target_agent is None and not task.is_ended


def may_see_profile(by: Principal, slug: str) -> bool:
    """True if the principal may read an agent's run profile: the agent itself may, whatever the workspace shares."""
    return reads_all(by) or (by.kind is PrincipalKind.AGENT and by.id == slug)


def may_see_rules(by: Principal) -> bool:
    """True if the principal may read guardrails, groups, approval rules and the tracker's rights. Agents may not: the
    patterns and rules show how to get around them."""
    return reads_all(by)


def has_asked(by: Principal, review: Review) -> bool:
    """True if the principal made the request that the review stopped."""
    return review.requested_by == by.key or review.source_agent == (by.id if by.kind is PrincipalKind.AGENT else by.key)


def has_raised(by: Principal, alert: Alert) -> bool:
    return alert.raised_by == by.key


def may_read_entry(by: Principal, entry: Entry) -> bool:
    """True if the principal may read what is on the blackboard: agents read it all, whatever they read of each other's
    work. A service without ``act_as`` reads what it has posted."""
    return reads_blackboard(by) or entry.posted_by == by.key


def reads_blackboard(by: Principal) -> bool:
    """True if the principal reads all that is on the blackboard, and what handoffs have taken along of it."""
    return reads_all(by) or by.kind is PrincipalKind.AGENT
