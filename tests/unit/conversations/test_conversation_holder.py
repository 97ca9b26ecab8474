"""Who holds a conversation, and what they are told when the user says more (docs/spec/tools.md §2)."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from baton.domain.agents.agent import Approval
from baton.domain.agents.tool import History, ToolMode
from baton.domain.conversations.read_cursor import ReadCursor, parse_read_cursor
from baton.domain.errors import ConversationBusy, LoopTripped
from baton.domain.escalations.review import ReviewState
from baton.domain.handoffs.handoff_message import message_from
from baton.domain.runs.history import conversation_in
from baton.services.access.change_settings import change_settings
from baton.services.agents.define_tool import define_tool
from baton.services.agents.register_agent import register_agent
from baton.services.conversations.converse import Opening, SaidMessage, say, start_conversation
from baton.services.escalations.list_reviews import list_reviews
from baton.services.escalations.release_review import release_review
from baton.services.handoffs.retry_handoff import retry_handoff
from baton.services.tasks.approve_task import approve_task
from support.faults.hooked_store import HookedStore
from support.worlds.agent_runs import AgentRuns, calls, says
from support.worlds.team import Team
from support.worlds.world import WORKSPACE, World, human

NO = calls(("fail_task", {"description": "I can't."}))


def processes(boss: list[Any], helper: list[Any], world: World | None = None) -> AgentRuns:
    """The boss may ask the helper, who may fail or hand over to another."""
    agents: dict[str, dict[str, Any]] = {
        "boss": {"tools": ("ask", "go")},
        "helper": {"tools": ("fail_task", "pass_on")},
        "other": {},
    }
    agent_runs = AgentRuns(agents, {"boss": boss, "helper": helper, "other": [says("other!")]}, world=world)
    agent_runs.tool("ask", "helper", mode=ToolMode.DELEGATE)
    agent_runs.tool("go", "helper")
    agent_runs.tool("pass_on", "other")
    return agent_runs.open()


def test_a_part_that_is_retried_doesnt_get_the_conversation() -> None:
    agent_runs = processes([calls(("ask", {})), says("Nobody can.")], [NO, calls(("pass_on", {}))])
    root = agent_runs.start("boss")
    (part,) = agent_runs.children(root)
    again = retry_handoff(agent_runs.deps, human(), part.id).task
    agent_runs.run()
    (further,) = agent_runs.children(again)
    assert (part.state, further.target_agent, further.state) == ("failed", "other", "done")
    assert agent_runs.say(root.workflow_id, "And now?").target_agent == "boss"


def test_a_part_that_a_human_lets_through_later_doesnt_get_the_conversation() -> None:
    agent_runs = processes([calls(("ask", {})), says("Nobody may.")], [says("Here it is.")])
    change_settings(agent_runs.deps, human(), {"max_handoffs_per_workflow": 1})
    root = agent_runs.start("boss")
    (review,) = list_reviews(agent_runs.deps, human(), ReviewState.OPEN, 10, None).items
    part = release_review(agent_runs.deps, human(), review.id)[1].task
    agent_runs.run()
    assert (agent_runs.task(part.id).state, agent_runs.output(part.id)) == ("done", {"message": "Here it is."})
    assert agent_runs.body(part.id)["input"] == {"message": "Hello"}
    change_settings(agent_runs.deps, human(), {"max_handoffs_per_workflow": 3})  # what the user says counts too
    assert agent_runs.say(root.workflow_id, "And now?").target_agent == "boss"


def test_who_it_was_handed_to_gets_it_also_after_a_retry() -> None:
    agent_runs = processes([says("I do it myself.")], [NO, says("I am here.")])
    root = agent_runs.start("helper")
    retry_handoff(agent_runs.deps, human(), root.id)
    agent_runs.run()
    assert (root.state, agent_runs.say(root.workflow_id, "And now?").target_agent) == ("failed", "helper")


def test_who_holds_it_is_told_again_what_it_came_with() -> None:
    agent_runs = processes([calls(("go", {}))], [says("I am here.")])
    define_tool(agent_runs.deps, human(), "go", {"handoff_instructions": "Be brief."})
    root = agent_runs.start("boss", context={"region": "EMEA"})
    agent_runs.say(root.workflow_id, "And now?")
    first, second = agent_runs.model.asked("helper")
    assert first.system == second.system
    assert "Instructions: Be brief." in second.system


@pytest.mark.parametrize("history", list(History))
def test_what_was_kept_from_whoever_holds_it_is_still_kept_when_the_user_says_more(history: History) -> None:
    checkpoint = calls(("save_checkpoint", {"step_name": "one", "state": {}}), text="Between us.")
    agent_runs = processes(
        [checkpoint, calls(("go", {}), text="Over to you.")], [says("I am here."), calls(("pass_on", {}))]
    )
    register_agent(agent_runs.deps, human(), "boss", {"tools": ("go", "save_checkpoint")})
    define_tool(agent_runs.deps, human(), "go", {"history": history})
    root = agent_runs.start("boss")
    agent_runs.say(root.workflow_id, "And now?")
    seen = [str(each.messages) for each in (*agent_runs.model.asked("helper"), *agent_runs.model.asked("other"))]
    assert ["Between us." in each for each in seen] == [history is History.FULL] * 3
    assert ["Over to you." in each for each in seen] == [history is not History.NONE] * 3
    assert ["I am here." in each for each in seen] == [False, True, True]


def test_who_says_something_while_another_does_is_told_to_wait() -> None:
    store = HookedStore()
    agent_runs = processes([says("Hi.")], [says("Here.")], World(store=store))
    root = agent_runs.start("boss")
    store.after["handoff_inputs"] = lambda: say(agent_runs.deps, human(), root.workflow_id, SaidMessage("First"))
    with pytest.raises(ConversationBusy):
        say(agent_runs.deps, human(), root.workflow_id, SaidMessage("Second"))
    assert [agent_runs.body(each.id)["input"]["message"] for each in agent_runs.tasks(root.workflow_id)] == [
        "Hello",
        "First",
    ]


def test_a_message_that_is_let_through_while_the_user_says_another_waits_for_that() -> None:
    """It was sent in the place that the other one takes, between the two readings of the conversation."""
    store = HookedStore()
    agent_runs = processes([says("Hi."), says("Here.")], [], World(store=store))
    root = agent_runs.start("boss")
    change_settings(agent_runs.deps, human(), {"max_handoffs_per_workflow": 1})
    with pytest.raises(LoopTripped):
        say(agent_runs.deps, human(), root.workflow_id, SaidMessage("First"))
    (review,) = list_reviews(agent_runs.deps, human(), ReviewState.OPEN, 10, None).items
    change_settings(agent_runs.deps, human(), {"max_handoffs_per_workflow": 9})
    store.before["talk"] = lambda: say(agent_runs.deps, human(), root.workflow_id, SaidMessage("Second"))
    with pytest.raises(ConversationBusy):
        release_review(agent_runs.deps, human(), review.id)
    said = [agent_runs.body(each.id)["input"]["message"] for each in agent_runs.tasks(root.workflow_id)]
    assert said == ["Hello", "Second"]


def test_a_message_that_is_let_through_goes_to_who_has_the_conversation_now_with_all_that_was_said_since() -> None:
    team = Team("anna", "bert", dispatch_delay_seconds=0)
    register_agent(team.deps, human(), "bert", {"approval": Approval.MANUAL})
    root = start_conversation(team.deps, human(), Opening(agent="anna", message="Hello", context={})).task
    child = team.transfer(team.take("anna", root.id), "bert").task.successors[0]
    change_settings(team.deps, human(), {"max_handoffs_per_workflow": 2})
    with pytest.raises(LoopTripped):
        say(team.deps, human(), root.workflow_id, SaidMessage("And now?"))
    (review,) = list_reviews(team.deps, human(), ReviewState.OPEN, 10, None).items
    approve_task(team.deps, human(), child, None)
    with pytest.raises(ConversationBusy):
        release_review(team.deps, human(), review.id)
    team.complete(team.take("bert", child))
    released = release_review(team.deps, human(), review.id)[1].task
    assert released.target_agent == "bert"
    message = conversation_in(message_from(team.world.store.tasks.read(WORKSPACE, released.id, with_body=True).body))
    assert message is not None
    assert (message.message, [each.task_id for each in message.earlier]) == ("And now?", [root.id, child])
    with pytest.raises(ConversationBusy):
        say(team.deps, human(), root.workflow_id, SaidMessage("More"))


@pytest.mark.parametrize("moment", ["talk", "members", "handoff_inputs"])
def test_what_is_approved_while_the_user_goes_on_is_seen(moment: str) -> None:
    """It was passed over, as nobody had approved it: the message waits for it after all."""
    store = HookedStore()
    team = Team("anna", "bert", world=World(store=store), dispatch_delay_seconds=0)
    register_agent(team.deps, human(), "bert", {"approval": Approval.MANUAL})
    opening = Opening(agent="anna", message="Hello", context={})
    root = start_conversation(team.deps, human(), opening).task
    child = team.transfer(team.take("anna", root.id), "bert").task.successors[0]
    store.after[moment] = lambda: approve_task(team.deps, human(), child, None)
    with pytest.raises(ConversationBusy):
        say(team.deps, human(), root.workflow_id, SaidMessage("And now?"))
    assert len(team.tasks()) == 2


def test_the_conversations_budget_holds_for_all_that_is_said() -> None:
    agent_runs = processes([says("Hi.")], [says("Here.")])
    root = agent_runs.start("boss", budget={"max_model_calls": 2})
    states = [agent_runs.say(root.workflow_id, f"Message {number}").state for number in range(2)]
    assert (root.state, *states) == ("done", "done", "failed")


def test_a_task_that_shows_late_is_read_all_the_same() -> None:
    """Its id was made before that of another, and it was written after that one had been read to its end."""
    agent_runs = processes([says("Hi.")], [says("Here.")])
    root = agent_runs.start("boss")
    late = replace(root, id=root.id[:-1] + ("0" if root.id[-1] != "0" else "1"))
    first, second = sorted((root, late), key=lambda task: task.id)
    for minutes, is_read in ((59, False), (61, True)):
        places = ReadCursor()
        places.close(second)
        cursor = places.encoded([second], second.created_at + timedelta(minutes=minutes))
        assert (parse_read_cursor(cursor).of(first) is None) is is_read
