"""Approval rules of the settings: who has to approve a handoff, or an action (docs/spec/questions.md §6)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, fields
from typing import Any

MAX_RULES = 50
MAX_GROUPS, MAX_MEMBERS = 50, 50
# Of a reminder, and of the next group.
AFTER_SECONDS = (60, 30 * 86_400)


@dataclass(frozen=True, slots=True, kw_only=True)
class ApprovalRule:
    """``source``, ``target``, ``work_type``: the work that the rule is for; None is any (``agents/rule_fit.py``
    compares them). ``tool``: the rule is for actions with this tool; None: for handoffs. ``people``, ``group``,
    ``needed``: as of a question. ``not_author``: who made the handoff doesn't count. After ``remind_after_seconds``
    without a decision humans are alerted; after ``then_after_seconds`` ``then_group`` may decide, too."""

    source: str | None = None
    target: str | None = None
    work_type: str | None = None
    tool: str | None = None
    people: tuple[str, ...] = ()
    group: str | None = None
    needed: int = 1
    not_author: bool = False
    remind_after_seconds: int | None = None
    then_group: str | None = None
    then_after_seconds: int | None = None

    def public(self) -> dict[str, Any]:
        """Returns the rule in JSON's types."""
        values = {each.name: getattr(self, each.name) for each in fields(self)}
        return {**values, "people": list(self.people)}


def rules_from(found: Iterable[dict[str, Any]]) -> tuple[ApprovalRule, ...]:
    """The inverse of ``public``. Ignores fields that only a newer version knows."""
    known = {each.name for each in fields(ApprovalRule)}
    kept = ({name: value for name, value in each.items() if name in known} for each in found)
    return tuple(ApprovalRule(**{**each, "people": tuple(each.get("people", ()))}) for each in kept)
