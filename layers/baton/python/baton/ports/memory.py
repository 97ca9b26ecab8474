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
    """Entries are written by commits: a new one by an ``Insert``, its next version by a ``Save`` together with the
    ``Insert`` of a ``ChangedEntry``. Packs are written by commits too: a ``Put`` of each, and the ``Save`` of their
    list.

    Ids sort by the poster's clock, and a commit takes time: an entry, or the mark of a change, may appear up to
    ``LATE_SECONDS`` after one with a later id. A reader that continues where it stopped reads so much again.
    """

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
        """Returns the list of the packs: how far they reach. Returns an empty one in version 0 if there are no
        packs."""

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
        """Returns the newest active entries in view of the scope that were posted at ``since`` or later, newest first:
        of each type in ``most``, which are among ``SNAPSHOT_TYPES``, so many at most. ``of_humans``: so many of them
        are the newest that humans posted, if there are as many, even if newer ones aren't returned; without ``since``.
        The cost depends on the scope's depth, not on the number of entries. The index lags, the entries don't: an entry
        posted milliseconds ago may be missing, an entry that isn't active any more is never returned."""


# A request that posts or changes an entry ends within the gateway's 30 seconds. As much is added for the wire and for
# clocks that differ (docs/decisions/081-the-simulation-judges-within-bounds.md).
LATE_SECONDS = 60
