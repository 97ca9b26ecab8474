"""Entries of the blackboard (docs/spec/memory.md §2): what one member of a workspace lets all others know."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum

from baton.domain import errors
from baton.domain.access.principal import Principal
from baton.domain.access.rights import Deed

MAX_SUMMARY = 200
MAX_DETAIL = 8_000
MAX_RATIONALE = 4_000
MAX_TAGS, MAX_TAG = 20, 50
MAX_RELATES_TO, MAX_REFERENCE = 20, 300
MAX_REASON = 1_000
# What the ids of entries and of changes begin with.
ENTRY, CHANGE = "ent", "chg"


class EntryType(StrEnum):
    NEED = "need"
    OFFER = "offer"
    FINDING = "finding"
    DECISION = "decision"
    CONSTRAINT = "constraint"
    QUESTION = "question"
    ANSWER = "answer"
    STATUS = "status"
    ARTIFACT = "artifact"
    WARNING = "warning"


class DecisionStatus(StrEnum):
    PROVISIONAL = "provisional"
    ACTIVE = "active"
    SUPERSEDED = "superseded"
    OVERRIDDEN = "overridden"


class EntryChange(StrEnum):
    """What happened to an entry."""

    POSTED = "posted"
    SUPERSEDED = "superseded"
    OVERRIDDEN = "overridden"
    WITHDRAWN = "withdrawn"
    DELETED = "deleted"


# What a snapshot holds. The active ones of a scope are found without reading the others.
SNAPSHOT_TYPES = (EntryType.DECISION, EntryType.WARNING, EntryType.FINDING)
STANDING = frozenset({DecisionStatus.PROVISIONAL, DecisionStatus.ACTIVE})
_REPLACED_BY = {DecisionStatus.SUPERSEDED: EntryChange.SUPERSEDED, DecisionStatus.OVERRIDDEN: EntryChange.OVERRIDDEN}


@dataclass(frozen=True, slots=True)
class EntryEvent:
    """One line of an entry's trail."""

    what: EntryChange
    by: str  # the principal's key
    at: datetime
    entry_id: str | None = None  # the decision that replaced it
    reason: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """An entry. ``rationale``, ``status`` and ``supersedes`` are a decision's; others have None.

    An entry that was deleted has no texts any more: ``summary`` and ``detail`` are empty."""

    workspace: str
    id: str  # sorts by the time of posting
    scope: str
    entry_type: EntryType
    summary: str
    detail: str = ""
    tags: tuple[str, ...] = ()
    relates_to: tuple[str, ...] = ()  # ids of entries and tasks, or paths of files
    rationale: str | None = None
    status: DecisionStatus | None = None
    supersedes: str | None = None  # the id of the decision that this one replaced
    posted_by: str  # the principal's key
    posted_at: datetime
    changes: tuple[EntryEvent, ...] = ()  # what happened to it after it was posted, in order
    version: int = 1

    @property
    def trail(self) -> tuple[EntryEvent, ...]:
        return (EntryEvent(EntryChange.POSTED, self.posted_by, self.posted_at), *self.changes)

    @property
    def replaced(self) -> EntryEvent | None:
        """The change by which another decision replaced it."""
        return next((each for each in self.changes if each.entry_id is not None), None)

    @property
    def superseded_by(self) -> str | None:
        return self.replaced.entry_id if self.replaced else None

    @property
    def withdrawn(self) -> EntryEvent | None:
        return self._last(EntryChange.WITHDRAWN)

    @property
    def deleted(self) -> EntryEvent | None:
        return self._last(EntryChange.DELETED)

    @property
    def is_shown(self) -> bool:
        """False for what was withdrawn or deleted: no list and no search has it."""
        return self.withdrawn is None and self.deleted is None

    @property
    def is_active(self) -> bool:
        """True if it holds: it is shown, and a decision isn't provisional or replaced."""
        return self.is_shown and self.status in {None, DecisionStatus.ACTIVE}

    def replaced_by(self, decision: Entry, by: Principal) -> Entry:
        """Returns this decision as replaced by another one: ``overridden`` if a human replaces another principal's
        decision, else ``superseded``. Raises ``InvalidInput`` if it is no decision, ``HumanNeeded`` if a human has made
        it and ``by`` is none, and ``EntryClosed``."""
        if self.entry_type is not EntryType.DECISION:
            raise errors.InvalidInput("supersedes", "must be the id of a decision")
        if is_by_human(self):
            by.must_have(Deed.REPLACE_ENTRY)
        if not self.is_shown or self.status not in STANDING:
            raise errors.EntryClosed(self.id, self._end, self.superseded_by)
        overrides = by.is_human and by.key != self.posted_by
        status = DecisionStatus.OVERRIDDEN if overrides else DecisionStatus.SUPERSEDED
        event = EntryEvent(_REPLACED_BY[status], by.key, decision.posted_at, decision.id)
        return replace(self._changed(event), status=status)

    def withdrawn_by(self, by: Principal, at: datetime, reason: str | None = None) -> Entry:
        """Returns the entry as withdrawn by its poster or a human; unchanged if it was withdrawn or deleted before.
        Raises ``HumanNeeded``."""
        if by.key != self.posted_by:
            by.must_have(Deed.WITHDRAW_ENTRY)
        if not self.is_shown:
            return self
        return self._changed(EntryEvent(EntryChange.WITHDRAWN, by.key, at, reason=reason))

    def deleted_by(self, by: Principal, at: datetime) -> Entry:
        """Returns the entry without its texts and those of its trail; unchanged if it was deleted before. Raises
        ``HumanNeeded``."""
        by.must_have(Deed.DELETE_ENTRY)
        if self.deleted is not None:
            return self
        bare = replace(self, changes=tuple(replace(each, reason=None) for each in self.changes))
        gone = bare._changed(EntryEvent(EntryChange.DELETED, by.key, at))
        return replace(gone, summary="", detail="", tags=(), relates_to=(), rationale=None)

    @property
    def _end(self) -> EntryChange:
        return self.changes[-1].what

    def _last(self, what: EntryChange) -> EntryEvent | None:
        return next((each for each in reversed(self.changes) if each.what is what), None)

    def _changed(self, event: EntryEvent) -> Entry:
        return replace(self, changes=(*self.changes, event), version=self.version + 1)


def is_by_human(entry: Entry) -> bool:
    return entry.posted_by.startswith("human:")


@dataclass(frozen=True, slots=True)
class ChangedEntry:
    """Says that an entry was changed after it was posted: where a reader that keeps entries looks for what is new."""

    workspace: str
    id: str  # sorts by the time of the change
    entry_id: str
