"""How far the approval of a handoff has come, where a rule of the settings asks for more than any one human. Pure."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from datetime import datetime
from typing import Any

from baton.domain import errors, times
from baton.domain.access.principal import Principal
from baton.domain.questions.approvers import Approvers, Groups
from baton.domain.settings.approval_rule import AFTER_SECONDS, ApprovalRule
from baton.domain.settings.settings import Settings


@dataclass(frozen=True, slots=True)
class Given:
    """One human's approval. ``what``: what of; only approvals of the same count together."""

    by: str
    what: str


@dataclass(frozen=True, slots=True, kw_only=True)
class PendingApproval:
    """``approvers``: who has to approve, as the rule was when the handoff came. ``given``: what counts so far.
    ``remind_at``: when humans are alerted; ``then_at``: when ``then_group`` may decide, too."""

    approvers: Approvers
    given: tuple[Given, ...] = ()
    remind_at: datetime | None = None
    then_group: str | None = None
    then_at: datetime | None = None

    def with_given(self, human: str, what: str) -> PendingApproval:
        """Returns the approval with one more: who approves again has changed their mind."""
        return replace(self, given=(*(each for each in self.given if each.by != human), Given(human, what)))

    def is_met(self, what: str, groups: Groups) -> bool:
        return self.approvers.is_met((each.by for each in self.given if each.what == what), groups)

    def anew(self) -> PendingApproval:
        """Returns the approval that nobody has given yet."""
        return replace(self, given=())

    def must_let(self, task_id: str, by: Principal, what: str, groups: Groups) -> None:
        """Raises ``NotAsked`` for who may not approve, and ``ApprovalCounted`` for who has done so."""
        if not self.approvers.may(by, groups):
            raise errors.NotAsked(task_id)
        if Given(by.id, what) in self.given and not self.is_met(what, groups):
            raise errors.ApprovalCounted(task_id, self.approvers.needed)

    def widened(self) -> PendingApproval:
        return replace(self, approvers=replace(self.approvers, wider=self.then_group), then_group=None, then_at=None)

    def reminded(self) -> PendingApproval:
        return replace(self, remind_at=None)


def approval_by(rule: ApprovalRule, author: str, at: datetime) -> PendingApproval:
    """Returns what a new handoff of ``author``, a principal's key, needs by the rule."""
    return PendingApproval(
        approvers=_approvers(rule, never=(author,) if rule.not_author else ()),
        remind_at=_after(at, rule.remind_after_seconds),
        then_group=rule.then_group,
        then_at=_after(at, rule.then_after_seconds),
    )


def check_rules(settings: Settings) -> None:
    """Raises ``InvalidInput`` for a rule that nobody could meet, and that names no group of the settings."""
    for number, rule in enumerate(settings.approval_rules):
        try:
            _check(rule, settings.groups)
        except errors.InvalidInput as exc:
            exc.rename({exc.field: f"approval_rules.{number}.{exc.field}"})
            raise


def _check(rule: ApprovalRule, groups: Groups) -> None:
    _approvers(rule).check(groups)
    low, high = AFTER_SECONDS
    for name in ("remind_after_seconds", "then_after_seconds"):
        seconds = getattr(rule, name)
        if seconds is not None and not low <= seconds <= high:
            raise errors.InvalidInput(name, f"must be from {low} to {high}")
    if (rule.then_group is None) is not (rule.then_after_seconds is None):
        raise errors.InvalidInput("then_group", "must come with then_after_seconds, and the other way round")
    if rule.then_group is not None and rule.then_group not in groups:
        raise errors.InvalidInput("then_group", f"must be a group of the settings, and there is no {rule.then_group!r}")
    if rule.then_group is not None and rule.group is None and not rule.people:
        raise errors.InvalidInput("then_group", "is for a rule that names people or a group: any human may decide now")


def _approvers(rule: ApprovalRule, never: tuple[str, ...] = ()) -> Approvers:
    return Approvers(people=rule.people, group=rule.group, needed=rule.needed, never=never)


def _after(at: datetime, seconds: int | None) -> datetime | None:
    return None if seconds is None else at + times.seconds(seconds)


def approval_fields(approval: PendingApproval) -> dict[str, Any]:
    """Returns the approval in JSON's types, without what is as it is by default."""
    rule = approval.approvers
    told: dict[str, Any] = {each.name: getattr(rule, each.name) for each in fields(rule)}
    told |= {"people": list(rule.people), "never": list(rule.never), "then_group": approval.then_group}
    told |= {"given": [[each.by, each.what] for each in approval.given]}
    marks = {"remind_at": approval.remind_at, "then_at": approval.then_at}
    told |= {name: None if at is None else times.rfc3339(at) for name, at in marks.items()}
    return {name: value for name, value in told.items() if value not in (None, [])}


def approval_from(found: dict[str, Any]) -> PendingApproval:
    """The inverse of ``approval_fields``."""
    marks = {name: times.parse_rfc3339(found[name]) for name in ("remind_at", "then_at") if name in found}
    return PendingApproval(
        approvers=Approvers(
            people=tuple(found.get("people", ())),
            group=found.get("group"),
            wider=found.get("wider"),
            needed=int(found["needed"]),
            never=tuple(found.get("never", ())),
        ),
        given=tuple(Given(by, what) for by, what in found.get("given", ())),
        then_group=found.get("then_group"),
        **marks,
    )
