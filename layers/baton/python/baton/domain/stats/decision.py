"""What a person has decided on a task: one entry of the record that tells who decided what, by day.

The trail is what counts. The record is made of it, by the stream, so that one needn't know the task to find the
decision. It names the entry of the trail by its number. A manual review has no trail: what a person decides on one is
put with it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from baton.domain.access.principal import PrincipalKind
from baton.domain.events.bus_events import OutboxEvent
from baton.domain.tasks.event_type import EventType
from baton.domain.tasks.task import Task

# An entry takes less than one KB, so that it costs one write unit. What is cut off, the trail has.
MAX_TEXT_BYTES = 180


class DecisionVerb(StrEnum):
    APPROVE = "approve"
    APPROVE_NEXT = "approve_next"
    UNDO = "undo"
    DEFER = "defer"
    DISMISS = "dismiss"
    SPLIT = "split"
    ANSWER = "answer"
    REVOKE = "revoke"
    RELEASE = "release"
    RESOLVE = "resolve"
    CANCEL = "cancel"
    RELEASE_REVIEW = "release_review"
    CLOSE_REVIEW = "close_review"


_VERBS: Mapping[str, DecisionVerb] = {
    EventType.APPROVED: DecisionVerb.APPROVE,
    EventType.APPROVAL_GIVEN: DecisionVerb.APPROVE,
    EventType.APPROVAL_UNDONE: DecisionVerb.UNDO,
    EventType.DEFERRED: DecisionVerb.DEFER,
    EventType.DISMISSED: DecisionVerb.DISMISS,
    EventType.SPLIT: DecisionVerb.SPLIT,
    EventType.QUESTION_DECIDED: DecisionVerb.ANSWER,
    EventType.APPROVAL_REVOKED: DecisionVerb.REVOKE,
    EventType.RELEASED: DecisionVerb.RELEASE,
    EventType.RESOLVED: DecisionVerb.RESOLVE,
    EventType.CANCELLED: DecisionVerb.CANCEL,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    workspace: str
    at: datetime
    about: str  # the id of a task, or of a manual review
    seq: int  # of the entry in the task's trail; of a review the version that the decision made
    by: str  # the human's name
    verb: str  # of ``DecisionVerb``, or what a newer version wrote
    # More of it: ``counted`` for an approval that isn't enough by itself, ``own`` for the handoff of whom approved by
    # asking, else what an answer was (``approved``, ``refused``, ``answered`` …).
    detail: str | None
    reason: str | None
    title: str
    source_agent: str
    target_agent: str | None
    priority: str  # empty for a review whose request names none

    @property
    def task_id(self) -> str | None:
        return None if self.review_id else self.about

    @property
    def review_id(self) -> str | None:
        return self.about if self.verb in {DecisionVerb.RELEASE_REVIEW, DecisionVerb.CLOSE_REVIEW} else None


def decision_in(told: OutboxEvent, task: Task) -> Decision | None:
    """Returns what a human has decided with this event of the task; None if it was none. What follows from another
    decision, as the fall of the tasks below one that was cancelled, is none."""
    event, data = told.event, told.event.data
    verb = _VERBS.get(event.type)
    if verb is None or event.principal_kind != PrincipalKind.HUMAN:
        return None
    if data.get("ancestor") is not None or data.get("overtaken_by") is not None:
        return None
    if data.get("asked_by_human") and task.created_by != f"{PrincipalKind.HUMAN}:{event.principal_id}":
        return None  # follows from the release of a review, which is in the record by itself
    if verb is DecisionVerb.APPROVE and data.get("for") == "next":
        verb = DecisionVerb.APPROVE_NEXT
    return Decision(
        workspace=told.workspace,
        at=event.at,
        about=told.task_id,
        seq=event.seq,
        by=event.principal_id,
        verb=str(verb),
        detail=_detail(told),
        reason=None if (reason := data.get("reason")) is None else cut(str(reason)),
        title=cut(task.title),
        source_agent=task.source_agent,
        target_agent=task.agent,
        priority=str(task.priority),
    )


def _detail(told: OutboxEvent) -> str | None:
    if told.event.type == EventType.APPROVAL_GIVEN:
        return "counted"
    if told.event.data.get("asked_by_human"):
        return "own"
    outcome = told.event.data.get("outcome")
    return None if outcome is None else str(outcome)


def cut(text: str) -> str:
    """Returns a text of at most ``MAX_TEXT_BYTES``, with an ellipsis where it was longer."""
    if len(text.encode("utf-8", "replace")) <= MAX_TEXT_BYTES:
        return text
    return text.encode("utf-8", "replace")[: MAX_TEXT_BYTES - 3].decode("utf-8", "ignore") + "…"
