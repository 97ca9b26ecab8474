"""A task's audit trail: what each entry holds, how entries are chained, and how a trail rebuilds its task.

An event's ``data`` says what was asked, and under ``changes`` every field of the task that the change gave a new value.
Folding the changes of a trail therefore gives the task (truth 7). Heartbeats and the sweeper's bookkeeping have no
event: the version, hints to the dispatcher and a live lease's extension are not rebuilt. Nor is a claim's id, a secret.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, fields
from datetime import date, datetime
from typing import TYPE_CHECKING, Any

from baton.domain.marker import Priority
from baton.domain.numbers import dumps
from baton.domain.task import Branch, Claim, Flag, Policy, State, Task, Wait
from baton.domain.times import parse_rfc3339, rfc3339

if TYPE_CHECKING:
    from collections.abc import Iterable

    from baton.domain.principal import Principal

GENESIS = "0" * 64
_BOOKKEEPING = {
    *("version", "seq", "chain", "updated_at", "rings", "wake_at", "runtime", "alert_after_seconds", "mirrored"),
    "parked",
}
_FIELDS = tuple(f.name for f in fields(Task) if f.name not in _BOOKKEEPING)
_CLAIM_FIELDS = tuple(f.name for f in fields(Claim) if f.name not in {"claim_id", "slot", "kept_bytes"})
# What a trail leaves unsaid as long as it is so. Written out, and never to be changed: a default of ``Task`` may change
# one day, what the trails of before that day mean may not. A new field joins with the value that every earlier trail
# meant, or isn't implied but told.
_IMPLIED: dict[str, Any] = {
    "effort": None,
    "due_date": None,
    "deadline": None,
    "fail_on_deadline": False,
    "parent_id": None,
    "depth": 0,
    "revision": 1,
    "max_attempts": 3,
    "ready_at": None,
    "undo_until": None,
    "origin": None,
    "attempt": 0,
    "releases": 0,
    "fence": 0,
    "claim": None,
    "flags": [],
    "recoveries": 0,
    "has_output": False,
    "has_failure": False,
    "requires": [],
    "work_type": None,
    "dispatch_rank": None,
    "not_before": None,
    "deferred_until": None,
    "join_parent": None,
    "call_id": None,
    "successors": [],
    "retry_of": None,
    "checkpoints": 0,
    "last_checkpoint_id": None,
    "waits": 0,
    "wait": None,
    "started_at": None,
    "takers": [],
}
_TIMES = {
    *("created_at", "deadline", "not_before", "deferred_until", "ready_at", "undo_until", "claimed_at", "heartbeat_at"),
    *("expires_at", "until", "started_at"),
}


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
        """The shape of spec/lifecycle.md §8 with the chain of spec/protocol.md §7: all that verifying it needs."""
        return {**_hashed(self), "prev_hash": self.prev_hash, "hash": self.hash}

    def is_intact(self) -> bool:
        return self.hash == chain_hash(_hashed(self), self.prev_hash)


def canonical_json(value: Any) -> str:
    """Sorted keys, no spaces, no escapes beyond JSON's own: the same bytes for the same value everywhere."""
    return dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)


def chain_hash(entry: dict[str, Any], prev_hash: str) -> str:
    """SHA-256, in hexadecimal, over the entry's canonical JSON followed by the previous entry's hash."""
    return hashlib.sha256((canonical_json(entry) + prev_hash).encode()).hexdigest()


def record(before: Task | None, after: Task, type_: str, by: Principal, at: datetime, data: dict[str, Any]) -> Event:
    """The event of one change, chained to the trail of the task as it was before."""
    previous = GENESIS if before is None else before.chain
    was = _IMPLIED if before is None else facts(before)
    now = facts(after)
    changes = {name: now[name] for name in now if name not in was or was[name] != now[name]}
    entry: dict[str, Any] = {
        "seq": 1 if before is None else before.seq + 1,
        "at": rfc3339(at),
        "type": type_,
        "principal": {"kind": str(by.kind), "id": by.id},
        "fence": after.fence,
        "data": {**{k: v for k, v in data.items() if v is not None}, "changes": changes},
    }
    return Event(
        seq=entry["seq"],
        at=at,
        type=type_,
        principal_kind=str(by.kind),
        principal_id=by.id,
        fence=after.fence,
        data=entry["data"],
        prev_hash=previous,
        hash=chain_hash(entry, previous),
    )


def replay(events: Iterable[Event]) -> Task:
    """The task that a trail tells of. Raises ``ValueError`` for an empty, broken or altered trail."""
    values: dict[str, Any] = {}
    seq, previous, at = 0, GENESIS, None
    for event in events:
        if event.seq != seq + 1 or event.prev_hash != previous or not event.is_intact():
            raise ValueError(f"the trail is broken at entry {seq + 1}")
        values.update(event.data["changes"])
        seq, previous, at = event.seq, event.hash, event.at
    if at is None:
        raise ValueError("the trail is empty")
    return from_facts(values, updated_at=at, seq=seq, chain=previous)


def facts(task: Task) -> dict[str, Any]:
    """What a trail tells of a task, in JSON's own types."""
    return {name: _plain(getattr(task, name)) for name in _FIELDS}


def told(task: Task) -> dict[str, Any]:
    """The same without what is as it is by default: most of a task, and every item of the table is paid for by the
    KB."""
    return {name: value for name, value in facts(task).items() if name not in _IMPLIED or _IMPLIED[name] != value}


def from_facts(values: dict[str, Any], **bookkeeping: Any) -> Task:
    """The inverse of ``facts`` and ``told``."""
    whole = {**_IMPLIED, **values}
    return Task(**{name: _rich(name, value) for name, value in whole.items()}, **bookkeeping)


def snapshot(task: Task) -> dict[str, Any]:
    """The task as it stands, for answering a repeated call as the first one was answered."""
    at = rfc3339(task.updated_at)
    return {
        "told": told(task),
        "version": task.version,
        "seq": task.seq,
        "updated_at": at,
        **({"mirrored": True} if task.mirrored else {}),
    }


def from_snapshot(kept: dict[str, Any]) -> Task:
    at, mirrored = parse_rfc3339(kept["updated_at"]), kept.get("mirrored", False)
    version, seq = int(kept["version"]), int(kept["seq"])
    return from_facts(kept["told"], updated_at=at, version=version, seq=seq, mirrored=mirrored)


def _hashed(event: Event) -> dict[str, Any]:
    return {
        "seq": event.seq,
        "at": rfc3339(event.at),
        "type": event.type,
        "principal": {"kind": event.principal_kind, "id": event.principal_id},
        "fence": event.fence,
        "data": event.data,
    }


def _plain(value: Any) -> Any:
    if isinstance(value, Claim):
        return {name: _plain(getattr(value, name)) for name in _CLAIM_FIELDS}
    if isinstance(value, Wait | Branch):
        return {f.name: _plain(getattr(value, f.name)) for f in fields(value)}
    if isinstance(value, datetime):
        return rfc3339(value)
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, frozenset):
        return sorted(str(item) for item in value)
    if isinstance(value, tuple):
        return [_plain(item) for item in value]
    return value


def _rich(name: str, value: Any) -> Any:
    if value is None:
        return None
    if name in _TIMES:
        return parse_rfc3339(value)
    if name == "due_date":
        return date.fromisoformat(value)
    if name == "flags":
        return frozenset(Flag(flag) for flag in value)
    if name in {"state", "origin"}:
        return State(value)
    if name == "priority":
        return Priority(value)
    if name == "claim":
        return Claim(claim_id="", **{inner: _rich(inner, item) for inner, item in value.items()})
    if name == "wait":
        return _wait(value)
    if name in {"requires", "successors", "takers"}:
        return tuple(value)
    return value


def _wait(told_: dict[str, Any]) -> Wait:
    quorum = told_.get("quorum")
    return Wait(
        number=int(told_["number"]),
        since=parse_rfc3339(told_["since"]),
        alert_at=parse_rfc3339(told_["alert_at"]),
        policy=Policy(told_["policy"]),
        quorum=None if quorum is None else int(quorum),
        branches=tuple(Branch(call_id=each["call_id"], task_id=each["task_id"]) for each in told_["branches"]),
        interaction_id=told_.get("interaction_id"),
        until=_rich("until", told_.get("until")),
    )
