"""When a task's model was called: from the transcript of its run, page by page."""

from __future__ import annotations

from typing import Any

from baton.domain import times
from baton.domain.access.principal import Principal, PrincipalKind
from support.gateway import Gateway
from support.worlds.agent_runs import AgentRuns, calls, says
from support.worlds.world import WORKSPACE, human


def test_each_reply_has_its_time_and_its_tokens_and_only_who_reads_the_task_reads_them() -> None:
    runs = AgentRuns({"sales": {}}, {})

    def later(reply: Any) -> Any:
        def answer(_: Any) -> Any:
            runs.world.clock.advance(30)
            return reply

        return answer

    runs.model.script["sales"] = [later(calls(("nothing", {}))), later(says("Done.", tokens=7))]
    task = runs.start("sales", "A contract?", until_quiet=False).id
    began = runs.deps.clock.now() + times.seconds(runs.world.dispatch_queue.notices[0][3])
    runs.run()
    gateway, path = Gateway(runs.deps), f"/tasks/{task}/model-calls"
    told = gateway.get(human(), path).json
    assert told["next_cursor"] is None
    assert [(each["turn"], each["at"], each["input_tokens"], each["stop_reason"]) for each in told["items"]] == [
        (1, times.rfc3339(began + times.seconds(30)), 10, "tool_use"),
        (2, times.rfc3339(began + times.seconds(60)), 7, "end_turn"),
    ]
    first = gateway.get(human(), path, query="limit=3").json  # entries: what the user said, a reply, its results
    second = gateway.get(human(), path, query=f"limit=3&cursor={first['next_cursor']}").json
    assert second["next_cursor"] is None
    assert first["items"] + second["items"] == told["items"]
    stranger = Principal(WORKSPACE, PrincipalKind.AGENT, "stranger")
    assert gateway.get(stranger, path).status == 404
