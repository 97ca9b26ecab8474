"""Approvals that a rule of the settings asks for more than one human for (docs/spec/questions.md §6): a part of
``transitions``."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from baton.domain.access.principal import Principal
from baton.domain.questions.approval import approval_by
from baton.domain.questions.approvers import Groups
from baton.domain.settings.approval_rule import ApprovalRule
from baton.domain.tasks.change import EventRecorder
from baton.domain.tasks.event_type import EventType
from baton.domain.tasks.task import Task


@dataclass(frozen=True, slots=True)
class Approved:
    """What a human approves: for ``dispatch`` or for ``next``, with the target as a service last changed it."""

    use: str
    service_version: int

    def __str__(self) -> str:
        return f"{self.use} {self.service_version}"


def as_came(new: Task, by: Principal, at: datetime, rules: Iterable[ApprovalRule], service_version: int) -> Task:
    """Returns the new task with what it needs by the first rule that fits it. If none does, any human approves."""
    rule = next((each for each in rules if each.fits(new.source_agent, new.target_agent, new.work_type)), None)
    return new.changed(approved_as=service_version, approval=rule and approval_by(rule, by.key, at))


def counts_with_others(recorder: EventRecorder, what: Approved, data: dict[str, Any], groups: Groups) -> bool:
    """As ``counts_fully``, for who approves now. Raises ``NotAsked`` for who may not, and ``ApprovalCounted`` for who
    has done so."""
    task, by = recorder.task, recorder.by
    if task.approval is not None:
        task.approval.must_let(task.id, by, str(what), groups)
    return counts_fully(recorder, by.key, what, data, groups)


def counts_fully(recorder: EventRecorder, human: str, what: Approved, data: dict[str, Any], groups: Groups) -> bool:
    """Returns True if the approval of ``human``, a principal's key, approves the task. If others have to, too, it is
    counted, which the trail tells. ``data``: of the event, which gets everybody's name."""
    approval, name = recorder.task.approval, human.removeprefix("human:")
    if approval is None:
        return True
    if not human.startswith("human:") or not approval.approvers.counts(name, groups):
        return False
    counted = approval.with_given(name, str(what))
    if counted.is_met(str(what), groups):
        data["approved_by"] = sorted(each.by for each in counted.given if each.what == str(what))
        return True
    told = {"for": what.use, **data, "by": name, "needed": approval.approvers.needed}
    recorder.record(EventType.APPROVAL_GIVEN, told, approval=counted)
    return False
