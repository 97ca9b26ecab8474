"""Receipts: what the last entry of a change keeps of the request that made it, so that the exact repeat of the request
gets the first answer from the trail (invariants 3 and 5, docs/what-is-stored.md §2).

A receipt is found by a name: the id of the claim that the request ended, or the digest of its idempotency key. It is no
part of the event's hash, and public nowhere.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from baton.domain import times
from baton.domain.canonical_json import canonical_json
from baton.domain.idempotency import IdempotencyKey, response_expires_at
from baton.domain.numbers import loads
from baton.domain.tasks import tail
from baton.domain.tasks.task import Task
from baton.domain.tasks.trail import Event

# Of a key's digest: nobody finds two keys with the same one.
_KEY_BYTES = 16
# Of a request's digest: the name has told whose request it is, so this only tells a repeat from the caller's others.
_REQUEST_BYTES = 8
# The names of an entry's receipt.
NAMES = ("ended", "key")


@dataclass(frozen=True, slots=True, kw_only=True)
class AskedRequest:
    """The request behind a change, as the change keeps it."""

    digest: str  # of what was asked
    key: str | None = None  # name of the idempotency key
    key_digest: str | None = None  # of what was asked under the key; None if it is ``digest``
    # the fields that Baton added to a failure, and that the event doesn't tell
    computed: Mapping[str, Any] = field(default_factory=dict)

    def part(self, after: Task) -> tail.Entry:
        """Returns what the last entry of the change keeps. ``after``: the task then."""
        return {
            "asked": self.digest,
            "version": after.meta.version,
            **({} if self.key is None else {"key": self.key}),
            **({} if self.key_digest in (None, self.digest) else {"key_asked": self.key_digest}),
            **({"computed": canonical_json(dict(self.computed))} if self.computed else {}),
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Receipt:
    """The receipt of a request, or of a claim that somebody else has ended."""

    seq: int  # number of the change's last event
    at: datetime
    asked: str | None  # digest of what was asked; None without a request of the holder, and without a key
    key_asked: str | None  # the same under the idempotency key
    version: int | None  # of the task after the change; None without ``asked``
    ended: tail.EndedClaim | None
    computed: Mapping[str, Any]  # the fields that Baton added to a failure

    def is_over(self, now: datetime | None) -> bool:
        """True if a repeat at ``now`` is a new request. None finds a receipt of any age."""
        return now is not None and response_expires_at(self.at) <= now


def asked(body_hash: str, command_name: str = "") -> str:
    """Returns the digest of what was asked. ``command_name``: for a request that is found by its claim, not its
    route."""
    return _digest(f"{command_name} {body_hash}", _REQUEST_BYTES)


def name_of(idempotency_key: IdempotencyKey) -> str:
    return _digest(idempotency_key.digest, _KEY_BYTES)


def names_in(entry: tail.Entry) -> tuple[str, ...]:
    """Returns the names by which the entry's receipt is found; none for an entry that somebody damaged."""
    is_whole = isinstance(entry, dict)
    return tuple(entry[name] for name in NAMES if name in entry) if is_whole else ()


def in_tail(task: Task, name: str) -> Receipt | None:
    """Returns the latest receipt of this name that the task's tail has."""
    rows = zip(range(task.meta.seq, 0, -1), reversed(task.meta.tail), strict=False)
    return next((receipt_in(seq, entry, task) for seq, entry in rows if name in names_in(entry)), None)


def receipt_in(seq: int, entry: tail.Entry, task: Task) -> Receipt:
    """Returns the receipt that the entry of the task's trail keeps."""
    at, ended = times.parse_rfc3339(entry["at"]), tail.ended_in(entry, task)
    data = loads(entry["data"])
    added = failure_added(at, data, task, ended.agent) if ended is not None and "failure_id" in data else {}
    return Receipt(
        seq=seq,
        at=at,
        asked=entry.get("asked"),
        key_asked=entry.get("key_asked", entry.get("asked")),
        version=int(entry["version"]) if "version" in entry else None,
        ended=ended,
        computed={**added, **loads(entry.get("computed", "{}"))},
    )


def not_told(computed: Mapping[str, Any], event: Event, task: Task, agent: str) -> dict[str, Any]:
    """Returns those of the fields that Baton added to a failure that the failure's event doesn't tell."""
    told = failure_added(event.at, event.data, task, agent)
    return {name: value for name, value in computed.items() if name not in told or told[name] != value}


def failure_added(at: datetime, data: Mapping[str, Any], task: Task, agent: str) -> dict[str, Any]:
    """Returns what Baton adds to a failure, as its event tells. ``agent``: the one that failed."""
    return {
        "failure_id": data.get("failure_id"),
        "handoff_id": task.handoff_id,
        "timestamp": times.rfc3339(at),
        "source": {"agent": agent},
        "checkpoint_id": data.get("checkpoint_id"),
    }


def _digest(text: str, size: int) -> str:
    return base64.urlsafe_b64encode(hashlib.sha256(text.encode()).digest()[:size]).decode().rstrip("=")
