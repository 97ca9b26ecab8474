"""Packs: what the search keeps of many entries in a row, in one item. A process that begins reads packs in place of
entries: a fifth of the read units, a fifth of the time, and no words to find.

A pack holds the words of its entries, so that an entry whose texts are deleted must leave it
(docs/what-is-stored.md §16)."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from baton.domain import times

# The form of a pack's contents and of the words in them. A change of either raises it: packs of an earlier form are
# made anew of the entries. Form 1 had stems in place of words, and no posters.
FORM = 2
VOID = 0


@dataclass(frozen=True, slots=True)
class EntryPack:
    """Stands for all entries whose id is later than the last pack's, up to ``last_id``, and holds those that are shown.
    A pack of another form than ``FORM`` is void: its entries have to be read."""

    workspace: str
    last_id: str
    form: int = VOID
    contents: bytes = b""

    @property
    def is_void(self) -> bool:
        return self.form != FORM

    @property
    def is_of_newer(self) -> bool:
        """True if a newer release has made it. It then stays as it is: two releases that run side by side would rewrite
        each other's packs again and again."""
        return self.form > FORM


@dataclass(frozen=True, slots=True, kw_only=True)
class PackList:
    """How far the packs of a workspace reach. Every commit that writes a pack, and every deletion of an entry, saves
    its next version, so that no pack is written with an entry that was deleted since it was read."""

    workspace: str
    until: str = ""  # the last id that is in a pack
    begins_after: str = ""  # entries of an earlier id are in no pack: there were more than are searched
    # No change of an earlier time is missing in a pack, if it came in time (``LATE_SECONDS``).
    merged_at: datetime = times.EPOCH
    version: int = 0
