"""The tail of a trail: its latest entries, which are stored with the task itself, so that one write holds a change and
its events (docs/decisions/033-events-inside-head.md).

An entry is an event as the table has it, a flat map with texts and small numbers, handed on unread. ``prev`` is the
hash of the entry before it; an entry's own hash is the next one's ``prev``, or the task's ``chain`` for the last.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from baton.domain import times
from baton.domain.numbers import loads
from baton.domain.tasks.task import Task
from baton.domain.tasks.trail import GENESIS, Event, canonical_json

Entry = Mapping[str, Any]

# A longer tail moves into a chunk with the task's next change. An approval and a claim are shorter.
MAX_TAIL_BYTES = 1_200


def entries(state: str | None, events: Iterable[Event]) -> Iterator[Entry]:
    """Yields an entry for each event. ``state``: of the task before the first of them; None for a new task."""
    for event in events:
        yield {
            "seq": event.seq,
            "at": times.rfc3339(event.at),
            "type": event.type,
            "by": f"{event.principal_kind}:{event.principal_id}",
            **({"fence": event.fence} if event.fence else {}),
            "data": canonical_json(event.data),
            **({} if event.prev_hash == GENESIS else {"prev": event.prev_hash}),
            **({} if state is None else {"was": str(state)}),
        }
        state = event.data["changes"].get("state", state)


def event_from(entry: Entry, hash_: str) -> Event:
    """Raises ``AttributeError``, ``KeyError``, ``TypeError`` or ``ValueError`` for an entry that can't be read."""
    kind, _, id_ = entry["by"].partition(":")
    return Event(
        seq=int(entry["seq"]),
        at=times.parse_rfc3339(entry["at"]),
        type=entry["type"],
        principal_kind=kind,
        principal_id=id_,
        fence=int(entry.get("fence", 0)),
        data=loads(entry["data"]),
        prev_hash=entry.get("prev", GENESIS),
        hash=hash_,
    )


def latest(task: Task) -> Event | None:
    """Returns the task's last event if the tail has it. Raises as ``event_from`` does."""
    return event_from(task.tail[-1], task.chain) if task.tail else None


def states_around(entry: Entry, event: Event) -> tuple[str | None, str]:
    """Returns the task's state before and after the entry."""
    before = entry.get("was")
    return before, str(event.data["changes"].get("state", before))


def is_full(tail: Sequence[Entry]) -> bool:
    return sum(map(_size, tail)) > MAX_TAIL_BYTES


def _size(entry: Entry) -> int:
    """Returns about the bytes that the entry takes in the table."""
    return sum(len(name) + len(str(value).encode()) + 1 for name, value in entry.items()) + 3
