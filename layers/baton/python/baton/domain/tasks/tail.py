"""The tail of a trail: its latest entries, which are stored with the task itself, so that one write holds a change and
its events (docs/what-is-stored.md §1).

An entry is an event as the table has it, a flat map with texts and small numbers, handed on unread. ``prev`` is the
hash of the entry before it; an entry's own hash is the next one's ``prev``, or the task's ``chain`` for the last.

The last entry of a change that ends a claim also has, outside of the hash and of all that is public, ``ended``: the
claim's id. What follows from the entry and its task isn't stored again: ``ended_by`` is the claim's principal, if
somebody else ended it; ``ended_agent`` its agent, of open work alone; ``ended_fence`` its fence, if the same change
began another claim.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from baton.domain import times
from baton.domain.canonical_json import canonical_json
from baton.domain.numbers import loads
from baton.domain.tasks.task import Claim, Task
from baton.domain.tasks.trail import GENESIS, Event

Entry = Mapping[str, Any]

# Of a task that was changed and not read again.
UNREAD: tuple[Entry, ...] = ({},)
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


@dataclass(frozen=True, slots=True)
class EndedClaim:
    """The claim that a change has ended, as the change's last entry tells."""

    claim_id: str
    fence: int
    agent: str
    principal: str  # the key of who held it
    by_holder: bool  # the holder ended it


def ended_part(claim: Claim, after: Task, *, by_holder: bool) -> Entry:
    """Returns what the last entry of a change tells of the claim that the change ended. ``after``: the task then."""
    return {
        "ended": claim.claim_id,
        **({} if by_holder else {"ended_by": claim.principal}),
        **({} if after.target_agent == claim.agent else {"ended_agent": claim.agent}),
        **({} if after.fence == claim.fence else {"ended_fence": claim.fence}),
    }


def ended_in(entry: Entry, task: Task) -> EndedClaim | None:
    """Returns the claim that was ended with the entry of the task's trail; None if none was."""
    if "ended" not in entry:
        return None
    return EndedClaim(
        claim_id=entry["ended"],
        fence=int(entry.get("ended_fence", entry.get("fence", 0))),
        agent=entry.get("ended_agent") or task.target_agent or "",
        principal=entry.get("ended_by", entry["by"]),
        by_holder="ended_by" not in entry,
    )


def who_ended(task: Task, fence: int) -> str | None:
    """Returns the key of the principal that ended the claim of this fence; None if the tail doesn't tell."""
    for entry in reversed(task.meta.tail):
        ended = ended_in(entry, task)
        if ended is not None and ended.fence == fence:
            return str(entry["by"])
    return None


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
    return event_from(task.meta.tail[-1], task.meta.chain) if task.meta.tail and task.meta.tail is not UNREAD else None


def states_around(entry: Entry, event: Event) -> tuple[str | None, str]:
    """Returns the task's state before and after the entry."""
    before = entry.get("was")
    return before, str(event.data["changes"].get("state", before))


def is_full(tail: Sequence[Entry]) -> bool:
    return sum(map(_size, tail)) > MAX_TAIL_BYTES


def _size(entry: Entry) -> int:
    """Returns about the bytes that the entry takes in the table."""
    return sum(len(name) + len(str(value).encode()) + 1 for name, value in entry.items()) + 3
