"""Where exactly a run stops: at its budgets, at what a provider asks for, at a history that is too long, and at a claim
that is over (docs/spec/tools.md §3)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from baton.domain.agents.tool import ToolMode, Variable
from baton.domain.canonical_json import canonical_json
from baton.domain.errors import Busy, ConversationBusy, ModelAway, ModelThrottled
from baton.domain.handoffs.handoff_message import message_from
from baton.domain.runs.history import MAX_HISTORY_BYTES
from baton.domain.tasks.task import MAX_RELEASES
from baton.ports.details import TaskDetails
from baton.ports.handoffs import HandoffQuery
from baton.ports.runs import ModelReply, StopReason
from baton.services.access.change_settings import change_settings
from baton.services.conversations.converse import SaidMessage, say
from baton.services.handoffs.create_handoff import CreateHandoff, create_handoff
from baton.services.runs.process_task import NoticeOutcome
from baton.services.tasks.end_task import cancel_task
from baton.steps.runs.model_client import LAST_THROTTLE_SECONDS, MAX_THROTTLED_TRIES
from support.faults.threads import at_once
from support.worlds.agent_runs import AgentRuns, calls, says
from support.worlds.world import human

if TYPE_CHECKING:
    from baton.domain.tasks.task import Task
    from baton.ports.runs import ModelRequest

CHECKPOINT = calls(("save_checkpoint", {"step_name": "one", "state": {}}))
TOO_LONG = ModelReply(blocks=(), stop_reason=StopReason.CONTEXT_WINDOW_EXCEEDED)


def alone(*script: Any, **profile: Any) -> AgentRuns:
    agents = {"helper": {"tools": ("save_checkpoint",), **profile}}
    return AgentRuns(agents, {"helper": list(script)}).open()


def run_once(agent_runs: AgentRuns, message: str = "Hello") -> tuple[Task, NoticeOutcome]:
    root = agent_runs.start("helper", message, until_quiet=False)
    agent_runs.world.clock.advance(3)
    agent_runs.world.dispatch_queue.notices.clear()
    handled = agent_runs.notify(root.workspace, "helper", root.id)
    return agent_runs.task(root.id), handled


@pytest.mark.parametrize(("most", "state"), [(1_000, "failed"), (1_001, "done")])
def test_a_task_that_has_had_its_tokens_asks_no_more(most: int, state: str) -> None:
    half = calls(("save_checkpoint", {"step_name": "one", "state": {}}))
    spent = ModelReply(blocks=half.blocks, stop_reason=half.stop_reason, usage=says("", tokens=500).usage)
    agent_runs = alone(spent, says("Done."), max_tokens=most)
    assert agent_runs.start("helper").state == state


@pytest.mark.parametrize(("most", "state"), [(20, "failed"), (21, "done")])
def test_a_workflow_that_has_had_its_tokens_asks_no_more(most: int, state: str) -> None:
    agent_runs = alone(CHECKPOINT, says("Done."))
    root = agent_runs.start("helper", budget={"max_tokens": most})
    assert (root.state, root.attempt) == (state, 1)
    assert state == "done" or "The workflow's budget is 20 tokens" in agent_runs.failure(root.id)["description"]


def test_a_provider_is_left_alone_for_as_long_as_it_asks() -> None:
    agent_runs = alone(ModelAway("throttled", retry_after=9), says("Hi."))
    before = agent_runs.world.clock.now()
    root, _ = run_once(agent_runs)
    assert root.state == "done"
    assert (agent_runs.world.clock.now() - before).total_seconds() >= 3 + 9


def test_a_throttled_provider_is_waited_for_longer_than_one_that_is_out() -> None:
    for away, state in ((ModelThrottled("slowly"), "done"), (ModelAway("out"), "delegated")):
        agent_runs = alone(*[away] * (MAX_THROTTLED_TRIES - 1), says("Hi."))
        root, _ = run_once(agent_runs)
        assert root.state == state
    agent_runs = alone(ModelThrottled("slowly", retry_after=LAST_THROTTLE_SECONDS), says("Hi."))
    assert run_once(agent_runs)[0].state == "done"
    agent_runs = alone(ModelThrottled("slowly", retry_after=LAST_THROTTLE_SECONDS + 1), says("Hi."))
    assert run_once(agent_runs)[0].state == "delegated"
    agent_runs = alone(*[ModelThrottled("slowly")] * MAX_THROTTLED_TRIES, says("Hi."))
    assert run_once(agent_runs)[0].state == "delegated"


def test_a_task_comes_back_no_earlier_than_its_provider_asks() -> None:
    agent_runs = alone(ModelAway("throttled", retry_after=200), says("Hi."))
    root, _ = run_once(agent_runs)
    assert len(agent_runs.model.requests) == 1
    assert root.ready_at is not None
    assert (root.ready_at - agent_runs.world.clock.now()).total_seconds() >= 200


def test_vain_rounds_take_longer_each_time_and_end_with_a_human() -> None:
    agent_runs = alone(ModelAway("out"))
    root, _ = run_once(agent_runs)
    pauses = []
    for _ in range(2 * MAX_RELEASES):
        if root.state != "delegated":
            break
        assert root.ready_at is not None
        pauses.append((root.ready_at - agent_runs.world.clock.now()).total_seconds())
        agent_runs.world.clock.advance(pauses[-1])
        agent_runs.notify(root.workspace, "helper", root.id)
        root = agent_runs.task(root.id)
    assert (root.state, len(pauses) + 1) == ("needs", MAX_RELEASES)
    assert pauses == sorted(pauses)
    assert (pauses[0], pauses[-1]) == (15, 600)


def test_rounds_that_came_to_something_end_with_nobody() -> None:
    script = [each for _ in range(MAX_RELEASES + 2) for each in (CHECKPOINT, *[ModelAway("out")] * 3)]
    agent_runs = alone(*script, says("Done."))
    root = agent_runs.start("helper")
    assert (root.state, root.releases) == ("done", 0)


def test_a_history_that_is_too_long_is_halved_three_times() -> None:
    long = says("x" * 60_000)
    agent_runs = alone(*[long] * 5, TOO_LONG, TOO_LONG, TOO_LONG, says("Done."))
    root = agent_runs.start("helper")
    for _ in range(4):
        agent_runs.say(root.workflow_id, "More")
    assert agent_runs.say(root.workflow_id, "And now?").state == "done"
    sizes = [len(canonical_json(each.messages)) for each in agent_runs.model.requests[-4:]]
    assert [MAX_HISTORY_BYTES >> n >= size for n, size in enumerate(sizes)] == [True] * 4
    assert sizes[0] > 2 * sizes[2] > 0


def test_one_that_is_too_long_the_fourth_time_fails() -> None:
    agent_runs = alone(TOO_LONG)
    root = agent_runs.start("helper")
    assert (root.state, len(agent_runs.model.requests)) == ("failed", 4)
    assert agent_runs.failure(root.id)["description"] == "The conversation is too long for the model."


def test_a_task_that_is_cancelled_while_a_model_thinks_is_left_alone() -> None:
    agent_runs = alone()

    def think(request: ModelRequest) -> ModelReply:
        cancel_task(agent_runs.deps, human(), request.task_id, None)
        return says("Too late.")

    agent_runs.model.script["helper"] = [think, says("Never.")]
    root, handled = run_once(agent_runs)
    assert (root.state, handled, len(agent_runs.model.requests)) == ("cancelled", NoticeOutcome.LOST, 1)
    assert agent_runs.told(root.workflow_id) == [
        ("user_message", "Hello"),
        ("status_change", "The task is cancelled."),
    ]


def asking(*calls_: tuple[str, Any], **settings: Any) -> AgentRuns:
    agents: dict[str, dict[str, Any]] = {"boss": {"tools": ("ask", "go")}, "helper": {}}
    agent_runs = AgentRuns(agents, {"boss": [calls(*calls_), says("Done.")], "helper": [says("Here.")]})
    blob = (Variable(name="blob"),)
    agent_runs.tool("ask", "helper", mode=ToolMode.DELEGATE, context_variables=blob)
    agent_runs.tool("go", "helper", context_variables=blob)
    if settings:
        change_settings(agent_runs.deps, human(), settings)
    return agent_runs.open()


@pytest.mark.parametrize(("most", "children"), [(3, 0), (4, 3)])
def test_parts_that_begin_together_are_counted_together(most: int, children: int) -> None:
    agent_runs = asking(*[("ask", {})] * 3, max_handoffs_per_workflow=most)
    root = agent_runs.start("boss")
    assert (root.state, len(agent_runs.children(root))) == ("done", children)
    counted = agent_runs.world.store.handoffs.handoff_inputs(
        root.workspace, HandoffQuery(workflow_id=root.workflow_id)
    ).handoffs
    assert (counted or 1) == 1 + children


def test_a_part_has_the_time_that_there_is_and_none_of_the_criteria() -> None:
    agent_runs = asking(("ask", {}))
    deadline = "2027-01-01T00:00:00.000Z"
    deliverable = {"type": "text", "description": "it", "acceptance_criteria": ["It is short"]}
    message = {
        "source": {"agent": "alice"},
        "target": {"agent": "boss", "reason": "write"},
        "summary": "Write it",
        "expectations": {"deliverables": [deliverable], "deadline": deadline, "fail_on_deadline": True},
    }
    root = create_handoff(agent_runs.deps, human(), CreateHandoff(message=message_from(message))).task
    agent_runs.run()
    (part,) = agent_runs.children(root)
    assert agent_runs.body(part.id)["expectations"] == {"deadline": deadline, "fail_on_deadline": True}
    assert part.state == "done"


@pytest.mark.parametrize("name", ["ask", "go"])
def test_a_context_that_outgrows_its_bound_is_handed_to_nobody(name: str) -> None:
    agent_runs = asking((name, {"blob": "x" * 200_000}))
    root = agent_runs.start("boss", context={"before": "y" * 70_000})
    assert agent_runs.children(root) == []
    assert any("is too large after merging" in text for _, text in agent_runs.told(root.workflow_id))


def test_of_many_who_say_something_at_once_one_is_heard() -> None:
    agent_runs = alone(says("Hi."))
    root = agent_runs.start("helper")
    answers = at_once(8, lambda: say(agent_runs.deps, human(), root.workflow_id, SaidMessage("And now?")))
    assert sum(isinstance(each, TaskDetails) for each in answers) == 1
    assert {type(each) for each in answers} <= {TaskDetails, ConversationBusy, Busy}
    assert len(agent_runs.tasks(root.workflow_id)) == 2
