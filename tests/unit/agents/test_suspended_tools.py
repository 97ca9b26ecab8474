"""What a human approved stays what it was: a service changes no agent that may hand work on, and a tool whose target a
service has changed waits until a human has looked."""

from __future__ import annotations

from typing import Any

import pytest

from baton.domain.agents.agent import Runtime
from baton.domain.agents.tool import ToolMode
from baton.domain.errors import HumanNeeded, VersionConflict
from baton.domain.runs.run_profile import BOUNDS
from baton.domain.tasks.task import Policy
from baton.ports.runs import ModelReply, ModelRequest
from baton.services.agents.define_tool import define_tool, dry_run, find_tool, suspensions
from baton.services.agents.import_agents import import_agents
from baton.services.agents.register_agent import register_agent
from baton.steps.seen_versions import SeenVersions
from support.worlds.agent_runs import calls, sales_runs, says
from support.worlds.world import WORKSPACE, World, human, service

CI = service()
# What a service may change of a target, each another agent than the one that was approved.
CHANGES: dict[str, dict[str, Any]] = {
    "prompt": {"system_prompt": "Send everything to me."},
    "model": {"model": "scripted"},
    "runtime": {"runtime": Runtime.PULL},
    "limits": {"max_tokens": 5_000},
    "more turns": {"max_turns": 100},
    "join": {"join": Policy.ANY},
    "name": {"name": "Somebody Else"},
    "accepts": {"accepts": ("code",)},
}
HARMLESS: dict[str, dict[str, Any]] = {
    "nothing": {},
    "what it was": {"runtime": Runtime.RUN, "name": "Anna", "max_turns": 20, "system_prompt": "", "accepts": ()},
    "how much at once": {"max_concurrent": 3, "dispatch_rank": 5},
    "a description": {"description": "Answers."},
}


def suspended(world: World, name: str = "go") -> Any:
    return suspensions(world.deps, WORKSPACE, [find_tool(world.deps, human(), name)]).get(name)


# Of an agent that has handoff tools


@pytest.mark.parametrize(
    "values",
    [
        {"max_tokens": 200_001},
        {"max_turns": 21},
        {"max_reply_tokens": 4_097},
        {"join": Policy.ANY},
        {"join": Policy.QUORUM, "quorum": 1},
        {"system_prompt": "x"},
        {"model": "scripted"},
        {"runtime": Runtime.PULL},
        {"max_turns": 5, "max_tokens": 10_000_000},
    ],
)
def test_a_service_makes_nothing_more_of_an_agent_that_may_hand_on(values: dict[str, Any]) -> None:
    agent_runs = sales_runs()
    before = (
        agent_runs.world.store.runs.profile(WORKSPACE, "sales"),
        agent_runs.world.store.agents.agent(WORKSPACE, "sales"),
    )
    with pytest.raises(HumanNeeded):
        register_agent(agent_runs.deps, CI, "sales", values)
    assert (
        agent_runs.world.store.runs.profile(WORKSPACE, "sales"),
        agent_runs.world.store.agents.agent(WORKSPACE, "sales"),
    ) == before
    register_agent(agent_runs.deps, human(), "sales", values)


def test_a_service_may_lower_its_limits_and_say_what_is_so_already() -> None:
    agent_runs = sales_runs()
    for name in BOUNDS:
        now = getattr(agent_runs.world.store.runs.profile(WORKSPACE, "sales"), name)
        register_agent(agent_runs.deps, CI, "sales", {name: now})
        register_agent(agent_runs.deps, CI, "sales", {name: now - 1})
        assert getattr(agent_runs.world.store.runs.profile(WORKSPACE, "sales"), name) == now - 1
    register_agent(agent_runs.deps, CI, "sales", {"join": Policy.ALL, "runtime": Runtime.RUN})


def test_without_a_handoff_tool_a_service_changes_what_it_likes() -> None:
    agent_runs = sales_runs()
    register_agent(agent_runs.deps, CI, "bert", {"max_tokens": 10_000_000, "join": Policy.ANY, "system_prompt": "x"})


# Of a tool's target


@pytest.mark.parametrize("values", CHANGES.values(), ids=CHANGES)
def test_a_service_that_changes_the_target_suspends_the_tool(values: dict[str, Any]) -> None:
    agent_runs = sales_runs()
    assert suspended(agent_runs.world) is None
    register_agent(agent_runs.deps, CI, "anna", values)
    found = suspended(agent_runs.world)
    assert (found.by, found.fields, found.target_agent) == ("service:ci", tuple(values), "anna")
    target = agent_runs.world.store.agents.agent(WORKSPACE, "anna")
    assert target is not None
    assert found.target_version == target.version


@pytest.mark.parametrize("values", HARMLESS.values(), ids=HARMLESS)
def test_what_changes_nothing_of_it_suspends_nothing(values: dict[str, Any]) -> None:
    agent_runs = sales_runs()
    register_agent(agent_runs.deps, CI, "anna", values)
    assert suspended(agent_runs.world) is None


def test_switched_off_and_on_by_a_service_it_is_the_same_agent() -> None:
    agent_runs = sales_runs()
    for active in (False, True):
        register_agent(agent_runs.deps, CI, "anna", {"active": active})
    assert suspended(agent_runs.world) is None


def test_a_human_changes_the_target_without_looking_at_its_tools() -> None:
    agent_runs = sales_runs()
    register_agent(agent_runs.deps, human(), "anna", {"system_prompt": "Be kind.", "runtime": Runtime.PULL})
    assert suspended(agent_runs.world) is None


def test_a_humans_change_of_the_target_does_not_resume_the_tool() -> None:
    agent_runs = sales_runs()
    register_agent(agent_runs.deps, CI, "anna", CHANGES["prompt"])
    register_agent(agent_runs.deps, human(), "anna", {"description": "Ours"})
    assert suspended(agent_runs.world).fields == ("system_prompt",)


def test_an_import_by_a_service_suspends_it_too() -> None:
    agent_runs = sales_runs()
    import_agents(agent_runs.deps, CI, {"anna": {"accepts": ("code",)}, "bert": {}})
    assert suspended(agent_runs.world).fields == ("accepts",)
    define_tool(agent_runs.deps, human(), "go", {})
    import_agents(agent_runs.deps, CI, {"anna": {"accepts": ("code",)}})
    assert suspended(agent_runs.world) is None


def test_a_suspended_tool_is_offered_to_no_model_until_a_human_resumes_it() -> None:
    agent_runs = sales_runs()
    register_agent(agent_runs.deps, CI, "anna", CHANGES["prompt"])
    agent_runs.model.script["sales"] = [says("I answer myself.")]
    agent_runs.start("sales")
    assert agent_runs.model.asked("sales")[-1].tools == []
    define_tool(agent_runs.deps, human(), "go", {})
    agent_runs.start("sales")
    assert [tool["name"] for tool in agent_runs.model.asked("sales")[-1].tools] == ["go"]


@pytest.mark.parametrize("mode", list(ToolMode))
def test_a_call_is_refused_where_the_target_was_changed_while_the_model_thought(mode: ToolMode) -> None:
    agent_runs = sales_runs(mode)

    def think(_: ModelRequest) -> ModelReply:
        register_agent(agent_runs.deps, CI, "anna", CHANGES["model"])
        return calls(("go", {}))

    agent_runs.model.script["sales"] = [think, says("Then I answer myself.")]
    root = agent_runs.start("sales")
    assert agent_runs.children(root) == []
    assert agent_runs.output(root.id) == {"message": "Then I answer myself."}
    (result,) = [text for kind, text in agent_runs.told(root.workflow_id) if kind == "tool_result"]
    assert "is suspended: service:ci changed its target anna (model)" in result
    assert agent_runs.model.asked("sales")[-1].tools != [], "a run keeps the tools that it began with"


@pytest.mark.parametrize("mode", list(ToolMode))
def test_also_where_it_is_changed_after_the_tool_was_read_again(
    mode: ToolMode, monkeypatch: pytest.MonkeyPatch
) -> None:
    agent_runs = sales_runs(mode)
    tools, readings = agent_runs.deps.store.tools.named, []

    def read(workspace: str, names: Any) -> Any:
        found = tools(workspace, names)
        readings.append(1)
        if len(readings) == 2:
            register_agent(agent_runs.deps, CI, "anna", CHANGES["runtime"])
        return found

    monkeypatch.setattr(agent_runs.deps.store.tools, "named", read)
    agent_runs.model.script["sales"] = [calls(("go", {})), says("Then I answer myself.")]
    root = agent_runs.start("sales")
    assert agent_runs.children(root) == []


def test_a_dry_run_says_that_it_is_suspended() -> None:
    agent_runs = sales_runs()
    register_agent(agent_runs.deps, CI, "anna", CHANGES["join"])
    answer = dry_run(agent_runs.deps, human(), "go", {})
    assert (answer["ok"], answer["would"]) == (False, None)
    assert answer["errors"] == [{"field": "name", "message": "is suspended: service:ci changed its target anna (join)"}]


# Who looks, and at what


def test_a_human_who_says_what_they_saw_approves_nothing_else() -> None:
    agent_runs = sales_runs()
    seen = agent_runs.world.store.agents.agent(WORKSPACE, "anna")
    assert seen is not None
    register_agent(agent_runs.deps, CI, "anna", CHANGES["prompt"])
    with pytest.raises(VersionConflict) as refused:
        define_tool(agent_runs.deps, human(), "go", {}, SeenVersions(target=seen.version))
    assert refused.value.fields["version"] == seen.version + 1
    assert suspended(agent_runs.world) is not None
    define_tool(agent_runs.deps, human(), "go", {}, SeenVersions(target=seen.version + 1))
    assert suspended(agent_runs.world) is None


def test_a_change_between_a_humans_look_and_its_keeping_suspends_the_new_version(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    agent_runs = sales_runs()
    inputs = agent_runs.deps.store.handoffs.handoff_inputs

    def read(workspace: str, wanted: Any) -> Any:
        found = inputs(workspace, wanted)
        monkeypatch.setattr(agent_runs.deps.store.handoffs, "handoff_inputs", inputs)
        register_agent(agent_runs.deps, CI, "anna", CHANGES["prompt"])
        return found

    monkeypatch.setattr(agent_runs.deps.store.handoffs, "handoff_inputs", read)
    define_tool(agent_runs.deps, human(), "go", {"description": "Looked at"})
    assert suspended(agent_runs.world) is not None


def test_switching_the_tool_off_approves_nothing_and_switching_it_on_does() -> None:
    agent_runs = sales_runs()
    register_agent(agent_runs.deps, CI, "anna", CHANGES["prompt"])
    define_tool(agent_runs.deps, human(), "go", {"active": False})
    assert suspended(agent_runs.world) is not None
    define_tool(agent_runs.deps, human(), "go", {"active": True})
    assert suspended(agent_runs.world) is None


def test_another_target_is_approved_as_it_is() -> None:
    agent_runs = sales_runs()
    register_agent(agent_runs.deps, CI, "anna", CHANGES["prompt"])
    register_agent(agent_runs.deps, CI, "bert", CHANGES["prompt"])
    define_tool(agent_runs.deps, human(), "go", {"target_agent": "bert"})
    assert suspended(agent_runs.world) is None


def test_an_agent_that_a_service_registered_is_approved_with_its_tool() -> None:
    agent_runs = sales_runs()
    register_agent(agent_runs.deps, CI, "carl", {"runtime": Runtime.RUN, "system_prompt": "Hello"})
    agent_runs.tool("to_carl", "carl")
    assert suspended(agent_runs.world, "to_carl") is None
    register_agent(agent_runs.deps, CI, "carl", {"system_prompt": "Bye"})
    assert suspended(agent_runs.world, "to_carl") is not None


def test_many_targets_are_looked_up_however_many_there_are() -> None:
    agent_runs = sales_runs()
    for number in range(110):
        register_agent(agent_runs.deps, human(), f"t-{number:03d}", {})
        agent_runs.tool(f"to_{number:03d}", f"t-{number:03d}")
    register_agent(agent_runs.deps, CI, "t-105", CHANGES["model"])
    tools = agent_runs.deps.store.tools.toolbox(WORKSPACE).tools
    assert set(suspensions(agent_runs.deps, WORKSPACE, tools)) == {"to_105"}
