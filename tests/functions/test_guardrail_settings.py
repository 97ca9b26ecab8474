"""The workspace setting ``guardrails`` over HTTP."""

from __future__ import annotations

from typing import Any

import pytest

from support.gateway import Gateway
from support.world import agent, human

SETTINGS, ALICE = "/workspace/settings", human()
DEFAULTS = {"secrets": "refuse", "forbidden_patterns": [], "max_text_characters": 262_144, "max_items": 10_000}


def test_they_have_defaults_and_are_changed_part_by_part(gateway: Gateway) -> None:
    assert gateway.get(agent("scout"), SETTINGS).json["guardrails"] == DEFAULTS
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
