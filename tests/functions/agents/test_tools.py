"""Handoff tools over HTTP (docs/spec/tools.md §1)."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from baton.domain.agents.tool import (
    MAX_CHOICE_BYTES,
    MAX_CHOICES,
    MAX_INSTRUCTIONS,
    MAX_TOOL_DESCRIPTION,
    MAX_TOOLS,
    MAX_TOOLS_OF_AGENT,
    MAX_VARIABLE_DESCRIPTION,
    MAX_VARIABLES,
    Toolbox,
)
from support.gateway import Gateway, Reply
from support.values.schema import DOCUMENT
from support.worlds.world import WORKSPACE, World, agent, human, service

ALICE, BOB, SCOUT, STRANGER = human(), human(name="bob"), agent("scout"), human("other")
NAME = "handoff_to_auditor"
PATH = f"/tools/{NAME}"
VARIABLES: list[dict[str, Any]] = [
    {"name": "lead_id", "type": "string", "required": True, "description": "Which lead"},
    {"name": "campaign", "type": "string", "enum": ["spring", "autumn"]},
    {"name": "priority", "type": "number"},
]
CONFIG: dict[str, Any] = {
    "target_agent": "auditor",
    "mode": "transfer",
    "context_variables": VARIABLES,
    "handoff_instructions": "Look at the lead first.",
    "history": "last_message",
}
BODY: dict[str, Any] = {"type": "handoff", "description": "Hands a lead to the auditor.", "config": CONFIG}


def defined(gateway: Gateway, name: str = NAME, body: Any = None) -> Any:
    reply = gateway.put(ALICE, f"/tools/{name}", BODY if body is None else body)
    assert reply.status in {200, 201}, reply.text
    return reply.json


def tools(gateway: Gateway, by: Any = ALICE) -> list[Any]:
    found: list[Any] = gateway.get(by, "/tools").json["items"]
    return found


# Defining


def test_tool_is_made_once_and_changed_after(world: World, gateway: Gateway) -> None:
    first = gateway.put(ALICE, PATH, BODY)
    assert (first.status, first.headers["Location"]) == (201, PATH)
    at = first.json["created_at"]
    full = [{"required": False, "description": "", "enum": [], **each} for each in VARIABLES]
    assert first.json == {
        "approval_giver": "human:alice",
        "approval_given_at": "2026-11-18T12:00:00.000Z",
        "name": NAME,
        **BODY,
        "config": {**CONFIG, "context_variables": full},
        "active": True,
        "needs_approval": None,
        "version": 1,
        "created_at": at,
        "updated_at": at,
        "updated_by": "human:alice",
        "target_version": 1,
        "suspended": None,
    }
    world.clock.advance(60)
    second = gateway.put(BOB, PATH, {"config": {"mode": "delegate"}, "version": 1})
    assert second.status == 200
    changed = {"config": {**first.json["config"], "mode": "delegate"}, "version": 2, "updated_by": "human:bob"}
    changed |= {"approval_giver": "human:bob", "approval_given_at": second.json["updated_at"]}
    assert second.json == {**first.json, **changed, "updated_at": second.json["updated_at"]}
    assert second.json["updated_at"] > at
    assert gateway.get(ALICE, PATH).json == second.json


def test_all_that_may_be_left_out_has_a_default(gateway: Gateway) -> None:
    made = defined(gateway, body={"config": {"target_agent": "auditor"}})
    assert (made["type"], made["description"], made["active"]) == ("handoff", "", True)
    assert made["config"] == {
        "target_agent": "auditor",
        "mode": "transfer",
        "context_variables": [],
        "handoff_instructions": "",
        "history": "full",
    }


@pytest.mark.parametrize("body", [{}, {"config": {}}, {"version": 1}, None])
def test_fields_that_are_left_out_keep_their_value(gateway: Gateway, body: Any) -> None:
    made = defined(gateway)
    kept = {name: value for name, value in made.items() if name not in {"version", "updated_at"}}
    again = gateway.put(ALICE, PATH, body).json
    assert {name: again[name] for name in kept} == kept
    assert again["version"] == 2


def test_a_mark_is_set_kept_changed_and_taken(gateway: Gateway) -> None:
    defined(gateway)
    anybody: dict[str, Any] = {"people": [], "group": None, "needed": 1, "not_author": False, "within_seconds": 86_400}
    assert defined(gateway, body={"needs_approval": {}})["needs_approval"] == anybody
    assert defined(gateway, body={"description": "Other"})["needs_approval"] == anybody
    two = {"people": ["ada", "bob"], "needed": 2, "not_author": True, "within_seconds": 60}
    assert defined(gateway, body={"needs_approval": two})["needs_approval"] == {**anybody, **two}
    assert defined(gateway, body={"needs_approval": {}})["needs_approval"] == anybody
    assert gateway.get(ALICE, PATH).json["needs_approval"] == anybody
    dry_run = gateway.post(ALICE, f"{PATH}/dry-run", {"arguments": {"lead_id": "l-1"}}).json
    assert dry_run["would"] == "Routed to Client Repo Auditor, once people have approved it"
    assert defined(gateway, body={"needs_approval": None})["needs_approval"] is None


@pytest.mark.parametrize(
    ("mark", "field"),
    [
        ({"needed": 0}, "needs_approval.needed"),
        ({"people": ["ada"], "needed": 2}, "needs_approval.needed"),
        ({"group": "nobody"}, "needs_approval.group"),
        ({"within_seconds": 59}, "needs_approval.within_seconds"),
        ({"within_seconds": 2_592_001}, "needs_approval.within_seconds"),
        ({"until": "later"}, "needs_approval.until"),
        (True, "needs_approval"),
    ],
)
def test_a_mark_that_nobody_could_meet_is_refused(gateway: Gateway, mark: Any, field: str) -> None:
    for path in (PATH, f"{PATH}/preview"):
        method = gateway.put if path == PATH else gateway.post
        reply = method(ALICE, path, {**BODY, "needs_approval": mark})
        assert (reply.status, reply.code) == (422, "invalid_input")
        assert [each["field"] for each in reply.json["errors"]] == [field]
    assert tools(gateway) == []


@pytest.mark.parametrize("by", [SCOUT, agent("auditor"), service(), service(act_as=False)])
@pytest.mark.parametrize("mark", [{}, None])
def test_only_humans_set_or_take_a_mark(gateway: Gateway, by: Any, mark: Any) -> None:
    made = defined(gateway, body={**BODY, "needs_approval": {}})
    reply = gateway.put(by, PATH, {"needs_approval": mark})
    assert (reply.status, reply.code) == (403, "human_required")
    assert tools(gateway) == [made]


def test_variables_are_replaced_as_a_whole(gateway: Gateway) -> None:
    defined(gateway)
    changed = defined(gateway, body={"config": {"context_variables": [{"name": "only"}]}})
    assert [each["name"] for each in changed["config"]["context_variables"]] == ["only"]
    assert defined(gateway, body={"config": {"context_variables": []}})["config"]["context_variables"] == []


def test_target_may_be_named_by_its_alias_and_is_kept_by_its_slug(gateway: Gateway) -> None:
    for name in ("Auditor", "Client Repo Auditor"):
        assert defined(gateway, body={"config": {"target_agent": name}})["config"]["target_agent"] == "auditor"


def test_change_on_an_old_version_is_refused(gateway: Gateway) -> None:
    for version in (1, 2**53 - 1):
        reply = gateway.put(ALICE, PATH, {**BODY, "version": version})
        assert (reply.status, reply.code, reply.json["version"]) == (409, "version_conflict", 0)
    defined(gateway, body={**BODY, "version": 0})
    for version in (0, 2):
        reply = gateway.put(ALICE, PATH, {**BODY, "version": version})
        assert (reply.status, reply.code, reply.json["version"]) == (409, "version_conflict", 1)


@pytest.mark.parametrize("by", [SCOUT, agent("auditor"), service(), service(act_as=False)])
def test_only_humans_define_tools(gateway: Gateway, by: Any) -> None:
    made = defined(gateway)
    for path, body in ((PATH, BODY), ("/tools/another", BODY), (PATH, {"nonsense": 1}), ("/tools/No.Name", {})):
        reply = gateway.put(by, path, body)
        assert (reply.status, reply.code) == (403, "human_required")
    assert tools(gateway) == [made]


@pytest.mark.parametrize("by", [ALICE, SCOUT, service()])
def test_humans_services_and_the_agent_that_has_it_read_and_try_a_tool(gateway: Gateway, by: Any) -> None:
    made = defined(gateway)
    gateway.put(ALICE, "/agents/scout", {"tools": [NAME]})
    assert gateway.get(by, PATH).json == made
    assert tools(gateway, by) == [made]
    assert gateway.get(by, f"{PATH}/schema").status == 200
    assert gateway.post(by, f"{PATH}/dry-run", {"arguments": {"lead_id": "1"}}).json["ok"] is True


@pytest.mark.parametrize("by", [SCOUT, agent("auditor"), service(act_as=False)])
def test_tool_of_others_is_as_unknown_as_none(gateway: Gateway, by: Any) -> None:
    defined(gateway)
    gateway.put(ALICE, "/agents/runner", {"tools": [NAME]})
    assert tools(gateway, by) == []
    for path in ("", "/schema"):
        known, unknown = gateway.get(by, PATH + path), gateway.get(by, f"/tools/nothing{path}")
        assert (known.status, known.text) == (404, unknown.text)
    assert gateway.post(by, f"{PATH}/dry-run", {"arguments": {"lead_id": "1"}}).code == "not_found"


def test_tools_are_listed_by_name(gateway: Gateway) -> None:
    for name in ("zeta", "alpha", "a_1", "a"):
        defined(gateway, name)
    listed = gateway.get(ALICE, "/tools").json
    assert [tool["name"] for tool in listed["items"]] == ["a", "a_1", "alpha", "zeta"]
    assert listed["next_cursor"] is None


@pytest.mark.parametrize("slug", ["nobody", "No Body"])
def test_unknown_target_is_named(gateway: Gateway, slug: str) -> None:
    reply = gateway.put(ALICE, PATH, {**BODY, "config": {**CONFIG, "target_agent": slug}})
    assert (reply.status, reply.code, reply.fields) == (422, "unknown_agent", ["config.target_agent"])
    assert tools(gateway) == []


def test_target_has_to_be_active_but_a_tool_can_always_be_switched_off(gateway: Gateway) -> None:
    defined(gateway)
    gateway.put(ALICE, "/agents/auditor", {"active": False})
    for body in ({}, {"description": "x"}, {"active": True}, {"active": False, "config": {"target_agent": "auditor"}}):
        reply = gateway.put(ALICE, PATH, body)
        assert (reply.status, reply.code, reply.fields) == (422, "inactive_agent", ["config.target_agent"])
    assert gateway.put(ALICE, "/tools/other", BODY).code == "inactive_agent"
    assert defined(gateway, body={"active": False})["active"] is False
    assert defined(gateway, body={"description": "still off"})["description"] == "still off"
    assert gateway.put(ALICE, PATH, {"active": True}).code == "inactive_agent"


def test_workspace_holds_so_many_tools(world: World, gateway: Gateway) -> None:
    defined(gateway, "tool_0")
    tool = world.store.tools.named(WORKSPACE, ["tool_0"])["tool_0"]
    for number in range(1, MAX_TOOLS):
        world.store.tools.save_tool(replace(tool, name=f"tool_{number}"), Toolbox(version=number))
    reply = gateway.put(ALICE, "/tools/one_more", BODY)
    assert (reply.status, reply.code, reply.json["limit"]) == (409, "limit_reached", MAX_TOOLS)
    assert defined(gateway, "tool_0", {})["version"] == 2
    world.settle("other")
    assert gateway.put(STRANGER, "/tools/one_more", BODY).status == 201


# Names


@pytest.mark.parametrize("name", ["a", "a" * 64, "a_", "a9", "handoff_to_sdr"])
def test_name_within_its_bounds_is_taken(gateway: Gateway, name: str) -> None:
    assert defined(gateway, name)["name"] == name
    assert gateway.get(ALICE, f"/tools/{name}/schema").json["name"] == name


def test_name_that_can_be_none_is_refused_and_unknown(gateway: Gateway) -> None:
    unknown = gateway.get(ALICE, "/tools/unknown_tool")
    assert (unknown.status, unknown.code) == (404, "not_found")
    for name in ("a" * 65, "A", "9a", "_a", "a-b", "a b", "a.b", "é", "a\n", "complete_task"):
        reply = gateway.put(ALICE, f"/tools/{name}", BODY)
        assert (reply.status, reply.code, reply.fields) == (422, "invalid_input", ["name"]), name
        for path in (f"/tools/{name}", f"/tools/{name}/schema"):
            assert gateway.get(ALICE, path).json == unknown.json, path
        assert gateway.post(ALICE, f"/tools/{name}/dry-run", {}).json == unknown.json, name


@pytest.mark.parametrize("end", ["", "/schema"])
def test_other_workspaces_tool_answers_like_an_unknown_one(world: World, gateway: Gateway, end: str) -> None:
    world.settle("other")
    made = defined(gateway)
    unknown = gateway.get(STRANGER, f"/tools/unknown_tool{end}")
    assert unknown.status == 404
    assert gateway.get(STRANGER, f"{PATH}{end}").json == unknown.json
    assert gateway.post(STRANGER, f"{PATH}/dry-run", {"arguments": {}}).json == unknown.json
    assert tools(gateway, STRANGER) == []
    theirs = gateway.put(STRANGER, PATH, {"config": {"target_agent": "scout"}, "version": 0})
    assert (theirs.status, theirs.json["config"]["target_agent"]) == (201, "scout")
    assert tools(gateway) == [made]


# Bodies


def variable(**changes: Any) -> dict[str, Any]:
    return {"config": {**CONFIG, "context_variables": [{"name": "x", **changes}]}}


def config(**changes: Any) -> dict[str, Any]:
    return {"config": {**CONFIG, **changes}}


AT = "config.context_variables"
LONG = "x" * (MAX_CHOICE_BYTES - 1)
WRONG: list[tuple[Any, list[str]]] = [
    ({}, ["config.target_agent"]),
    ({"config": {}}, ["config.target_agent"]),
    ({**BODY, "type": "http"}, ["type"]),
    ({**BODY, "type": None}, ["type"]),
    ({**BODY, "description": "x" * (MAX_TOOL_DESCRIPTION + 1)}, ["description"]),
    ({**BODY, "description": 5}, ["description"]),
    ({**BODY, "description": None}, ["description"]),
    ({**BODY, "active": 1}, ["active"]),
    ({**BODY, "active": "true"}, ["active"]),
    ({**BODY, "version": -1}, ["version"]),
    ({**BODY, "version": 2**53}, ["version"]),
    ({**BODY, "version": True}, ["version"]),
    ({**BODY, "name": "other"}, ["name"]),
    ({**BODY, "target_agent": "auditor"}, ["target_agent"]),
    ({**BODY, "config": None}, ["config"]),
    ({**BODY, "config": []}, ["config"]),
    (config(target_agent=None), ["config.target_agent"]),
    (config(target_agent=""), ["config.target_agent"]),
    (config(target_agent="x" * 101), ["config.target_agent"]),
    (config(target_agent=["auditor"]), ["config.target_agent"]),
    (config(target_agent_id="x"), ["config.target_agent_id"]),
    (config(mode="broadcast"), ["config.mode"]),
    (config(history="some"), ["config.history"]),
    (config(history=None), ["config.history"]),
    (config(handoff_instructions="x" * (MAX_INSTRUCTIONS + 1)), ["config.handoff_instructions"]),
    (config(handoff_instructions={}), ["config.handoff_instructions"]),
    (config(context_variables={}), [AT]),
    (config(context_variables=[5]), [f"{AT}.0"]),
    (config(context_variables=[{"name": f"x{n}"} for n in range(MAX_VARIABLES + 1)]), [AT]),
    (config(context_variables=[{"name": "x"}, {"name": "x", "type": "number"}]), [AT]),
    (config(context_variables=[{"name": "x"}, {}]), [f"{AT}.1.name"]),
    (variable(type="text"), [f"{AT}.0.type"]),
    (variable(type=None), [f"{AT}.0.type"]),
    (variable(type=["string"]), [f"{AT}.0.type"]),
    (variable(required="yes"), [f"{AT}.0.required"]),
    (variable(required=1), [f"{AT}.0.required"]),
    (variable(default=1), [f"{AT}.0.default"]),
    (variable(description="x" * (MAX_VARIABLE_DESCRIPTION + 1)), [f"{AT}.0.description"]),
    (variable(name=""), [f"{AT}.0.name"]),
    (variable(name="x" * 65), [f"{AT}.0.name"]),
    (variable(name="a b"), [f"{AT}.0.name"]),
    (variable(name="9"), [f"{AT}.0.name"]),
    (variable(name="é"), [f"{AT}.0.name"]),
    (variable(name="a\n"), [f"{AT}.0.name"]),
    (variable(name="_handoff_from"), [f"{AT}.0.name"]),
    (variable(name="_"), [f"{AT}.0.name"]),
    (variable(enum="spring"), [f"{AT}.0.enum"]),
    (variable(enum=["x"] * (MAX_CHOICES + 1)), [f"{AT}.0.enum"]),
    (variable(enum=["x", 1]), [f"{AT}.0.enum"]),
    (variable(enum=[None]), [f"{AT}.0.enum"]),
    (variable(enum=[LONG]), [f"{AT}.0.enum"]),
    (variable(type="number", enum=[True]), [f"{AT}.0.enum"]),
    (variable(type="boolean", enum=[1]), [f"{AT}.0.enum"]),
    (variable(type="object", enum=[[]]), [f"{AT}.0.enum"]),
    ({**BODY, **variable(type="text", required="yes", x=1), "y": 1},
     [f"{AT}.0.type", f"{AT}.0.required", f"{AT}.0.x", "y"]),
]  # fmt: skip


def test_wrong_field_is_named_by_its_path_and_writes_nothing(gateway: Gateway) -> None:
    for body, fields in WRONG:
        reply = gateway.put(ALICE, PATH, body)
        assert (reply.status, reply.fields) == (422, fields), body
    assert tools(gateway) == []


TAKEN: list[Any] = [
    {**BODY, "description": "x" * MAX_TOOL_DESCRIPTION},
    config(handoff_instructions="x" * MAX_INSTRUCTIONS),
    config(context_variables=[{"name": f"x{n}"} for n in range(MAX_VARIABLES)]),
    variable(description="x" * MAX_VARIABLE_DESCRIPTION),
    variable(name="x" * 64),
    variable(name="X_9"),
    variable(enum=["x"] * MAX_CHOICES),
    variable(enum=[LONG[1:]]),
    variable(type="number", enum=[1, 1.5, -0.0, 10**20]),
    variable(type="boolean", enum=[True]),
    variable(type="object", enum=[{}, {"a": [1, None]}]),
    variable(type="array", enum=[[], ["a"]]),
]


@pytest.mark.parametrize("body", TAKEN)
def test_what_is_at_its_limit_is_taken_and_kept(gateway: Gateway, body: Any) -> None:
    made = defined(gateway, body=body)
    assert gateway.get(ALICE, PATH).json == made
    for name, value in body["config"].items():
        if name != "context_variables":
            assert made["config"][name] == value
    for given, kept in zip(body["config"]["context_variables"], made["config"]["context_variables"], strict=True):
        assert given.items() <= kept.items()


@pytest.mark.parametrize(
    ("raw", "field"),
    [
        ('{"config": {"context_variables": [{"name": "x", "type": "number", "enum": [NaN]}]}}', f"{AT}.0.enum.0"),
        ('{"config": ' + "[" * 1_000 + "]" * 1_000 + "}", "config"),
        ('{"config": {"mode": "transfer", "mode": "delegate"}}', "config.mode"),
        ('{"description": "\\u0000"}', "description"),
    ],
)
def test_what_cannot_be_kept_is_refused(gateway: Gateway, raw: str, field: str) -> None:
    reply = gateway.put(ALICE, PATH, raw)
    assert (reply.status, reply.code, reply.fields) == (400, "malformed_json", [field])
    assert tools(gateway) == []


def test_limits_are_documented() -> None:
    shapes = DOCUMENT["components"]["schemas"]
    assert shapes["ToolRequest"]["properties"]["description"]["maxLength"] == MAX_TOOL_DESCRIPTION
    assert shapes["ToolConfigRequest"]["properties"]["handoff_instructions"]["maxLength"] == MAX_INSTRUCTIONS
    assert shapes["ToolConfigRequest"]["properties"]["context_variables"]["maxItems"] == MAX_VARIABLES
    of_variables = shapes["VariableRequest"]["properties"]
    assert (of_variables["enum"]["maxItems"], of_variables["description"]["maxLength"]) == (
        MAX_CHOICES,
        MAX_VARIABLE_DESCRIPTION,
    )
    assert shapes["AgentRequest"]["properties"]["tools"]["maxItems"] == MAX_TOOLS_OF_AGENT


# What a model sees


def test_schema_is_exactly_what_a_model_is_told(gateway: Gateway) -> None:
    defined(gateway)
    assert gateway.get(ALICE, f"{PATH}/schema").json == {
        "name": NAME,
        "description": "Hands a lead to the auditor.\n\nLook at the lead first.",
        "input_schema": {
            "type": "object",
            "properties": {
                "lead_id": {"type": "string", "description": "Which lead"},
                "campaign": {"type": "string", "enum": ["spring", "autumn"]},
                "priority": {"type": "number"},
            },
            "required": ["lead_id"],
            "additionalProperties": False,
        },
    }


def test_preview_is_the_schema_that_saving_gives_and_writes_nothing(world: World, gateway: Gateway) -> None:
    before = world.stored()
    unsaved = gateway.post(ALICE, f"{PATH}/preview", BODY)
    assert (unsaved.status, world.stored()) == (200, before)
    defined(gateway)
    assert unsaved.json == gateway.get(ALICE, f"{PATH}/schema").json
    before = world.stored()
    changed = gateway.post(ALICE, f"{PATH}/preview", {"description": "Changed.", "version": 1}).json
    assert (changed["description"], world.stored()) == ("Changed.\n\nLook at the lead first.", before)
    assert changed["input_schema"] == unsaved.json["input_schema"]


def test_preview_is_refused_where_saving_is_refused(gateway: Gateway) -> None:
    other = {"config": {**CONFIG, "target_agent": "nobody"}}
    for by, path, body in (
        *((ALICE, PATH, wrong) for wrong, _ in WRONG),
        *((by, PATH, BODY) for by in (SCOUT, service(), STRANGER)),
        (ALICE, PATH, {**BODY, "version": 1}),
        (ALICE, PATH, {**BODY, "target_version": 9}),
        (ALICE, PATH, other),
        *((ALICE, f"/tools/{name}", BODY) for name in ("complete_task", "No.Name")),
    ):
        saved, previewed = gateway.put(by, path, body), gateway.post(by, f"{path}/preview", body)
        assert saved.status >= 400
        told = [(each.status, each.code, each.json.get("errors")) for each in (saved, previewed)]
        assert told[0] == told[1]


def test_schema_without_required_variables_says_nothing_of_them(gateway: Gateway) -> None:
    defined(gateway, body={"config": {"target_agent": "auditor"}})
    shape = gateway.get(ALICE, f"{PATH}/schema").json["input_schema"]
    assert shape == {"type": "object", "properties": {}, "additionalProperties": False}


# Trying


def tried(gateway: Gateway, arguments: Any, by: Any = ALICE) -> Any:
    reply = gateway.post(by, f"{PATH}/dry-run", {"arguments": arguments})
    assert reply.status == 200
    return reply.json


def test_dry_run_says_what_would_happen_and_changes_nothing(world: World, gateway: Gateway) -> None:
    defined(gateway)
    before = world.stored()
    assert tried(gateway, {"lead_id": "l-1", "priority": 2}) == {
        "ok": True,
        "errors": [],
        "would": "Routed to Client Repo Auditor",
        "mode": "transfer",
        "target_agent": "auditor",
        "target_agent_name": "Client Repo Auditor",
        "history": "last_message",
        "context": {
            "lead_id": "l-1",
            "priority": 2,
            "_handoff_from": "<source agent>",
            "_handoff_tool": NAME,
            "_handoff_instructions": "Look at the lead first.",
            "_handoff_chain": ["<source agent>"],
        },
    }
    assert world.stored() == before
    assert world.dispatch_queue.notices == []
    assert tried(gateway, {"lead_id": "l-1"}, service()) == tried(gateway, {"lead_id": "l-1"}, ALICE)


@pytest.mark.parametrize(
    ("arguments", "fields"),
    [
        ({}, ["lead_id"]),
        ({"lead_id": 5, "campaign": "winter", "priority": True, "x": 1, "_handoff_from": "me"},
         ["lead_id", "campaign", "priority", "x", "_handoff_from"]),
        ({"lead_id": None}, ["lead_id"]),
        ([], ["arguments"]),
        ("l-1", ["arguments"]),
        (None, ["arguments"]),
    ],
)  # fmt: skip
def test_dry_run_names_all_that_is_wrong_with_the_arguments(
    gateway: Gateway, arguments: Any, fields: list[str]
) -> None:
    defined(gateway)
    dry_run = tried(gateway, arguments)
    assert (dry_run["ok"], [each["field"] for each in dry_run["errors"]]) == (False, fields)
    assert (dry_run["would"], dry_run["context"]) == (None, None)


def test_arguments_left_out_are_none(gateway: Gateway) -> None:
    defined(gateway)
    bodies: list[Any] = [{}, None]
    for body in bodies:
        assert [each["field"] for each in gateway.post(ALICE, f"{PATH}/dry-run", body).json["errors"]] == ["lead_id"]


def test_dry_run_of_a_tool_that_isnt_offered_says_so(gateway: Gateway) -> None:
    defined(gateway, body=config(mode="delegate", context_variables=[]))
    assert tried(gateway, {})["would"] == "Asked Client Repo Auditor"
    gateway.put(ALICE, "/agents/auditor", {"active": False})
    assert [each["field"] for each in tried(gateway, {})["errors"]] == ["target_agent"]
    defined(gateway, body={"active": False})
    assert [each["field"] for each in tried(gateway, {})["errors"]] == ["name", "target_agent"]


@pytest.mark.parametrize(("body", "fields"), [({"arguments": {}, "x": 1}, ["x"]), ({"args": {}}, ["args"])])
def test_wrong_field_of_a_dry_run_is_named(gateway: Gateway, body: Any, fields: list[str]) -> None:
    defined(gateway)
    reply = gateway.post(ALICE, f"{PATH}/dry-run", body)
    assert (reply.status, reply.fields) == (422, fields)


def test_dry_run_needs_no_key_and_looks_at_none(gateway: Gateway) -> None:
    defined(gateway)
    for arguments in ({"lead_id": "1"}, {"lead_id": "2"}):
        reply = gateway.post(ALICE, f"{PATH}/dry-run", {"arguments": arguments}, headers={"idempotency-key": "k"})
        assert reply.json["context"]["lead_id"] == arguments["lead_id"]


# Agents


PROFILE = {
    "system_prompt": "You audit.",
    "model": "openai_compatible:small",
    "tools": [NAME, "complete_task"],
    "max_turns": 5,
    "max_tokens": 50_000,
    "max_reply_tokens": 1_000,
    "join": "quorum",
    "quorum": 2,
}
DEFAULTS = {
    "system_prompt": "",
    "model": "",
    "tools": [],
    "max_turns": 20,
    "max_tokens": 200_000,
    "max_reply_tokens": 4_096,
    "join": "all",
    "quorum": None,
}


def profile(gateway: Gateway, slug: str = "runner") -> dict[str, Any]:
    shown = gateway.get(ALICE, f"/agents/{slug}").json
    return {name: shown[name] for name in DEFAULTS}


def test_agent_shows_what_it_is_run_with_and_the_listing_doesnt(gateway: Gateway) -> None:
    defined(gateway)
    assert profile(gateway) == DEFAULTS
    assert gateway.put(ALICE, "/agents/runner", PROFILE).status == 200
    assert profile(gateway) == PROFILE
    gateway.put(ALICE, "/agents/runner", {"description": "runs", "max_turns": 6})
    assert profile(gateway) == {**PROFILE, "max_turns": 6}
    for each in gateway.get(ALICE, "/agents").json["items"]:
        assert not set(DEFAULTS) & set(each)


def test_only_a_human_gives_tools(gateway: Gateway) -> None:
    defined(gateway)
    refused = gateway.put(service(), "/agents/runner", {"tools": [NAME], "system_prompt": "x"})
    assert (refused.status, refused.code) == (403, "human_required")
    assert profile(gateway) == DEFAULTS
    gateway.put(ALICE, "/agents/runner", {"tools": [NAME]})
    assert gateway.put(service(), "/agents/runner", {"tools": [NAME], "max_turns": 20}).status == 200
    assert gateway.put(service(), "/agents/runner", {"tools": [NAME], "system_prompt": "x"}).code == "human_required"
    assert gateway.put(service(), "/agents/runner", {"tools": [], "system_prompt": "x"}).status == 200
    assert gateway.put(service(), "/agents/runner", {"tools": [NAME]}).code == "human_required"
    assert profile(gateway) == {**DEFAULTS, "system_prompt": "x"}
    assert gateway.put(agent("runner"), "/agents/runner", {"tools": []}).code == "human_required"


PROFILE_WRONG: list[tuple[dict[str, Any], list[str]]] = [
    ({"system_prompt": "x" * 32_001}, ["system_prompt"]),
    ({"system_prompt": None}, ["system_prompt"]),
    ({"model": "x" * 201}, ["model"]),
    ({"model": " x"}, ["model"]),
    ({"model": "a\nb"}, ["model"]),
    ({"model": 5}, ["model"]),
    ({"tools": NAME}, ["tools"]),
    ({"tools": ["No.Name"]}, ["tools.0"]),
    ({"tools": [NAME, 5]}, ["tools.1"]),
    ({"tools": [NAME, NAME]}, ["tools"]),
    ({"tools": [NAME, "unknown_tool"]}, ["tools"]),
    ({"tools": [f"tool_{n}" for n in range(MAX_TOOLS_OF_AGENT + 1)]}, ["tools"]),
    ({"max_turns": 0}, ["max_turns"]),
    ({"max_turns": 101}, ["max_turns"]),
    ({"max_turns": 1.5}, ["max_turns"]),
    ({"max_tokens": 999}, ["max_tokens"]),
    ({"max_tokens": 10_000_001}, ["max_tokens"]),
    ({"max_reply_tokens": 15}, ["max_reply_tokens"]),
    ({"max_reply_tokens": 65_537}, ["max_reply_tokens"]),
    ({"max_reply_tokens": True}, ["max_reply_tokens"]),
    ({"join": "most"}, ["join"]),
    ({"join": None}, ["join"]),
    ({"join": "quorum"}, ["quorum"]),
    ({"quorum": 2}, ["quorum"]),
    ({"join": "quorum", "quorum": 0}, ["quorum"]),
    ({"join": "quorum", "quorum": 11}, ["quorum"]),
    ({"prompt": "x"}, ["prompt"]),
]


def test_wrong_field_of_a_profile_is_named_and_writes_nothing(gateway: Gateway) -> None:
    defined(gateway)
    before = gateway.get(ALICE, "/agents/runner").json
    for body, fields in PROFILE_WRONG:
        reply = gateway.put(ALICE, "/agents/runner", {"description": "changed", **body})
        assert (reply.status, reply.fields) == (422, fields), body
    assert gateway.get(ALICE, "/agents/runner").json == before


@pytest.mark.parametrize(
    "body",
    [
        {"system_prompt": "x" * 32_000, "model": "x" * 200},
        {"max_turns": 1, "max_tokens": 1_000, "max_reply_tokens": 16},
        {"max_turns": 100, "max_tokens": 10_000_000, "max_reply_tokens": 65_536},
        {"join": "quorum", "quorum": 10},
        {"join": "any"},
        {"tools": [f"tool_{n}" for n in range(MAX_TOOLS_OF_AGENT)]},
    ],
)
def test_profile_at_its_limits_is_taken(gateway: Gateway, body: dict[str, Any]) -> None:
    for name in body.get("tools", ()):
        defined(gateway, name)
    assert gateway.put(ALICE, "/agents/runner", body).status == 200
    assert profile(gateway) == {**DEFAULTS, **body}


def test_new_agent_may_come_with_its_profile(gateway: Gateway) -> None:
    defined(gateway)
    made: Reply = gateway.put(ALICE, "/agents/new", {"runtime": "run", **PROFILE})
    assert made.status == 201
    assert profile(gateway, "new") == PROFILE
    assert profile(gateway, "auditor") == DEFAULTS


def test_a_dry_run_says_what_the_workspaces_rules_would_refuse(gateway: Gateway) -> None:
    defined(gateway)
    secret = {"lead_id": "AKIAIOSFODNN7REALKEY"}
    answer = gateway.post(ALICE, f"/tools/{NAME}/dry-run", {"arguments": secret}).json
    assert (answer["ok"], answer["would"], [each["field"] for each in answer["errors"]]) == (
        False,
        None,
        ["arguments.lead_id"],
    )


# Suspended


def test_a_tool_whose_target_a_service_changed_is_shown_as_suspended_until_a_human_puts_it(gateway: Gateway) -> None:
    made = defined(gateway)
    assert (made["target_version"], made["suspended"]) == (1, None)
    assert gateway.put(service(), "/agents/auditor", {"system_prompt": "Mine now."}).status == 200
    (listed,) = gateway.get(ALICE, "/tools").json["items"]
    one = gateway.get(ALICE, PATH).json
    assert listed == one
    assert one["suspended"] == {
        "reason": "Is suspended: service:ci changed its target auditor (system_prompt). "
        "PUT the tool with its target to resume it.",
        "by": "service:ci",
        "fields": ["system_prompt"],
        "target_version": 2,
    }
    dry = gateway.post(ALICE, f"{PATH}/dry-run", {"arguments": {"repo": "core"}}).json
    messages = {each["field"]: each["message"] for each in dry["errors"]}
    assert (dry["ok"], messages["name"]) == (
        False,
        "is suspended: service:ci changed its target auditor (system_prompt)",
    )
    stale = gateway.put(ALICE, PATH, {"target_version": 1})
    assert (stale.status, stale.code) == (409, "version_conflict")
    assert gateway.get(ALICE, PATH).json == one
    assert gateway.put(service(), PATH, {"target_version": 2}).code == "human_required"
    resumed = gateway.put(ALICE, PATH, {"target_version": 2}).json
    assert (resumed["target_version"], resumed["suspended"]) == (2, None)
    assert gateway.get(ALICE, "/tools").json["items"] == [resumed]


@pytest.mark.parametrize("body", [{"max_tokens": 1_000_000}, {"max_turns": 100}, {"join": "any"}])
def test_a_service_raises_no_limit_of_an_agent_with_a_handoff_tool(gateway: Gateway, body: Any) -> None:
    defined(gateway)
    gateway.put(ALICE, "/agents/scout", {"tools": [NAME]})
    before = gateway.get(ALICE, "/agents/scout").json
    reply = gateway.put(service(), "/agents/scout", body)
    assert (reply.status, reply.code) == (403, "human_required")
    assert gateway.get(ALICE, "/agents/scout").json == before
