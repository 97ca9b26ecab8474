"""An agent asks others and goes on with what they made of it (docs/spec/tools.md §4): whatever becomes of them, each
call has one result, and the task that waits isn't left waiting."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from itertools import pairwise
from typing import Any

import pytest

from baton.domain.agents.tool import ToolMode
from baton.domain.errors import ModelAway
from baton.domain.handoffs.handoff_message import message_from
from baton.domain.tasks.calls import WorkerCall
from baton.domain.tasks.task import Policy, Task
from baton.domain.times import rfc3339
from baton.ports.runs import ModelReply
from baton.services.agents.register_agent import register_agent
from baton.services.claims.claim_task import claim_task
from baton.services.claims.complete_task import CompletedWork, complete_task
from baton.services.handoffs.create_handoff import CreateHandoff, create_handoff
from baton.services.runs.process_task import DispatchNotice, NoticeOutcome, TimeBudget, process_task
from baton.services.runs.run_agent import AgentLoop
from baton.services.tasks.end_task import cancel_task
from baton.services.tasks.sweep import sweep
from baton.steps.claims.take_task import Claimer
from support.faults.soak import scaled
from support.faults.threads import StillClock, race
from support.worlds.agent_runs import HOUR, AgentRuns, calls, says
from support.worlds.world import WORKSPACE, agent, human

ASKED = ("bert", "carl", "dora")
ASK_ALL = calls(*((f"ask_{slug}", {}) for slug in ASKED))
NO = calls(("fail_task", {"description": "I can't."}))


def delegating_runs(
    *anna: Any, pull: tuple[str, ...] = (), profile: dict[str, Any] | None = None, **others: Any
) -> AgentRuns:
    """Anna may ask three others, and hand over to Bert. ``pull``: those whose worker comes when it likes."""
    agents: dict[str, dict[str, Any]] = {slug: {"tools": ("fail_task",)} for slug in ASKED}
    tools = (*(f"ask_{slug}" for slug in ASKED), "to_bert", "save_checkpoint")
    agents["anna"] = {"tools": tools, **(profile or {})}
    agents["bert"] = {"tools": ("fail_task", "to_carl")}
    script = {slug: others.get(slug, [says(f"{slug}!")]) for slug in ASKED}
    agent_runs = AgentRuns(agents, {"anna": list(anna), **script})
    for slug in ASKED:
        agent_runs.tool(f"ask_{slug}", slug, mode=ToolMode.DELEGATE)
        agent_runs.tool(f"to_{slug}", slug)
    agent_runs.open()
    for slug in pull:
        register_agent(agent_runs.deps, human(), slug, {"runtime": "pull"})
    return agent_runs


def told(agent_runs: AgentRuns, number: int = 1) -> list[tuple[str, Any]]:
    """What the model of Anna is told of its calls when it is asked for the how manieth time."""
    blocks = [block["toolResult"] for block in agent_runs.model.asked("anna")[number].messages[-1]["content"]]
    return [(each["status"], each["content"][0].get("json") or each["content"][0]["text"]) for each in blocks]


def states(results: list[tuple[str, Any]]) -> list[tuple[str, str]]:
    return [(status, said["state"]) for status, said in results]


def child(agent_runs: AgentRuns, root: Task, slug: str) -> Task:
    (found,) = [each for each in agent_runs.children(root) if each.target_agent == slug]
    return found


def finish(agent_runs: AgentRuns, task: Task, output: Any = "late") -> None:
    """By the worker of an agent that pulls."""
    by = agent(str(task.target_agent))
    agent_runs.world.clock.advance(1)
    claimed = claim_task(agent_runs.deps, Claimer(by=by, agent=by.id, worker="w"), task.id)
    complete_task(agent_runs.deps, WorkerCall(by, task.id, claimed.claim_id, "h"), CompletedWork(output=output))


def check(agent_runs: AgentRuns, workflow_id: str) -> None:
    """One result per call at most, and none for a call that nobody made."""
    for task in agent_runs.tasks(workflow_id):
        entries = agent_runs.entries(task.id)
        asked = [call["toolUseId"] for entry in entries for call in entry.calls]
        given = [b["toolResult"]["toolUseId"] for e in entries for b in e.blocks if "toolResult" in b]
        assert len(set(given)) == len(given)
        assert set(given) <= set(asked)
        assert all(one.last + 1 == next_.first for one, next_ in pairwise(entries))
        resumed = agent_runs.world.trail(task.id).count("resumed")
        assert resumed == task.waits - (task.state == "waiting") or task.state == "cancelled"


def test_a_branch_that_hands_on_brings_its_last_tasks_result_under_the_first_call() -> None:
    agent_runs = delegating_runs(calls(("ask_bert", {})), says("Done."), bert=[calls(("to_carl", {}))])
    root = agent_runs.start("anna")
    ((status, result),) = told(agent_runs)
    assert (status, result["agent"], result["output"]) == ("success", "carl", {"message": "carl!"})
    (first,) = agent_runs.children(root)
    (last,) = agent_runs.children(first)
    assert (last.target_agent, last.join_parent, last.call_id) == ("carl", root.id, first.call_id)
    assert (root.state, result["task_id"]) == ("done", last.id)
    check(agent_runs, root.workflow_id)


def test_when_all_of_them_fail_it_is_told_so_and_goes_on() -> None:
    agent_runs = delegating_runs(ASK_ALL, says("Nobody could."), bert=[NO], carl=[NO], dora=[NO])
    root = agent_runs.start("anna")
    assert states(told(agent_runs)) == [("error", "failed")] * 3
    assert all(said["failure"]["description"] == "I can't." for _, said in told(agent_runs))
    assert (root.state, agent_runs.output(root.id)) == ("done", {"message": "Nobody could."})
    check(agent_runs, root.workflow_id)


@pytest.mark.parametrize(
    ("profile", "pull"),
    [
        ({"join": Policy.ANY}, ("carl", "dora")),
        ({"join": Policy.QUORUM, "quorum": 2}, ("dora",)),
        ({"join": Policy.QUORUM, "quorum": 1}, ("carl", "dora")),
    ],
)
def test_who_finishes_late_disturbs_nobody(profile: dict[str, Any], pull: tuple[str, ...]) -> None:
    agent_runs = delegating_runs(ASK_ALL, says("Enough."), pull=pull, profile=profile)
    root = agent_runs.start("anna")
    assert root.state == "done"
    results = told(agent_runs)
    assert states(results)[-1] == ("error", "delegated")
    assert [status for status, _ in results].count("success") == 3 - len(pull)
    before = (agent_runs.entries(root.id), agent_runs.task(root.id), len(agent_runs.model.requests))
    for slug in pull:
        finish(agent_runs, child(agent_runs, root, slug))
    agent_runs.sweep()
    assert (agent_runs.entries(root.id), agent_runs.task(root.id), len(agent_runs.model.requests)) == before
    check(agent_runs, root.workflow_id)


def test_who_finishes_late_is_not_taken_for_one_that_is_waited_for_now() -> None:
    again = calls(("ask_dora", {}))
    agent_runs = delegating_runs(ASK_ALL, again, says("Done."), pull=("carl", "dora"), profile={"join": Policy.ANY})
    root = agent_runs.start("anna")
    assert (root.state, root.waits) == ("waiting", 2)
    asked = [each for each in agent_runs.children(root) if each.target_agent == "dora"]
    late, now = sorted(asked, key=lambda each: str(each.call_id))
    finish(agent_runs, late)
    agent_runs.sweep()
    assert agent_runs.task(root.id).state == "waiting"
    finish(agent_runs, now, "in time")
    agent_runs.sweep()
    assert agent_runs.task(root.id).state == "done"
    ((status, result),) = told(agent_runs, 2)
    assert (status, result["task_id"], result["output"]) == ("success", now.id, "in time")
    check(agent_runs, root.workflow_id)


def test_cancelling_who_waits_cancels_those_that_it_asked() -> None:
    agent_runs = delegating_runs(ASK_ALL, says("Done."), pull=("carl", "dora"))
    root = agent_runs.start("anna")
    cancel_task(agent_runs.deps, human(), root.id, "stop")
    agent_runs.sweep()
    assert agent_runs.task(root.id).state == "cancelled"
    ended = {str(each.target_agent): str(each.state) for each in agent_runs.children(root)}
    assert ended == {"bert": "done", "carl": "cancelled", "dora": "cancelled"}
    assert len(agent_runs.model.asked("anna")) == 1
    check(agent_runs, root.workflow_id)


def test_a_parent_that_is_cancelled_while_a_child_thinks_gets_no_result() -> None:
    def slow(_: Any) -> ModelReply:
        cancel_task(agent_runs.deps, human(), agent_runs.tasks(root_of(agent_runs))[0].id, "stop")
        return calls(("to_carl", {}))

    agent_runs = delegating_runs(calls(("ask_bert", {})), says("Done."), bert=[slow])
    root = agent_runs.start("anna")
    assert (root.state, [each.state for each in agent_runs.children(root)]) == ("cancelled", ["cancelled"])
    assert len(agent_runs.tasks(root.workflow_id)) == 2, "the child's handoff came too late"
    check(agent_runs, root.workflow_id)


def root_of(agent_runs: AgentRuns) -> str:
    task: Task = agent_runs.world.store.lists.tasks_of_day(
        WORKSPACE, agent_runs.world.clock.now().date(), 1, None
    ).items[0]
    return task.workflow_id


def test_a_child_that_nobody_takes_is_told_of_and_its_cancel_is_a_result() -> None:
    agent_runs = delegating_runs(calls(("ask_carl", {})), says("Done without."), pull=("carl",))
    root = agent_runs.start("anna")
    agent_runs.world.clock.advance(86_401)
    agent_runs.sweep()
    assert (agent_runs.task(root.id).state, {str(f) for f in agent_runs.task(root.id).flags}) == (
        "waiting",
        {"waiting_too_long"},
    )
    assert "unclaimed_too_long" in child(agent_runs, root, "carl").flags
    cancel_task(agent_runs.deps, human(), child(agent_runs, root, "carl").id, "nobody there")
    agent_runs.sweep()
    assert agent_runs.task(root.id).state == "done"
    assert states(told(agent_runs)) == [("error", "cancelled")]


def test_a_deadline_ends_the_waiting_for_a_child_that_nobody_takes() -> None:
    agent_runs = delegating_runs(calls(("ask_carl", {})), says("Done."), pull=("carl",))
    deadline = rfc3339(agent_runs.world.clock.now() + timedelta(minutes=10))
    message = {
        "source": {"agent": "alice"},
        "target": {"agent": "anna", "reason": "Ask"},
        "expectations": {"deadline": deadline, "fail_on_deadline": True},
    }
    root = create_handoff(agent_runs.deps, human(), CreateHandoff(message=message_from(message))).task
    agent_runs.run()
    assert agent_runs.task(root.id).state == "waiting"
    agent_runs.world.clock.advance(601)
    agent_runs.sweep()
    assert (agent_runs.task(root.id).state, agent_runs.failure(root.id)["type"]) == ("failed", "timeout")
    assert child(agent_runs, root, "carl").state == "failed"  # what it was given isn't longer than what was left
    assert len(agent_runs.model.asked("anna")) == 1


def test_of_more_than_ten_at_once_the_first_ten_are_asked() -> None:
    agent_runs = delegating_runs(calls(*[("ask_bert", {})] * 13), says("Done."))
    root = agent_runs.start("anna")
    assert (root.state, len(agent_runs.children(root))) == ("done", 10)
    results = told(agent_runs)
    assert [status for status, _ in results] == ["success"] * 10 + ["error"] * 3
    assert "at most 10 at once" in results[-1][1]
    check(agent_runs, root.workflow_id)


@pytest.mark.parametrize("first", ["to_bert", "ask_carl"])
def test_a_transfer_wins_over_delegations_of_the_same_reply(first: str) -> None:
    both = [first, "ask_carl" if first == "to_bert" else "to_bert"]
    agent_runs = delegating_runs(calls(*((name, {}) for name in both)))
    root = agent_runs.start("anna")
    assert [(each.target_agent, str(each.kind)) for each in agent_runs.children(root)] == [("bert", "transfer")]
    (reply, results) = agent_runs.entries(root.id)[1:]
    statuses = {call["name"]: results.results[call["toolUseId"]]["status"] for call in reply.calls}
    assert statuses == {"to_bert": "success", "ask_carl": "error"}
    check(agent_runs, root.workflow_id)


def test_other_tools_run_first_and_their_results_go_along() -> None:
    half = ("save_checkpoint", {"step_name": "half", "state": {}})
    asking = calls(("ask_bert", {}), half, ("rm_rf", {}), ("ask_carl", {"n": 1}), ("ask_dora", {}))
    agent_runs = delegating_runs(asking, says("Done."))
    root = agent_runs.start("anna")
    assert [status for status, _ in told(agent_runs)] == ["success", "success", "error", "error", "success"]
    assert (agent_runs.task(root.id).checkpoints, len(agent_runs.children(root))) == (1, 2)
    check(agent_runs, root.workflow_id)


def test_a_delegation_that_the_loop_guard_stops_is_a_result_and_none_of_them_begins() -> None:
    agent_runs = delegating_runs(calls(("ask_bert", {}), ("ask_anna", {})), says("Done."))
    agent_runs.tool("ask_anna", "anna", mode=ToolMode.DELEGATE)
    register_agent(agent_runs.deps, human(), "anna", {"tools": ("ask_bert", "ask_anna")})
    root = agent_runs.start("anna")
    assert (root.state, root.waits, agent_runs.children(root)) == ("done", 0, [])
    assert [status for status, _ in told(agent_runs)] == ["error", "error"]


def test_a_parent_whose_model_is_away_when_it_goes_on_keeps_its_results() -> None:
    away = [ModelAway("throttled")] * 6
    agent_runs = delegating_runs(calls(("ask_bert", {}), ("ask_carl", {})), *away, says("Done."))
    root = agent_runs.start("anna")
    assert (root.state, root.attempt, root.waits) == ("done", 1, 1)
    assert states(told(agent_runs, -1)) == [("success", "done")] * 2
    check(agent_runs, root.workflow_id)


@pytest.mark.slow
@pytest.mark.parametrize("lost", [False, True])
def test_two_last_children_at_once(lost: bool) -> None:
    """However they end, the one that waits goes on once, with both results; also if their notices are lost."""
    for _ in range(scaled(10, 3)):
        agent_runs = delegating_runs(calls(("ask_bert", {}), ("ask_carl", {})), says("Done."))
        root = agent_runs.start("anna", until_quiet=False)
        agent_runs.world.clock.advance(3)
        agent_runs.world.dispatch_queue.notices.clear()
        assert agent_runs.notify(WORKSPACE, "anna", root.id) is NoticeOutcome.RAN
        children = agent_runs.children(root)
        agent_runs.world.dispatch_queue.notices.clear()
        still = replace(agent_runs.deps, clock=StillClock(agent_runs.world.clock.now()), log=lambda *_, **__: None)

        begun = [(WORKSPACE, str(each.target_agent), each.id) for each in children]
        assert at_once(still, agent_runs, begun) == {NoticeOutcome.RAN}
        if lost:
            agent_runs.world.dispatch_queue.notices.clear()
            agent_runs.world.clock.advance(61)
            assert sweep(agent_runs.deps).failed == 0
        else:  # each child's end notifies once: both are answered at once
            notices = [notice[:3] for notice in agent_runs.world.dispatch_queue.notices if notice[2] == root.id]
            assert len(notices) == 2
            agent_runs.world.dispatch_queue.notices.clear()
            assert NoticeOutcome.JOINED in at_once(still, agent_runs, notices)
        agent_runs.run()
        assert agent_runs.task(root.id).state == "done"
        assert states(told(agent_runs)) == [("success", "done")] * 2
        assert agent_runs.world.trail(root.id).count("resumed") == 1
        assert len(agent_runs.model.asked("anna")) == 2
        check(agent_runs, root.workflow_id)


def at_once(still: Any, agent_runs: AgentRuns, notices: list[tuple[str, str, str]]) -> set[Any]:
    def answer(_: int, runner: int) -> NoticeOutcome:
        workspace, slug, task_id = notices[runner]
        time_budget = TimeBudget(lease_seconds=150, time_left=lambda: HOUR)
        notice = DispatchNotice(workspace=workspace, agent=slug, task_id=task_id)
        return process_task(still, AgentLoop(still, agent_runs.model), notice, time_budget)

    return set(race(len(notices), 1, answer)[0])
