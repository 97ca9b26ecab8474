"""People who split guarded tasks into parts that nothing guards, and decide on the parts alone."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Any

from baton.domain.handoffs.handoff_message import message_from
from baton.domain.tasks.calls import HumanCall
from baton.services.handoffs.retry_handoff import retry_handoff
from baton.services.handoffs.split_task import split_task
from baton.services.tasks.approve_task import approve_task
from simulation.actors.actor_context import NothingThere
from simulation.requests import Answered

if TYPE_CHECKING:
    from simulation.actors.actor_context import ActorContext

SPLITTERS = ("bob", "bob", "carol", "h0", "h3", "mem", "rea")


class Splitter:
    def __init__(self, context: ActorContext) -> None:
        self._context, self._sim, self._draw = context, context.sim, context.draw

    def act(self) -> None:
        while not self._sim.is_stopping:
            self._context.rest(20)
            with suppress(NothingThere):
                self._split() if self._draw(3) else self._retry()

    def _split(self) -> None:
        sim, task_id = self._sim, self._guarded()
        by = self._context.person(sim.pick(SPLITTERS))
        targets = [sim.pick(["a", "a", None, "b"]) for _ in range(2 + self._draw(2))]
        parts: list[dict[str, Any]] = [
            {"summary": f"part {number}", **({"target": {"agent": each}} if self._draw(3) else {})}
            for number, each in enumerate(targets)
        ]
        outcome = self._context.ask(
            "split",
            by,
            lambda key: split_task(
                sim.deps, HumanCall(by, task_id, idempotency_key=key), list(map(message_from, parts))
            ),
        )
        if isinstance(outcome, Answered):
            for part in outcome.value[1]:
                self._approve(part.task.id)

    def _approve(self, task_id: str) -> None:
        """Alone."""
        sim, by = self._sim, self._context.person(self._sim.pick(SPLITTERS))
        self._context.ask("approve", by, lambda key: approve_task(sim.deps, by, task_id, None, key))

    def _retry(self) -> None:
        """Retries failed work, in the hope that its retry needs less."""
        sim, task_id = self._sim, self._context.some_task("failed", "rejected", "cancelled")
        by = self._context.person(sim.pick(SPLITTERS))
        outcome = self._context.ask("retry", by, lambda key: retry_handoff(sim.deps, by, task_id, key))
        if isinstance(outcome, Answered) and outcome.value is not None and self._draw(2):
            self._approve(outcome.value.task.id)

    def _guarded(self) -> str:
        """Returns mostly a task with an approval rule."""
        heads = self._context.ledger.heads
        guarded = [each for each, head in heads.items() if head["state"] == "needs" and head.get("approval")]
        return self._sim.pick(guarded[-4:]) if guarded and self._draw(4) else self._context.some_task("needs")
