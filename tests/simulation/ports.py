"""What Baton is given instead of the outside: a clock, ids, the queue, the bus, models."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import count
from typing import TYPE_CHECKING, Any

from baton.domain.errors import ModelAway, ModelRefuses, StaleClaim
from baton.domain.ids import sortable_id
from baton.ports.events import PublishResult
from baton.ports.runs import ModelReply, StopReason
from simulation.habits import Focus

if TYPE_CHECKING:
    from collections.abc import Sequence

    from baton.domain.events.bus_events import BusEvent
    from baton.ports.runs import ModelRequest, RunExit, RunFailed, RunInput, RunSucceeded
    from baton.services.runs.run_agent import AgentLoop
    from simulation.simulation import Simulation

BEGIN = datetime(2026, 11, 18, 12, tzinfo=UTC)
WORKSPACE = "acme"
# Of every entry of the blackboard.
SUMMARY = "look"
# What a model says with a tool, where the tool needs something.
ARGUMENTS: dict[str, dict[str, Any]] = {
    "complete_task": {"output": "x"},
    "fail_task": {"description": "d"},
    "save_checkpoint": {"step_name": "s", "state": {"n": 1}},
}


@dataclass
class SkewedClock:
    """Each process has its own."""

    sim: Simulation

    def now(self) -> datetime:
        return BEGIN + timedelta(milliseconds=self.sim.now_ms + self.sim.current.process.skew_ms)

    def sleep(self, seconds: float) -> None:
        self.sim.sleep(seconds)


class NumberedIds:
    """In the order of their making, and spread over the shards."""

    def __init__(self) -> None:
        self._numbers = count(1)

    def new(self, prefix: str, at: datetime) -> str:
        return sortable_id(prefix, at, hashlib.md5(b"%d" % next(self._numbers)).digest()[:10])

    def secret(self) -> str:
        return hashlib.sha256(b"%d" % next(self._numbers)).hexdigest()


class ShakyBus:
    """Refuses some events, and sometimes takes them and doesn't say so. ``accepted``: what it has."""

    def __init__(self, sim: Simulation) -> None:
        self._sim = sim
        self.accepted: set[str] = set()

    def publish(self, notices: Sequence[BusEvent]) -> PublishResult:
        sim = self._sim
        sim.fault_source.call("bus", len(notices), may_fail=False)
        dice = sim.draw(10) if sim.habits.is_bus_shaky and not sim.fault_source.is_calm else 0
        taken = frozenset(each.id for each in notices if dice < 6 or sim.draw(2))
        self.accepted |= taken
        assert all(json.loads(each.detail)["id"] == each.id for each in notices)
        if dice == 8:
            sim.fault_source.happened("bus lost")
            return PublishResult()
        refused = {each.id: "refused" for each in notices if each.id not in taken}
        return PublishResult(taken, refused if dice != 9 else {})


class ScriptedModel:
    """Calls its tools by chance, is away, refuses, and breaks."""

    def __init__(self, sim: Simulation) -> None:
        self._sim = sim

    def of(self, _name: str) -> tuple[str, str, ScriptedModel]:
        return "simulated", "m", self

    def converse(self, request: ModelRequest) -> ModelReply:
        sim = self._sim
        sim.oracle.answers.model_is_asked(request)
        sim.fault_source.call("model", request.task_id, may_fail=False, slow_ms=3_000 if sim.habits.is_hot else 30_000)
        sim.oracle.answers.model_replies(request)
        dice = 0 if sim.fault_source.is_calm else sim.draw(24)
        if dice == 21:
            raise ModelAway("away", retry_after=sim.draw(40))
        if dice == 22:
            raise ModelRefuses("no", retryable=sim.draw(2) == 0)
        if dice == 23:
            raise RuntimeError("model")
        usage = sim.oracle.spending.reply(request.task_id, sim.current.process.claim_id)
        names = [spec["name"] for spec in request.tools]
        if dice < 6 or not names:
            return ModelReply(blocks=({"text": "done"},), stop_reason=StopReason.END_TURN, usage=usage)
        blocks = [
            {"toolUse": {"name": name, "toolUseId": f"x{number}", "input": ARGUMENTS.get(name, {})}}
            for number, name in enumerate(self._called(names, request.agent))
        ]
        return ModelReply(blocks=tuple(blocks), stop_reason=StopReason.TOOL_USE, usage=usage)

    def _called(self, names: list[str], agent: str) -> list[str]:
        sim = self._sim
        called = [sim.pick(names) for _ in range(1 + sim.draw(3))]
        others = [name for name in names if name in ("ask_r", "ask_s") and name[-1] != agent]
        if sim.habits.focus is Focus.RUNS and others and sim.draw(3):
            return others * (2 + sim.draw(2))
        return called


@dataclass
class SimulatedRunner:
    """Notes under which claim a process works, and looks at the bill."""

    sim: Simulation
    loop: AgentLoop

    def run(self, work: RunInput) -> RunSucceeded | RunFailed | RunExit:
        self.sim.current.process.claim_id = work.claim_id
        try:
            outcome = self.loop.run(work)
        except StaleClaim:
            self.sim.oracle.spending.are_paid(work.claim_id)
            raise
        self.sim.oracle.spending.are_paid(work.claim_id)
        return outcome
