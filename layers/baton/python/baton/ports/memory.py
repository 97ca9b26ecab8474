"""The store of the shared memory: the entries of the blackboard."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from types import MappingProxyType
from typing import Protocol

from baton.domain.memory.entry import ChangedEntry, Entry, EntryType
from baton.domain.memory.entry_pack import EntryPack, PackList
from baton.ports.paging import Page

NONE_KEPT: Mapping[EntryType, int] = MappingProxyType({})


class MemoryStore(Protocol):
    """Entries are written by commits: an ``Insert`` of a new one, a ``Save`` of the next version with the ``Insert`` of
    a ``ChangedEntry``. Packs are too: a ``Put`` of each with the ``Save`` of their list.

    Ids sort by the clock of who posted, and a commit takes its time: an entry, or the mark of a change, may show up to
    ``LATE_SECONDS`` after one with a later id. Who goes on from where it was reads that much again."""

    def entry(self, workspace: str, entry_id: str) -> Entry:
        """Returns the entry, as it is when it was withdrawn or deleted. One read. Raises ``Unknown``."""

    def entries(self, workspace: str, entry_ids: Sequence[str]) -> dict[str, Entry]:
        """Returns the entries that exist, by id. One read per hundred."""

    def newest_entries(
        self, workspace: str, since: datetime | None, until: datetime | None, limit: int, cursor: str | None
    ) -> Page:
        """Returns entries posted at ``since`` or later and before ``until``, newest first. A page may have fewer than
        ``limit`` and a cursor all the same."""

    def entries_after(self, workspace: str, after_id: str | None, limit: int, until_id: str | None = None) -> Page:
        """Returns entries with a later id, up to ``until_id`` if it is given, in the order of their ids; None: from the
        first on. ``cursor`` is the last id, or None if there are no more. A page may have fewer than ``limit`` and a
        cursor all the same."""

    def changed_after(self, workspace: str, mark: str | None, limit: int) -> tuple[ChangedEntry, ...]:
        """Returns the marks of changes with a later id, in the order of their ids; None: from the first on. At most
        ``limit``: if there are as many, there may be more."""

    def pack_list(self, workspace: str) -> PackList:
        """Returns what the packs are about; an empty one in version 0 if there are none."""

    def packs_before(self, workspace: str, last_id: str | None, limit: int) -> tuple[EntryPack, ...]:
        """Returns the packs before the one that ends with this id, the latest first; None: from the latest on. At most
        ``limit``, and fewer only if there are no more."""

    def pack_of(self, workspace: str, entry_id: str) -> str | None:
        """Returns the last id of the pack that the entry belongs to, None if there is none."""

    def in_view(
        self,
        workspace: str,
        scope: str,
        most: Mapping[EntryType, int],
        since: datetime | None = None,
        of_humans: Mapping[EntryType, int] = NONE_KEPT,
    ) -> dict[EntryType, tuple[Entry, ...]]:
        """Returns the newest active entries of types among ``SNAPSHOT_TYPES`` that the scope sees, so many of each at
        most, newest first; posted at ``since`` or later. ``of_humans``: so many of them are the newest that humans
        posted, if there are as many, whatever is newer; without ``since``. What it costs depends on the scope's depth,
        and not on how many entries there are. The index lags, the entries don't: one posted milliseconds before may be
        missing, one that isn't active any more never shows."""


# The gateway's 30 seconds, within which whoever posts or changes an entry is done, and as much for the wire and for
# clocks that differ (docs/decisions/081-the-simulation-judges-within-bounds.md).
LATE_SECONDS = 60
