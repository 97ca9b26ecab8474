"""The part of a handoff's message that a worker reads after the request itself."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

# Fields that only Baton needs, and fields that the task or the claim's memory shows.
_MACHINERY = {"handoff_id", "hops", "kind", "timestamp", "conversation", "auto_snapshot", "auto_memories"}
_REQUEST = {"summary", "input"}
_KNOWN = {
    "source": {"agent"},
    "target": {"agent", "reason"},
    "expectations": {"deliverables"},
    "rollback": {"checkpoint_id"},
    "retries": {"checkpoint"},  # the claim shows it, as its worker's
    "metadata": {"depth", "parent_handoff", "priority", "workflow_id"},
}


def rest_of(body: Mapping[str, Any], *, has_snapshot: bool) -> dict[str, Any]:
    """Returns the message without its request and without the fields that only Baton needs. ``has_snapshot``: the
    claim's memory shows the snapshot."""
    out = _MACHINERY | _REQUEST | ({"snapshot"} if has_snapshot else set())
    left = {name: _rest_of_part(value, _KNOWN.get(name, set())) for name, value in body.items() if name not in out}
    return {name: value for name, value in left.items() if value not in (None, {}, [])}


def _rest_of_part(value: Any, known: set[str]) -> Any:
    if not known or not isinstance(value, Mapping):
        return value
    return {name: each for name, each in value.items() if name not in known and each is not None}
