"""Approvals that rules of the settings ask for (docs/spec/questions.md §6): a part of ``transitions``."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

from baton.domain import errors, times
from baton.domain.agents.guards import Guards, Offer
from baton.domain.questions.approval import (
    Given,
    Need,
    ReadyApproval,
    TaskApproval,
    joined,
    need_by,
    need_fields,
    need_from,
)
from baton.domain.questions.approvers import Approvers, Groups, must_let_decide
from baton.domain.settings.settings import Settings
from baton.domain.task_state import State
from baton.domain.tasks.change import EventRecorder
from baton.domain.tasks.event_type import EventType
from baton.domain.tasks.task import Task

if TYPE_CHECKING:
    from baton.domain.tasks.commands import Approve, ApproveNext


@dataclass(frozen=True, slots=True)
class Approved:
    """The use that a human approves: for ``dispatch`` or for ``next``, with the target as a service last changed it.
    ``roster``: the version of the roster that the approval was compared with."""

    use: str
    service_version: int
    roster: int

    def __str__(self) -> str:
        return f"{self.use} {self.service_version}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Origin:
    """The task that a new one comes from, as approval rules see it. ``doer``: the agent that does it. ``needs``: its
    needs by the rules when it came, at ``made_at``. ``authors``: the keys of its authors."""

    source: str
    doer: str | None
    work_type: str | None
    made_at: datetime
    needs: tuple[Need, ...] = ()
    authors: tuple[str, ...] = ()

    def needs_at(self, at: datetime) -> Iterable[Need]:
        """Returns the needs of a task that comes from this one at ``at``."""
        return (each.anew(at, self.made_at) for each in self.needs)

    def plain(self) -> dict[str, Any]:
        """Returns JSON for a stored draft."""
        needs, made_at = [need_fields(each) for each in self.needs], times.rfc3339(self.made_at)
        own = {"source": self.source, "doer": self.doer, "work_type": self.work_type}
        return {**own, "made_at": made_at, "needs": needs, "authors": list(self.authors)}


def origin_of(task: Task, doer: str | None) -> Origin:
    return Origin(
        source=task.source_agent,
        doer=doer,
        work_type=task.work_type,
        made_at=_since(task),
        needs=() if task.approval is None else task.approval.needs,
        authors=task.authors,
    )


def origin_from(kept: Mapping[str, Any]) -> Origin:
    """The inverse of ``plain``."""
    needs, authors = tuple(map(need_from, kept["needs"])), tuple(kept["authors"])
    return Origin(**{**kept, "made_at": times.parse_rfc3339(kept["made_at"]), "needs": needs, "authors": authors})


@dataclass(frozen=True, slots=True, kw_only=True)
class Handed:
    """The facts that select the rules for a new task. ``sources``: the agents above it in its chain. ``origin``: None
    for work that comes from no other task. ``authors``: keys of the principals that made it."""

    guards: Guards
    authors: tuple[str, ...]
    sources: frozenset[str] = frozenset()
    origin: Origin | None = None


def as_came(new: Task, at: datetime, handed: Handed, came_as: int) -> Task:
    """Returns the new task with its needs by every rule that fits it, or fits the task that it comes from. Without any,
    any human approves it. ``came_as``: the version that people read with it."""
    needs = joined((*_needs(new, at, handed), *_inherited(at, handed)))
    return new.changed(approved_as=came_as, approval=TaskApproval(needs=needs) if needs else None)


def _needs(new: Task, at: datetime, handed: Handed) -> Iterable[Need]:
    guards, origin = handed.guards, handed.origin
    types = {new.work_type, None if origin is None else origin.work_type} - {None}
    rules = guards.rules(handed.sources | {new.source_agent}, new.target_agent, frozenset(map(str, types)))
    if origin is not None:
        types = {origin.work_type} - {None}
        rules += guards.rules(frozenset({origin.source}), origin.doer, frozenset(map(str, types)))
    for rule in dict.fromkeys(rules):
        yield need_by(rule, handed.authors, at)


def _inherited(at: datetime, handed: Handed) -> Iterable[Need]:
    """Yields the needs of the task that the new one comes from. The new one waits anew for a next group."""
    for inherited in () if handed.origin is None else handed.origin.needs_at(at):
        for author in handed.authors if inherited.approvers.never else ():
            inherited = inherited.also_never(author)
        yield inherited


@dataclass(frozen=True, slots=True)
class Counted:
    """Approvals that are enough. ``data``: of the event that approves the task. ``by``: the approvals of humans, for
    rules at the claim; none of a task that needs none, in a workspace without rules about handoffs."""

    data: dict[str, Any]
    by: tuple[ReadyApproval, ...]


def counts_with_others(
    recorder: EventRecorder, what: Approved, data: dict[str, Any], settings: Settings, former: frozenset[str]
) -> Counted | None:
    """As ``counts_fully``, for the person who approves now. Earlier approvals of ``former`` people end. Raises
    ``NotAsked`` for a person who may not, and ``ApprovalCounted`` for one who has done so."""
    task, by = recorder.task, recorder.by
    if task.approval is not None:
        approval = task.approval.without(former)
        recorder.task = task.changed(approval=approval)
        approval.must_let(task.id, by, str(what), settings.groups)
    return counts_fully(recorder, by.key, what, data, settings)


def counts_fully(
    recorder: EventRecorder, human: str, what: Approved, data: dict[str, Any], settings: Settings
) -> Counted | None:
    """Adds the approval of ``human``, a principal's key. Returns all approvals if they are enough. Otherwise it records
    the approval, if it counts at all, and returns None. ``data``: of the event."""
    before, name = recorder.task.approval or TaskApproval(), human.removeprefix("human:")
    if not human.startswith("human:"):
        return None if before.needs else Counted(data, ())
    if not before.counts(name, settings.groups):
        return None
    counted = before.with_given(Given(name, str(what), recorder.at, what.roster))
    if not counted.is_met(str(what), settings.groups):
        told = {"for": what.use, **data, "by": name, "needed": before.needed}
        recorder.record(EventType.APPROVAL_GIVEN, told, approval=counted)
        return None
    given = (ReadyApproval(each.by, each.at, each.roster) for each in counted.given_for(str(what)))
    by = tuple(sorted(given, key=str))
    told = {"approved_by": [each.by for each in by]} if before.needs else {}
    return Counted({**data, **told}, by if before.needs or settings.has_handoff_rules else ())


def adds_approval(
    recorder: EventRecorder, command: Approve | ApproveNext, data: dict[str, Any], groups: Groups
) -> None:
    """Counts a human's approval of ready work for the agents that rules hold back from it. Earlier approvals of
    ``former`` people end. Raises ``NotAsked`` if none of these rules names the person, and ``ApprovalCounted`` if their
    approval stands."""
    task, by = recorder.task, recorder.by
    asked = [each for approvers in command.held.values() for each in approvers]
    must_let_decide(asked, by, groups, task.id)
    needed = max(each.needed for each in asked)
    kept = tuple(each for each in task.ok_by if each.by not in command.former)
    if any(each.by == by.id for each in kept):
        raise errors.ApprovalCounted(task.id, needed)
    use = "next" if task.state is State.NEXT else "dispatch"
    told = {"for": use, **data, "by": by.id, "needed": needed, "agents": sorted(command.held)}
    recorder.record(EventType.APPROVAL_GIVEN, told, ok_by=(*kept, ReadyApproval(by.id, recorder.at, command.roster)))


def offer_of(task: Task, above: frozenset[str], given: tuple[ReadyApproval, ...] = ()) -> Offer:
    """Returns ready work as rules see it at a claim. ``above``: the agents above it in its chain; ``given``: the
    approvals of it that stand."""
    needs = () if task.approval is None else task.approval.needs
    return Offer(
        source=task.source_agent,
        above=above,
        target=task.target_agent,
        work_type=task.work_type,
        needs=tuple(each.approvers for each in needs),
        requires=task.requires,
        given=given,
        is_sent_back=task.holds_to_target,
        authors=task.authors,
        waited={replace(each.approvers, never=()): _waited(task, each) for each in needs if each.approvers.wider},
    )


def _waited(task: Task, need: Need) -> timedelta:
    """Returns how long the task had waited for its first approvers when the need let in its next group."""
    return timedelta.max if need.wider_at is None else need.wider_at - _since(task)


def _since(task: Task) -> datetime:
    """Returns when the task came to people, or last came back to them."""
    return task.created_at if task.approval is None or task.approval.since is None else task.approval.since


@dataclass(frozen=True, slots=True, kw_only=True)
class ClaimRules:
    """The requirements of the rules before an agent may claim the work, by the settings as they are at the claim.
    ``givers``: the humans who have approved it for the agent as it is and still may, by name."""

    asked: tuple[Approvers, ...] = ()
    groups: Groups = field(default_factory=dict)
    givers: tuple[str, ...] = ()

    def must_be_met(self, task: Task, agent: str) -> None:
        """Raises ``ApprovalNeeded`` if the task lacks an approval."""
        unmet = [each for each in self.asked if not each.is_met(self.givers, self.groups)]
        if unmet:
            lacks = [_lacking(each, self.givers, self.groups) for each in unmet]
            raise errors.ApprovalNeeded(task.id, agent, lacks)


def _lacking(approvers: Approvers, givers: Iterable[str], groups: Groups) -> errors.LackingApproval:
    given = sorted(each for each in givers if approvers.counts(each, groups))
    return errors.LackingApproval(approvers.needed, " or ".join(approvers.names) or "any person", given)
