"""A task's audit trail: the content of an event, the hash chain, and the replay of a trail.

``Event.data`` holds the request, and under ``changes`` the new value of every field of the task that changed. A replay
applies the changes of all events in order and gives the task (invariant 7). Heartbeats and the sweeper's bookkeeping
have no event: a replay rebuilds neither the version, nor the dispatcher's hints, nor a renewed lease. A claim's id is a
secret and in no event.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable
from dataclasses import dataclass, fields, replace
from datetime import date, datetime
from typing import Any

from baton.domain import times
from baton.domain.access.principal import Principal
from baton.domain.canonical_json import canonical_json
from baton.domain.newer import member
from baton.domain.priority import Priority
from baton.domain.questions.approval import approval_fields, approval_from, ready_approvals
from baton.domain.task_state import State
from baton.domain.tasks.event_type import EventType
from baton.domain.tasks.field_rules import ALWAYS, Form
from baton.domain.tasks.task import TOLD, Branch, Claim, Flag, OpenQuestion, Policy, Task, TaskMeta, Wait

GENESIS = "0" * 64
_CLAIM_FIELDS = tuple(f.name for f in fields(Claim) if f.name not in {"claim_id", "slot", "kept_bytes", "marked_at"})
_CLAIM_TIMES = {"claimed_at", "heartbeat_at", "expires_at"}
# Field values that a trail omits.
_UNSET = {name: rule.unsaid for name, rule in TOLD.items() if rule.unsaid is not ALWAYS}


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    seq: int
    at: datetime
    type: str
    principal_kind: str
    principal_id: str
    fence: int
    data: dict[str, Any]
    prev_hash: str
    hash: str

    def public(self) -> dict[str, Any]:
        """Returns the shape of docs/spec/lifecycle.md §8, with the hash chain of docs/spec/protocol.md §7."""
        return {**_hashed_part(self), "prev_hash": self.prev_hash, "hash": self.hash}

    def is_intact(self) -> bool:
        return self.hash == chain_hash(_hashed_part(self), self.prev_hash)


def chain_hash(entry: dict[str, Any], prev_hash: str) -> str:
    """Returns SHA-256, in hexadecimal, of the entry's canonical JSON followed by the previous entry's hash."""
    return hashlib.sha256((canonical_json(entry) + prev_hash).encode()).hexdigest()


@dataclass(frozen=True, slots=True)
class EventCause:
    """What an event tells besides the changes."""

    type: EventType
    by: Principal
    at: datetime
    data: dict[str, Any]  # the request


def record(before: Task | None, after: Task, cause: EventCause) -> Event:
    """Returns the event of one change, chained to the trail of ``before``; None begins a trail."""
    changes = _all_to_json(told(after)) if before is None else _changed_fields(before, after)
    event = Event(
        seq=1 if before is None else before.meta.seq + 1,
        at=cause.at,
        type=str(cause.type),
        principal_kind=str(cause.by.kind),
        principal_id=cause.by.id,
        fence=after.fence,
        data={**{k: v for k, v in cause.data.items() if v is not None}, **cause.by.credential, "changes": changes},
        prev_hash=GENESIS if before is None else before.meta.chain,
        hash="",
    )
    return replace(event, hash=chain_hash(_hashed_part(event), event.prev_hash))


def replay(events: Iterable[Event]) -> Task:
    """Rebuilds the task from its trail. Raises ``ValueError`` if the trail is empty, broken or altered."""
    values: dict[str, Any] = {}
    seq, previous, at = 0, GENESIS, None
    for event in events:
        if event.seq != seq + 1 or event.prev_hash != previous or not event.is_intact():
            raise ValueError(f"the trail is broken at entry {seq + 1}")
        values.update(event.data["changes"])
        seq, previous, at = event.seq, event.hash, event.at
    if at is None:
        raise ValueError("the trail is empty")
    return task_from_fields(values, TaskMeta(updated_at=at, seq=seq, chain=previous))


def state_fields(task: Task) -> dict[str, Any]:
    """Returns every recorded field of a task, in JSON's types."""
    return {name: _to_json(name, getattr(task, name)) for name in TOLD}


def told(task: Task) -> dict[str, Any]:
    """Returns the fields of a task that aren't left unsaid. Few are, and the table charges by the KB."""
    return {name: value for name in TOLD if (value := getattr(task, name)) != _UNSET.get(name, ALWAYS)}


def task_from_fields(values: dict[str, Any], meta: TaskMeta) -> Task:
    """The inverse of ``state_fields``. Ignores fields that only a newer version knows."""
    return task_of({name: _from_json(name, value) for name, value in values.items() if name in TOLD}, meta)


def task_of(values: dict[str, Any], meta: TaskMeta) -> Task:
    """The inverse of ``told``."""
    return Task(**{**_UNSET, **values}, meta=meta)


def snapshot(task: Task) -> dict[str, Any]:
    """Returns the task for a saved response: a replay answers with the task as it was then."""
    meta = task.meta
    return {
        "told": _all_to_json(told(task)),
        "version": meta.version,
        "seq": meta.seq,
        "updated_at": times.rfc3339(meta.updated_at),
        **({"mirrored": True} if meta.mirrored else {}),
    }


def from_snapshot(kept: dict[str, Any]) -> Task:
    """The inverse of ``snapshot``."""
    at, mirrored = times.parse_rfc3339(kept["updated_at"]), kept.get("mirrored", False)
    meta = TaskMeta(updated_at=at, version=int(kept["version"]), seq=int(kept["seq"]), mirrored=mirrored)
    return task_from_fields(kept["told"], meta)


def _changed_fields(before: Task, after: Task) -> dict[str, Any]:
    """Returns the recorded fields whose values differ in JSON's types: a claim that only moved its slot does not."""
    old, new = before.__dict__, after.__dict__
    changed = [name for name in TOLD if new[name] != old[name]]
    now = {name: _to_json(name, new[name]) for name in changed}
    return {name: value for name, value in now.items() if value != _to_json(name, old[name])}


def _hashed_part(event: Event) -> dict[str, Any]:
    by = {"kind": event.principal_kind, "id": event.principal_id}
    told = {"seq": event.seq, "at": times.rfc3339(event.at), "type": event.type, "principal": by}
    return {**told, "fence": event.fence, "data": event.data}


def _all_to_json(values: dict[str, Any]) -> dict[str, Any]:
    return {name: _to_json(name, value) for name, value in values.items()}


def _to_json(name: str, value: Any) -> Any:
    return value if value is None else WRITTEN.get(TOLD[name].form, _as_it_is)(value)


def _from_json(name: str, value: Any) -> Any:
    return value if value is None else READ.get(TOLD[name].form, _as_it_is)(value)


def _as_it_is(value: Any) -> Any:
    return value


def _claim_fields(claim: Claim) -> dict[str, Any]:
    values = {name: getattr(claim, name) for name in _CLAIM_FIELDS}
    return values | {name: times.rfc3339(values[name]) for name in _CLAIM_TIMES}


def _claim(fields_: dict[str, Any]) -> Claim:
    known: dict[str, Any] = {
        name: times.parse_rfc3339(value) if name in _CLAIM_TIMES else value
        for name, value in fields_.items()
        if name in _CLAIM_FIELDS
    }
    return Claim(claim_id="", **known)


def _wait_fields(wait: Wait) -> dict[str, Any]:
    values = {f.name: getattr(wait, f.name) for f in fields(Wait)}
    until = None if wait.until is None else times.rfc3339(wait.until)
    branches = [{"call_id": each.call_id, "task_id": each.task_id} for each in wait.branches]
    ends = {"since": times.rfc3339(wait.since), "alert_at": times.rfc3339(wait.alert_at), "until": until}
    # What has no questions is written as it was before there were any.
    questions = {"questions": list(wait.questions)} if wait.questions else {}
    values.pop("questions")
    return {**values, **ends, "branches": branches, **questions}


def _wait(fields_: dict[str, Any]) -> Wait:
    quorum = fields_.get("quorum")
    return Wait(
        number=int(fields_["number"]),
        since=times.parse_rfc3339(fields_["since"]),
        alert_at=times.parse_rfc3339(fields_["alert_at"]),
        policy=member(Policy, fields_["policy"]),
        quorum=None if quorum is None else int(quorum),
        branches=tuple(Branch(call_id=each["call_id"], task_id=each["task_id"]) for each in fields_["branches"]),
        interaction_id=fields_.get("interaction_id"),
        until=None if (until := fields_.get("until")) is None else times.parse_rfc3339(until),
        questions=tuple(fields_.get("questions", ())),
    )


def _question_fields(questions: Iterable[OpenQuestion]) -> list[dict[str, str]]:
    return [{"id": each.id, "until": times.rfc3339(each.until)} for each in questions]


def _questions(fields_: Iterable[dict[str, str]]) -> tuple[OpenQuestion, ...]:
    return tuple(OpenQuestion(each["id"], times.parse_rfc3339(each["until"])) for each in fields_)


# Forms whose value isn't written as it is, and how it is read back.
WRITTEN: dict[Form, Callable[[Any], Any]] = {
    Form.TEXTS: list,
    Form.READY_APPROVALS: lambda approvals: " ".join(map(str, approvals)),
    Form.TIME: times.rfc3339,
    Form.DATE: date.isoformat,
    Form.FLAGS: lambda flags: sorted(map(str, flags)),
    Form.CLAIM: _claim_fields,
    Form.WAIT: _wait_fields,
    Form.QUESTIONS: _question_fields,
    Form.APPROVAL: approval_fields,
}
READ: dict[Form, Callable[[Any], Any]] = {
    Form.TEXTS: tuple,
    Form.READY_APPROVALS: ready_approvals,
    Form.TIME: times.parse_rfc3339,
    Form.DATE: date.fromisoformat,
    Form.STATE: lambda value: member(State, value),
    Form.PRIORITY: lambda value: member(Priority, value),
    Form.FLAGS: lambda value: frozenset(member(Flag, flag) for flag in value),
    Form.CLAIM: _claim,
    Form.WAIT: _wait,
    Form.QUESTIONS: _questions,
    Form.APPROVAL: approval_from,
}
