"""The four that everything is measured by, played through the functions' own entry points: a marker, a claim, a
completion and a tool call of an agent that Baton runs. Each is played once before, so that a process knows what it
keeps."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from baton.services.runs.process_task import DispatchNotice, TimeBudget, process_task
from baton.services.runs.run_agent import AgentLoop
from paths.tracer import Trace, Tracer
from support.gateway import Gateway, gateway_event, route_of
from support.worlds.agent_runs import calls, sales_runs
from support.worlds.world import World, agent, human, marker_body

if TYPE_CHECKING:
    from baton.domain.access.principal import Principal

DAYS = 86_400


def traced_requests() -> dict[str, Trace]:
    return {**_handoff(), "tool call": _tool_call()}


def _handoff() -> dict[str, Trace]:
    """By an agent that pulls, without Idempotency-Keys."""
    world = World().settle()
    desk = _Desk(world)
    for name in ("before", "measured"):
        marker = marker_body(source_digest_url=f"https://notes.example/{name}")
        task_id = desk.post(agent("scout"), "/handoff-markers", marker)["task_id"]
        world.clock.advance(1)
        desk.post(human(), f"/tasks/{task_id}/approve", {})
        world.clock.advance(5)
        claim_id = desk.post(agent("auditor"), "/agents/auditor/claims", {"worker": "w"})["claim_id"]
        done = {"claim_id": claim_id, "output": {"x": 1}}
        desk.post(agent("auditor"), f"/tasks/{task_id}/complete", done)
        world.clock.advance(10 * DAYS)
    return dict(zip(("marker", "approval", "claim", "completion"), desk.traces[-4:], strict=True))


class _Desk:
    def __init__(self, world: World) -> None:
        self._gateway = Gateway(world.deps)
        self.traces: list[Trace] = []

    def post(self, by: Principal, path: str, body: dict[str, Any]) -> Any:
        self._gateway.admit(by)
        event, route = gateway_event(by, "POST", path, body), route_of("POST", path)
        answers: list[dict[str, Any]] = []
        self.traces.append(Tracer().run(lambda: answers.append(self._gateway.handle(route, event))))
        assert answers[0]["statusCode"] < 300, answers[0]
        return json.loads(answers[0]["body"])


def _tool_call() -> Trace:
    """A whole run: its claim, its turn of the model, and the handoff that the model's tool makes."""
    _traced_run()
    return _traced_run()


def _traced_run() -> Trace:
    runs = sales_runs()
    runs.model.script["sales"] = [calls(("go", {}))]
    runs.start("sales", until_quiet=False)
    (workspace, slug, task_id, delay_seconds), *_ = runs.world.dispatch_queue.notices
    runs.world.dispatch_queue.notices.clear()
    runs.world.clock.advance(delay_seconds)
    notice = DispatchNotice(workspace=workspace, agent=slug, task_id=task_id)
    budget = TimeBudget(lease_seconds=150, time_left=lambda: 3_600.0)
    return Tracer().run(lambda: process_task(runs.deps, AgentLoop(runs.deps, runs.model), notice, budget))
