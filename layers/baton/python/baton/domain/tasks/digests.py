"""Digests of what a human approves and of what came of it, which a task's trail keeps: so the chain of hashes covers
both (docs/decisions/074-the-chain-covers-content.md). ``tools/admin/verify_trail.py`` makes them with code of its
own."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from baton.domain import times
from baton.domain.canonical_json import digest_of
from baton.domain.ids import first_checkpoint_id_of, handoff_id_of
from baton.domain.tasks.task import Task

Json = Mapping[str, Any]


def message_digest(task: Task, message: Json) -> str:
    """Returns the digest of the task's stored message, with the title, source and target that the task has. Fields that
    only say which handoff it is are left out where they say what the task says: equal requests have equal digests."""
    asked = {name: getattr(task, name) for name in ("title", "source_agent", "target_agent")}
    return digest_of({**asked, "message": _without(message, _said_by(task))})


def outcome_digest(output: Any, completion: Json | None) -> str:
    """Returns the digest of a task's output and completion message, as they are read."""
    return digest_of({"output": output, "completion": completion})


def _said_by(task: Task) -> dict[str, Any]:
    """Returns the fields of a message that say which handoff it is, as the task says it."""
    parent = {} if task.parent_id is None else {"parent_handoff": handoff_id_of(task.parent_id)}
    return {
        "handoff_id": task.handoff_id,
        "timestamp": times.rfc3339(task.created_at),
        "metadata": {"workflow_id": task.workflow_id, **parent},
        "rollback": {"checkpoint_id": first_checkpoint_id_of(task.id)},
    }


def _without(message: Json, said: Json) -> dict[str, Any]:
    left = {}
    for name, value in message.items():
        known = said.get(name)
        if isinstance(known, Mapping) and isinstance(value, Mapping):
            left[name] = _without(value, known)
        elif known is None or value != known:
            left[name] = value
    return left
