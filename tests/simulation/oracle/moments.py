"""What may happen at which moment, and where lost and failed work goes: undo windows, work for later, pauses,
deadlines."""

from __future__ import annotations

from typing import TYPE_CHECKING

from simulation.oracle.items import to_ms
from simulation.oracle.ledger import ENDED

if TYPE_CHECKING:
    from simulation.oracle.ledger import Item, Ledger
    from simulation.oracle.verdict import Verdict
    from simulation.simulation import Simulation

# What tells humans of work that nobody takes, or of a task that fails again and again.
UNTAKEN = frozenset({"undeliverable", "unclaimed_too_long", "next_stale"})
MAX_RELEASES = 10
GIVEN_UP = frozenset({"attempts_exhausted", "released_too_often"})
FIRST_PAUSE_MS, LONGEST_PAUSE_MS = 5_000, 300_000


class Moments:
    """``told`` takes a task's trail before an entry, the entry, and the trail with it."""

    def __init__(self, sim: Simulation, verdict: Verdict, ledger: Ledger) -> None:
        self._sim, self._verdict, self._ledger = sim, verdict, ledger
        self._task_id = ""

    def told(self, task_id: str, before: Item, entry: Item, fold: Item) -> None:
        self._task_id = task_id
        kind, at_ms, flags = entry["type"], to_ms(entry["at"]), set(fold.get("flags") or ())
        if kind == "handoff_received":
            self._claimed(before, at_ms)
            self._must(not flags & UNTAKEN, "claimed, and its flags still tell of untaken work: {}", flags)
        elif kind == "approved":
            self._must(not flags & (UNTAKEN | GIVEN_UP), "approved, and its flags stay: {}", flags)
        elif kind == "released" and entry["principal_kind"] == "agent" and fold["state"] != "needs":
            self._given_back(at_ms, fold)
        elif kind == "requeued" and "failure" in entry["data"]:
            self._paused(before, at_ms, fold)
        elif kind == "requeued":
            self._lost(before, fold)
        elif kind == "handoff_failed" and entry["principal_id"] == "sweeper":
            self._failed_in_time(fold, at_ms)

    def is_left(self, task_id: str, fold: Item) -> None:
        """After all entries of a write: what must fail on its deadline doesn't outlive the alert of it."""
        self._task_id = task_id
        is_failed = fold["state"] in ENDED or not fold.get("fail_on_deadline")
        self._must(
            is_failed or "deadline_passed" not in (fold.get("flags") or ()), "its deadline has passed, it goes on"
        )

    def is_leased(self, task_id: str, head: Item) -> None:
        """No longer than until the deadline on which the task fails."""
        if not head.get("fail_on_deadline") or "deadline" not in head:
            return
        self._task_id, claim = task_id, head["claim"]
        self._must(claim["expires_ms"] <= to_ms(head["deadline"]), "its lease {} outlives its deadline", claim)

    def _must(self, holds: object, what: str, *details: object) -> None:
        if not holds:
            self._verdict.fail(f"{self._task_id}: {what.format(*details)}")

    def _claimed(self, before: Item, at_ms: int) -> None:
        undo_until, not_before = before.get("undo_until"), before.get("not_before")
        if before["state"] == "delegated":
            self._must(not undo_until or at_ms >= to_ms(undo_until), "claimed while its approval may be undone")
            is_early = (
                not_before and at_ms < to_ms(not_before) and not before.get("fence")
            )  # it was due once, by a clock
            self._must(not is_early, "claimed before {}", not_before)

    def _given_back(self, at_ms: int, fold: Item) -> None:
        """At once the first time, then ever later; or at a time that its worker named, ten minutes ahead or more."""
        releases, pause_ms = fold.get("releases", 0), to_ms(fold["ready_at"]) - at_ms
        due_ms = min(FIRST_PAUSE_MS * 4 ** max(releases - 2, 0), LONGEST_PAUSE_MS) if releases > 1 else 0
        is_right = abs(pause_ms - due_ms) <= 1 or pause_ms >= 600_000 - 1
        self._must(is_right, "given back for the {}th time, and ready after {} ms", releases, pause_ms)

    def _paused(self, before: Item, at_ms: int, fold: Item) -> None:
        """After a failure, ever longer."""
        pause_ms = min(FIRST_PAUSE_MS * 4 ** (max(before["attempt"], 1) - 1), LONGEST_PAUSE_MS)
        ready_ms = to_ms(fold["ready_at"])
        self._must(ready_ms - at_ms >= pause_ms, "attempt {} has failed, and it is ready at once", before["attempt"])

    def _lost(self, before: Item, fold: Item) -> None:
        """Where the agent that lost it wants it, as whoever sweeps may have seen it."""
        claim = before["claim"]
        agents = self._ledger.agents_since(claim["agent"], self._sim.current.process.began_at)
        wanted = {each.get("requeue", "same") for each in agents}
        is_exhausted = before["attempt"] >= before.get("max_attempts", 3)
        if fold.get("attempt", 0) < before["attempt"]:  # nobody had taken it up
            is_exhausted = fold["releases"] >= MAX_RELEASES
        is_right = (fold["state"] == "needs") == (wanted == {"needs"} or is_exhausted)
        self._must(is_right or len(wanted) > 1, "lost by {}, which wants {}: {}", claim["agent"], wanted, fold["state"])

    def _failed_in_time(self, fold: Item, at_ms: int) -> None:
        is_due = fold.get("fail_on_deadline") is True and to_ms(fold["deadline"]) <= at_ms
        self._must(is_due, "failed by the sweeper, and its deadline is {}", fold.get("deadline"))
