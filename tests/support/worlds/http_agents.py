"""Agents that hand work to each other over HTTP, in this process. They have standing approvals, so that nothing waits
for a human unless a test wants it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any

from support.fakes.fake_dynamo import FakeDynamo
from support.fakes.store import InMemoryStore
from support.gateway import Gateway, Reply
from support.worlds.world import WORKSPACE, World, agent, human, settled

ALICE = human()
CRITERIA = ["Implements all spec requirements", "Includes unit tests"]
CREW: dict[str, dict[str, Any]] = {
    "architect": {"accepts": ["design_request"], "produces": ["specification"]},
    "auto-code": {"accepts": ["specification", "bug_report"], "produces": ["code"]},
    "qa": {"accepts": ["code"], "produces": ["test_results"]},
    "ciso": {},
}


def message(source: str = "architect", target: str | None = "auto-code", /, **changes: Any) -> dict[str, Any]:
    body = {
        "source": {"agent": source, "phase": "design_complete"},
        "target": {"agent": target, "reason": "Implementation of the auth module"},
    }
    return {**body, **changes}


@dataclass
class HttpAgents:
    gateway: Gateway

    def hire(self, approval: str = "auto") -> HttpAgents:
        for slug, values in CREW.items():
            made = self.gateway.put(ALICE, f"/agents/{slug}", {"name": slug, "approval": approval, **values})
            assert made.status == 201, made.text
        return self

    def hire_in(self, world: World) -> HttpAgents:
        """Registers the agents in a world. If nothing else has happened there, copies the table of a world that has
        them."""
        if type(world.store) is not InMemoryStore or world.store.dynamo.items != settled(WORKSPACE).items:
            return self.hire()
        world.store.dynamo.take_over(_hired())
        world.store.agents.roster(WORKSPACE)  # known to this process, as to one that registered them
        return self

    def hand_off(self, source: str = "architect", target: str | None = "auto-code", /, **changes: Any) -> Any:
        """Hands off as the source. Returns the answer's body."""
        reply = self.gateway.post(agent(source), "/handoffs", message(source, target, **changes))
        assert reply.status == 201, reply.text
        return reply.json

    def take(self, slug: str) -> Any:
        """Returns a claim on the agent's best task."""
        reply = self.gateway.post(agent(slug), f"/agents/{slug}/claims")
        assert reply.status == 200, reply.text
        return reply.json

    def say(self, claim: Any, verb: str, **body: Any) -> Reply:
        """Sends a verb as the claim's holder."""
        slug, task_id = claim["task"]["claim"]["agent"], claim["task"]["id"]
        return self.gateway.post(agent(slug), f"/tasks/{task_id}/{verb}", {"claim_id": claim["claim_id"], **body})

    def begun(self, slug: str = "auto-code", **changes: Any) -> Any:
        """Returns a claim on a task that was handed to the agent."""
        self.hand_off("architect", slug, **changes)
        return self.take(slug)


@cache
def _hired() -> FakeDynamo:
    """Returns a table with the agents and nothing else. Callers copy it, and never write to it."""
    store = InMemoryStore()
    HttpAgents(Gateway(World(store).settle().deps)).hire()
    return store.dynamo
