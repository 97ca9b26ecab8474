"""What a task's first entry says of the message that is approved: the chain of hashes covers it."""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from simulation.oracle.ledger import Item

# What only says which handoff it is.
WHICH = (
    ("handoff_id",),
    ("timestamp",),
    ("metadata", "workflow_id"),
    ("metadata", "parent_handoff"),
    ("rollback", "checkpoint_id"),
)


def digest_of_message(head: Item, body: Item) -> str:
    """Of all that is asked, but not of which handoff it is that asks it."""
    said = {
        ("handoff_id",): head["handoff_id"],
        ("timestamp",): head["created_at"],
        ("metadata", "workflow_id"): head["workflow_id"],
        ("metadata", "parent_handoff"): f"ho_{head['parent_id'][5:]}" if head.get("parent_id") else None,
        ("rollback", "checkpoint_id"): f"chk_{head['id'][5:]}",
    }
    message: dict[str, Any] = json.loads(json.dumps(body))
    for path in WHICH:
        *above, name = path
        place = message.get(above[0]) if above else message
        if isinstance(place, dict) and name in place and said[path] is not None and place[name] == said[path]:
            del place[name]
    asked = {name: head.get(name) for name in ("title", "source_agent", "target_agent")}
    text = json.dumps({**asked, "message": message}, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return hashlib.sha256(text.encode()).hexdigest()
