"""Agents that Baton runs beside the console, with a scripted model: one conversation that is handed over once, and then
delegates to two agents."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from baton.domain.task_state import State
from baton.ports.runs import ModelReply
from baton.services.runs.process_task import DispatchNotice, NoticeOutcome, TimeBudget, process_task
from baton.services.runs.run_agent import AgentLoop
from support.worlds.agent_runs import HOUR, FakeModel, calls, says
from support.worlds.console_server import ConsoleServer
from support.worlds.http_agents import ALICE

THOUGHT = "Both sides have to be asked."


def thinking(reply: ModelReply) -> ModelReply:
    block = {"reasoningContent": {"reasoningText": {"text": THOUGHT}}}
    return ModelReply(blocks=(block, *reply.blocks), stop_reason=reply.stop_reason, usage=reply.usage)


def _script() -> dict[str, list[Any]]:
    return {
        "sales": [calls(("handoff_to_sdr", {"lead_id": "123"}))],
        "sdr": [
            thinking(
                calls(("ask_legal", {"contract": "C-7"}), ("ask_pricing", {"contract": "C-7"}), text="I ask two.")
            ),
            says("Legal and pricing agree: lead 123 gets the contract."),
        ],
        "legal": [calls(("handoff_to_counsel", {"contract": "C-7"}), text="That is for counsel.")],
        "counsel": [says("Counsel: the contract is sound.")],
        "pricing": [says("Pricing: 5 % less than the list.")],
    }


@dataclass
class TalkingAgents:
    served: ConsoleServer
    model: FakeModel = field(default_factory=lambda: FakeModel(_script()))

    def hired(self) -> TalkingAgents:
        put = self.served.gateway.put
        for slug in self.model.script:
            assert put(ALICE, f"/agents/{slug}", {"name": slug.title(), "runtime": "run"}).status == 201
        self._tool("handoff_to_sdr", "sdr", "transfer", "lead_id")
        self._tool("handoff_to_counsel", "counsel", "transfer", "contract")
        self._tool("ask_legal", "legal", "delegate", "contract")
        self._tool("ask_pricing", "pricing", "delegate", "contract")
        for slug, tools in {
            "sales": ["handoff_to_sdr"],
            "sdr": ["ask_legal", "ask_pricing"],
            "legal": ["handoff_to_counsel"],
        }.items():
            assert put(ALICE, f"/agents/{slug}", {"tools": tools}).status == 200
        return self

    def _tool(self, name: str, target: str, mode: str, variable: str) -> None:
        config = {
            "target_agent": target,
            "mode": mode,
            "context_variables": [{"name": variable, "type": "string", "required": True}],
        }
        made = self.served.gateway.put(ALICE, f"/tools/{name}", {"description": f"For {target}.", "config": config})
        assert made.status == 201, made.text

    def begin(self, text: str) -> str:
        asks = {"agent": "sales", "message": text, "budget": {"max_tokens": 50_000}}
        begun = self.served.gateway.post(ALICE, "/conversations", asks)
        assert begun.status == 201, begun.text
        return str(begun.json["conversation_id"])

    def work(self, *slugs: str) -> None:
        """Does the tasks of these agents, and the tasks that come of them; without names, of all agents."""
        deps = self.served.gateway.deps
        queue: Any = deps.dispatch_queue
        while notices := [each for each in queue.notices if not slugs or each[1] in slugs]:
            queue.notices[:] = [each for each in queue.notices if each not in notices]
            for workspace, agent, task_id, *_ in notices:
                notice = DispatchNotice(workspace=workspace, agent=agent, task_id=task_id)
                budget = TimeBudget(lease_seconds=150, time_left=lambda: HOUR)
                outcome = process_task(deps, AgentLoop(deps, self.model), notice, budget)
                task, _ = deps.store.tasks.load(workspace, task_id)
                has_begun = outcome is NoticeOutcome.JOINED or task.state is not State.DELEGATED
                assert has_begun, f"{agent} didn't begin: {outcome}"
