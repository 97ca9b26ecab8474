"""Attack l1: a malformed form makes the API fail with 500, which raises an operator's alarm."""

from __future__ import annotations

from typing import Any

import pytest

from support.gateway import Gateway
from support.worlds.http_agents import ALICE, HttpAgents
from support.worlds.world import agent

CODER = agent("auto-code")
TEXT = {"type": "string"}


def asked(gateway: Gateway, claim: dict[str, Any], form: Any) -> Any:
    body = {"claim_id": claim["claim_id"], "kind": "form", "text": "How much?", "form": form}
    return gateway.post(CODER, f"/tasks/{claim['task']['id']}/ask", body)


def of(field: Any, **more: Any) -> dict[str, Any]:
    return {"type": "object", "properties": {"x": field}, **more}


@pytest.mark.parametrize(
    ("form", "field"),
    [
        (of({"type": []}), "form.properties.x.type"),
        (of({"type": {}}), "form.properties.x.type"),
        (of({"type": ["string"]}), "form.properties.x.type"),
        (of(TEXT, required=[[]]), "form.required"),
        (of(TEXT, required=[{}]), "form.required"),
        (of(TEXT, required="x"), "form.required"),
        (of(TEXT, title={"a": 1}), "form.title"),
        (of(TEXT, description=[]), "form.description"),
        (of({**TEXT, "title": {"a": 1}}), "form.properties.x.title"),
        (of({**TEXT, "default": 1}), "form.properties.x.default"),
        (of({**TEXT, "default": "long", "maxLength": 2}), "form.properties.x.default"),
        (of({**TEXT, "enum": ["a"], "default": "b"}), "form.properties.x.default"),
        (of({**TEXT, "enum": ["a"], "enumNames": [1]}), "form.properties.x.enumNames"),
        (of({**TEXT, "enumNames": ["a"]}), "form.properties.x.enumNames"),
        (of({**TEXT, "enum": {}}), "form.properties.x.enum"),
        (of({**TEXT, "minLength": 1.5}), "form.properties.x.minLength"),
        (of({**TEXT, "minLength": 3, "maxLength": 2}), "form.properties.x.maxLength"),
        (of({**TEXT, "format": []}), "form.properties.x.format"),
        (of({**TEXT, "format": "ipv4"}), "form.properties.x.format"),
        (of({"type": "number", "format": "date"}), "form.properties.x"),
        (of({"type": "number", "minimum": "0"}), "form.properties.x.minimum"),
        (of([]), "form.properties.x"),
        ({"type": "object", "properties": []}, "form.properties"),
        ({"type": []}, "form.type"),
    ],
)
def test_malformed_form_is_refused_by_the_name_of_its_field(
    gateway: Gateway, http_agents: HttpAgents, form: Any, field: str
) -> None:
    reply = asked(gateway, http_agents.begun(), form)
    assert (reply.status, reply.code, reply.fields) == (422, "invalid_input", [field])


@pytest.mark.parametrize(
    ("name", "good", "bad"),
    [
        ("email", "ada@example.com", "ada"),
        ("uri", "https://example.com/1", "example"),
        ("date", "2026-01-31", "2026-02-30"),
        ("date-time", "2026-01-31T12:00:00Z", "2026-01-31"),
    ],
)
def test_answer_has_the_format_that_the_form_asks_for(
    gateway: Gateway, http_agents: HttpAgents, name: str, good: str, bad: str
) -> None:
    claim = http_agents.begun()
    question = asked(gateway, claim, of({**TEXT, "format": name, "default": good})).json
    at = f"/tasks/{claim['task']['id']}/questions/{question['id']}/answer"
    refused = gateway.post(ALICE, at, {"outcome": "answered", "answer": {"x": bad}})
    assert (refused.status, refused.fields) == (422, ["answer.x"])
    assert gateway.post(ALICE, at, {"outcome": "answered", "answer": {"x": good}}).json["outcome"] == "answered"


def test_number_is_accepted_in_any_spelling(gateway: Gateway, http_agents: HttpAgents) -> None:
    claim = http_agents.begun()
    question = asked(gateway, claim, of({"type": "number", "maximum": 1.0})).json
    at = f"/tasks/{claim['task']['id']}/questions/{question['id']}/answer"
    answer = '{"outcome": "answered", "answer": {"x": 0.50}}'
    assert gateway.post(ALICE, at, answer).json["outcome"] == "answered"
