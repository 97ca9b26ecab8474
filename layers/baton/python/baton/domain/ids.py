"""The form of ids: a prefix and 26 sortable characters. The port ``Ids`` makes them; the ids of a task's handoff and
workflow follow from the task's own."""

from __future__ import annotations

import re
from datetime import UTC, datetime

from baton.domain import times

# Crockford's base 32 in lower case: sorts like the number, has no look-alikes, and is safe in a URL.
_ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz"
_TIME_CHARACTERS = 10
_RANDOM_CHARACTERS = 16
# The end of the last year that a time can have.
_LAST_MS = times.to_ms(datetime(9999, 12, 31, tzinfo=UTC))
RANDOM_BYTES = 10

ID_PATTERN = r"^[A-Za-z0-9_-]{1,64}$"
SLUG_PATTERN = r"^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$"
_ID = re.compile(ID_PATTERN.replace("$", r"\Z"))
_SLUG = re.compile(SLUG_PATTERN.replace("$", r"\Z"))


def sortable_id(prefix: str, at: datetime, randomness: bytes) -> str:
    """Returns ``task_01h…``: sorts by its millisecond; 80 random bits make it unique within that."""
    return beginning_at(prefix, at) + _base32(int.from_bytes(randomness), _RANDOM_CHARACTERS)


def beginning_at(prefix: str, at: datetime) -> str:
    """Returns a text that sorts before every id made in this millisecond or later, and after all earlier ones."""
    return f"{prefix}_{_base32(times.to_ms(at), _TIME_CHARACTERS)}"


def made_at(id_: str) -> datetime | None:
    """Returns when the id was made, to the millisecond; None if it isn't one of these."""
    _, _, characters = id_.rpartition("_")
    if len(characters) != _TIME_CHARACTERS + _RANDOM_CHARACTERS or not set(characters) <= set(_ALPHABET):
        return None
    number = 0
    for character in characters[:_TIME_CHARACTERS]:
        number = number * len(_ALPHABET) + _ALPHABET.index(character)
    return times.from_ms(number) if number <= _LAST_MS else None


def is_id(text: str) -> bool:
    return _ID.match(text) is not None


def is_slug(text: str) -> bool:
    """True for 1-63 of ``a-z 0-9 -`` without a hyphen at either end: safe in keys and URLs without escapes."""
    return _SLUG.match(text) is not None


def handoff_id_of(task_id: str) -> str:
    """Returns the id of a task's handoff. A handoff has at most one task, and both ids share their random part."""
    return "ho_" + task_id.removeprefix("task_")


def task_id_of(handoff_id: str) -> str:
    """The inverse of ``handoff_id_of``. The handoff may not exist: the caller compares ``Task.handoff_id``."""
    return "task_" + handoff_id.removeprefix("ho_")


def workflow_id_of(task_id: str) -> str:
    """Returns the id of a workflow that tells which task begins it. Its letter sets it apart from ids of workflows that
    tell none: in its place they have the first digit of a time, a zero."""
    return "wf_t" + task_id.removeprefix("task_")


def root_id_of(workflow_id: str) -> str | None:
    """The inverse of ``workflow_id_of``; None for an id that tells no task. The task may not exist, or be of another
    workflow: callers name workflows as they like."""
    before, tells, rest = workflow_id.partition("wf_t")
    return "task_" + rest if tells and not before else None


def first_checkpoint_id_of(task_id: str) -> str:
    """Returns the id of the checkpoint that holds the state at the handoff (docs/spec/protocol.md §6)."""
    return "chk_" + task_id.removeprefix("task_")


def question_id_of(task_id: str, made: str) -> str:
    """Returns a question's id, made of a new one: it still sorts by its making, and ends with which task asks."""
    return f"{made}t{task_id.removeprefix('task_')}"


def _base32(number: int, length: int) -> str:
    return "".join(_ALPHABET[number // len(_ALPHABET) ** place % len(_ALPHABET)] for place in reversed(range(length)))
