"""An entry, for a caller that may read it."""

from __future__ import annotations

from baton.domain import errors
from baton.domain.access.principal import Principal
from baton.domain.memory.entry import Entry
from baton.domain.rights.read_rights import may_read_entry
from baton.ports.deps import Deps


def readable_entry(deps: Deps, by: Principal, entry_id: str) -> Entry:
    """Returns the entry, also one that was withdrawn or deleted. One read. Raises ``Unknown``."""
    entry = deps.store.memory.entry(by.workspace, entry_id)
    if not may_read_entry(by, entry):
        raise errors.Unknown("entry")
    return entry
