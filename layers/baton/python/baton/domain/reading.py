"""Who may read what (docs/reading-rights.md). Pure: the one place that decides it; ``services/reading.py`` asks it.

Humans, and services that may act for every agent, read all. An agent reads what it has a part in, a service without
``act_as`` what it made. Whatever else there is answers like what doesn't exist."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING

from baton.domain.principal import ACT_AS, Kind

if TYPE_CHECKING:
    from baton.domain.alert import Alert
    from baton.domain.principal import Principal
    from baton.domain.review import Review
    from baton.domain.task import Task


class AgentsRead(StrEnum):
    """A workspace's setting: whether its agents read one another's work."""

    OWN = "own"
    WORKSPACE = "workspace"


def reads_all(by: Principal) -> bool:
    """Whatever the workspace says, guardrails and prompts included."""
    return by.is_human or (by.kind is Kind.SERVICE and ACT_AS in by.scopes)


def may_share(by: Principal) -> bool:
    """Whether ``AgentsRead.WORKSPACE`` lets it read the work of others."""
    return by.kind is Kind.AGENT


def has_part_in(by: Principal, task: Task) -> bool:
    """It made the task; or it is the agent that the task comes from or goes to, or that has claimed it."""
    if by.key in {task.created_by, task.source_agent}:
        return True
    return by.kind is Kind.AGENT and by.id in agents_of(task)


def agents_of(task: Task) -> frozenset[str]:
    named = (task.source_agent, task.target_agent, *task.takers, task.claim.agent if task.claim else None)
    return frozenset(each for each in named if each is not None)


def is_open_offer(task: Task) -> bool:
    """Anyone may try to claim it, and is told why that fails."""
    return task.target_agent is None and not task.is_ended


def may_see_profile(by: Principal, slug: str) -> bool:
    """Its prompt, its model, its tools and its limits: the agent itself, whatever the workspace shares."""
    return reads_all(by) or (by.kind is Kind.AGENT and by.id == slug)


def may_see_guardrails(by: Principal) -> bool:
    """Who knows the patterns knows how to get around them."""
    return reads_all(by)


def has_asked(by: Principal, review: Review) -> bool:
    """It is the one whose asking the review has stopped."""
    return review.requested_by == by.key or review.source_agent == (by.id if by.kind is Kind.AGENT else by.key)


def has_raised(by: Principal, alert: Alert) -> bool:
    return alert.raised_by == by.key
