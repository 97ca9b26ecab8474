"""What models cost: every reply that was paid for is counted once, in the account of its workflow."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from baton.domain.runs.transcript import Usage
from simulation.oracle.items import item_of
from simulation.ports import WORKSPACE

if TYPE_CHECKING:
    from simulation.oracle.ledger import Item, Ledger
    from simulation.oracle.verdict import Verdict
    from simulation.simulation import Simulation

# What an item counts by these names, an account counts by those.
IN_ACCOUNT = {"model_calls": "calls", "input_tokens": "input", "output_tokens": "output"}
OUTPUT_TOKENS = 5


class Spending:
    """Each reply costs as many input tokens as its number, so that it is known again where it is counted."""

    def __init__(self, sim: Simulation, verdict: Verdict, ledger: Ledger) -> None:
        self._sim, self._ledger = sim, ledger
        self._must = verdict.must
        # By reply: for which workflow, under which claim.
        self._paid: dict[int, tuple[str, str | None]] = {}
        self._counted: set[int] = set()

    def reply(self, task_id: str, claim_id: str | None) -> Usage:
        number = len(self._paid) + 1
        self._paid[number] = self._ledger.heads[task_id]["workflow_id"], claim_id
        return Usage(1, number, OUTPUT_TOKENS)

    def is_counted(self, workflow: str, old: Item | None, new: Item) -> None:
        """An account goes up by what one reply has cost, or by a call that is about to be made."""
        before = old or {}
        self._moves_on(workflow, before, new)
        number, output = (new.get(each, 0) - before.get(each, 0) for each in ("input_tokens", "output_tokens"))
        if not number and not output:
            return
        of_workflow, _ = self._paid.get(number, (None, None))
        is_one = of_workflow == workflow and output == OUTPUT_TOKENS
        self._must(is_one, "{}: {} and {} tokens are counted, which no reply has cost", workflow, number, output)
        self._must(number not in self._counted, "{}: reply {} is counted twice", workflow, number)
        self._counted.add(number)

    def _moves_on(self, workflow: str, old: Item, new: Item) -> None:
        """Of one task an account goes on by a step, or begins anew with the next run. What moves away is kept."""
        before, after = old.get("accounts", {}), new.get("accounts", {})
        changed = [task for task, account in after.items() if before.get(task) != account]
        self._must(len(changed) <= 1, "{}: the accounts of {} change at once", workflow, changed)
        for task in changed:
            had, has = before.get(task) or self._kept(task), after[task]
            is_next = (has["fence"], has["step"]) == (had.get("fence", 0), had.get("step", 0) + 1)
            is_new = has["fence"] > had.get("fence", 0) and has["step"] == 1
            self._must(is_next or is_new, "{}: the account of {} goes from {} to {}", workflow, task, had, has)
        for task in set(before) - set(after):
            self._must(self._kept(task) == before[task], "{}: the account of {} was lost", workflow, task)

    def _kept(self, task_id: str) -> Item:
        kept: Item = self.own(task_id).get("account", {})
        return kept

    def own(self, task_id: str) -> Item:
        """What the task's own item has."""
        return item_of(self._sim.dynamo.item((f"WS#{WORKSPACE}#RUN#{task_id}", "USAGE"))) or {}

    def of_task(self, task_id: str) -> Counter[str]:
        """What the task has used: in its account, wherever that is, and late."""
        workflow = self._ledger.heads[task_id]["workflow_id"]
        account = self._ledger.usage.get(workflow, {}).get("accounts", {}).get(task_id) or self._kept(task_id)
        own = self.own(task_id)
        return Counter({long: account.get(short, 0) + own.get(long, 0) for long, short in IN_ACCOUNT.items()})

    def are_paid(self, claim_id: str) -> None:
        """The run under that claim is over, and nothing went wrong with it."""
        lacking = {number for number, (_, under) in self._paid.items() if under == claim_id} - self._counted
        self._must(not lacking, "a run under {} is over, and its replies {} were never counted", claim_id, lacking)
