"""Finding agents and importing what they can do, over HTTP."""

from __future__ import annotations

import json
from typing import Any

import pytest

from rest.strict_json import MAX_BYTES
from support.gateway import Gateway, Reply
from support.worlds.world import World, agent, human, service

ALICE = human()
SOURCE = """\
# what each agent can handle
agents:
  architect:
    accepts:
      - design_request
      - specification_review
    produces: [specification, "decision"]

  auto-code:
    accepts: ['specification', bug_report]
    produces:
      - code
"""
AS_JSON = {
    "agents": {
        "architect": {
            "accepts": ["design_request", "specification_review"],
            "produces": ["specification", "decision"],
        },
        "auto-code": {"accepts": ["specification", "bug_report"], "produces": ["code"]},
    }
}
CREATED = [{"slug": slug, "status": "created", "version": 1} for slug in AS_JSON["agents"]]


def imported(gateway: Gateway, body: Any, content_type: str = "application/yaml", **headers: str) -> Reply:
    return gateway.post(ALICE, "/agents/import", body, headers={"content-type": content_type, **headers})


def registered(gateway: Gateway) -> list[str]:
    return [each["slug"] for each in gateway.get(ALICE, "/agents").json["items"]]


# Import


@pytest.mark.parametrize(
    "content_type",
    ["application/yaml", "application/x-yaml", "text/yaml", "Text/YAML; charset=utf-8", " application/yaml ;x=y"],
)
def test_file_is_taken_as_it_is(gateway: Gateway, content_type: str) -> None:
    reply = imported(gateway, SOURCE, content_type)
    assert (reply.status, reply.json) == (200, {"items": CREATED})
    found = gateway.get(ALICE, "/agents/architect").json
    assert found["accepts"] == ["design_request", "specification_review"]
    assert found["produces"] == ["specification", "decision"]


def test_file_may_travel_in_base_64(gateway: Gateway) -> None:
    assert imported(gateway, SOURCE.encode()).json == {"items": CREATED}


@pytest.mark.parametrize("content_type", ["application/json", "", "text/plain", "application/yaml+json"])
def test_anything_else_is_read_as_json(gateway: Gateway, content_type: str) -> None:
    assert imported(gateway, SOURCE, content_type).code == "malformed_json"
    assert imported(gateway, AS_JSON, content_type).json == {"items": CREATED}


def test_json_is_yaml_and_means_the_same(gateway: Gateway) -> None:
    assert imported(gateway, json.dumps(AS_JSON), "application/yaml").json == {"items": CREATED}
    assert [each["status"] for each in imported(gateway, SOURCE).json["items"]] == ["unchanged", "unchanged"]


def test_repeat_by_key_is_the_same_in_either_form(gateway: Gateway) -> None:
    first = imported(gateway, SOURCE, **{"idempotency-key": "k"})
    again = imported(gateway, AS_JSON, "application/json", **{"idempotency-key": "k"})
    assert first.json == again.json == {"items": CREATED}
    other = imported(gateway, {"agents": {}}, "application/json", **{"idempotency-key": "k"})
    assert (other.status, other.code) == (422, "idempotency_key_reused")


def test_agents_import_nothing_and_services_do(gateway: Gateway) -> None:
    assert gateway.post(agent("scout"), "/agents/import", AS_JSON).code == "human_required"
    assert gateway.post(service(), "/agents/import", AS_JSON).status == 200


def test_an_agent_may_be_called_import(gateway: Gateway) -> None:
    assert gateway.put(ALICE, "/agents/import", {}).status == 201
    assert gateway.get(ALICE, "/agents/import").json["slug"] == "import"


BOMB = "a: &a [x, x, x, x, x, x, x, x, x]\n" + "".join(
    f"{chr(98 + n)}: &{chr(98 + n)} [{', '.join([f'*{chr(97 + n)}'] * 9)}]\n" for n in range(9)
)
BAD_YAML: dict[str, tuple[str | bytes, int, str]] = {
    "no mapping": ("- agents", 400, "body"),
    "a text": ("agents", 400, "body"),
    "nothing": ("", 422, "agents"),
    "a comment": ("# nothing", 422, "agents"),
    "two documents": ("agents: {}\n---\nagents: {}\n", 400, "body"),
    "not YAML": ("agents: {qa: [}", 400, "body"),
    "a tab": ("agents:\n\tqa: {}", 400, "body"),
    "not UTF-8": (b"agents: {\xff: {}}", 400, "body"),
    "NUL": ("agents: {qa: {accepts: [a\0b]}}", 400, "body"),
    "NUL, escaped": ('agents: {qa: {accepts: ["a\\0b"]}}', 400, "agents.qa.accepts.0"),
    "a bomb": (BOMB, 400, "a"),
    "an anchor": ("agents: &all\n  qa: {accepts: [code]}\n", 400, "agents"),
    "an anchored text": ("agents: {qa: {accepts: [&c code]}}", 400, "agents.qa.accepts.0"),
    "an anchored name": ("agents: {&q qa: {}}", 400, "agents"),
    "an alias": ("agents: {qa: *other}", 400, "agents.qa"),
    "an alias as a name": ("agents: {*q : {}}", 400, "agents"),
    "a merge": ("agents: {qa: {<<: {accepts: [code]}}}", 400, "agents.qa"),
    "a tag": ("agents: !!python/object/apply:os.system [ls]", 400, "agents"),
    "a tagged text": ("agents: {qa: {accepts: [!!str code]}}", 400, "agents.qa.accepts.0"),
    "a tagged mapping": ("agents: !!map {}", 400, "agents"),
    "a mapping as a name": ("agents: {? {a: b} : c}", 400, "agents"),
    "a list as a name": ("agents: {? [a] : c}", 400, "agents"),
    "a name given twice": ("agents:\n  qa: {}\n  qa: {}\n", 400, "agents.qa"),
    "a field given twice": ("agents: {qa: {accepts: [a], accepts: [b]}}", 400, "agents.qa.accepts"),
    "too deep": ("agents: " + "[" * 1_000, 400, "agents"),
    "names too deep": ("? " * 100_000, 400, "body"),
    "too large": ("#" * (MAX_BYTES + 1), 413, "body"),
    "a number": ("agents: {qa: {accepts: [1]}}", 400, "agents.qa.accepts.0"),
    "a truth": ("agents: {qa: {accepts: [yes]}}", 400, "agents.qa.accepts.0"),
    "a day": ("agents: {qa: {accepts: [2026-01-31]}}", 400, "agents.qa.accepts.0"),
    "nothing there": ("agents:\n  qa:\n    accepts:\n", 400, "agents.qa.accepts"),
    "nothing at all there": ("agents:\n  qa:\n", 400, "agents.qa"),
    "a number as a name": ("agents: {1: {}}", 400, "agents"),
    "an unknown field": ("agents: {}\nversion: x", 422, "version"),
    "an unknown field of an agent": ("agents: {qa: {model: haiku}}", 422, "agents.qa.model"),
    "a text for a list": ("agents: {qa: {accepts: code}}", 422, "agents.qa.accepts"),
    "a list for an agent": ("agents: {qa: [code]}", 422, "agents.qa"),
    "a list of agents": ("agents: [qa]", 422, "agents"),
    "a bad slug": ("agents: {Auto Code: {}}", 422, "agents.Auto Code"),
    "a type twice": ("agents: {qa: {accepts: [code, code]}}", 422, "agents.qa.accepts"),
    "an empty type": ("agents: {qa: {accepts: ['']}}", 422, "agents.qa.accepts.0"),
    "51 types": (f"agents: {{qa: {{accepts: {[f't{n}' for n in range(51)]}}}}}", 422, "agents.qa.accepts"),
    "501 agents": ("agents:\n" + "".join(f"  a{n}: {{}}\n" for n in range(501)), 422, "agents"),
}


def test_what_is_wrong_in_a_file_is_named_and_nothing_is_written(gateway: Gateway) -> None:
    before = registered(gateway)
    for name, (body, status, field) in BAD_YAML.items():
        reply = imported(gateway, body)
        assert (reply.status, reply.fields[:1]) == (status, [field]), name
        assert registered(gateway) == before, name


@pytest.mark.parametrize("name", ["on", "yes", "1", "2026-01-31", "~", "=", "<<"])
def test_quoted_texts_are_texts(gateway: Gateway, name: str) -> None:
    assert imported(gateway, f"agents: {{qa: {{accepts: ['{name}']}}}}").status == 200
    assert gateway.get(ALICE, "/agents/qa").json["accepts"] == [name]


BAD_JSON: list[tuple[Any, str]] = [
    ({}, "agents"),
    ({"agents": None}, "agents"),
    ({"agents": []}, "agents"),
    ({"agents": {}, "version": 1}, "version"),
    ({"agents": {"qa": None}}, "agents.qa"),
    ({"agents": {"qa": {"runtime": "run"}}}, "agents.qa.runtime"),
    ({"agents": {"qa": {"accepts": None}}}, "agents.qa.accepts"),
    ({"agents": {"qa": {"accepts": [1]}}}, "agents.qa.accepts.0"),
    ({"agents": {"": {}}}, "agents"),
    ({"agents": {"Qa": {}}}, "agents.Qa"),
    ({"agents": {"qa": {"produces": ["a", "a"]}}}, "agents.qa.produces"),
    ({"agents": {f"a{n}": {} for n in range(501)}}, "agents"),
]


@pytest.mark.parametrize(("body", "field"), BAD_JSON)
def test_what_is_wrong_in_json_is_named_and_nothing_is_written(gateway: Gateway, body: Any, field: str) -> None:
    before = registered(gateway)
    reply = gateway.post(ALICE, "/agents/import", body)
    assert (reply.status, reply.fields[:1]) == (422, [field])
    assert registered(gateway) == before


def test_file_that_is_refused_is_not_quoted(gateway: Gateway) -> None:
    for body in ("agents: {qa: [sesame, }", "agents: {qa: {accepts: [!x sesame]}}", "sesame", "? {sesame: x}"):
        assert "sesame" not in imported(gateway, body).text


def test_only_the_import_takes_yaml(gateway: Gateway) -> None:
    reply = gateway.put(ALICE, "/agents/new", "description: x", headers={"content-type": "application/yaml"})
    assert (reply.status, reply.code) == (400, "malformed_json")


# Finding


def found(gateway: Gateway, query: str) -> list[tuple[str, float, float, str]]:
    items = gateway.get(agent("scout"), "/agents", query=query).json["items"]
    return [(each["slug"], each["match"], each["score"], each["liveness"]["status"]) for each in items]


def test_agents_are_found_by_what_they_accept_and_produce(world: World, gateway: Gateway) -> None:
    imported(gateway, AS_JSON, "application/json")
    gateway.post(agent("auto-code"), "/agents/auto-code/claims")
    assert found(gateway, "accepts=specification&accepts=bug_report,code&produces=code") == [
        ("auto-code", 0.75, 0.825, "active"),
        ("auditor", 0.5, 0.35, "gone"),
        ("runner", 0.5, 0.35, "gone"),
        ("scout", 0.5, 0.35, "gone"),
    ]
    world.clock.advance(300)
    assert found(gateway, "accepts=specification")[0] == ("auto-code", 1.0, 0.85, "idle")
    assert found(gateway, "produces=decision%2Cspecification")[0] == ("architect", 1.0, 0.7, "gone")


def test_listing_without_types_ranks_nobody(gateway: Gateway) -> None:
    gateway.put(ALICE, "/agents/scout", {"active": False})
    items = gateway.get(ALICE, "/agents").json["items"]
    assert [each["slug"] for each in items] == ["auditor", "runner", "scout"]
    assert all(each["liveness"] == {"status": "gone", "last_contact_at": None} for each in items)
    assert not any({"match", "score"} & set(each) for each in items)


def test_contact_is_seen(world: World, gateway: Gateway) -> None:
    gateway.post(agent("auditor"), "/agents/auditor/claims")
    at = "2026-11-18T12:00:00.000Z"
    assert gateway.get(ALICE, "/agents/auditor").json["liveness"] == {"status": "active", "last_contact_at": at}
    world.clock.advance(1_800)
    assert gateway.get(ALICE, "/agents/auditor").json["liveness"] == {"status": "gone", "last_contact_at": at}


@pytest.mark.parametrize(
    ("query", "field"),
    [
        ("accepts=", "accepts"),
        ("produces=,", "produces"),
        (f"accepts={'x' * 101}", "accepts"),
        ("accepts=" + ",".join(map(str, range(51))), "accepts"),
        ("active=true", "active"),
    ],
)
def test_filter_that_says_nothing_or_too_much_is_refused(gateway: Gateway, query: str, field: str) -> None:
    reply = gateway.get(ALICE, "/agents", query=query)
    assert (reply.status, reply.fields) == (422, [field])


def test_limits_on_an_agents_work_are_shown_and_changed(gateway: Gateway) -> None:
    made = gateway.put(ALICE, "/agents/new", {"max_concurrent": 3, "dispatch_rank": 10}).json
    assert (made["max_concurrent"], made["dispatch_rank"]) == (3, 10)
    changed = gateway.put(ALICE, "/agents/new", {"max_concurrent": None}).json
    assert (changed["max_concurrent"], changed["dispatch_rank"]) == (None, 10)
    for wrong in ({"max_concurrent": 0}, {"max_concurrent": 101}, {"dispatch_rank": -1}, {"dispatch_rank": 1_001}):
        reply = gateway.put(ALICE, "/agents/new", wrong)
        assert (reply.status, reply.fields) == (422, list(wrong))
