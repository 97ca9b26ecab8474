"""Attacks l2 and l3: names of agents, tools and arguments that a person takes for other ones."""

from __future__ import annotations

from typing import Any

import pytest

from support.gateway import Gateway
from support.worlds.http_agents import ALICE, HttpAgents
from support.worlds.world import agent

CODER = agent("auto-code")


def named(gateway: Gateway, slug: str, name: str, **more: Any) -> Any:
    return gateway.put(ALICE, f"/agents/{slug}", {"name": name, **more})


@pytest.mark.parametrize(
    ("name", "other"),
    [
        ("Billing", "BiIIing"),
        ("Billing", "Bi11ing"),
        ("Modem", "Modern"),
        ("Vault", "Vau1t"),
        ("Ops 0", "Ops O"),
        ("\u0420\u0410\u0423", "PAY"),
        ("scope", "\u0455\u0441\u043e\u0440\u0435"),
    ],
)
def test_agent_cant_take_a_name_that_looks_like_another_agents(gateway: Gateway, name: str, other: str) -> None:
    assert named(gateway, "first", name).status == 201
    for more in ({}, {"aliases": [other]}):
        refused = named(gateway, "second", "Something" if more else other, **more)
        assert (refused.status, refused.code) == (409, "name_taken"), refused.text
        assert repr(name) in refused.problem["detail"]
        assert "'first'" in refused.problem["detail"]
    imported = gateway.post(ALICE, "/agents/import", {"agents": {"flrst": {"accepts": ["a"]}}})
    assert imported.status == 200, "only look-alikes are refused"
    clash = gateway.post(ALICE, "/agents/import", {"agents": {"f1rst": {"accepts": ["a"]}}})
    assert clash.code == "name_taken"


@pytest.mark.parametrize("name", ["\uff36\uff21\uff35\uff2c\uff34", "Vault \u2460", "\U0001d415ault", "\uff76"])
@pytest.mark.parametrize("field", ["name", "aliases"])
def test_name_in_forms_for_compatibility_is_refused(gateway: Gateway, field: str, name: str) -> None:
    refused = gateway.put(ALICE, "/agents/vault", {"name": "Vault", field: name if field == "name" else [name]})
    assert (refused.status, refused.fields) == (422, [field])


BLANKS = ["\u2800", "\u3164", "\uffa0", "\u2d7f", "\ufe0f", "\U0001d159", "\U00016fe4", "\U0001107f", "\U00013441"]


@pytest.mark.parametrize("blank", BLANKS)
@pytest.mark.parametrize("field", ["name", "aliases"])
def test_name_with_a_character_that_shows_nothing_is_refused(gateway: Gateway, field: str, blank: str) -> None:
    for name in (f"Vault{blank}", f"{blank}Vault", f"Va{blank}ult"):
        refused = gateway.put(ALICE, "/agents/vault", {"name": "Vault", field: name if field == "name" else [name]})
        assert (refused.status, refused.fields) == (422, [field]), refused.text


def test_agents_cant_differ_by_the_selector_of_a_picture_alone(gateway: Gateway) -> None:
    assert named(gateway, "first", "Ops \u2764").status == 201
    assert named(gateway, "second", "Ops \u2764\ufe0f").code == "name_taken"


def test_agents_cant_differ_by_the_number_of_spaces_alone(gateway: Gateway) -> None:
    """A page shows a run of spaces as one."""
    assert named(gateway, "first", "Ops One").status == 201
    assert named(gateway, "second", "Ops  One").code == "name_taken"


def test_agent_with_an_old_name_can_still_be_changed(gateway: Gateway, world: Any) -> None:
    """Names that an earlier release allowed stay, and only new names are compared."""
    assert named(gateway, "first", "Billing").status == 201
    assert named(gateway, "second", "Other").status == 201
    roster = world.store.agents.roster("acme")
    old = roster.get("second")
    world.store.agents.save_agent(old.changed(ALICE, world.clock.now(), name="BiIIing"), roster)
    assert gateway.put(ALICE, "/agents/second", {"description": "Pays"}).status == 200
    assert named(gateway, "second", "Bi1ling").code == "name_taken"


def test_tool_cant_take_a_name_that_looks_like_another_tools(gateway: Gateway, http_agents: HttpAgents) -> None:
    body = {"description": "Hands over", "config": {"target_agent": "qa"}}
    assert gateway.put(ALICE, "/tools/to_modem", body).status == 201
    refused = gateway.put(ALICE, "/tools/to_modern", body)
    assert (refused.status, refused.fields, "'to_modem'" in refused.text) == (422, ["name"], True)
    assert gateway.put(ALICE, "/tools/to_modem", body).status == 200


def test_variables_of_a_tool_cant_look_alike(gateway: Gateway, http_agents: HttpAgents) -> None:
    variables = [{"name": "item_l"}, {"name": "item_I"}]
    body = {"description": "Hands over", "config": {"target_agent": "qa", "context_variables": variables}}
    refused = gateway.put(ALICE, "/tools/to_qa", body)
    assert (refused.status, refused.fields) == (422, ["config.context_variables"])


class Desk:
    def __init__(self, http_agents: HttpAgents) -> None:
        self.gateway, self.claim = http_agents.gateway, http_agents.begun()
        self.path = f"/tasks/{self.claim['task']['id']}"

    def asks(self, tool: str, arguments: Any = None) -> Any:
        body = {"claim_id": self.claim["claim_id"], "kind": "action", "text": "Why", "tool": tool}
        return self.gateway.post(CODER, f"{self.path}/ask", {**body, "arguments": arguments or {}})

    def warnings(self, tool: str, arguments: Any = None) -> list[tuple[str, str, str | None]]:
        asked = self.asks(tool, arguments)
        assert asked.status == 201, asked.text
        whole = self.gateway.get(ALICE, f"{self.path}/questions/{asked.json['id']}").json
        listed = {each["id"]: each for each in self.gateway.get(ALICE, "/questions", query="limit=100").json["items"]}
        assert whole["warnings"] == asked.json["warnings"] == listed[asked.json["id"]]["warnings"]
        verdict = self.gateway.get(ALICE, f"{self.path}/events/verify").json
        assert (verdict["matches_task"], verdict["problem"]) == (True, None)
        return [(each["at"], each["kind"], each["like"]) for each in asked.json["warnings"]]


@pytest.fixture
def desk(http_agents: HttpAgents) -> Desk:
    return Desk(http_agents)


def test_ordinary_action_has_no_warning(desk: Desk) -> None:
    assert desk.warnings("mcp__bank__pay", {"to": "ada", "amount": 1, "items": [{"сумма": 1, "größe": 2}]}) == []


@pytest.mark.parametrize("blank", BLANKS)
def test_tool_with_a_character_that_shows_nothing_is_refused(desk: Desk, blank: str) -> None:
    for name in (f"pay{blank}", f"{blank}pay", f"p{blank}ay"):
        refused = desk.asks(name)
        assert (refused.status, refused.fields) == (422, ["tool"]), refused.text
    assert desk.warnings("pay", {f"to{blank}": "mallory", "to": "ada"}) == [
        (f"/arguments/to{blank}", "looks_like", "to"),
        ("/arguments/to", "looks_like", f"to{blank}"),
    ]


def test_tool_with_a_sign_that_only_stacks_letters_is_marked(desk: Desk) -> None:
    assert desk.warnings("pay\u17d2") == [("/tool", "looks_like", "pay")]


def test_tool_that_is_drawn_as_another_name_is_marked(desk: Desk) -> None:
    assert desk.warnings("\u0440\u0430\u0443") == [("/tool", "looks_like", "pay")]
    assert desk.warnings("\u0440ay") == [("/tool", "looks_like", "pay")]
    assert desk.warnings("\uff50\uff41\uff59") == [("/tool", "looks_like", "pay")]
    assert desk.warnings("\u0434ata") == [("/tool", "mixed_alphabets", None)]


def test_tool_that_looks_like_one_that_people_approved_is_marked(desk: Desk) -> None:
    asked = desk.asks("payInvoice").json
    answer = {"outcome": "approved", "digest": asked["digest"]}
    assert desk.gateway.post(ALICE, f"{desk.path}/questions/{asked['id']}/answer", answer).status == 200
    assert desk.warnings("paylnvoice") == [("/tool", "looks_like", "payInvoice")]
    assert desk.warnings("payInvoice") == []


def test_tool_that_looks_like_a_tool_of_the_workspace_is_marked(desk: Desk) -> None:
    """No person has approved the tool before."""
    body = {"description": "Hands over", "config": {"target_agent": "qa"}}
    assert desk.gateway.put(ALICE, "/tools/to_modem", body).status == 201
    assert desk.warnings("to_modern") == [("/tool", "looks_like", "to_modem")]
    assert desk.warnings("to_modem") == []


def test_tool_that_looks_like_the_tool_of_a_rule_is_marked(desk: Desk) -> None:
    rule = {"tool": "payInvoice"}
    assert desk.gateway.put(ALICE, "/workspace/settings", {"approval_rules": [rule]}).status == 200
    assert desk.warnings("paylnvoice") == [("/tool", "looks_like", "payInvoice")]
    assert desk.warnings("payInvoice") == []


def test_keys_that_look_alike_are_marked_at_any_depth(desk: Desk) -> None:
    found = desk.warnings(
        "pay", {"a": [{"to": "ada", "t\u043e": "mallory"}], "item_l": 1, "item_I": 2, "x/y": {"\u0430": 1}}
    )
    assert found == [
        ("/arguments/a/0/t\u043e", "looks_like", "to"),
        ("/arguments/item_I", "looks_like", "item_l"),
        ("/arguments/x~1y/\u0430", "looks_like", "a"),
    ]


def test_warnings_have_a_limit(desk: Desk) -> None:
    alike = {"".join(each): 1 for each in zip("lI1l" * 40, "I1l" * 53, "l1I" * 53, "I1ll" * 40, strict=False)}
    many = {f"{name}{number}": 1 for number in range(30) for name in ("l", "I")}
    assert len(desk.warnings("pay", {**many, **alike})) == 20


@pytest.mark.parametrize("tool", ["pay ", " pay", "pay\n", "pay\t", "pa\u200by", "pay\u00a0", "pa\u202ey"])
def test_tool_with_space_or_hidden_characters_is_refused(desk: Desk, tool: str) -> None:
    refused = desk.asks(tool)
    assert (refused.status, refused.fields) == (422, ["tool"])
