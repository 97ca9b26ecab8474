"""What must hold when all is quiet again: nothing is lost or stuck, and every count is right."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from baton.adapters.dynamodb.table import from_wire
from simulation.oracle.ledger import ENDED
from simulation.oracle.writes import BEGIN_MS, COUNTED, PREFIX

if TYPE_CHECKING:
    from simulation.oracle.ledger import Item, Ledger
    from simulation.oracle.verdict import Verdict
    from simulation.simulation import Simulation


class Quiet:
    def __init__(self, sim: Simulation, verdict: Verdict, ledger: Ledger) -> None:
        self._sim, self._verdict, self._ledger = sim, verdict, ledger

    def nobody_moved_for_days(self) -> None:
        """But Baton itself: every open task waits for somebody who knows of it."""
        for task_id, head in self._ledger.heads.items():
            if head["state"] not in ENDED:
                self._stands(task_id, head)
                self._goes_on_rightly(task_id)
                self._has_something_to_decide(task_id, head)
        now_ms = self._sim.now_ms + BEGIN_MS
        self._sim.oracle.questions.are_waited_for(now_ms)
        self._sim.oracle.approvals.have_been_widened(now_ms)
        self._sim.oracle.pages.show_everything(is_mended=False)
        self._sim.oracle.alerts.are_shown()
        self._sim.oracle.board.is_shown()
        self._sim.oracle.board.is_found()
        self._sim.oracle.lists.are_right()
        left = [key for key, is_due in self._ledger.errands.items() if is_due]
        self._verdict.must(not left, "errands that nobody does: {}", left)

    def everybody_has_finished(self) -> None:
        """Whatever there was to do was done."""
        for task_id, head in self._ledger.heads.items():
            is_over = head["state"] in ENDED
            self._verdict.must(is_over, "{} can't be finished: {} {}", task_id, head["state"], head.get("flags"))
        for pk, rows in self._sim.dynamo.items.items():
            for sk, wire in rows.items() if pk.startswith(PREFIX) else ():
                is_told = sk != "BEGINNING" or "wake_pk" not in wire
                self._verdict.must(is_told, "{} {} was never told to the outside", pk, sk)
        self._sim.oracle.pages.show_everything(is_mended=True)
        self._each_end_is_counted_once()

    def everything_adds_up(self) -> None:
        """Whether or not all is finished: nobody is at anything."""
        self._spent_is_the_sum()
        held = [key for key, places in self._ledger.held.items() if places]
        self._verdict.must(not held, "slots held by nobody: {}", held)

    def _stands(self, task_id: str, head: Item) -> None:
        """Where it is, somebody is told, or somebody is there to take it."""
        state, flags = head["state"], set(head.get("flags", ()))
        must, about = self._verdict.must, f"{task_id} ({state}, {sorted(flags)})"
        must(state != "claimed", "{}: still claimed, days after", about)
        must(state != "next" or "next_stale" in flags, "{}: nobody takes it, and nobody is told", about)
        if state == "delegated":
            is_told = flags & {"unclaimed_too_long", "undeliverable"}
            must(is_told, "{}: nobody takes it, and nobody is told", about)
            agent = self._ledger.standing("agent", head.get("target_agent"))
            is_notified = agent.get("active") and agent["runtime"] == "run"
            is_notified = is_notified and not self._sim.oracle.approvals.may_be_held(head)
            must(not is_notified, "{}: its agent is there, and nobody notifies it", about)
        if state == "waiting":
            leaves = [leaf for each in head["wait"]["branches"] for leaf in self._ledger.leaves(each["task_id"])]
            is_waiting = any(leaf["state"] not in ENDED for leaf in leaves)
            is_waiting = is_waiting or bool(head["wait"].get("questions"))  # some are open, as each write shows
            must(is_waiting, "{}: waits, though all of its branches have ended", about)
            must("waiting_too_long" in flags, "{}: waits, and nobody is told", about)

    def _goes_on_rightly(self, task_id: str) -> None:
        """Nothing goes on under a cancelled task, unless a human made it after that."""
        above = self._ledger.goes_on_under(task_id)
        self._verdict.must(above is None, "{} goes on though {} above it was cancelled", task_id, above)

    def _has_something_to_decide(self, task_id: str, head: Item) -> None:
        """A rollback that nobody ever approved doesn't wait any more once a retry has done the work. What a human
        tried again though it was done is theirs to decide."""
        is_untouched = set(self._ledger.states[task_id].values()) == {"needs"}
        if head.get("kind") == "rollback" and is_untouched and not head.get("join_parent"):
            retries = self._ledger.retries_beside(head["parent_id"])
            since = [each for each in retries if self._ledger.ended_at.get(each, -1) > self._ledger.born[task_id]]
            done = [each for each in since if self._ledger.heads[each]["state"] == "done"]
            self._verdict.must(not done, "{} waits though {} has done the work", task_id, done)

    def _each_end_is_counted_once(self) -> None:
        """The counts of all days and directions together are the tasks that have ended, by what became of them."""
        names = ("done", "failed", "rejected", "cancelled")
        counted, begun = dict.fromkeys(names, 0), 0
        for pk, rows in self._sim.dynamo.items.items():
            for item in map(from_wire, rows.values()) if pk.startswith(f"{PREFIX}STATS#") else ():
                begun += sum(int(hour.partition(":")[2]) for hour in item.get("begun", "").split())
                for hour in item["hours"].split():
                    for name, count in zip(names, hour.partition(":")[2].split("."), strict=False):
                        counted[name] += int(count)
        ended = Counter(head["state"] for head in self._ledger.heads.values())
        wanted = {name: ended[name] for name in names}
        self._verdict.must(counted == wanted, "ended are {}, and counted {}", wanted, counted)
        most = sum(counted.values())
        self._verdict.must(begun <= most, "{} beginnings are counted of {} ends", begun, most)

    def _spent_is_the_sum(self) -> None:
        """A workflow's account is the sum of its tasks', and no reply is missing in it."""
        for workflow, usage in self._ledger.usage.items():
            of_tasks = [self._sim.oracle.spending.of_task(task_id) for task_id in self._ledger.members[workflow]]
            for name in COUNTED:
                total = sum(each[name] for each in of_tasks)
                is_sum = usage.get(name, 0) == total
                self._verdict.must(is_sum, "{}: {} isn't the sum of its tasks'", workflow, name)
