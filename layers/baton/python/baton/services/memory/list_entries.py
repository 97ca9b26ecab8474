"""The blackboard's entries, newest first."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from datetime import datetime

from baton.domain import errors
from baton.domain.access.principal import Principal
from baton.domain.memory.entry import Entry, EntryType
from baton.domain.memory.scope import ROOT, parse_scope, sees
from baton.domain.rights.read_rights import may_read_entry
from baton.ports.deps import Deps
from baton.ports.paging import Page
from baton.steps.filtering import MAX_READS

# Entries in one read, for a filter that may leave out most of them.
READ_AT_ONCE = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class EntryFilter:
    """``since`` is in the span, ``until`` isn't."""

    scope: str = ROOT
    entry_types: frozenset[EntryType] = field(default_factory=frozenset)  # empty: all
    tag: str | None = None
    since: datetime | None = None
    until: datetime | None = None

    @property
    def is_narrow(self) -> bool:
        """True if it may leave out most entries of its span."""
        return self.scope != ROOT or bool(self.entry_types) or self.tag is not None

    def takes(self, entry: Entry) -> bool:
        is_of_type = not self.entry_types or entry.entry_type in self.entry_types
        is_tagged = self.tag is None or self.tag in entry.tags
        return entry.is_shown and is_of_type and is_tagged and sees(self.scope, entry.scope)


def list_entries(deps: Deps, by: Principal, wanted: EntryFilter, limit: int, cursor: str | None) -> Page:
    """Returns the entries that the filter takes, newest first. A page may have fewer than ``limit`` and a cursor all
    the same. Raises ``InvalidInput``."""
    if wanted.since is not None and wanted.until is not None and wanted.until <= wanted.since:
        raise errors.InvalidInput("until", "must be after since")
    asked = replace(wanted, scope=parse_scope(wanted.scope))
    found: list[Entry] = []
    for _ in range(MAX_READS):
        size = READ_AT_ONCE if asked.is_narrow else limit - len(found)
        page = deps.store.memory.newest_entries(by.workspace, asked.since, asked.until, size, cursor)
        found += [entry for entry in page.items if asked.takes(entry) and may_read_entry(by, entry)]
        cursor = found[limit - 1].id if len(found) > limit else page.cursor
        if cursor is None or len(found) >= limit:
            break
    return Page(tuple(found[:limit]), cursor)
