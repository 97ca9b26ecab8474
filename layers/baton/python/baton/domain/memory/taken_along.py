"""What a handoff takes along of the memory: the fields that ask for it, and those that its record keeps
(docs/spec/memory.md §4)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

# The part of the work that a handoff is about; whether it gets a snapshot; how many entries come with its claim.
SCOPE, AUTO_SNAPSHOT, AUTO_MEMORIES = "scope", "auto_snapshot", "auto_memories"
ASKING = (SCOPE, AUTO_SNAPSHOT, AUTO_MEMORIES)
SNAPSHOT = "snapshot"
KEPT = (SCOPE, SNAPSHOT, AUTO_MEMORIES)
MAX_MEMORIES = 5

Fields = Mapping[str, Any]


def asked_for(request: Fields) -> dict[str, Any]:
    """Returns the fields of a request that ask for memory."""
    return {name: request[name] for name in ASKING if name in request}


def kept_in(record: Fields) -> dict[str, Any]:
    """Returns what a handoff's record keeps: for a handoff that follows from it, and takes the same along."""
    return {name: record[name] for name in KEPT if name in record}


def asked_anew(record: Fields) -> dict[str, Any]:
    """Returns the fields that ask again for what the record's handoff had asked for, for a handoff that Baton makes."""
    kept = {name: record[name] for name in (SCOPE, AUTO_MEMORIES) if name in record}
    return {**kept, AUTO_SNAPSHOT: True} if SNAPSHOT in record else kept
