"""A handoff's merged context, its files and its status (docs/spec/protocol.md §1)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from baton.domain import errors
from baton.domain.canonical_json import canonical_json
from baton.domain.ids import workflow_id_of
from baton.domain.task_state import State
from baton.domain.tasks.task import Task

MAX_CONTEXT_BYTES = 262_144
# A record is one item of the table, and an item holds at most 400 KB.
MAX_MESSAGE_BYTES = 380_000
# Parts of a context that handoffs extend. A later handoff replaces every other part.
_LISTS, _OBJECTS = ("artifacts", "relevant_memories"), ("project", "state", "variables")


def begins_its_workflow(task: Task) -> bool:
    """True for the task that its workflow's id tells, and so is a member without an item that says so."""
    is_root = task.parent_id is None and task.master_task_id == task.id
    return is_root and task.workflow_id == workflow_id_of(task.id)


def merged_context(before: Mapping[str, Any] | None, given: Mapping[str, Any] | None) -> dict[str, Any]:
    """Returns the earlier context extended by the given one, which wins. Raises ``TooLarge``."""
    old, new = before or {}, given or {}
    context: dict[str, Any] = {}
    for name in dict.fromkeys((*old, *new)):
        values = [each[name] for each in (old, new) if name in each]
        if name in _LISTS and all(isinstance(each, list) for each in values):
            value: Any = _distinct(part for each in values for part in each)
        elif name in _OBJECTS and all(isinstance(each, dict) for each in values):
            value = {key: part for each in values for key, part in each.items()}
        else:
            value = values[-1]
        if value or name not in {*_LISTS, *_OBJECTS}:
            context[name] = value
    must_fit("context", context)
    return context


def fits_in(content: Any, most: int = MAX_CONTEXT_BYTES) -> bool:
    return len(canonical_json(content).encode()) <= most


def must_fit(field: str, content: Any, most: int = MAX_CONTEXT_BYTES) -> None:
    """Raises ``TooLarge`` if ``content`` is over ``most`` bytes as canonical JSON."""
    if not fits_in(content, most):
        raise errors.TooLarge(
            field, f"is too large after merging with what was handed on before: at most {most} bytes in all"
        )


def files_of(completion: Mapping[str, Any] | None) -> dict[str, list[str]]:
    """Returns the paths that a completion lists, under ``created``, ``modified`` and ``tests``."""
    found: dict[str, list[str]] = {"created": [], "modified": [], "tests": []}
    for each in (completion or {}).get("deliverables", ()):
        for name, field in (("created", "files_created"), ("modified", "files_modified"), ("tests", "tests_created")):
            found[name] += each.get(field, ())
    return {name: list(dict.fromkeys(paths)) for name, paths in found.items()}


def status_of(task: Task) -> str:
    """Returns the handoff's status in the protocol's words."""
    match task.state:
        case State.NEEDS | State.DELEGATED | State.NEXT:
            return "pending"
        case State.CLAIMED | State.WAITING:
            return "in_progress"
        case State.DONE:
            return "completed"
        case _:
            return str(task.state)


def _distinct(values: Iterable[Any]) -> list[Any]:
    """Returns each value once, in the order of first appearance."""
    return list({canonical_json(value): value for value in values}.values())
