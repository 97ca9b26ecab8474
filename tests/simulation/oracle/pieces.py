"""Where a trail's events are: in its beginning, in chunks, in HEAD. None is ever altered, lost, or made up; and the bus
has what the outbox says that it has."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from simulation.oracle.items import to_ms
from simulation.oracle.ledger import ENDED
from simulation.ports import BEGIN, WORKSPACE

if TYPE_CHECKING:
    from simulation.oracle.ledger import Item, Ledger, Transaction
    from simulation.oracle.verdict import Verdict
    from simulation.simulation import Simulation

NO_HASH = "0" * 64
BEGIN_MS = int(BEGIN.timestamp() * 1000)
# No function runs longer.
LONGEST_RUN_MS = 900_000
PLACE = ("told", "counted", "wake_pk", "wake_sk")
# What an entry has around its event.
UNTOLD = {
    *("by", "prev", "write", "was", "ended", "ended_by", "ended_agent", "ended_fence"),
    *("asked", "key", "key_asked", "version", "computed"),
}


class Pieces:
    def __init__(self, sim: Simulation, verdict: Verdict, ledger: Ledger) -> None:
        self._sim, self._verdict, self._ledger = sim, verdict, ledger

    def begun(self, task_id: str, old: Item | None, new: Item) -> None:
        """It may be there before its task, or without one."""
        if old is None:
            self._ledger.beginnings[task_id] = _entries(new, len(new["events"]))
            self._ledger.kept[task_id].update(range(1, len(new["events"]) + 1))
            self._must("wake_pk" in new, "{}: a task that the outbox doesn't have", task_id)
        else:
            before, after = ({k: v for k, v in each.items() if k not in PLACE} for each in (old, new))
            self._must(before == after, "{}: its beginning was altered", task_id)
            self._told(task_id, new, is_gone="wake_pk" in old and "wake_pk" not in new)

    def started(self, tx: Transaction, task_id: str) -> None:
        """Its HEAD is there: what it began with is its trail."""
        tx.started.add(task_id)

    def _told(self, task_id: str, place: Item, *, is_gone: bool) -> None:
        if task_id not in self._ledger.heads:
            age_ms = self._sim.now_ms + BEGIN_MS - to_ms(place["events"][-1]["at"])
            self._must(not place["told"], "{}: told, and there is no such task", task_id)
            self._must(not is_gone or age_ms >= LONGEST_RUN_MS, "{}: given up, and may still come", task_id)
            return
        missing = [n for n in range(1, place["told"] + 1) if f"{WORKSPACE}:{task_id}:{n}" not in self._sim.bus.accepted]
        self._must(not missing, "{}: {} count as told though the bus never had them", task_id, missing)
        head = self._ledger.heads[task_id]
        is_over = head["state"] in ENDED and place["told"] == head["seq"]
        self._must(is_over or not is_gone, "{}: it left the outbox too early", task_id)

    def copied(self, task_id: str, sk: str, new: Item | None) -> None:
        if new is None:
            self._verdict.fail(f"{task_id}: {sk} was deleted")
            return
        known = self._ledger.trails[task_id]
        for entry in _entries(new, int(sk.removeprefix("EVENTS#"))):
            is_known = entry["seq"] <= len(known) and known[entry["seq"] - 1] == entry
            self._must(is_known, "{}: {} has an event that there never was: {}", task_id, sk, entry["seq"])
            self._ledger.kept[task_id].add(entry["seq"])

    def in_head(self, tx: Transaction, task_id: str, head: Item) -> None:
        """After all other items of the transaction."""
        known, entries = self._ledger.trails[task_id], _entries(head, head["seq"])
        if task_id in tx.started:
            tx.entries[task_id] += self._ledger.beginnings.pop(task_id, [])
        known += tx.entries[task_id]
        for entry in entries:
            if entry["seq"] > len(known):
                known.append(entry)
                tx.entries[task_id].append(entry)
            else:
                self._must(known[entry["seq"] - 1] == entry, "{}: event {} was altered", task_id, entry["seq"])
        first = head["seq"] - len(entries) + 1
        gone = set(range(1, first)) - self._ledger.kept[task_id]
        self._must(not gone, "{}: its events {} are nowhere", task_id, gone)

    def _must(self, holds: object, what: str, *details: object) -> None:
        self._verdict.must(holds, what, *details)


def _entries(piece: Item, last: int) -> list[Item]:
    """As the trail tells them: with their hashes, without what only the table needs."""
    stored = piece.get("events", [])
    hashes = [*(each["prev"] for each in stored[1:]), *([piece["chain"]] if stored else [])]
    found = []
    for number, (each, own) in enumerate(zip(stored, hashes, strict=True), start=last - len(stored) + 1):
        kind, _, id_ = each["by"].partition(":")
        entry = {name: value for name, value in each.items() if name not in UNTOLD}
        chained = {"prev_hash": each.get("prev", NO_HASH), "hash": own}
        by = {"principal_kind": kind, "principal_id": id_}
        found.append({"fence": 0, **entry, **by, **chained, "data": json.loads(each["data"]), "seq": number})
    return found
