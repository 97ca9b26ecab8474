"""Whether a trail is whole, by its hashes alone: what Baton says of itself isn't needed for it.

Each entry carries its number, the hash of the one before it (64 zeros in the first), and as its hash the SHA-256 of its
other fields as canonical JSON, followed by that hash.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from typing import Any

from baton_cli.failures import Failure
from baton_client import numbers
from baton_client.caller import Caller

_START = "0" * 64
_PAGE = 100
_HIDDEN = "Baton hides the requirements of approval rules from agents"
_REMEDY = "use the profile of a person, or of a service with act_as"


def entries_of(client: Caller, task_id: str, after: int = 0) -> Iterator[dict[str, Any]]:
    """Yields a trail's entries from a number on, as they are read."""
    while True:
        page = client.get(f"/tasks/{task_id}/events", {"after": after, "limit": _PAGE})
        yield from page["events"]
        if len(page["events"]) < _PAGE:
            return
        after = page["next_after"]


def broken_at(entries: list[dict[str, Any]]) -> tuple[int, str] | None:
    """Returns the first broken entry, and why it is broken; None if all are intact. Raises ``Failure`` for a hidden
    entry: its hash proves nothing to a reader who doesn't see the whole entry."""
    before = _START
    for number, entry in enumerate(entries, 1):
        if entry.get("seq") != number:
            return number, "it is missing"
        if entry.get("prev_hash") != before:
            return number, "it isn't chained to the one before it"
        if entry.get("hidden"):
            raise Failure("the trail can't be verified with this profile", f"entry {number}: {_HIDDEN}", _REMEDY)
        if entry.get("hash") != _hash_of(entry, before):
            return number, "its hash isn't that of its content"
        before = entry["hash"]
    return None


def _hash_of(entry: dict[str, Any], before: str) -> str:
    content = {name: value for name, value in entry.items() if name not in {"prev_hash", "hash"}}
    return digest_of(content, before)


def digest_of(content: Any, before: str = "") -> str:
    """Returns SHA-256 of the canonical JSON, followed by ``before``. Numbers keep the spelling of the API's answer."""
    text = numbers.dumps(content, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return hashlib.sha256((text + before).encode("utf-8", "surrogatepass")).hexdigest()
