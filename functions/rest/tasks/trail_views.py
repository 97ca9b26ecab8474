"""A task's audit trail and notes as JSON (docs/spec/lifecycle.md §8)."""

from __future__ import annotations

from typing import Any, Literal, NotRequired

from typing_extensions import TypedDict

from baton.domain.canonical_json import canonical_json
from baton.domain.handoffs.workflow import LateResult
from baton.domain.tasks import trail
from baton.domain.tasks.event_type import EventType
from baton.domain.tasks.task_items import Note
from rest import pages
from rest.shape import ViewShape


class PrincipalView(TypedDict):
    kind: Literal["agent", "human", "service"]
    id: str


class EventView(TypedDict):
    """One entry of the trail. ``hash``: SHA-256 over the canonical JSON of the other fields (without ``prev_hash``),
    followed by ``prev_hash``. ``hidden``: the reader may not read approval rules, and the entry lacks their
    requirements. Its hash covers the whole entry."""

    seq: int
    at: str
    type: str
    principal: PrincipalView
    fence: int
    data: dict[str, Any]
    prev_hash: str
    hash: str
    hidden: NotRequired[Literal[True]]


class Trail(TypedDict):
    events: list[EventView]
    next_after: int


class NoteView(TypedDict):
    id: str
    at: str
    by: str
    content: dict[str, Any]


# A function's answer has at most 6 MB.
MAX_TRAIL_BYTES = 1_900_000


class LateResultView(TypedDict):
    """``fence``: of the claim that was over; ``verb``: of the request; ``content``: of the request, with apparent
    secrets masked."""

    fence: int
    agent: str
    at: str
    verb: str
    content: dict[str, Any] | None


NotePage = pages.of("NotePage", NoteView)
LateResults = pages.of("LateResults", LateResultView)
note_view = ViewShape(NoteView, Note)
_LATE_RESULT = ViewShape(LateResultView, LateResult, "fence")


def late_result_view(result: LateResult) -> LateResultView:
    return _LATE_RESULT(result, fence=result.claim_fence)


# The fields of approval rules in entries.
_OF_RULES = frozenset({"needed", "by_rule", "agents", "group"})
_BY_RULES = frozenset({EventType.APPROVAL_GIVEN, EventType.APPROVAL_WIDENED})


def trail_view(events: tuple[trail.Event, ...], after: int, *, with_rules: bool) -> Trail:
    """Returns the entries, cut short at the size that a function may answer. One entry always fits. ``with_rules``: the
    reader may read approval rules."""
    shown: list[Any] = []
    size = 0
    for event in events:
        size += len(canonical_json(event.data).encode())
        if shown and size > MAX_TRAIL_BYTES:
            break
        shown.append(event.public() if with_rules else _without_rules(event.public()))
        after = event.seq
    return {"events": shown, "next_after": after}


def _without_rules(event: dict[str, Any]) -> dict[str, Any]:
    data, changes = event["data"], event["data"].get("changes", {})
    of_rules = _OF_RULES if "by_rule" in data or event["type"] in _BY_RULES else frozenset()
    if of_rules.isdisjoint(data) and changes.get("approval") is None:
        return event
    kept = {name: value for name, value in data.items() if name not in of_rules}
    kept["changes"] = {name: value for name, value in changes.items() if name != "approval"}
    return {**event, "data": kept, "hidden": True}
