"""Approvals of a handoff: the requirements of the settings' rules, and the approvals given. Pure."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, fields, replace
from datetime import datetime
from itertools import zip_longest
from typing import Any

from baton.domain import errors, times
from baton.domain.access.principal import Principal
from baton.domain.questions.approvers import Approvers, Groups, are_met, must_let_decide
from baton.domain.settings.approval_rule import AFTER_SECONDS, ApprovalRule
from baton.domain.settings.settings import Settings

_MARKS = ("remind_at", "then_at", "wider_at")


@dataclass(frozen=True, slots=True)
class Given:
    """One human's approval of the task's content. ``what``: the use; only approvals of the same use count together.
    ``at``: None for an approval of an earlier release. ``roster``: as of ``ReadyApproval``."""

    by: str
    what: str
    at: datetime | None = None
    roster: int = 0


@dataclass(frozen=True, slots=True)
class ReadyApproval:
    """One human's approval of ready work, for the agents that rules hold back from it. ``at``: None for an approval of
    an earlier release. ``roster``: the version of the roster that the approval was compared with; 0 for an approval of
    an earlier release."""

    by: str
    at: datetime | None = None
    roster: int = 0

    def __str__(self) -> str:
        """``ann@1764400000000 @17``. No name has an ``@``. An earlier release reads the version as an approval of
        nobody, and drops it."""
        given = self.by if self.at is None else f"{self.by}@{times.to_ms(self.at)}"
        return f"{given} @{self.roster}" if self.roster else given


def ready_approvals(text: str) -> tuple[ReadyApproval, ...]:
    """The inverse of ``str``, for approvals that are separated by spaces."""
    found: list[ReadyApproval] = []
    for word in text.split():
        if not word.startswith("@"):
            found.append(_ready_approval(word))
        elif found:
            found[-1] = replace(found[-1], roster=int(word[1:]))
    return tuple(found)


def _ready_approval(text: str) -> ReadyApproval:
    by, _, ms = text.partition("@")
    return ReadyApproval(by, times.from_ms(int(ms)) if ms else None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Need:
    """The requirement of one rule. ``remind_at``: when humans are alerted; ``then_at``: when ``then_group`` may decide,
    too; ``wider_at``: the ``then_at`` that is over, None also where an earlier release let the next group in."""

    approvers: Approvers
    remind_at: datetime | None = None
    then_group: str | None = None
    then_at: datetime | None = None
    wider_at: datetime | None = None

    def widened(self) -> Need:
        wider = replace(self.approvers, wider=self.then_group)
        return replace(self, approvers=wider, then_group=None, then_at=None, wider_at=self.then_at)

    def anew(self, at: datetime, since: datetime) -> Need:
        """Returns the need of work that comes at ``at`` from work of ``since``. It waits as long for the next group."""
        first, due = replace(self.approvers, wider=None), self.then_at or self.wider_at
        if due is None:  # also for a next group that an earlier release let in
            return Need(approvers=first)
        return Need(approvers=first, then_group=self.then_group or self.approvers.wider, then_at=at + (due - since))

    def again(self, at: datetime, since: datetime) -> Need:
        """Returns the need of work that comes back to people at ``at``, and came to them at ``since``. The first people
        get as long as before. A reminder that was sent is over."""
        remind_at = None if self.remind_at is None else at + (self.remind_at - since)
        need = self if self.then_at is None and self.wider_at is None else self.anew(at, since)
        return replace(need, remind_at=remind_at)

    def with_same(self, other: Need) -> Need:
        """Returns one need for both, which are for the same approvers and the same next group: the later next group,
        the earlier reminder, and the people that either excludes."""
        never = tuple(dict.fromkeys((*self.approvers.never, *other.approvers.never)))
        reminders = [each.remind_at for each in (self, other) if each.remind_at is not None]
        nexts = [each.then_at for each in (self, other) if each.then_at is not None]
        return replace(
            self,
            approvers=replace(self.approvers, never=never),
            remind_at=min(reminders, default=None),
            then_at=max(nexts, default=None),
        )

    def also_never(self, key: str) -> Need:
        """Returns the need with one more principal that may not approve."""
        never = tuple(dict.fromkeys((*self.approvers.never, key)))
        return replace(self, approvers=replace(self.approvers, never=never))


# Any one human, which every handoff needs.
ANYBODY = Need(approvers=Approvers())


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskApproval:
    """``needs``: the requirements of the rules when the handoff came; each has to be met. ``given``: the approvals so
    far; dropped once all are met. ``since``: when the task last came back to people; None if it never did."""

    needs: tuple[Need, ...] = ()
    given: tuple[Given, ...] = ()
    since: datetime | None = None

    @property
    def remind_at(self) -> datetime | None:
        return min((each.remind_at for each in self.needs if each.remind_at is not None), default=None)

    @property
    def then_at(self) -> datetime | None:
        return min((each.then_at for each in self.needs if each.then_at is not None), default=None)

    @property
    def needed(self) -> int:
        """The most different people that one rule asks for."""
        return max((each.approvers.needed for each in self.needs), default=1)

    def with_given(self, given: Given) -> TaskApproval:
        """Returns the approval with one more. A person's new approval replaces their earlier one."""
        return replace(self, given=(*(each for each in self.given if each.by != given.by), given))

    def without(self, humans: Collection[str]) -> TaskApproval:
        """Returns the approval without the approvals of people who lost the right to approve."""
        return replace(self, given=tuple(each for each in self.given if each.by not in humans))

    def given_for(self, what: str) -> tuple[Given, ...]:
        return tuple(each for each in self.given if each.what == what)

    def givers(self, what: str) -> tuple[str, ...]:
        return tuple(each.by for each in self.given_for(what))

    def is_met(self, what: str, groups: Groups) -> bool:
        return are_met((each.approvers for each in self.needs), self.givers(what), groups)

    def counts(self, human: str, groups: Groups) -> bool:
        """True if the human's approval counts for at least one rule, or if there is none."""
        return not self.needs or any(each.approvers.counts(human, groups) for each in self.needs)

    def anew(self) -> TaskApproval:
        """Returns the approval that nobody has given yet."""
        return replace(self, given=())

    def again(self, at: datetime, made_at: datetime) -> TaskApproval:
        """Returns the approval of work that comes back to people at ``at``."""
        needs = tuple(each.again(at, self.since or made_at) for each in self.needs)
        return self if needs == self.needs else replace(self, needs=needs, since=at)

    def must_let(self, task_id: str, by: Principal, what: str, groups: Groups) -> None:
        """Raises ``NotAsked`` for a person who may not approve, and ``ApprovalCounted`` for one who has done so."""
        self.must_name(task_id, by, groups)
        if by.id in self.givers(what) and not self.is_met(what, groups):
            raise errors.ApprovalCounted(task_id, self.needed)

    def must_name(self, task_id: str, by: Principal, groups: Groups) -> None:
        """Raises ``NotAsked`` if no need asks for the person's approval now."""
        if self.needs:
            must_let_decide((each.approvers for each in self.needs), by, groups, task_id)

    def widened(self, at: datetime) -> tuple[TaskApproval, str | None]:
        """Returns the approval with the next group of the first rule that is due, and that group."""
        due = next(each for each in self.needs if each.then_at is not None and each.then_at <= at)
        needs = tuple(each.widened() if each is due else each for each in self.needs)
        return replace(self, needs=needs), due.then_group

    def reminded(self, at: datetime) -> TaskApproval:
        due = (each.remind_at is not None and each.remind_at <= at for each in self.needs)
        both = zip(self.needs, due, strict=True)
        return replace(self, needs=tuple(replace(each, remind_at=None) if is_due else each for each, is_due in both))


def need_by(rule: ApprovalRule, authors: Iterable[str], at: datetime) -> Need:
    """Returns the need of a new handoff under the rule. ``authors``: keys of the principals that made the handoff."""
    return Need(
        approvers=approvers_of(rule, authors=authors),
        remind_at=_after(at, rule.remind_after_seconds),
        then_group=rule.then_group,
        then_at=_after(at, rule.then_after_seconds),
    )


def joined(needs: Iterable[Need]) -> tuple[Need, ...]:
    """Returns each need once, without ``ANYBODY``, the need of every handoff. Needs for the same approvers and the same
    next group are one."""
    found: dict[tuple[Approvers, str | None], Need] = {}
    for need in needs:
        place = (replace(need.approvers, never=()), need.then_group)
        found[place] = found[place].with_same(need) if place in found else need
    return tuple(each for each in found.values() if each != ANYBODY)


def check_rules(settings: Settings) -> None:
    """Raises ``InvalidInput`` for a rule that nobody could meet, and that names no group of the settings."""
    for number, rule in enumerate(settings.approval_rules):
        try:
            _check(rule, settings.groups)
        except errors.InvalidInput as exc:
            exc.rename({exc.field: f"approval_rules.{number}.{exc.field}"})
            raise


def _check(rule: ApprovalRule, groups: Groups) -> None:
    approvers_of(rule).check(groups)
    if rule.tool is not None:
        _check_tool(rule)
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


def _check_tool(rule: ApprovalRule) -> None:
    if not (rule.tool or "").strip():
        raise errors.InvalidInput("tool", "must name the tool of the actions that the rule is for")
    for name in ("remind_after_seconds", "then_group", "then_after_seconds"):
        if getattr(rule, name) is not None:
            raise errors.InvalidInput(name, "is for rules about handoffs: an action's question has its own end")


def approvers_of(rule: ApprovalRule, never: tuple[str, ...] = (), authors: Iterable[str] = ()) -> Approvers:
    """Returns who has to approve by the rule. ``authors``: the principals that made the handoff. ``never``: others that
    may not approve."""
    keys = (*never, *authors) if rule.not_author else never
    return Approvers(people=rule.people, group=rule.group, needed=rule.needed, never=tuple(dict.fromkeys(keys)))


def _after(at: datetime, seconds: int | None) -> datetime | None:
    return None if seconds is None else at + times.seconds(seconds)


def approval_fields(approval: TaskApproval) -> dict[str, Any]:
    """Returns the approval in JSON's types, without default values. The first need's fields stand beside ``given``, as
    earlier releases know one need alone; ``further`` has the others."""
    first, *others = map(need_fields, approval.needs)
    told = {**first, "further": others, "given": [[each.by, each.what] for each in approval.given]}
    told["given_at"] = [None if each.at is None else times.rfc3339(each.at) for each in approval.given]
    told["given_roster"] = [each.roster for each in approval.given]
    told |= {} if approval.since is None else {"since": times.rfc3339(approval.since)}
    return {name: value for name, value in told.items() if value != []}


def approval_from(found: dict[str, Any]) -> TaskApproval:
    """The inverse of ``approval_fields``."""
    needs = tuple(map(need_from, (found, *found.get("further", ()))))
    since = times.parse_rfc3339(found["since"]) if "since" in found else None
    return TaskApproval(needs=needs, given=tuple(_given(found)), since=since)


def _given(found: dict[str, Any]) -> Iterator[Given]:
    """A release that knows no times, or no versions of the roster, drops them all."""
    given = found.get("given", ())
    more = (found.get(name, ())[: len(given)] for name in ("given_at", "given_roster"))
    for (by, what), at, roster in zip_longest(given, *more):
        yield Given(by, what, None if at is None else times.parse_rfc3339(at), int(roster or 0))


def _approvers_fields(approvers: Approvers) -> dict[str, Any]:
    """Returns the approvers in JSON's types, without default values but ``needed``."""
    values = {each.name: getattr(approvers, each.name) for each in fields(approvers)}
    plain = {name: list(value) if isinstance(value, tuple) else value for name, value in values.items()}
    return {name: value for name, value in plain.items() if value not in (None, [])}


def _approvers_from(found: dict[str, Any]) -> Approvers:
    """The inverse of ``_approvers_fields``."""
    return Approvers(
        people=tuple(found.get("people", ())),
        group=found.get("group"),
        wider=found.get("wider"),
        needed=int(found["needed"]),
        never=tuple(found.get("never", ())),
    )


def need_fields(need: Need) -> dict[str, Any]:
    marks = {name: getattr(need, name) for name in _MARKS}
    told = {name: times.rfc3339(at) for name, at in marks.items() if at is not None}
    then = {} if need.then_group is None else {"then_group": need.then_group}
    return {**_approvers_fields(need.approvers), **then, **told}


def need_from(found: dict[str, Any]) -> Need:
    marks = {name: times.parse_rfc3339(found[name]) for name in _MARKS if name in found}
    return Need(approvers=_approvers_from(found), then_group=found.get("then_group"), **marks)
