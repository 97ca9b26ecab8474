"""The check of a trail (docs/spec/protocol.md §7), entry by entry: a trail of any length takes no more memory than its
task.

``tools/admin/verify_trail.py`` checks exported trails, with code of its own.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from baton.domain.canonical_json import canonical_json
from baton.domain.tasks import trail
from baton.domain.tasks.digests import message_digest, outcome_digest
from baton.domain.tasks.question_check import Told, told_after
from baton.domain.tasks.task import Task

# A heartbeat changes them without an entry.
_LEASE_FIELDS = {"lease_seconds", "heartbeat_at", "expires_at"}
# Characters of a field's value that a cursor has as they are, and what it has in place of more.
MAX_VALUE, _DIGEST = 300, "sha256"


@dataclass(frozen=True, slots=True)
class Content:
    """What is stored of a task beside its trail."""

    message: Mapping[str, Any] | None
    output: Any
    completion: Mapping[str, Any] | None


@dataclass(frozen=True, slots=True, kw_only=True)
class TrailCheck:
    """The check of a trail as far as it was read."""

    entries: int = 0
    hash: str = trail.GENESIS  # of the last valid entry
    fields: Mapping[str, Any] = field(default_factory=dict)  # the task's fields after the valid entries
    output_digest: str | None = None  # as an entry tells it
    questions: Told = field(default_factory=dict)  # the task's questions, by id
    broken_at: int | None = None  # the number of the first invalid entry
    problem: str | None = None

    def on(self, events: Iterable[trail.Event]) -> TrailCheck:
        """Returns the check after further entries, given in order."""
        reading = self
        for event in events:
            reading = reading._with(event)
        return reading

    def past_unreadable(self) -> TrailCheck:
        """Returns the check after an entry that can't be parsed."""
        read = replace(self, entries=self.entries + 1)
        return read if self.broken_at is not None else read._broken(read.entries, "can't be read")

    def ended_as(self, task: Task) -> TrailCheck:
        """Returns the check of the whole trail: the task names the number and the hash of its last entry."""
        if self.broken_at is not None:
            return self
        if self.entries < task.meta.seq:
            return self._broken(self.entries + 1, f"is missing: the task's trail has {task.meta.seq}")
        if self.entries > task.meta.seq:
            return self._broken(task.meta.seq + 1, f"is unknown to the task, whose trail has {task.meta.seq}")
        if self.hash != task.meta.chain:
            return self._broken(self.entries, "isn't the one that the task knows as its last: its hash is another")
        return self

    def shortened(self) -> TrailCheck:
        """The same with the digests of what is long: a sender chooses how long a task's fields are."""
        fields = {name: _shortened(name, value) for name, value in self.fields.items()}
        return replace(self, fields=fields, questions={name: each.shortened() for name, each in self.questions.items()})

    def differences(self, task: Task) -> tuple[str, ...]:
        """Returns the names of the fields in which ``task`` differs from the replay of its trail."""
        stored = trail.state_fields(task)
        altered = {name for name, value in self.fields.items() if _is_digest(value) and not _is_of(value, stored, name)}
        fields = {name: stored.get(name) if _is_digest(value) else value for name, value in self.fields.items()}
        try:
            replayed = trail.state_fields(trail.task_from_fields(fields, task.meta))
        except (AttributeError, KeyError, TypeError, ValueError):
            return ("trail",)  # the chain is valid, but its fields make no task
        newer = {name: value for name, value in fields.items() if name not in stored}
        return (
            *(name for name in stored if name in altered or _comparable(stored[name]) != _comparable(replayed[name])),
            *(name for name, value in newer.items() if task.meta.unread.get(name) != value),
        )

    def content_differences(self, task: Task, stored: Content) -> tuple[str, ...]:
        """Returns what of the stored content isn't that of the trail's digests. ``stored``: read after ``task``. The
        trail of an earlier release has none, and tells nothing."""
        found = []
        if task.digest not in (None, message_digest(task, stored.message or {})):
            found.append("message")
        told = self.output_digest
        if told is None:
            is_forged = task.is_ended and not task.has_output and stored.output is not None
        else:
            is_forged = outcome_digest(stored.output, stored.completion) != told
        return (*found, "output") if is_forged else tuple(found)

    def _with(self, event: trail.Event) -> TrailCheck:
        number = self.entries + 1
        read = replace(self, entries=number)
        if self.broken_at is not None:
            return read
        if event.seq != number:
            return read._broken(number, f"is missing: in its place is number {event.seq}")
        if event.prev_hash != self.hash:
            return read._broken(number, "isn't chained to the one before it")
        if not event.is_intact():
            return read._broken(number, "was altered: its hash isn't that of its content")
        if not isinstance(changes := event.data.get("changes"), dict):
            return read._broken(number, "doesn't say what it changed")
        output_digest = event.data.get("output_digest", self.output_digest)
        fields, questions = {**self.fields, **changes}, told_after(self.questions, event)
        return replace(read, hash=event.hash, fields=fields, output_digest=output_digest, questions=questions)

    def _broken(self, number: int, problem: str) -> TrailCheck:
        return replace(self, broken_at=number, problem=f"Entry {number} {problem}.")


def _comparable(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: item for name, item in value.items() if name not in _LEASE_FIELDS}
    return value


def _shortened(name: str, value: Any) -> Any:
    """A claim is short, and compared but for its lease."""
    text = canonical_json({"of": value})
    if name == "claim" or len(text) <= MAX_VALUE:
        return value
    return {_DIGEST: hashlib.sha256(text.encode()).hexdigest()}


def _is_digest(value: Any) -> bool:
    return isinstance(value, dict) and value.keys() == {_DIGEST}


def _is_of(digest: Any, stored: Mapping[str, Any], name: str) -> bool:
    return name in stored and bool(_shortened(name, stored[name]) == digest)
