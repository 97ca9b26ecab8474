"""The facts about questions in a task's trail, and the check of a stored question against them (docs/spec/questions.md
§7). Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from baton.domain import times
from baton.domain.canonical_json import digest_of
from baton.domain.questions.question import Outcome, Question
from baton.domain.questions.question_content import content_digest
from baton.domain.tasks.event_type import EventType
from baton.domain.tasks.trail import Event

# Characters of a digest that a cursor keeps: 64 bits.
SHORT = 16
_ASKED = ("kind", "until", "needed", "tool", "digest")
_CLOSED_BY_THE_END = {Outcome.WITHDRAWN, Outcome.EXPIRED}


class ToldQuestion(NamedTuple):
    """The trail's state of one question.

    ``digest``: of the question's whole content; empty if only an earlier release wrote about it. ``asked`` and
    ``decided`` are then digests of the facts that such a release wrote: the kind, end and action that were asked for,
    and the last decision.
    """

    outcome: str = ""
    used_at: str = ""
    digest: str = ""
    asked: str = ""
    decided: str = ""

    def shortened(self) -> ToldQuestion:
        if self.digest:
            return self._replace(digest=self.digest[:SHORT], asked="", decided="")
        return self._replace(asked=self.asked[:SHORT], decided=self.decided[:SHORT])


Told = Mapping[str, ToldQuestion]


def told_after(told: Told, event: Event) -> Told:
    """Returns the trail's state of the questions after one more event."""
    question_id, data = event.data.get("question_id"), event.data
    if not isinstance(question_id, str) or not question_id:
        return told
    before = told.get(question_id, ToldQuestion())
    match event.type:
        case EventType.QUESTION_ASKED:
            asked = ToldQuestion(outcome=str(data.get("outcome", Outcome.OPEN)), asked=_asked(data))
            after = asked._replace(decided=digest_of(data.get("approved_by", [])))
        case EventType.QUESTION_DECIDED:
            after = before._replace(outcome=str(data.get("outcome")), decided=_decided(event, data.get("decided")))
        case EventType.APPROVAL_REVOKED:
            after = before._replace(outcome=str(Outcome.REVOKED), decided=_decided(event, Outcome.REVOKED))
        case EventType.QUESTION_EXPIRED:
            return {**told, question_id: before._replace(outcome=str(Outcome.EXPIRED))}
        case EventType.APPROVAL_USED:
            return {**told, question_id: before._replace(used_at=times.rfc3339(event.at))}
        case _:
            return told
    return {**told, question_id: after._replace(digest=str(data.get("question_digest", "")))}


def told_by(events: Iterable[Event]) -> Told:
    told: Told = {}
    for event in events:
        told = told_after(told, event)
    return told


def agrees(told: ToldQuestion | None, question: Question, *, is_ended: bool) -> bool:
    """True if the stored question agrees with the trail. ``is_ended``: the task has ended, which closes questions
    without an event of their own."""
    if told is None or (told.used_at or None) != (question.used_at and times.rfc3339(question.used_at)):
        return False
    is_closed = told.outcome == Outcome.OPEN and is_ended and question.outcome in _CLOSED_BY_THE_END
    if told.outcome != question.outcome and not is_closed:
        return False
    if told.digest:
        return content_digest(question).startswith(told.digest)
    return _asked_of(question).startswith(told.asked) and _decided_of(question).startswith(told.decided)


def uncovered(told: Told) -> tuple[str, ...]:
    """Returns the ids of the questions without a digest of their whole content: an earlier release wrote about them."""
    return tuple(name for name, each in told.items() if not each.digest)


def _asked(data: Mapping[str, Any]) -> str:
    return digest_of({name: data.get(name) for name in _ASKED})


def _asked_of(question: Question) -> str:
    action = question.action
    asked = {"kind": str(question.kind), "until": times.rfc3339(question.until), "needed": question.approvers.needed}
    return digest_of({**asked, "tool": action and action.tool, "digest": action and action.digest})


def _decided(event: Event, decided: Any) -> str:
    said = {name: event.data.get(name) for name in ("digest", "reason")}
    return digest_of({"by": event.principal_id, "decided": decided, **said})


def _decided_of(question: Question) -> str:
    """Returns the digest of the last decision, or of the names behind the standing answers that approved the action
    when it was asked for."""
    last = question.decisions[-1] if question.decisions else None
    if last is None or (last.standing is not None and last.at == question.asked_at):
        return digest_of(sorted(each.by for each in question.decisions))
    approved = question.approved_by(last)
    said = {"digest": None if approved is None else approved.digest, "reason": last.reason}
    return digest_of({"by": last.by, "decided": str(last.outcome), **said})
