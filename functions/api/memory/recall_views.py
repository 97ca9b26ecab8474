"""What was found on the blackboard as JSON. docs/openapi.json is made of these types."""

from __future__ import annotations

from typing_extensions import TypedDict

from api.memory.views import EntryView
from baton.domain.memory.entry import Entry
from baton.domain.memory.entry_index import SearchAnswer
from baton.services.memory.recall import Recalled
from baton.steps.memory.found_entries import FoundEntry
from rest.shape import ViewShape


class ReplacedView(TypedDict):
    """A decision that doesn't hold any more."""

    id: str
    summary: str
    rationale: str | None
    posted_by: str
    posted_at: str


class ReasonView(EntryView):
    """``replaced``: the decisions that this one replaced, the latest first."""

    replaced: list[ReplacedView]


class RecalledView(ReasonView):
    """``score``: the higher, the better the entry fits; only to be compared with others of the same answer."""

    score: float


class Searched(TypedDict):
    """``searched``: among so many entries, the newest. ``is_whole``: the workspace has no older ones."""

    searched: int
    is_whole: bool


class Recall(Searched):
    items: list[RecalledView]


class Why(Searched):
    items: list[ReasonView]


_REPLACED = ViewShape(ReplacedView, Entry)
_REASON = ViewShape(ReasonView, Entry, "replaced")
_RECALLED = ViewShape(RecalledView, Entry, "replaced score")


def recall(found: SearchAnswer[Recalled]) -> Recall:
    items = [_RECALLED(each.entry, replaced=_replaced(each.found), score=round(each.score, 3)) for each in found.items]
    return {"items": items, "searched": found.searched, "is_whole": found.is_whole}


def why(found: SearchAnswer[FoundEntry]) -> Why:
    items = [_REASON(each.entry, replaced=_replaced(each)) for each in found.items]
    return {"items": items, "searched": found.searched, "is_whole": found.is_whole}


def _replaced(found: FoundEntry) -> list[ReplacedView]:
    return [_REPLACED(each) for each in found.replaced]
