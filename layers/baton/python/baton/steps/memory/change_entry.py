"""The writes of an entry's change."""

from __future__ import annotations

from datetime import datetime

from baton.domain.memory.entry import CHANGE, ChangedEntry, Entry
from baton.ports.deps import Deps
from baton.ports.writes import Insert, Save, Write


def changed(deps: Deps, after: Entry, at: datetime) -> list[Write]:
    """Returns the writes of the entry's next version, with the mark by which readers find it."""
    return [Save(after), Insert(ChangedEntry(after.workspace, deps.ids.new(CHANGE, at), after.id))]
