"""What models cost: every reply that was paid for is counted once, in the account of its workflow."""

from __future__ import annotations

from typing import TYPE_CHECKING

from baton.domain.runs.transcript import Usage

if TYPE_CHECKING:
    from simulation.oracle.ledger import Item, Ledger
    from simulation.oracle.verdict import Verdict

OUTPUT_TOKENS = 5


class Spending:
    """Each reply costs as many input tokens as its number, so that it is known again where it is counted."""

    def __init__(self, verdict: Verdict, ledger: Ledger) -> None:
        self._ledger = ledger
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
        number, output = (new.get(each, 0) - before.get(each, 0) for each in ("input_tokens", "output_tokens"))
        if not number and not output:
            return
        of_workflow, _ = self._paid.get(number, (None, None))
        is_one = of_workflow == workflow and output == OUTPUT_TOKENS
        self._must(is_one, "{}: {} and {} tokens are counted, which no reply has cost", workflow, number, output)
        self._must(number not in self._counted, "{}: reply {} is counted twice", workflow, number)
        self._counted.add(number)

    def are_paid(self, claim_id: str) -> None:
        """The run under that claim is over, and nothing went wrong with it."""
        lacking = {number for number, (_, under) in self._paid.items() if under == claim_id} - self._counted
        self._must(not lacking, "a run under {} is over, and its replies {} were never counted", claim_id, lacking)
