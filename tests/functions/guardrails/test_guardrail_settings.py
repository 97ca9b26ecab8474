"""The workspace setting ``guardrails`` over HTTP."""

from __future__ import annotations

import json
from typing import Any

import pytest

from api.health import Health
from baton.domain.guardrails.guardrails import checked
from baton.ports.deps import Deps
from rest.answers import Answer, ok
from rest.app import App
from rest.routing import Call, Routes
from support.gateway import Gateway, gateway_event
from support.worlds.world import World, agent, human

SETTINGS, ALICE = "/workspace/settings", human()
DEFAULTS = {"secrets": "refuse", "forbidden_patterns": [], "max_text_characters": 262_144, "max_items": 10_000}


def test_they_have_defaults_and_are_changed_part_by_part(gateway: Gateway) -> None:
    assert gateway.get(ALICE, SETTINGS).json["guardrails"] == DEFAULTS
    first = gateway.put(ALICE, SETTINGS, {"guardrails": {"forbidden_patterns": ["project*falcon"]}})
    assert first.json["guardrails"] == {**DEFAULTS, "forbidden_patterns": ["project*falcon"]}
    second = gateway.put(ALICE, SETTINGS, {"guardrails": {"secrets": "mask", "max_items": 500}})
    assert second.json["guardrails"] == {**first.json["guardrails"], "secrets": "mask", "max_items": 500}
    assert gateway.put(ALICE, SETTINGS, {"escalation_cap": 3}).json["guardrails"] == second.json["guardrails"]
    assert gateway.get(ALICE, SETTINGS).json["guardrails"] == second.json["guardrails"]


@pytest.mark.parametrize(
    ("values", "field"),
    [
        (None, "guardrails"),
        ({"secrets": "warn"}, "guardrails.secrets"),
        ({"max_items": 99}, "guardrails.max_items"),
        ({"max_text_characters": 262_145}, "guardrails.max_text_characters"),
        ({"forbidden_patterns": ["x" * 201]}, "guardrails.forbidden_patterns.0"),
        ({"forbidden_patterns": ["*"]}, "guardrails.forbidden_patterns[0]"),
        ({"forbidden_patterns": ["x"] * 51}, "guardrails.forbidden_patterns"),
        ({"forbidden_patterns": "x"}, "guardrails.forbidden_patterns"),
        ({"regex": "x"}, "guardrails.regex"),
    ],
)
def test_what_they_may_not_be_is_refused_by_name(gateway: Gateway, values: Any, field: str) -> None:
    refused = gateway.put(ALICE, SETTINGS, {"guardrails": values})
    assert (refused.status, refused.fields) == (422, [field])
    assert gateway.get(ALICE, SETTINGS).json["guardrails"] == DEFAULTS


def test_only_a_human_changes_them(gateway: Gateway) -> None:
    assert gateway.put(agent("scout"), SETTINGS, {"guardrails": {"secrets": "off"}}).status == 403


def test_a_refused_secret_is_in_no_answer_and_no_log_line(world: World, capsys: pytest.CaptureFixture[str]) -> None:
    secret = "gh" + "p_" + "Zk3Q9vT1xW7bR5mN2cJ8" * 2
    routes = Routes()

    @routes.get("/try", answers={200: Health})
    def try_it(deps: Deps, call: Call[None, None]) -> Answer:
        """Hand a secret over."""
        rules = deps.store.settings.of(call.by.workspace).guardrails
        return ok(checked({"state": {secret: 1, "deep": [f"token {secret}"]}}, rules, "context"))

    Gateway(world.deps).admit(ALICE)
    answer = App(routes, lambda: world.deps)(gateway_event(ALICE, "GET", "/try"))
    problem = json.loads(answer["body"])
    assert (answer["statusCode"], problem["code"], problem["rule"]) == (422, "guardrail", "secrets.github_token")
    assert problem["errors"][0]["field"] == "context.state[key 0]"
    said = capsys.readouterr()
    assert "request_refused" in said.out
    assert secret[:12] not in answer["body"] + said.out + said.err
