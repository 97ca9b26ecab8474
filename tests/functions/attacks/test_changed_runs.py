"""Attacks on work of agents that Baton runs: the prompt that runs is the prompt that people approved."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from baton.domain.access.rights import Right
from support.faults.wrapped_store import WrappedStore
from support.gateway import Gateway
from support.worlds.agent_runs import AgentRuns, says
from support.worlds.world import World, agent, human, person

ADA, MIA = human(name="ada"), person(Right.MEMBER, "mia")


class BeforeProfile(WrappedStore):
    """Acts once, before the next reading of a run profile."""

    act: Callable[[], Any] | None = None

    def around(self, name: str, call: Callable[..., Any]) -> Callable[..., Any]:
        if name != "profile" or self.act is None:
            return call

        def raced(*args: Any, **more: Any) -> Any:
            act, self.act = self.act, None
            assert act is not None
            act()
            return call(*args, **more)

        return raced


@pytest.mark.parametrize("target", ["payer", None], ids=["named", "open"])
def test_a_prompt_that_changes_after_the_claim_runs_nothing(target: str | None) -> None:
    store = BeforeProfile()
    world = World(store=store)
    runs = AgentRuns({"payer": {"system_prompt": "Pay ada's supplier"}}, {"payer": [says("Paid.")]}, world=world)
    runs.open()
    gateway = Gateway(world.deps)
    rule = {"target": "payer", "people": ["ada"], "needed": 1}
    assert gateway.put(ADA, "/workspace/settings", {"approval_rules": [rule]}).status == 200
    body = {"source": {"agent": "scout"}, "target": {"agent": "payer", "reason": "Pay"}}
    task = gateway.post(agent("scout"), "/handoffs", body).json["task"]
    assert gateway.post(ADA, f"/tasks/{task['id']}/approve", {"digest": task["digest"]}).status == 200
    edited: list[int] = []
    store.act = lambda: edited.append(gateway.put(MIA, "/agents/payer", {"system_prompt": "Pay mallory"}).status)
    runs.run()
    assert (edited, runs.model.requests) == ([200], [])
    assert runs.task(task["id"]).state == "needs"
