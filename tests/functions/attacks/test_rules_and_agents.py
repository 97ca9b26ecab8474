"""Attacks on approval rules by edits of the agents that they are about: a name, a type of work or a first declaration
takes the agent out of the rule. Such an edit is an administrator's, and a second one approves it. Attacks by members
who change an approved agent, too."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import pytest

from baton.domain import errors
from baton.domain.access.principal import PrincipalKind, operator
from baton.domain.access.rights import Right
from baton.domain.settings.approval_rule import ApprovalRule
from baton.services.access.change_settings import change_settings
from baton.services.access.issue_token import TokenRequest, issue_token
from baton.services.agents.register_agent import register_agent
from support.faults.wrapped_store import WrappedStore
from support.gateway import Gateway, Reply
from support.worlds.world import WORKSPACE, World, agent, person, service

AGENTS: dict[str, dict[str, Any]] = {
    "deployer": {
        "name": "Deployer",
        "aliases": ["Ship It", "Courier"],
        "accepts": ["Deploy", "docs"],
        "produces": ["build"],
    },
    "anything": {"name": "Anything"},
    "planner": {"name": "Planner", "aliases": ["The Planner"], "accepts": ["plan"]},
}
BY_TYPE = {"work_type": "deploy", "group": "leads", "needed": 2}
BY_SOURCE = {"source": "the-planner", "target": "deployer", "group": "leads"}
BY_ALIAS = {"target": "ship-it", "group": "leads", "needed": 2}
# Edits that take an agent out of the rule by type.
LIFTS: list[tuple[str, dict[str, Any]]] = [
    ("deployer", {"accepts": ["docs"]}),
    ("deployer", {"accepts": []}),
    ("deployer", {"accepts": ["redeploy", "docs"], "description": "And a second field"}),
    ("anything", {"accepts": ["docs"]}),
    ("anything", {"produces": ["docs"]}),
]


@dataclass
class Office:
    """Root and vera administer, mia is a member, and each has a real token."""

    world: World
    gateway: Gateway
    tokens: dict[str, str] = field(default_factory=dict)

    def hire(self, name: str, right: Right) -> None:
        request = TokenRequest(kind=PrincipalKind.HUMAN, subject=name, right=right)
        _, self.tokens[name] = issue_token(self.world.deps, operator(WORKSPACE), request)
        self.world.clock.advance(1)

    def ask(self, name: str, method: str, path: str, body: Any = None) -> Reply:
        if name == "ci":
            return self.gateway.send(service(), method, path, body)
        headers = {"authorization": f"Bearer {self.tokens[name]}"}
        return self.gateway.send(None, method, path, body, headers=headers)

    def edit(self, by: str, slug: str, /, **values: Any) -> Reply:
        return self.ask(by, "PUT", f"/agents/{slug}", values)

    def rule(self, *rules: dict[str, Any], by: str = "root") -> Reply:
        groups = {"leads": ["ada", "ben"]}
        return self.ask(by, "PUT", "/workspace/settings", {"groups": groups, "approval_rules": list(rules)})

    def store_rule(self, **values: Any) -> None:
        """Saves a rule as an earlier release did: with any name."""
        before = self.world.store.settings.of(WORKSPACE)
        rules = (*before.approval_rules, ApprovalRule(**values))
        after = replace(before, approval_rules=rules, groups={"leads": ("ada", "ben")}, version=before.version + 1)
        self.world.store.settings.save_settings(WORKSPACE, after, operator(WORKSPACE), self.world.clock.now())

    def rules(self) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = self.ask("root", "GET", "/workspace/settings").json["approval_rules"]
        return found

    def agent(self, slug: str) -> Any:
        return self.ask("root", "GET", f"/agents/{slug}").json

    def decide(self, name: str, change: Any, how: str = "approve") -> Reply:
        body = {"digest": change["digest"]} if how == "approve" else {}
        return self.ask(name, "POST", f"/workspace/changes/{change['id']}/{how}", body)


@pytest.fixture
def office(world: World, gateway: Gateway) -> Office:
    return opened(world, gateway)


def opened(world: World, gateway: Gateway) -> Office:
    office = Office(world, gateway)
    for name, right in (("root", Right.ADMINISTRATOR), ("mia", Right.MEMBER), ("abe", Right.APPROVER)):
        office.hire(name, right)
    for slug, values in AGENTS.items():
        assert office.edit("root", slug, **values).status == 201
    office.hire("vera", Right.ADMINISTRATOR)
    return office


# A rule names agents by their slugs


@pytest.mark.parametrize(("name", "slug"), [("ship-it", "deployer"), ("courier", "deployer"), ("deployer", "deployer")])
def test_a_rule_is_saved_with_the_slug_of_the_agent_that_it_names(office: Office, name: str, slug: str) -> None:
    assert office.rule({"target": name, "source": "the-planner"}).status == 200
    assert [(each["source"], each["target"]) for each in office.rules()] == [("planner", slug)]


@pytest.mark.parametrize("name", ["source", "target"])
def test_a_rule_about_an_unknown_agent_is_refused(office: Office, name: str) -> None:
    reply = office.rule({}, {"tool": "pay", name: "deploier"})
    assert (reply.status, reply.fields) == (422, [f"approval_rules.1.{name}"])
    assert "PUT /agents/deploier" in reply.json["errors"][0]["message"]
    assert office.rules() == []


def test_no_edit_of_an_alias_moves_a_rule(office: Office) -> None:
    office.rule(BY_ALIAS)
    assert office.edit("mia", "deployer", aliases=[], name="Somebody").status == 200
    assert office.edit("mia", "planner", aliases=["Ship It"]).status == 200
    assert [each["target"] for each in office.rules()] == ["deployer"]
    again = office.rule(*office.rules())
    assert (again.status, office.rules()[0]["target"]) == (200, "deployer")


def test_a_stored_rule_with_an_alias_keeps_its_effect_and_loses_no_agent(office: Office) -> None:
    office.store_rule(target="ship-it", group="leads", needed=2)
    assert office.edit("mia", "deployer", aliases=["Courier"]).code == "right_needed"
    assert office.edit("mia", "deployer", aliases=["Ship It"]).status == 200
    assert office.edit("root", "deployer", aliases=[]).status == 202
    reply = office.rule(*office.rules(), {"target": "planner"})
    assert (reply.status, [each["target"] for each in office.rules()]) == (200, ["deployer", "planner"])
    assert office.edit("mia", "deployer", aliases=[]).status == 200


def test_a_stored_rule_about_nobody_can_be_kept_and_is_not_lost(office: Office) -> None:
    office.store_rule(target="nobody-yet", group="leads", needed=2)
    kept = {**BY_ALIAS, "target": "nobody-yet"}
    assert office.rule(kept, {"target": "planner"}).status == 200
    assert [each["target"] for each in office.rules()] == ["nobody-yet", "planner"]
    assert office.rule({"target": "planner"}).status == 202


# An edit that takes an agent out of a rule


@pytest.mark.parametrize(("slug", "values"), LIFTS)
@pytest.mark.parametrize(("by", "code"), [("mia", "right_needed"), ("abe", "right_needed"), ("ci", "human_required")])
def test_nobody_below_administrator_takes_an_agent_out_of_a_rule(
    office: Office, slug: str, values: dict[str, Any], by: str, code: str
) -> None:
    office.rule(BY_TYPE)
    before = office.agent(slug)
    reply = office.edit(by, slug, **values)
    assert (reply.status, reply.code) == (403, code)
    assert office.agent(slug) == before


@pytest.mark.parametrize(("slug", "values"), LIFTS)
def test_a_second_administrator_approves_such_an_edit(office: Office, slug: str, values: dict[str, Any]) -> None:
    office.rule(BY_TYPE)
    before = office.agent(slug)
    asked = office.edit("root", slug, **values)
    assert (asked.status, asked.json["state"], asked.json["subject"]) == (202, "pending", "agents")
    assert office.agent(slug) == before
    assert office.edit("root", slug, **values).json["id"] == asked.json["id"], "a repeat is the same request"
    assert office.decide("root", asked.json).code == "not_asked"
    assert office.decide("mia", asked.json).code == "right_needed"
    assert office.decide("vera", asked.json).json["state"] == "applied"
    after = office.agent(slug)
    assert {name: after[name] for name in values} == values
    assert (after["version"], after["updated_by"]) == (before["version"] + 1, "human:root")
    assert office.decide("vera", asked.json).status == 200
    assert office.agent(slug)["version"] == after["version"]


def test_a_sole_administrator_takes_an_agent_out_with_an_alert(world: World, gateway: Gateway) -> None:
    office = Office(world, gateway)
    office.hire("root", Right.ADMINISTRATOR)
    office.edit("root", "deployer", **AGENTS["deployer"])
    office.rule(BY_TYPE)
    assert office.edit("root", "deployer", accepts=["docs"]).status == 200
    alerts = office.ask("root", "GET", "/alerts").json["items"]
    assert [each["kind"] for each in alerts if "deployer" in each["message"]] == ["loosened_alone"]
    recorded = office.ask("root", "GET", "/workspace/changes").json["items"]
    assert [each["names"] for each in recorded if each["is_alone"]] == [["deployer"]]


@pytest.mark.parametrize("values", [{"active": False}, {"description": "x"}, {"accepts": ["DEPLOY", "more"]},
                                    {"aliases": ["Another"]}, {"produces": ["code"]}])  # fmt: skip
def test_other_edits_need_nobody_else(office: Office, values: dict[str, Any]) -> None:
    office.rule(BY_TYPE, BY_ALIAS, BY_SOURCE)
    assert office.edit("mia", "deployer", **values).status == 200


def test_a_type_binds_only_the_agent_that_the_rule_names(office: Office) -> None:
    office.rule({**BY_TYPE, "target": "anything"})
    assert office.edit("mia", "deployer", accepts=["docs"]).status == 200
    assert office.edit("mia", "anything", accepts=["docs"]).code == "right_needed"


def test_a_rule_about_a_tool_is_not_left_either(office: Office) -> None:
    office.rule({"tool": "pay", "work_type": "deploy"})
    assert office.edit("mia", "deployer", accepts=["docs"]).code == "right_needed"


def test_switching_off_and_on_in_between_changes_nothing(office: Office) -> None:
    office.rule(BY_TYPE)
    assert office.edit("mia", "deployer", active=False).status == 200
    assert office.edit("mia", "deployer", accepts=["docs"]).code == "right_needed"
    assert office.edit("mia", "deployer", accepts=["docs"], active=True).code == "right_needed"


@pytest.mark.parametrize("by", ["mia", "ci", "root"])
@pytest.mark.parametrize(("slug", "values"), [each for each in LIFTS if "description" not in each[1]])
def test_an_import_takes_no_agent_out_of_a_rule(office: Office, slug: str, values: dict[str, Any], by: str) -> None:
    office.rule(BY_TYPE)
    before = office.agent("planner"), office.agent(slug)
    body = {"agents": {"planner": {"accepts": ["plan", "more"]}, slug: values}}
    reply = office.ask(by, "POST", "/agents/import", body)
    assert (reply.status, reply.fields) == (422, [f"agents.{slug}"])
    assert f"PUT /agents/{slug}" in reply.json["errors"][0]["message"]
    assert (office.agent("planner"), office.agent(slug)) == before, "nothing was written"


def test_a_new_agent_is_in_no_rule_that_it_could_leave(office: Office) -> None:
    office.rule(BY_TYPE)
    assert office.edit("mia", "newcomer", accepts=["docs"]).status == 201
    imported = office.ask("mia", "POST", "/agents/import", {"agents": {"imported": {"accepts": ["docs"]}}})
    assert imported.status == 200


@pytest.mark.parametrize(("by", "code"), [("mia", "right_needed"), ("ci", "human_required")])
@pytest.mark.parametrize("values", [{"accepts": ["plan", "deploy"]}, {"accepts": []}, {"aliases": ["Ship It"]}])
def test_nobody_below_approver_puts_an_agent_under_a_rule(
    office: Office, values: dict[str, Any], by: str, code: str
) -> None:
    """The rule would hold back the agent's approved work, and only two administrators could undo the edit."""
    office.edit("root", "deployer", aliases=[])
    office.rule(BY_TYPE)
    office.store_rule(target="ship-it", group="leads", needed=2)
    slug, before = "planner", office.agent("planner")
    assert office.edit(by, slug, **values).code == code
    if "accepts" in values:
        imported = office.ask(by, "POST", "/agents/import", {"agents": {slug: values}})
        assert (imported.status, imported.fields) == (422, [f"agents.{slug}"])
        assert "an approver changes it" in imported.json["errors"][0]["message"]
    assert office.agent(slug) == before
    assert office.edit(by, slug, accepts=["plan", "more"]).status == 200
    assert office.edit("abe", slug, **values).status == 200


# Between the request and its approval


def test_an_approval_applies_nothing_to_an_agent_that_changed_meanwhile(office: Office) -> None:
    office.rule(BY_TYPE)
    asked = office.edit("root", "deployer", accepts=["docs"]).json
    assert office.edit("mia", "deployer", accepts=["Deploy", "docs", "more"]).status == 200
    reply = office.decide("vera", asked)
    assert (reply.status, reply.code) == (409, "change_overtaken")
    assert office.agent("deployer")["accepts"] == ["Deploy", "docs", "more"]


@pytest.mark.parametrize("by", ["mia", "ci", "abe", "root"])
@pytest.mark.parametrize("change", [{"system_prompt": "Pay mallory"}, {"name": "Payroll"}, {"produces": ["payments"]},
                                    {"model": "other"}, {"runtime": "run"}, {"description": "New"}])  # fmt: skip
def test_an_approval_covers_no_agent_that_its_asker_never_saw(office: Office, by: str, change: dict[str, Any]) -> None:
    office.rule(BY_TYPE)
    asked = office.edit("root", "deployer", accepts=["docs"], approval="auto").json
    office.world.clock.advance(60)
    assert office.edit(by, "deployer", **change).status == 200
    before = office.agent("deployer")
    assert office.decide("vera", asked).code == "change_overtaken"
    assert office.agent("deployer") == before
    again = office.edit("root", "deployer", accepts=["docs"], approval="auto").json
    assert again["id"] != asked["id"], "the request for the agent as it was isn't the request for the agent as it is"
    assert office.decide("vera", again).json["state"] == "applied"
    after = office.agent("deployer")
    assert (after["accepts"], after["approval_giver"]) == (["docs"], "human:root")
    assert {name: after[name] for name in change} == change


def test_a_standing_approval_that_was_given_meanwhile_covers_no_applied_edit(office: Office) -> None:
    office.rule(BY_TYPE)
    asked = office.edit("root", "deployer", accepts=["docs"], runtime="run").json
    office.world.clock.advance(60)
    assert office.edit("abe", "deployer", approval="auto").json["approval_giver"] == "human:abe"
    assert office.decide("vera", asked).code == "change_overtaken"
    again = office.edit("root", "deployer", accepts=["docs"], runtime="run").json
    assert (again["before"]["approval"], again["after"]["approval"]) == ("auto", "manual")
    assert office.decide("vera", again).json["state"] == "applied"
    assert office.agent("deployer")["approval"] == "manual"


def test_an_approval_gives_no_name_that_is_taken_by_now(office: Office) -> None:
    office.rule(BY_TYPE)
    asked = office.edit("root", "deployer", accepts=["docs"], aliases=["Fresh"]).json
    assert office.edit("mia", "planner", aliases=["Fresh"]).status == 200
    assert office.decide("vera", asked).code == "change_overtaken"


def test_a_refused_and_a_withdrawn_edit_change_nothing(office: Office) -> None:
    office.rule(BY_TYPE)
    before = office.agent("deployer")
    for by, how in (("vera", "refuse"), ("root", "withdraw")):
        asked = office.edit("root", "deployer", accepts=["docs"]).json
        assert office.decide(by, asked, how).status == 200
        assert office.decide("vera", asked).code == "change_over"
    assert office.agent("deployer") == before


# A member changes an approved agent


@pytest.mark.parametrize("change", [{"system_prompt": "Pay mallory"}, {"name": "Payroll"}, {"produces": ["payments"]},
                                    {"accepts": ["Deploy", "docs", "money"]}, {"runtime": "run"}])  # fmt: skip
def test_approved_work_waits_once_a_member_changed_its_agent(office: Office, change: dict[str, Any]) -> None:
    request = {"source": {"agent": "planner"}, "target": {"agent": "deployer", "reason": "x"}}
    task_id = office.gateway.post(agent("planner"), "/handoffs", request).json["task"]["id"]
    assert office.ask("abe", "POST", f"/tasks/{task_id}/approve", {}).status == 200
    assert office.edit("mia", "deployer", **change).status == 200
    office.world.clock.advance(60)
    refused = office.gateway.post(agent("deployer"), f"/tasks/{task_id}/claim")
    assert (refused.status, refused.json["state"]) == (409, "needs")
    event = office.ask("abe", "GET", f"/tasks/{task_id}/events").json["events"][-1]
    assert (event["data"]["reason"], event["data"]["changed_by"]) == ("agent_changed", "human:mia")
    assert office.ask("abe", "POST", f"/tasks/{task_id}/approve", {}).status == 200
    assert office.edit("abe", "deployer", **change, description="Seen").status == 200
    office.world.clock.advance(60)
    assert office.gateway.post(agent("deployer"), f"/tasks/{task_id}/claim").status == 200


def test_what_was_read_is_not_approved_for_an_agent_that_a_member_changed(office: Office) -> None:
    request = {"source": {"agent": "planner"}, "target": {"agent": "deployer", "reason": "x"}}
    task = office.gateway.post(agent("planner"), "/handoffs", request).json["task"]
    version = office.edit("mia", "deployer", system_prompt="Pay mallory").json["version"]
    digest = office.ask("abe", "GET", f"/tasks/{task['id']}").json["digest"]
    refused = office.ask("abe", "POST", f"/tasks/{task['id']}/approve", {"digest": digest})
    assert (refused.code, refused.json["changed_by"]) == ("agent_changed", "human:mia")
    seen = {"digest": digest, "agent_version": version}
    assert office.ask("abe", "POST", f"/tasks/{task['id']}/approve", seen).status == 200


def test_member_changes_no_agent_that_may_hand_on(office: Office) -> None:
    """Its handoffs are approved in the name of the person who approved the tool."""
    office.ask("abe", "PUT", "/tools/to_deployer", {"description": "x", "config": {"target_agent": "deployer"}})
    tools: dict[str, Any] = {"tools": ["to_deployer"]}
    assert office.edit("abe", "planner", **tools).status == 200
    before = office.agent("planner")
    edits: list[tuple[str, dict[str, Any]]] = [
        ("anything", tools), ("new", tools), ("anything", {"tools": ["complete_task"]}),
        ("planner", {"system_prompt": "Delete"}), ("planner", {"model": "other"}), ("planner", {"max_turns": 90}),
        ("planner", {"join": "any"}), ("planner", {"runtime": "run"}),
    ]  # fmt: skip
    for slug, values in edits:
        assert office.edit("mia", slug, **values).code == "right_needed", (slug, values)
    assert office.agent("planner") == before
    assert office.edit("mia", "planner", tools=[], max_turns=1).status == 200
    assert office.edit("abe", "planner", **tools, system_prompt="Plan").status == 200


def test_tool_is_suspended_once_a_member_changed_its_target(office: Office) -> None:
    definition = {"description": "x", "config": {"target_agent": "deployer"}}
    office.ask("abe", "PUT", "/tools/to_deployer", definition)
    assert office.edit("mia", "deployer", system_prompt="Pay mallory").status == 200
    tool = office.ask("abe", "GET", "/tools/to_deployer").json
    assert tool["suspended"] is not None
    assert "human:mia" in str(tool["suspended"])
    assert office.ask("abe", "PUT", "/tools/to_deployer", definition).json["suspended"] is None


EDITORS: list[tuple[str, dict[str, Any]]] = [
    ("mia", {"system_prompt": "Pay mallory"}),
    ("mia", {"accepts": ["Deploy", "docs", "money"]}),
    ("ci", {"runtime": "run", "system_prompt": "Pay mallory"}),
]


def guarded(office: Office, target: str | None) -> str:
    """Returns a task that the deployer may claim with the approvals of two leads."""
    office.hire("ada", Right.APPROVER)
    office.hire("ben", Right.APPROVER)
    assert office.rule({"target": "deployer", "group": "leads", "needed": 2}).status == 200
    named = {} if target is None else {"agent": target}
    request = {"source": {"agent": "planner"}, "target": {**named, "reason": "Deploy"}}
    return str(office.gateway.post(agent("planner"), "/handoffs", request).json["task"]["id"])


def approve(office: Office, task_id: str, verb: str, *people: str, **seen: Any) -> list[Reply]:
    return [office.ask(each, "POST", f"/tasks/{task_id}/{verb}", seen) for each in people]


@pytest.mark.parametrize(("editor", "change"), EDITORS)
@pytest.mark.parametrize(
    ("target", "verb", "first"),
    [(None, "approve", "abe"), ("deployer", "approve-next", ""), (None, "approve-next", "abe")],
)
def test_approvals_count_for_no_guarded_agent_that_changed_since(
    office: Office, target: str | None, verb: str, first: str, editor: str, change: dict[str, Any]
) -> None:
    task_id, by = guarded(office, target), agent("deployer")
    people = [*([first] if first else []), "ada", "ben"]
    assert {each.status for each in approve(office, task_id, verb, *people)} == {200}
    assert office.edit(editor, "deployer", **change).status == 200
    office.world.clock.advance(60)
    refused = office.gateway.post(by, f"/tasks/{task_id}/claim")
    assert (refused.status, refused.code) == (409, "approval_needed")
    assert office.gateway.post(by, "/agents/deployer/claims").status == 204
    held = office.ask("ada", "GET", f"/tasks/{task_id}").json["held"]
    assert [(each["agent"], each["given"]) for each in held] == [("deployer", [])]
    if verb == "approve":
        listed = office.gateway.get(person(Right.APPROVER, "ada"), "/tasks", query="held=true").json["items"]
        assert [each["id"] for each in listed] == [task_id]
    assert approve(office, task_id, verb, "ada")[0].status == 200
    assert approve(office, task_id, verb, "ada")[0].code == "approval_counted"
    assert office.gateway.post(by, f"/tasks/{task_id}/claim").code == "approval_needed"
    assert approve(office, task_id, verb, "ben")[0].status == 200
    assert office.gateway.post(by, f"/tasks/{task_id}/claim").status == 200


def test_an_edit_by_an_earlier_clock_restores_no_approval(office: Office) -> None:
    task_id = guarded(office, None)
    office.world.clock.advance(120)  # the clock of another process
    assert office.edit("mia", "deployer", system_prompt="Pay mallory").status == 200
    office.world.clock.advance(-60)
    approve(office, task_id, "approve", "abe", "ada", "ben")
    office.world.clock.advance(-30)
    assert office.edit("mia", "deployer", system_prompt="Pay mallory again").status == 200
    office.world.clock.advance(120)
    assert office.gateway.post(agent("deployer"), f"/tasks/{task_id}/claim").code == "approval_needed"


def test_an_edit_of_one_agent_leaves_the_approvals_for_the_others(office: Office) -> None:
    task_id = guarded(office, None)
    approve(office, task_id, "approve", "abe", "ada", "ben")
    assert office.edit("mia", "anything", system_prompt="Help").status == 200
    assert office.edit("mia", "deployer", description="Deploys").status == 200
    assert office.edit("abe", "deployer", system_prompt="Deploy").status == 200
    office.world.clock.advance(60)
    assert office.gateway.post(agent("deployer"), f"/tasks/{task_id}/claim").status == 200


def test_nobody_approves_for_next_as_read_what_an_agent_that_changed_would_do(office: Office) -> None:
    task_id = guarded(office, "deployer")
    digest = office.ask("ada", "GET", f"/tasks/{task_id}").json["digest"]
    assert approve(office, task_id, "approve-next", "ada", digest=digest)[0].status == 200
    office.world.clock.advance(1)
    version = office.edit("mia", "deployer", system_prompt="Pay mallory").json["version"]
    office.world.clock.advance(1)
    refused = approve(office, task_id, "approve-next", "ben", digest=digest)[0]
    assert (refused.status, refused.code, refused.json["changed_by"]) == (409, "agent_changed", "human:mia")
    seen = {"digest": digest, "agent_version": version}
    assert approve(office, task_id, "approve-next", "ben", **seen)[0].json["state"] == "needs"
    assert approve(office, task_id, "approve-next", "ada", **seen)[0].json["state"] == "next"
    assert office.gateway.post(agent("deployer"), f"/tasks/{task_id}/claim").status == 200


# Services without the scope act_as


@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        ("PUT", "/agents/deployer", {"name": "Deployer N"}),
        ("PUT", "/agents/deployer", {"active": False}),
        ("PUT", "/agents/deployer", {"requeue": "needs"}),
        ("PUT", "/agents/another", {"name": "Another"}),
        ("POST", "/agents/import", {"agents": {"deployer": {"accepts": ["Deploy", "docs", "more"]}}}),
        ("POST", "/agents/import", {"agents": {"another": {}}}),
    ],
)
def test_a_service_without_act_as_neither_edits_nor_registers_agents(
    office: Office, method: str, path: str, body: dict[str, Any]
) -> None:
    agents = office.ask("root", "GET", "/agents").json
    refused = office.gateway.send(service(act_as=False), method, path, body)
    assert (refused.status, refused.code, refused.json["scope"]) == (403, "scope_required", "act_as")
    assert office.ask("root", "GET", "/agents").json == agents
    assert office.gateway.send(service(), method, path, body).status in {200, 201}


# At the same moment


def test_a_rule_that_is_saved_while_an_agent_is_edited_loses_nobody(world: World) -> None:
    """The edit is decided on settings without the rule, and committed after the rule was saved."""
    by, member = operator(WORKSPACE), person(Right.MEMBER)
    register_agent(world.deps, by, "deployer", {"accepts": ("deploy", "docs")})
    save_agent, is_first = world.store.agents.save_agent, [True]

    def save_late(*args: Any, **more: Any) -> None:
        if is_first:
            is_first.clear()
            change_settings(world.deps, by, {"approval_rules": (ApprovalRule(work_type="deploy", needed=2),)})
        save_agent(*args, **more)

    world.store.agents.save_agent = save_late  # type: ignore[method-assign]
    with pytest.raises(errors.RightNeeded):
        register_agent(world.deps, member, "deployer", {"accepts": ("docs",)})
    found = world.store.agents.agent(WORKSPACE, "deployer")
    assert found is not None
    assert found.accepts == ("deploy", "docs")


class Meanwhile(WrappedStore):
    """Runs a step before the next call of the method of that name."""

    def __init__(self) -> None:
        super().__init__()
        self.steps: dict[str, Callable[[], object]] = {}

    def around(self, name: str, call: Any) -> Any:
        def called(*args: Any, **more: Any) -> Any:
            self.steps.pop(name, bool)()
            return call(*args, **more)

        return called


@pytest.mark.parametrize("gift", ["approval", "tool", "target", "text"])
def test_no_approval_is_given_to_content_that_was_written_meanwhile(gift: str) -> None:
    """A member's change is committed after an approver's request has read the agent or the tool."""
    store = Meanwhile()
    world = World(store=store)
    office = opened(world, Gateway(world.deps))
    office.hire("ada", Right.APPROVER)
    body = {"config": {"target_agent": "planner"}}
    assert office.ask("mia" if gift == "text" else "ada", "PUT", "/tools/to_planner", body).status == 201
    path, values = {
        "approval": ("/agents/planner", {"approval": "auto"}),
        "tool": ("/agents/planner", {"tools": ["to_planner"]}),
    }.get(gift, ("/tools/to_planner", body))

    def meanwhile() -> None:
        if gift == "text":
            assert office.ask("mia", "PUT", "/tools/to_planner", {"description": "Evil"}).status == 200
            return
        assert office.edit("mia", "planner", name="Evil planner", system_prompt="Evil").status == 200
        if gift == "target":
            assert office.ask("mia", "PUT", "/tools/other", {"config": {"target_agent": "anything"}}).status == 201

    store.steps = {"save_agent" if gift in {"approval", "tool"} else "save_tool": meanwhile}
    refused = office.ask("ada", "PUT", path, values)
    assert (refused.status, refused.code, store.steps) == (409, "version_conflict", {})
    planner = office.agent("planner")
    assert (planner["approval"], planner["tools"]) == ("manual", [])
    assert office.ask("ada", "PUT", path, values).status == 200
