"""Where a task must be found: only what may be taken, or waits for a human, is in a queue; what must be looked at again
is in the wake index."""

from __future__ import annotations

from typing import TYPE_CHECKING

from simulation.oracle.items import to_ms
from simulation.oracle.ledger import ENDED

if TYPE_CHECKING:
    from collections.abc import Iterator

    from simulation.oracle.ledger import Item


def place_rules(head: Item) -> Iterator[tuple[object, str]]:
    """What must hold of a HEAD, and what is wrong where it doesn't."""
    state, wake_ms, claim = head["state"], head.get("wake_ms"), head.get("claim")
    shows = not head.get("parked") and state in ("needs", "delegated", "claimed")
    is_listed = "queue_pk" in head and not (state in ENDED and "#INBOX#" in head["queue_pk"])
    yield is_listed == shows, f"{state}: in a queue where it shouldn't be, or not where it should"
    if claim:
        yield is_marked(head), f"its mark {head.get('queue_pk')} {head.get('queue_sk')} isn't its claim's"
    yield ("wake_pk" in head) == (wake_ms is not None), f"{state}: in the wake index without a time, or not with one"
    yield state not in ENDED or wake_ms is None, "it has ended, and is still to be looked at"
    is_seen = not claim or (wake_ms is not None and wake_ms <= claim["expires_ms"])
    yield is_seen, "nobody looks when its lease is over"
    late = [at for at in _due(head) if wake_ms is None or wake_ms > at]
    yield not late, f"{state}: looked at by {wake_ms}, and something is due at {late}"
    is_run = state == "delegated" and head.get("runtime") == "run"
    is_timed = state == "waiting" and head["wait"].get("until")
    yield not (head.get("parked") or is_run or is_timed) or wake_ms is not None, f"{state}: nobody will look at it"


def _due(head: Item) -> Iterator[int]:
    """When time alone changes the task, or tells a human of it. An entry may be earlier."""
    state, flags = head["state"], head.get("flags", [])
    if state in ENDED:
        return
    yield from (to_ms(each["until"]) for each in head.get("questions", ()))
    approval = head.get("approval", {}) if state == "needs" else {}
    yield from (to_ms(approval[name]) for name in ("remind_at", "then_at") if name in approval)
    if "deadline" in head and "deadline_passed" not in flags:
        yield to_ms(head["deadline"])
    if head.get("parked"):
        yield to_ms(head["deferred_until"] if state == "needs" else head["not_before"])
    elif state == "delegated" and "unclaimed_too_long" not in flags:
        yield to_ms(head["ready_at"]) + 1_000 * head.get("alert_after_seconds", 3_600)
    if state == "next" and "next_stale" not in flags:
        yield to_ms(head["ready_at"]) + 86_400_000
    if state == "waiting" and "waiting_too_long" not in flags:
        yield to_ms(head["wait"]["alert_at"])
    if state == "waiting" and head["wait"].get("until"):
        yield to_ms(head["wait"]["until"])


def is_marked(head: Item) -> bool:
    """A claimed task is marked in its holder's queue, by a time at which its lease isn't over yet or just is."""
    claim, mark = head["claim"], head.get("queue_sk", "")
    time, _, claim_id = mark.removeprefix("~").partition("#")
    is_in_time = time.isdigit() and claim["claimed_ms"] < int(time) <= claim["expires_ms"]
    is_its_holders = str(head.get("queue_pk")).endswith(f"#READY#{claim['agent']}")
    return mark.startswith("~") and claim_id == claim["claim_id"] and is_in_time and is_its_holders
