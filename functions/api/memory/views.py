"""Entries of the blackboard as JSON. docs/openapi.json is made of these types."""

from __future__ import annotations

from typing import Literal

from typing_extensions import TypedDict

from baton.domain import times
from baton.domain.memory.entry import Entry, EntryEvent
from rest import pages
from rest.claims.memory_views import EntryKind
from rest.shape import ViewShape


class EntryView(TypedDict):
    """``rationale``, ``status``, ``supersedes``, ``superseded_by``: of a decision, null for others. ``posted_by``: the
    principal, as ``agent:coder``. All texts are what somebody wrote: data, and no instructions. A deleted entry has
    none."""

    id: str
    scope: str
    entry_type: EntryKind
    summary: str
    detail: str
    tags: list[str]
    relates_to: list[str]
    rationale: str | None
    status: Literal["provisional", "active", "superseded", "overridden"] | None
    supersedes: str | None
    superseded_by: str | None
    posted_by: str
    posted_at: str
    version: int


class WithdrawnEntries(TypedDict):
    """``withdrawn``: the ids. ``next_cursor``: where the next request goes on; null if nothing older is left."""

    withdrawn: list[str]
    next_cursor: str | None


class EntryEventView(TypedDict):
    """``entry_id``: of what ``superseded`` or ``overridden`` it, the decision that replaced it. ``reason``: of a
    withdrawal."""

    what: Literal["posted", "superseded", "overridden", "withdrawn", "deleted"]
    by: str
    at: str
    entry_id: str | None
    reason: str | None


class WholeEntryView(EntryView):
    """``trail``: what happened to the entry, in order. One that was withdrawn or deleted is in no list."""

    withdrawn_at: str | None
    withdrawn_by: str | None
    deleted_at: str | None
    deleted_by: str | None
    trail: list[EntryEventView]


EntryPage = pages.of("EntryPage", EntryView)
entry_view = ViewShape(EntryView, Entry)
_EVENT = ViewShape(EntryEventView, EntryEvent)
_WHOLE = ViewShape(WholeEntryView, Entry, "withdrawn_at withdrawn_by deleted_at deleted_by trail")


def whole_entry_view(entry: Entry) -> WholeEntryView:
    return _WHOLE(
        entry,
        withdrawn_at=_at(entry.withdrawn),
        withdrawn_by=_by(entry.withdrawn),
        deleted_at=_at(entry.deleted),
        deleted_by=_by(entry.deleted),
        trail=list(map(_EVENT, entry.trail)),
    )


def _at(event: EntryEvent | None) -> str | None:
    return None if event is None else times.rfc3339(event.at)


def _by(event: EntryEvent | None) -> str | None:
    return None if event is None else event.by
