"""What a handoff's scope knew when it was made, and what has changed since (docs/spec/memory.md §4)."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from baton.domain import times
from baton.domain.memory.entry import Entry, EntryChange, EntryEvent, EntryType
from baton.domain.memory.scope import ROOT

MOST = {EntryType.DECISION: 5, EntryType.WARNING: 3, EntryType.FINDING: 3}
# So many of these places are for the newest entries of humans: later ones of agents don't push them out.
OF_HUMANS = {EntryType.DECISION: 3, EntryType.WARNING: 2, EntryType.FINDING: 2}
_TAKEN_BACK = frozenset({EntryChange.WITHDRAWN, EntryChange.DELETED})
# Of the warnings that were added since, the newest.
MOST_ADDED = 3
# An index may lag, and clocks may differ: a warning that was posted so long before a snapshot may be missing in it.
MAY_BE_MISSING = times.seconds(2)
_LISTS = ("decision_ids", "warning_ids", "finding_ids", "summaries", "posted_by")


@dataclass(frozen=True, slots=True, kw_only=True)
class Snapshot:
    """The newest active decisions, warnings and findings in view of the scope, newest first. ``summaries``: the same,
    as ``Decision: …``, ``Warning: …``, ``Finding: …``. ``posted_by``: the principal that wrote each of these."""

    scope: str
    taken_at: datetime
    decision_ids: tuple[str, ...] = ()
    warning_ids: tuple[str, ...] = ()
    finding_ids: tuple[str, ...] = ()
    summaries: tuple[str, ...] = ()
    posted_by: tuple[str, ...] = ()

    def plain(self) -> dict[str, Any]:
        """Returns JSON, for the handoff's record."""
        lists = {name: list(getattr(self, name)) for name in _LISTS}
        return {"scope": self.scope, "taken_at": times.rfc3339(self.taken_at), **lists}

    @property
    def entry_ids(self) -> tuple[str, ...]:
        """The ids of all that it holds, in the order of the summaries."""
        return (*self.decision_ids, *self.warning_ids, *self.finding_ids)

    def without(self, entry_ids: Collection[str]) -> Snapshot:
        """Returns the snapshot without the texts of these entries. Their ids stay, so that what became of them can be
        told."""
        told = zip(self.entry_ids, self.summaries, self.posted_by, strict=True)
        left = [(summary, by) for each, summary, by in told if each not in entry_ids]
        return replace(self, summaries=tuple(each for each, _ in left), posted_by=tuple(by for _, by in left))

    @property
    def warnings_from(self) -> datetime:
        """Returns the time from which on a warning may be missing in the snapshot."""
        return self.taken_at - MAY_BE_MISSING

    def is_added(self, warning: Entry) -> bool:
        """True if the warning isn't in the snapshot, and wasn't left out of it as too old."""
        if warning.id in self.warning_ids:
            return False
        is_full = len(self.warning_ids) == MOST[EntryType.WARNING]
        return not is_full or warning.id > min(self.warning_ids)


def snapshot_of(scope: str, at: datetime, found: Mapping[EntryType, tuple[Entry, ...]]) -> Snapshot:
    """``found``: by type, newest first, no more than ``MOST``."""
    ids = {entry_type: tuple(entry.id for entry in found.get(entry_type, ())) for entry_type in MOST}
    entries = [entry for entry_type in MOST for entry in found.get(entry_type, ())]
    return Snapshot(
        scope=scope,
        taken_at=at,
        decision_ids=ids[EntryType.DECISION],
        warning_ids=ids[EntryType.WARNING],
        finding_ids=ids[EntryType.FINDING],
        summaries=tuple(f"{entry.entry_type.capitalize()}: {entry.summary}" for entry in entries),
        posted_by=tuple(entry.posted_by for entry in entries),
    )


def snapshot_from(kept: Mapping[str, Any]) -> Snapshot:
    """The inverse of ``plain``."""
    lists = {name: tuple(kept[name]) for name in _LISTS}
    return Snapshot(scope=str(kept.get("scope", ROOT)), taken_at=times.parse_rfc3339(kept["taken_at"]), **lists)


@dataclass(frozen=True, slots=True)
class EndedDecision:
    """A decision of the snapshot that holds no more."""

    decision: Entry
    end: EntryEvent
    heir: Entry | None  # the decision that replaced it, unless that isn't shown any more

    @property
    def how(self) -> EntryChange:
        return self.end.what


@dataclass(frozen=True, slots=True)
class Drift:
    """What has changed since a snapshot. ``taken_back``: its warnings and findings that were withdrawn or deleted."""

    decisions: tuple[EndedDecision, ...] = ()
    warnings: tuple[Entry, ...] = ()  # those that were added, newest first
    taken_back: tuple[Entry, ...] = ()

    @property
    def untold(self) -> frozenset[str]:
        """Returns the ids of the entries whose texts nobody gets any more: withdrawn or deleted."""
        decisions = (each.decision for each in self.decisions if each.how in _TAKEN_BACK)
        return frozenset(entry.id for entry in (*decisions, *self.taken_back))

    def as_of(self, at: datetime, agent: str) -> Drift:
        """As ``ClaimMemory.as_of``. A decision that holds no more is told of without what replaced it since."""
        decisions = (replace(each, heir=next(iter(_as_of((each.heir,), at, agent)), None)) for each in self.decisions)
        return replace(self, decisions=tuple(decisions), warnings=_as_of(self.warnings, at, agent))


@dataclass(frozen=True, slots=True)
class ClaimMemory:
    """The memory that comes with a claim. ``drift``: None if it couldn't be read."""

    snapshot: Snapshot | None = None
    drift: Drift | None = None
    memories: tuple[Entry, ...] = ()  # those that fit the work best, the best first

    @property
    def known(self) -> Snapshot | None:
        """The snapshot without the texts of entries that were withdrawn or deleted since; without any texts if the
        drift couldn't be read."""
        if self.snapshot is None:
            return None
        return self.snapshot.without(self.snapshot.entry_ids if self.drift is None else self.drift.untold)

    def as_of(self, at: datetime, agent: str) -> ClaimMemory:
        """Returns the memory without the entries that were posted after ``at`` by others than the agent."""
        drift = None if self.drift is None else self.drift.as_of(at, agent)
        return replace(self, drift=drift, memories=_as_of(self.memories, at, agent))


def _as_of(entries: Iterable[Entry | None], at: datetime, agent: str) -> tuple[Entry, ...]:
    there = (each for each in entries if each is not None)
    return tuple(each for each in there if each.posted_at <= at or each.posted_by == f"agent:{agent}")
