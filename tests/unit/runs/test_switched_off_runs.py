"""An agent that Baton runs is switched off while it works: its run stops before it asks or does anything more, and its
task goes on where it was once the agent is back."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from baton.domain.agents.tool import ToolMode
from baton.domain.errors import ModelThrottled
from baton.domain.runs.transcript import TaskEntry
from baton.ports.runs import ModelReply, ModelRequest, StopReason
from baton.services.agents.register_agent import register_agent
from baton.services.runs.process_task import NoticeOutcome
from support.worlds.agent_runs import AgentRuns, calls, says
from support.worlds.world import human

CHECKPOINT = ("save_checkpoint", {"step_name": "half", "state": {"a": 1}})
DONE = ("complete_task", {"output": {"ok": True}})


def switch(agent_runs: AgentRuns, *, on: bool) -> None:
    register_agent(agent_runs.deps, human(), "anna", {"active": on})


def then_off(reply: ModelReply) -> Callable[[ModelRequest], ModelReply]:
    """Switched off while the model thinks."""

    def answer(_: ModelRequest) -> ModelReply:
        switch(RUNS[0], on=False)
        return reply

    return answer


RUNS: list[AgentRuns] = []


def runs_of(*answers: Any) -> AgentRuns:
    tools = ("save_checkpoint", "complete_task", "fail_task", "to_bert", "ask_bert")
    agent_runs = AgentRuns({"anna": {"tools": tools}, "bert": {}}, {"anna": list(answers), "bert": [says("Bert here")]})
    agent_runs.tool("to_bert", "bert")
    agent_runs.tool("ask_bert", "bert", mode=ToolMode.DELEGATE)
    RUNS[:] = [agent_runs.open()]
    return agent_runs


@pytest.mark.parametrize(
    ("reply", "asked"),
    [
        (says("Done."), 1),
        (calls(CHECKPOINT), 2),
        (calls(DONE), 1),
        (calls(("to_bert", {})), 1),
        (calls(("ask_bert", {})), 2),
        (ModelReply(blocks=(), stop_reason=StopReason.END_TURN), 2),
    ],
    ids=["words", "a checkpoint", "its end", "a transfer", "a delegation", "a broken reply"],
)
def test_what_a_reply_asks_for_is_not_done_and_is_done_once_it_is_on_again(reply: ModelReply, asked: int) -> None:
    agent_runs = runs_of(then_off(reply), says("On again."))
    task = agent_runs.start("anna")
    assert (task.state, task.claim, task.attempt) == ("delegated", None, 0)
    assert len(agent_runs.model.requests) == 1
    assert agent_runs.children(task) == []
    assert [str(entry.kind) for entry in agent_runs.entries(task.id)] == ["ask", "reply"], (
        "kept, and nothing came of it"
    )
    assert "switched off" in agent_runs.world.store.trail.events("acme", task.id, 0, 100)[-1].data["reason"]
    switch(agent_runs, on=True)
    agent_runs.run()
    after = agent_runs.task(task.id)
    assert after.state == "done"
    assert len(agent_runs.model.asked("anna")) == asked, "the kept reply was acted on"


def test_the_next_call_of_its_model_is_not_made(monkeypatch: pytest.MonkeyPatch) -> None:
    agent_runs = runs_of(calls(CHECKPOINT), says("Done."))
    task = agent_runs.start("anna", until_quiet=False)
    keep = agent_runs.deps.store.runs.keep_entry

    def keep_entry(workspace: str, of_task: TaskEntry) -> None:
        keep(workspace, of_task)
        if of_task.entry.results:
            switch(agent_runs, on=False)

    monkeypatch.setattr(agent_runs.deps.store.runs, "keep_entry", keep_entry)
    agent_runs.run()
    assert len(agent_runs.model.requests) == 1
    assert agent_runs.task(task.id).state == "delegated"
    assert agent_runs.task(task.id).releases == 0, "something was done"


def test_a_provider_that_was_waited_for_is_not_asked_again() -> None:
    def throttled(_: ModelRequest) -> ModelReply:
        switch(RUNS[0], on=False)
        raise ModelThrottled("slowly")

    agent_runs = runs_of(throttled, says("On again."))
    task = agent_runs.start("anna")
    assert (task.state, task.attempt, len(agent_runs.model.requests)) == ("delegated", 0, 1)
    mine, _ = agent_runs.world.store.runs.usage("acme", task.workflow_id, task.id)
    assert mine.model_calls == 0, "there was no reply"
    switch(agent_runs, on=True)
    agent_runs.run()
    assert agent_runs.task(task.id).state == "done"


def test_no_notice_is_answered_with_another_while_it_is_off() -> None:
    agent_runs = runs_of(then_off(says("Done.")))
    task = agent_runs.start("anna", until_quiet=False)
    handled = agent_runs.run()
    assert handled.count(NoticeOutcome.RAN) == 1
    assert set(handled) <= {NoticeOutcome.RAN, NoticeOutcome.NOTHING}
    assert len(handled) <= 3
    for _ in range(20):
        agent_runs.world.clock.advance(300)
        agent_runs.sweep()
    assert agent_runs.task(task.id).attempt == 0
    assert agent_runs.task(task.id).releases <= 1
    assert agent_runs.world.dispatch_queue.notices == []
    assert "undeliverable" in {str(flag) for flag in agent_runs.task(task.id).flags}


def test_a_notice_for_a_task_that_is_not_due_yet_is_not_sent_again_while_it_is_off() -> None:
    agent_runs = runs_of(says("Done."))
    task = agent_runs.start("anna", until_quiet=False)
    switch(agent_runs, on=False)
    assert agent_runs.notify("acme", "anna", task.id) is NoticeOutcome.NOTHING
