"""Tools at the moment of their use: what a human has changed while a model thought (docs/spec/tools.md §1)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from baton.domain.agents.tool import ToolMode, Variable
from baton.domain.errors import TargetInactive
from baton.services.access.change_settings import change_settings
from baton.services.agents.define_tool import define_tool
from baton.services.agents.register_agent import register_agent
from support.worlds.agent_runs import calls, sales_runs, says
from support.worlds.world import WORKSPACE, human

if TYPE_CHECKING:
    from collections.abc import Callable

    from baton.ports.runs import ModelReply, ModelRequest


def meanwhile(change: Callable[[], Any]) -> Callable[[ModelRequest], ModelReply]:
    """A model that thinks for as long as a human needs for the change, and then calls the tool."""

    def think(_: ModelRequest) -> ModelReply:
        change()
        return calls(("go", {}))

    return think


@pytest.mark.parametrize("mode", list(ToolMode))
@pytest.mark.parametrize("is_taken_away", [False, True])
def test_a_tool_that_is_withdrawn_while_a_model_thinks_hands_nothing_on(mode: ToolMode, is_taken_away: bool) -> None:
    agent_runs = sales_runs(mode)

    def withdraw() -> None:
        if is_taken_away:
            register_agent(agent_runs.deps, human(), "sales", {"tools": ()})
        else:
            define_tool(agent_runs.deps, human(), "go", {"active": False})

    agent_runs.model.script["sales"] = [meanwhile(withdraw), says("Then I answer myself.")]
    root = agent_runs.start("sales")
    assert agent_runs.children(root) == []
    assert agent_runs.output(root.id) == {"message": "Then I answer myself."}
    assert (
        "There is no tool of that name among yours, which are: none."
        in dict(agent_runs.told(root.workflow_id)).values()
    )


def test_a_tool_that_is_changed_while_a_model_thinks_is_used_as_it_is_now() -> None:
    agent_runs = sales_runs()
    agent_runs.model.script["sales"] = [
        meanwhile(lambda: define_tool(agent_runs.deps, human(), "go", {"target_agent": "bert"}))
    ]
    root = agent_runs.start("sales")
    (child,) = agent_runs.children(root)
    assert (child.target_agent, agent_runs.output(child.id)) == ("bert", {"message": "Bert here."})
    (approved,) = [
        each for each in agent_runs.world.store.trail.events(WORKSPACE, child.id, 0, 99) if each.type == "approved"
    ]
    assert approved.data["standing_approval"]["version"] == 2


def test_a_tool_that_wants_more_by_now_says_so() -> None:
    agent_runs = sales_runs()
    wanted = (Variable(name="lead_id", required=True),)
    agent_runs.model.script["sales"] = [
        meanwhile(lambda: define_tool(agent_runs.deps, human(), "go", {"context_variables": wanted})),
        calls(("go", {"lead_id": "7"})),
    ]
    root = agent_runs.start("sales")
    (child,) = agent_runs.children(root)
    assert agent_runs.body(child.id)["context"]["lead_id"] == "7"
    assert any("lead_id is required" in text for _, text in agent_runs.told(root.workflow_id))


@pytest.mark.parametrize("mode", list(ToolMode))
def test_what_is_told_of_a_handoff_is_what_was_let_through(mode: ToolMode) -> None:
    agent_runs = sales_runs(mode)
    define_tool(agent_runs.deps, human(), "go", {"context_variables": (Variable(name="key"),)})
    change_settings(agent_runs.deps, human(), {"guardrails": {"secrets": "mask"}})
    agent_runs.model.script["sales"] = [calls(("go", {"key": "ghp_" + "a1B2" * 9})), says("Done.")]
    root = agent_runs.start("sales")
    (child,) = agent_runs.children(root)
    (moved,) = [each.message for each in agent_runs.messages(root.workflow_id) if "new_task_id" in each.message.data]
    assert moved.data["variables"] == {"key": "[masked: github_token]"}
    assert agent_runs.body(child.id)["context"]["key"] == "[masked: github_token]"


def test_where_the_first_of_two_handoffs_isnt_done_the_other_is_told_so() -> None:
    agent_runs = sales_runs()
    agent_runs.tool("to_bert", "bert")
    register_agent(agent_runs.deps, human(), "sales", {"tools": ("go", "to_bert")})

    def think(_: ModelRequest) -> ModelReply:
        register_agent(agent_runs.deps, human(), "anna", {"active": False})
        return calls(("go", {}), ("to_bert", {}))

    agent_runs.model.script["sales"] = [think, says("Then I answer myself.")]
    root = agent_runs.start("sales")
    first, second = [text for kind, text in agent_runs.told(root.workflow_id) if kind == "tool_result"]
    assert first == "Not done: target_agent: the agent 'anna' is not active"
    assert second == "Not done: it came after another call of the same reply, which wasn't done either. Call again."


def test_a_tool_whose_target_is_off_is_only_switched_off() -> None:
    agent_runs = sales_runs()
    register_agent(agent_runs.deps, human(), "anna", {"active": False})
    with pytest.raises(TargetInactive):
        define_tool(agent_runs.deps, human(), "go", {"description": "Anna is back?"})
    assert define_tool(agent_runs.deps, human(), "go", {"active": False})[0].version == 2
