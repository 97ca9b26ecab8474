"""Whether a trail is whole, by its hashes alone: what Baton says of itself isn't needed for it.

Each entry carries its number, the hash of the one before it (64 zeros in the first), and as its hash the SHA-256 of its
other fields as canonical JSON, followed by that hash.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from typing import Any

from baton_client.caller import Caller

_START = "0" * 64
_PAGE = 100


def entries_of(client: Caller, task_id: str, after: int = 0) -> Iterator[dict[str, Any]]:
    """Yields a trail's entries from a number on, as they are read."""
    while True:
        page = client.get(f"/tasks/{task_id}/events", {"after": after, "limit": _PAGE})
        yield from page["events"]
        if len(page["events"]) < _PAGE:
            return
        after = page["next_after"]


def broken_at(entries: list[dict[str, Any]]) -> tuple[int, str] | None:
    """The first entry that doesn't hold, and why; None if all do."""
    before = _START
    for number, entry in enumerate(entries, 1):
        if entry.get("seq") != number:
            return number, "it is missing"
        if entry.get("prev_hash") != before:
            return number, "it isn't chained to the one before it"
        if entry.get("hash") != _hash_of(entry, before):
            return number, "its hash isn't that of its content"
        before = entry["hash"]
    return None


def _hash_of(entry: dict[str, Any], before: str) -> str:
    content = {name: value for name, value in entry.items() if name not in {"prev_hash", "hash"}}
    canonical = json.dumps(content, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return hashlib.sha256((canonical + before).encode("utf-8", "surrogatepass")).hexdigest()
