"""How everything behaves once nothing goes wrong any more."""

from __future__ import annotations

from typing import TYPE_CHECKING

from baton.services.approve_task import approve_task
from baton.services.claim_task import Claimer, claim_next, claim_task
from baton.services.complete_task import complete_task
from baton.services.publish_events import publish_overdue
from baton.services.register_agent import register_agent
from baton.services.sweep import sweep
from simulation.cast.people import ALL, SERVICE, agent, human
from simulation.oracle.ledger import ENDED
from simulation.ports import BEGIN, WORKSPACE

if TYPE_CHECKING:
    from simulation.cast.scene import Scene

DAY_MS = 86_400_000
BEGIN_MS = int(BEGIN.timestamp() * 1000)
MAX_ROUNDS = 1_500
SWEEP_MS = 61_000


class CalmDays:
    def __init__(self, scene: Scene) -> None:
        self._scene, self._sim = scene, scene.sim

    def pass_by(self, days: int) -> None:
        """Only what Baton itself does: bells, sweeps, news."""
        sim, end_ms = self._sim, self._sim.now_ms + days * DAY_MS
        for _ in range(MAX_ROUNDS):
            first = min([*self._due(), *(at for at, _ in sim.queue.waiting)], default=end_ms + 1)
            if sim.scheduler.is_stopped or first > end_ms:
                sim.pass_to(end_ms)
                return
            sim.pass_to(max(sim.now_ms + 1_000, first + SWEEP_MS))
            for bell in sim.queue.due(sim.now_ms):
                sim.lambdas.answer(bell)
            this = sweep(sim.baton)
            is_well = this.failed == 0 and this.complete
            sim.oracle.verdict.must(is_well, "a sweep in quiet times failed")
            publish_overdue(sim.baton, sim.bus)
        sim.oracle.verdict.fail("it never comes to rest")

    def everybody_finishes(self) -> None:
        """Humans approve, workers work: everything there is can be brought to an end."""
        sim, heads = self._sim, self._scene.ledger.heads
        for slug in ALL:
            register_agent(sim.baton, human(), slug, {"active": True})
        for _ in range(60):
            sim.pass_to(sim.now_ms + 60_000)
            for task in list(sim.baton.store.needs(WORKSPACE, 200, None).items):
                approve_task(sim.baton, human(), task.id, None)
            sim.pass_to(sim.now_ms + 60_000)
            for slug in ALL:
                self._work_off(slug)
            for task_id in [task_id for task_id, head in heads.items() if head["state"] == "next"]:
                self._take(task_id)
            self.pass_by(1)
            if sim.scheduler.is_stopped or all(head["state"] in ENDED for head in heads.values()):
                return

    def _due(self) -> list[int]:
        """When the system must look at something again."""
        for index in self._sim.dynamo.indexes.values():
            index.catch_up(1 << 60)
        shown = self._sim.dynamo.indexes["wake"].shown
        return [int(sk.split("#")[0]) - BEGIN_MS for rows in shown.values() for sk, _ in rows]

    def _work_off(self, slug: str) -> None:
        sim, by = self._sim, agent(slug)
        while claimed := claim_next(sim.baton, Claimer(by=by, agent=slug, worker="calm")):
            sim.oracle.answers.claimed(claimed)
            complete_task(sim.baton, by, claimed.dossier.task.id, claimed.claim_id, None, "calm")

    def _take(self, task_id: str) -> None:
        head = self._scene.ledger.heads[task_id]
        slug = head.get("target_agent") or ("b" if head["source_agent"] == "a" else "a")
        claimed = claim_task(self._sim.baton, Claimer(by=SERVICE, agent=slug, worker="calm"), task_id)
        complete_task(self._sim.baton, SERVICE, task_id, claimed.claim_id, None, "calm")
