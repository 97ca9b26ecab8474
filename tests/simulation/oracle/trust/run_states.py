"""The saved state of a framework's run: the holder of a claim writes it, a checkpoint never does, and only the agent
and principal that wrote it get it back with a later claim."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from baton.domain.access.principal import SWEEPER, system
from rest.claims.views import claim_answer

if TYPE_CHECKING:
    from baton.steps.claims.take_task import Claimed
    from simulation.oracle.ledger import Item, Ledger
    from simulation.oracle.verdict import Verdict
    from simulation.simulation import Simulation

# The only request that may write one.
SAVES = "run state"
FACTS = ("by", "agent", "fence")


class RunStates:
    """``items``: each state that was written, by task, the newest last."""

    def __init__(self, sim: Simulation, verdict: Verdict, ledger: Ledger) -> None:
        self._sim, self._must, self._ledger = sim, verdict.must, ledger
        self.items: dict[str, list[Item]] = {}

    def is_written(self, task_id: str, new: Item) -> None:
        request = self._sim.current.process.request
        self._must(request and request.name == SAVES, "{}: its run state was written by {}", task_id, request)
        claim = self._ledger.heads[task_id].get("claim") or {}
        holder = (claim.get("principal"), claim.get("agent"), claim.get("fence"))
        said = tuple(new[name] for name in FACTS)
        self._must(said == holder, "{}: its run state is by {}, and {} holds it", task_id, said, holder)
        self.items.setdefault(task_id, []).append(new)
        self._ledger.seen["run state saved"] += 1

    def is_shown(self, claimed: Claimed) -> None:
        """As the answer to a claim has it on the wire."""
        task, saved = claimed.details.task, self.items.get(claimed.details.task.id, [])
        shown: Any = claim_answer(self._sim.deps, system(task.workspace, SWEEPER), claimed)["run_state"]
        if shown is None:  # in the answer of a repeat the task is as it was, and its state may be saved since
            is_missing = bool(saved) and task.run_state_id is not None
            self._must(not is_missing, "{}: it has a run state, and its claimer isn't told", task.id)
            return
        stored = [each for each in saved if all(each[name] == shown[name] for name in FACTS)]
        self._must(stored, "{}: its claimer is shown a run state of {} that nobody saved", task.id, shown)
        claim = task.claim
        is_own = claim is not None and (shown["by"], shown["agent"]) == (claim.principal, claim.agent)
        states = [(each["state"], each["signature"]) for each in stored] if is_own else [(None, None)]
        told = (shown["state"], shown["signature"])
        self._must(told in states, "{}: {} is shown the run state of {}", task.id, claim, shown)
        self._ledger.seen["run state shown" if is_own else "run state withheld"] += 1
