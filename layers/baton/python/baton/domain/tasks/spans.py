"""The spans of a task: what it waited for, and who was at work, one after the other, as its trail tells.

Spans follow each other without a gap, from the task's first event to its end or to now. Time alone divides some of
them: a deferred task waits for a person again once it is due.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum
from typing import Any

from baton.domain import times
from baton.domain.task_state import ENDED, State
from baton.domain.tasks.event_type import EventType
from baton.domain.tasks.trail import Event


class SpanKind(StrEnum):
    PERSON = "person"  # waits for a person to decide
    LATER = "later"  # put off: deferred, before its time, in the undo window, in the pause after a failed attempt
    WORKER = "worker"  # may be claimed, and nobody has
    WORK = "work"  # claimed
    ANSWERS = "answers"  # waits for people to answer its worker's questions
    BRANCHES = "branches"  # waits for what it delegated
    CALLBACK = "callback"  # waits for somebody outside


@dataclass(frozen=True, slots=True, kw_only=True)
class Span:
    kind: SpanKind
    began_at: datetime
    ended_at: datetime | None = None  # None: it goes on
    ended_by: str | None = None  # the type of the event that ended it; None: time did, or it goes on
    fence: int = 0  # of the claim; 0 unless at work
    attempt: int = 0  # which attempt the claim is
    agent: str | None = None  # who is at work
    worker: str | None = None

    @property
    def is_lost(self) -> bool:
        """True for work whose lease was lost."""
        return self.ended_by == EventType.HEARTBEAT_LOST

    @property
    def is_retried(self) -> bool:
        """True for work that failed, and is tried again."""
        return self.kind is SpanKind.WORK and self.ended_by == EventType.REQUEUED

    def seconds(self, now: datetime) -> float:
        return ((self.ended_at or now) - self.began_at).total_seconds()


def spans_of(events: Iterable[Event], now: datetime) -> Iterator[Span]:
    """Yields the spans of a trail, which is given from its first event, in order. Those that took no time are left out.
    Raises ``KeyError``, ``TypeError`` or ``ValueError`` for an event that can't be read."""
    fields: dict[str, Any] = {}
    present: Span | None = None
    due, lost = None, False
    for event in events:
        fields.update(event.data["changes"])
        following, due_next = _beginning(fields, event.at)
        lost = lost or event.type == EventType.HEARTBEAT_LOST
        if present is not None and _same(present, following) and due == due_next:
            continue
        if present is not None:
            yield from _ended(present, due, event.at, EventType.HEARTBEAT_LOST if lost else event.type)
        present, due, lost = following, due_next, False
    if present is not None:
        yield from _open(present, due, now)


def _beginning(fields: Mapping[str, Any], at: datetime) -> tuple[Span | None, datetime | None]:
    """Returns the span that these fields of a task begin, None for one that has ended; and when it is or was
    due, if it was put off."""
    state = fields["state"]
    if state in ENDED:
        return None, None
    if state == State.CLAIMED:
        claim = fields["claim"]
        who = {"agent": claim["agent"], "worker": claim["worker"], "fence": int(claim["fence"])}
        return Span(kind=SpanKind.WORK, began_at=at, attempt=int(fields.get("attempt", 0)), **who), None
    if state == State.WAITING:
        return Span(kind=_waits_for(fields["wait"]), began_at=at), None
    is_asked = state == State.NEEDS
    due = _time(fields.get("deferred_until" if is_asked else "ready_at"))
    kind = SpanKind.PERSON if is_asked else SpanKind.WORKER
    return Span(kind=kind, began_at=at), due


def _waits_for(wait: Mapping[str, Any]) -> SpanKind:
    if wait.get("questions"):
        return SpanKind.ANSWERS
    return SpanKind.BRANCHES if wait.get("interaction_id") is None else SpanKind.CALLBACK


def _same(present: Span, following: Span | None) -> bool:
    return following is not None and (present.kind, present.fence) == (following.kind, following.fence)


def _ended(span: Span, due: datetime | None, at: datetime, by: str) -> Iterator[Span]:
    """Yields the span up to the event that ended it; of one that was put off, the time before it was due by itself."""
    if due is not None and due > span.began_at:
        put_off = replace(span, kind=SpanKind.LATER)
        if due >= at:
            yield from _with_time(replace(put_off, ended_at=at, ended_by=str(by)))
            return
        yield from _with_time(replace(put_off, ended_at=due))
        span = replace(span, began_at=due)
    yield from _with_time(replace(span, ended_at=at, ended_by=str(by)))


def _open(span: Span, due: datetime | None, now: datetime) -> Iterator[Span]:
    if due is None or due <= span.began_at:
        yield span
    elif due > now:
        yield replace(span, kind=SpanKind.LATER)
    else:
        yield replace(span, kind=SpanKind.LATER, ended_at=due)
        yield replace(span, began_at=due)


def _with_time(span: Span) -> Iterator[Span]:
    if span.ended_at is not None and span.ended_at > span.began_at:
        yield span


def _time(text: str | None) -> datetime | None:
    return None if text is None else times.parse_rfc3339(text)
