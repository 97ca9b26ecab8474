"""Packs: what the search keeps of many entries in a row, in one item. A process that begins reads packs in place of
entries: a fifth of the read units, a fifth of the time, and no words to find.

A pack holds the words of its entries, so that an entry whose texts are deleted must leave it
(docs/what-is-stored.md §16)."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from baton.domain import times

# Of a pack's contents and of the words in them. Whoever changes how either is made raises it: packs of an earlier form
# are made anew of the entries. Form 1 had stems in place of words, and no posters.
FORM = 2
VOID = 0


@dataclass(frozen=True, slots=True)
class EntryPack:
    """Stands for all entries with a later id than the pack before, up to ``last_id``; it holds those that are shown.
    One of another form than ``FORM`` says nothing of them: they have to be read."""

    workspace: str
    last_id: str
    form: int = VOID
    contents: bytes = b""

    @property
    def is_void(self) -> bool:
        return self.form != FORM

    @property
    def is_of_newer(self) -> bool:
        """True if a newer release has made it: it stays as it is, or two releases side by side would make each
        other's packs anew again and again."""
        return self.form > FORM


@dataclass(frozen=True, slots=True, kw_only=True)
class PackList:
    """What the packs of a workspace are about. Every commit that writes one, and every deletion of an entry, has the
    next version: so no pack is written that holds what was deleted since its entries were read."""

    workspace: str
    until: str = ""  # the last id that is in a pack
    begins_after: str = ""  # entries of an earlier id are in no pack: there were more than are searched
    # No change of an earlier time is missing in a pack, if it came in time (``LATE_SECONDS``).
    merged_at: datetime = times.EPOCH
    version: int = 0
