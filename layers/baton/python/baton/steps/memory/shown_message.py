"""A handoff's message as a reader may see it now."""

from __future__ import annotations

from typing import Any

from baton.domain.access.principal import Principal
from baton.domain.memory.snapshot import snapshot_from
from baton.domain.memory.taken_along import SNAPSHOT
from baton.domain.rights.read_rights import reads_blackboard
from baton.ports.deps import Deps


def shown_message(deps: Deps, by: Principal, message: dict[str, Any]) -> dict[str, Any]:
    """Returns the message, its snapshot without the texts of entries that were withdrawn or deleted since. A caller who
    may not read the blackboard gets no snapshot. One read for a message with a snapshot, none for any other."""
    if SNAPSHOT not in message:
        return message
    if not reads_blackboard(by):
        return {name: value for name, value in message.items() if name != SNAPSHOT}
    snapshot = snapshot_from(message[SNAPSHOT])
    found = deps.store.memory.entries(by.workspace, snapshot.entry_ids) if snapshot.entry_ids else {}
    gone = {each for each in snapshot.entry_ids if each not in found or not found[each].is_shown}
    return {**message, SNAPSHOT: snapshot.without(gone).plain()}
