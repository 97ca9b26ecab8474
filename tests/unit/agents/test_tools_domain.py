"""Handoff tools (docs/spec/tools.md §1): what a call may say, what may be defined by whom, and who gives them to
agents."""

from __future__ import annotations

from typing import Any

import pytest

from baton.domain.access.principal import Principal
from baton.domain.agents.tool import (
    MAX_TOOLS,
    MAX_TOOLS_OF_AGENT,
    History,
    Tool,
    Toolbox,
    ToolMode,
    Variable,
    VariableType,
    check_tool,
)
from baton.domain.errors import (
    HumanNeeded,
    InvalidInput,
    LimitReached,
    TargetInactive,
    Unknown,
    UnknownAgent,
    VersionConflict,
)
from baton.domain.runs.run_profile import BOUNDS, MAX_SYSTEM_PROMPT, RunProfile, check_profile
from baton.domain.tasks.task import MAX_BRANCHES, Policy
from baton.domain.times import rfc3339
from baton.services.agents.define_tool import define_tool, dry_run, find_tool
from baton.services.agents.register_agent import register_agent
from baton.steps.seen_versions import SeenVersions
from support.clock import NOON
from support.worlds.agent_runs import AgentRuns, calls, says
from support.worlds.world import WORKSPACE, World, agent, human, service

TO_SCOUT = {"description": "Over.", "target_agent": "scout"}
VALUES: dict[str, list[Any]] = {
    "string": ["", "x", "1", "\u2028", "x" * 100_000],
    "number": [0, -1, 1.5, 2**63, 10**400, -0.0, 1e308],
    "boolean": [True, False],
    "object": [{}, {"a": {"b": []}}],
    "array": [[], [1, "x", None]],
    "none of them": [None, float("nan"), float("inf"), float("-inf")],
}


def tool(*variables: Variable, **values: Any) -> Tool:
    given = {"name": "to_scout", "description": "Over.", "target_agent": "scout", "context_variables": variables}
    return Tool(workspace=WORKSPACE, created_at=NOON, updated_at=NOON, updated_by="human:alice", **{**given, **values})


# What a call may say


@pytest.mark.parametrize("type_", VariableType)
@pytest.mark.parametrize("kind", VALUES)
def test_a_value_is_of_its_variables_type_and_of_no_other(type_: VariableType, kind: str) -> None:
    variable = Variable(name="v", type=type_)
    for value in VALUES[kind]:
        problem = None if kind == type_ else f"must be of type {type_}"
        assert variable.problem(value) == problem, value


@pytest.mark.parametrize(
    ("type_", "enum", "value", "is_one"),
    [
        ("string", ("a", "b"), "a", True),
        ("string", ("a", "b"), "A", False),
        ("string", ("a",), "", False),
        ("number", (1, 2), 1, True),
        ("number", (1, 2), 1.0, False),
        ("number", (1.5,), 1.5, True),
        ("number", (1, 0), True, False),
        ("boolean", (True,), False, False),
        ("boolean", (True,), 1, False),
        ("array", ([1],), [1], True),
        ("object", ({"a": 1},), {"a": 2}, False),
    ],
)
def test_of_an_enum_only_what_is_listed(type_: str, enum: tuple[Any, ...], value: Any, is_one: bool) -> None:
    assert (Variable(name="v", type=VariableType(type_), enum=enum).problem(value) is None) == is_one


@pytest.mark.parametrize("arguments", [None, [], "x", 1, True])
def test_arguments_are_an_object(arguments: Any) -> None:
    (problem,) = tool().problems(arguments)
    assert (problem.field, problem.message) == ("arguments", "must be an object")


def test_everything_that_is_wrong_is_told_at_once() -> None:
    it = tool(Variable(name="lead", required=True), Variable(name="n", type=VariableType.NUMBER))
    problems = it.problems({"n": "1", "m": 1, "_handoff_from": "me", "": 0})
    assert [(each.field, each.message.split(":")[0]) for each in problems] == [
        ("n", "must be of type number"),
        ("m", "isn't a variable of this tool, which takes"),
        ("_handoff_from", "is reserved"),
        ("", "isn't a variable of this tool, which takes"),
        ("lead", "is required"),
    ]
    assert it.problems({"lead": "x"}) == ()
    assert it.problems({"lead": "x", "n": 1}) == ()


def test_null_is_no_value() -> None:
    """Neither for what is required nor for what may be left out."""
    it = tool(Variable(name="a", required=True), Variable(name="b"))
    assert [each.field for each in it.problems({"a": None, "b": None})] == ["a", "b"]


# What a model is shown


def test_the_schema_leaves_out_what_is_empty() -> None:
    bare = tool().spec
    assert bare["input_schema"] == {"type": "object", "properties": {}, "additionalProperties": False}
    assert bare["description"] == "Over."
    full = tool(
        Variable(name="a", required=True, description="An a.", enum=("x", "y")),
        Variable(name="b", type=VariableType.ARRAY),
        handoff_instructions="Be brief.",
    ).spec
    assert full == {
        "name": "to_scout",
        "description": "Over.\n\nBe brief.",
        "input_schema": {
            "type": "object",
            "properties": {
                "a": {"type": "string", "description": "An a.", "enum": ["x", "y"]},
                "b": {"type": "array"},
            },
            "required": ["a"],
            "additionalProperties": False,
        },
    }


# What may be defined


@pytest.mark.parametrize("name", ["a", "a" * 64, "to_sdr_2", "a_"])
def test_a_good_name(name: str) -> None:
    check_tool(name, {})


@pytest.mark.parametrize(
    "name", ["", "_a", "A", "1a", "a" * 65, "a-b", "a b", "a\n", "\na", "ä", "a.b", "complete_task", "fail_task"]
)
def test_a_bad_name(name: str) -> None:
    with pytest.raises(InvalidInput) as refusal:
        check_tool(name, {})
    assert refusal.value.field == "name"


@pytest.mark.parametrize(
    ("variables", "field"),
    [
        ((Variable(name="a"), Variable(name="a")), "config.context_variables"),
        ((Variable(name="a"), Variable(name="_a")), "config.context_variables.1.name"),
        ((Variable(name="a", enum=(1,)),), "config.context_variables.0.enum"),
        ((Variable(name="a", type=VariableType.NUMBER, enum=(1, True)),), "config.context_variables.0.enum"),
        ((Variable(name="a", type=VariableType.NUMBER, enum=(float("nan"),)),), "config.context_variables.0.enum"),
    ],
)
def test_bad_variables(variables: tuple[Variable, ...], field: str) -> None:
    with pytest.raises(InvalidInput) as refusal:
        check_tool("to_scout", {"context_variables": variables})
    assert refusal.value.field == field


def test_good_variables() -> None:
    check_tool("to_scout", {"context_variables": (Variable(name="a", type=VariableType.NUMBER, enum=(1, 1.5)),)})


@pytest.mark.parametrize("by", [agent("scout"), service(), service(act_as=False)])
def test_only_a_human_defines_a_tool(by: Principal) -> None:
    world = World().settle()
    with pytest.raises(HumanNeeded):
        define_tool(world.deps, by, "to_scout", TO_SCOUT)
    define_tool(world.deps, human(), "to_scout", TO_SCOUT)
    with pytest.raises(HumanNeeded):
        define_tool(world.deps, by, "to_scout", {"active": False})
    assert find_tool(world.deps, human(), "to_scout").version == 1
    with pytest.raises(HumanNeeded):
        tool().changed(by, NOON, description="mine")


def test_the_target_is_an_agent_that_gets_work_under_any_of_its_names() -> None:
    world = World().settle()
    made, is_new = define_tool(world.deps, human(), "to_auditor", {**TO_SCOUT, "target_agent": "Client Repo Auditor"})
    assert (made.target_agent, is_new) == ("auditor", True)
    for target, error in (
        ("nobody", UnknownAgent),
        ("No Body", UnknownAgent),
        (None, InvalidInput),
        ("", InvalidInput),
    ):
        with pytest.raises(error):
            define_tool(world.deps, human(), "to_it", {**TO_SCOUT, "target_agent": target})
    register_agent(world.deps, human(), "scout", {"active": False})
    with pytest.raises(TargetInactive):
        define_tool(world.deps, human(), "to_scout", TO_SCOUT)
    with pytest.raises(Unknown):
        find_tool(world.deps, human(), "to_it")


def test_versions_keep_what_is_left_out_and_refuse_what_was_not_seen() -> None:
    world = World().settle()
    first, _ = define_tool(
        world.deps, human(), "to_scout", {**TO_SCOUT, "mode": ToolMode.DELEGATE}, SeenVersions(tool=0)
    )
    second, is_new = define_tool(
        world.deps, human(name="bob"), "to_scout", {"history": History.NONE}, SeenVersions(tool=1)
    )
    assert (is_new, second.version, second.mode, second.history) == (False, 2, "delegate", "none")
    assert (second.created_at, second.updated_by, second.description) == (first.created_at, "human:bob", "Over.")
    given_at = rfc3339(world.clock.now())
    assert second.standing == {"tool": "to_scout", "version": 2, "given_by": "human:bob", "given_at": given_at}
    for seen in (0, 1, 3):
        with pytest.raises(VersionConflict):
            define_tool(world.deps, human(), "to_scout", {"active": False}, SeenVersions(tool=seen))
    with pytest.raises(VersionConflict):
        define_tool(world.deps, human(), "to_other", TO_SCOUT, SeenVersions(tool=1))


def test_there_are_so_many_tools_and_no_more() -> None:
    world = World().settle()
    for number in range(MAX_TOOLS):
        world.store.tools.save_tool(tool(name=f"t_{number:03d}", version=1), Toolbox(version=number))
    with pytest.raises(LimitReached):
        define_tool(world.deps, human(), "one_more", TO_SCOUT)
    assert define_tool(world.deps, human(), "t_000", {"active": False})[0].version == 2


def test_a_workspaces_tools_are_its_own() -> None:
    world = World().settle()
    define_tool(world.deps, human(), "to_scout", TO_SCOUT)
    with pytest.raises(Unknown):
        find_tool(world.deps, human("globex"), "to_scout")
    with pytest.raises(UnknownAgent):
        define_tool(world.deps, human("globex"), "to_scout", TO_SCOUT)


def test_a_dry_run_says_what_would_happen_and_does_nothing() -> None:
    world = World().settle()
    define_tool(
        world.deps, human(), "to_scout", {**TO_SCOUT, "context_variables": (Variable(name="a", required=True),)}
    )
    good = dry_run(world.deps, human(), "to_scout", {"a": "x"})
    assert (good["ok"], good["would"], good["context"]["a"]) == (True, "Routed to Scout", "x")
    bad = dry_run(world.deps, human(), "to_scout", {"b": 1})
    assert (bad["ok"], bad["would"], [each["field"] for each in bad["errors"]]) == (False, None, ["b", "a"])
    register_agent(world.deps, human(), "scout", {"active": False})
    assert dry_run(world.deps, human(), "to_scout", {"a": "x"})["errors"][0]["field"] == "target_agent"
    assert world.dispatch_queue.notices == []


# Who gives them to agents


def profile(**values: Any) -> RunProfile:
    return RunProfile(workspace=WORKSPACE, slug="scout", **values)


def test_only_a_human_gives_a_tool_and_a_service_may_take_one_away() -> None:
    world = World().settle()
    for name in ("one", "two"):
        define_tool(world.deps, human(), name, {**TO_SCOUT, "target_agent": "auditor"})
    for tools in (("one",), ("complete_task",)):
        with pytest.raises(HumanNeeded):
            register_agent(world.deps, service(), "scout", {"tools": tools})
    register_agent(world.deps, human(), "scout", {"tools": ("one", "two", "complete_task")})
    register_agent(world.deps, service(), "scout", {"tools": ("two", "complete_task"), "max_turns": 5})
    kept = world.store.runs.profile(WORKSPACE, "scout")
    assert (kept.tools, kept.max_turns) == (("two", "complete_task"), 5)
    with pytest.raises(HumanNeeded):
        register_agent(world.deps, service(), "scout", {"tools": ("two", "one")})
    with pytest.raises(HumanNeeded):
        register_agent(world.deps, service(), "scout", {"system_prompt": "Be brief."})
    with pytest.raises(HumanNeeded):
        register_agent(world.deps, service(), "scout", {"model": "scripted"})
    register_agent(world.deps, service(), "scout", {"tools": ("complete_task",), "system_prompt": "Be brief."})
    assert world.store.runs.profile(WORKSPACE, "scout").tools == ("complete_task",)


def test_a_tool_that_is_not_there_is_not_given() -> None:
    world = World().settle()
    with pytest.raises(InvalidInput, match="no tool named nothing"):
        register_agent(world.deps, human(), "scout", {"tools": ("nothing",)})
    assert world.store.runs.profile(WORKSPACE, "scout").tools == ()


@pytest.mark.parametrize(
    ("values", "field"),
    [
        ({"tools": tuple(f"t{n}" for n in range(MAX_TOOLS_OF_AGENT + 1))}, "tools"),
        ({"tools": ("a", "a")}, "tools"),
        ({"system_prompt": "x" * (MAX_SYSTEM_PROMPT + 1)}, "system_prompt"),
        ({"model": " bedrock:x"}, "model"),
        ({"model": "a\nb"}, "model"),
        ({"model": "x" * 201}, "model"),
        ({"quorum": 0}, "quorum"),
        ({"quorum": MAX_BRANCHES + 1}, "quorum"),
        *(({name: low - 1}, name) for name, (low, _) in BOUNDS.items()),
        *(({name: high + 1}, name) for name, (_, high) in BOUNDS.items()),
    ],
)
def test_a_profile_out_of_bounds(values: dict[str, Any], field: str) -> None:
    with pytest.raises(InvalidInput) as refusal:
        check_profile(values)
    assert refusal.value.field == field


def test_a_profile_at_its_bounds() -> None:
    tools = tuple(f"t{n}" for n in range(MAX_TOOLS_OF_AGENT))
    check_profile({"tools": tools, "system_prompt": "x" * MAX_SYSTEM_PROMPT, "model": "", "quorum": MAX_BRANCHES})
    for index in (0, 1):
        check_profile({name: bounds[index] for name, bounds in BOUNDS.items()})


def test_a_quorum_goes_with_its_policy_only() -> None:
    assert profile().changed(human(), join=Policy.QUORUM, quorum=2).quorum == 2
    for values in ({"quorum": 2}, {"join": Policy.QUORUM}, {"join": Policy.ANY, "quorum": 1}):
        with pytest.raises(InvalidInput):
            profile().changed(human(), **values)
    both = profile(join=Policy.QUORUM, quorum=2)
    assert both.changed(human(), join=Policy.ALL, quorum=None).quorum is None


# At use


def test_a_tool_that_is_switched_off_or_taken_away_is_not_offered_and_does_nothing() -> None:
    calling = calls(("to_bert", {}))
    agent_runs = AgentRuns(
        {"anna": {"tools": ("to_bert",)}, "bert": {}}, {"anna": [calling, says("No.")], "bert": [says("!")]}
    )
    agent_runs.tool("to_bert", "bert")
    agent_runs.open().tool("to_bert", "bert", active=False)
    root = agent_runs.start("anna")
    assert (root.state, agent_runs.children(root)) == ("done", [])
    assert [request.tools for request in agent_runs.model.requests] == [[], []]
