"""Warnings about approval rules that too few people can meet. Pure."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime

from baton.domain.access.person import People
from baton.domain.access.rights import Deed, may
from baton.domain.questions.approval import approvers_of
from baton.domain.settings.approval_rule import ApprovalRule
from baton.domain.settings.settings import Settings


def rule_warnings(settings: Settings, people: People, now: datetime) -> list[str]:
    """Returns a sentence for each rule that too few people with the right to approve can meet now."""
    return [
        f"approval_rules.{number}: {warning}"
        for number, rule in enumerate(settings.approval_rules)
        for warning in _warnings_of(rule, settings, people, now)
    ]


def _warnings_of(rule: ApprovalRule, settings: Settings, people: People, now: datetime) -> Iterator[str]:
    named = approvers_of(rule).named(settings.groups)
    if named is None and settings.tracker is not None:
        return  # people of the tracker may approve, too, and have no tokens
    names = people.persons.keys() if named is None else named
    able = {name for name in names if may(people.named(name).right_at(now), Deed.APPROVE)}
    if len(able) < rule.needed:
        yield f"nobody can meet this rule: it needs {rule.needed}, and {_people(len(able))} may approve.{_step(named)}"
        if unable := sorted((named or frozenset()) - able):
            yield f"no valid token gives {', '.join(unable)} the right to approve."
    elif rule.not_author and len(able) == rule.needed:
        yield (
            f"nobody can approve the work of {', '.join(sorted(able))} under this rule: it needs {rule.needed}, and "
            f"excludes the author.{_step(named)}"
        )


def _people(number: int) -> str:
    return f"{number} person" if number == 1 else f"{number} people"


def _step(named: frozenset[str] | None) -> str:
    return " Give more people the right approver." if named is None else " Name more people with the right approver."
