"""Everything that is wrong with a request, over the wire and on every route that takes it: refused with the field
named, never a 5xx, and nothing written.

In process every bad body is tried on every operation (``tests/functions/test_reading.py``), and so is much more by
``make fuzz``. Here are the requests that only the gateway and the deployed functions can show: each bad value is sent
to some operations, and each operation gets a bad value; under ``make soak`` more of them."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections.abc import Sequence
from typing import Any
from urllib.parse import quote

import pytest

from support.faults.soak import IS_WHOLE, crossed, spread
from support.worlds.deployed import CANARY, Deployed, problem
from support.worlds.operations import OPERATIONS, WITH_BODY, WITH_TOKEN, Operation, OperationsWorld, resolved
from support.worlds.tenant import marker_body, new_workspace


@pytest.fixture(scope="module")
def operations_world(deployed: Deployed) -> OperationsWorld:
    return OperationsWorld(new_workspace(deployed, sources=5, dispatch_delay_seconds=900)).prepare()


def some(operations: Sequence[Operation], case: int, cases: int) -> Sequence[Operation]:
    """The share of the operations that a case is tried on; those of the next case are others. Each operation gets one
    of the cases, and under ``make soak`` every fifth gets the same."""
    one_in = min(5, cases) if IS_WHOLE else cases
    return operations[case % one_in :: one_in]


def field_of(of: Operation) -> str:
    """One that the route knows, if it knows any."""
    assert of.body is not None
    return next(iter(of.body.get("properties", {})), "surprise")


def with_value(operations_world: OperationsWorld, of: Operation, text: str) -> bytes:
    """A body that is right but for one field, whose value is this JSON text."""
    body = {**(operations_world.body(of) or {}), field_of(of): "HERE"}
    return json.dumps(body).replace('"HERE"', text).encode()


# What stands in place of a field's value → status.
VALUES = {
    "300 KB": ('"' + "x" * 300_000 + '"', 413),
    "nested 1,000 deep": ("[" * 1_000 + "]" * 1_000, 400),
    "nested 100,000 deep": ("[" * 100_000 + "]" * 100_000, 400),
    "objects 1,000 deep": ('{"a":' * 1_000 + "1" + "}" * 1_000, 400),
    "NaN": ("NaN", 400),
    "infinite": ("-Infinity", 400),
    "a lone surrogate": (r'"\ud800"', 400),
    "a lone surrogate below": (r'{"a": ["\udfff"]}', 400),
    "5,000 digits": ("7" * 5_000, 400),
    "out of range": ("1e999", 400),
    "a NUL": (r'"a\u0000b"', 400),
}


@pytest.mark.parametrize("value", VALUES)
def test_a_value_that_cannot_be_kept_is_refused_under_its_fields_name(
    operations_world: OperationsWorld, value: str
) -> None:
    text, status = VALUES[value]
    with operations_world.tenant.deployed.unchanged():
        for each in some(WITH_BODY, list(VALUES).index(value), len(VALUES)):
            raw = with_value(operations_world, each, text)
            refusal = problem(operations_world.tenant.human.send(each.method, operations_world.path(each), raw=raw))
            assert refusal["status"] == status, str(each)
            assert refusal["errors"][0]["field"].split(".")[0] == field_of(each), str(each)


NO_OBJECTS = [
    b"\xff",
    b"[]",
    b'"text"',
    b"null",
    b"{",
    b"{'revision': 1}",
    b"<task/>",
    b"[" * 100_000,
    b'{"a": "' + b"\\" * 9_999,
    b"\xef\xbb\xbf\xef\xbb\xbf{}",
]


@pytest.mark.parametrize("raw", NO_OBJECTS)
def test_a_body_that_is_no_json_object_is_refused(operations_world: OperationsWorld, raw: bytes) -> None:
    with operations_world.tenant.deployed.unchanged():
        for each in some(WITH_BODY, NO_OBJECTS.index(raw), len(NO_OBJECTS)):
            refusal = problem(operations_world.tenant.human.send(each.method, operations_world.path(each), raw=raw))
            assert (refusal["status"], refusal["code"]) == (400, "malformed_json"), str(each)
            assert refusal["errors"][0]["field"], str(each)


NO_TEXTS = [b'{"a": "\xff\xfe"}', b'{"\xc0\xaf": 1}', b'{"a": "\xed\xa0\x80"}']


@pytest.mark.parametrize("raw", NO_TEXTS)
def test_a_body_that_is_not_utf_8_is_refused(operations_world: OperationsWorld, raw: bytes) -> None:
    """Bytes of no text type come through the gateway unchanged. In other bodies it replaces wrong bytes."""
    with operations_world.tenant.deployed.unchanged():
        for each in some(WITH_BODY, NO_TEXTS.index(raw), len(NO_TEXTS)):
            path, headers = operations_world.path(each), {"Content-Type": "application/octet-stream"}
            refusal = problem(operations_world.tenant.human.send(each.method, path, raw=raw, headers=headers))
            assert (refusal["status"], refusal["detail"]) == (400, "body: must be UTF-8"), str(each)
            refusal = problem(operations_world.tenant.human.send(each.method, path, raw=raw))
            assert (refusal["status"], refusal["detail"]) == (400, "body: must be UTF-8"), str(each)


def test_fields_that_a_route_does_not_know_are_refused(operations_world: OperationsWorld) -> None:
    with operations_world.tenant.deployed.unchanged():
        for each in spread(WITH_BODY, 3):
            body = {**(operations_world.body(each) or {}), "surprise": CANARY}
            refusal = problem(operations_world.tenant.human.send(each.method, operations_world.path(each), body))
            assert (refusal["status"], [error["field"] for error in refusal["errors"]]) == (422, ["surprise"]), str(
                each
            )


def test_a_field_that_is_given_twice_is_refused(operations_world: OperationsWorld) -> None:
    with operations_world.tenant.deployed.unchanged():
        for each in spread(WITH_BODY, 3):
            name = field_of(each)
            raw = f'{{"{name}": 1, "{name}": 2}}'.encode()
            refusal = problem(operations_world.tenant.human.send(each.method, operations_world.path(each), raw=raw))
            assert (refusal["status"], refusal["errors"][0]["field"]) == (400, name), str(each)


def test_what_is_required_is_named(operations_world: OperationsWorld) -> None:
    with operations_world.tenant.deployed.unchanged():
        for each in spread(WITH_BODY, 3):
            required = (each.body or {}).get("required", [])
            for raw in (b"", b"{}", b" \n") if required else ():
                refusal = problem(operations_world.tenant.human.send(each.method, operations_world.path(each), raw=raw))
                named = [error["field"] for error in refusal["errors"]]
                assert (refusal["status"], named) == (422, required[: len(named)]), str(each)
                assert named or each.id == "create_marker", str(each)


def wrong(schema: dict[str, Any]) -> Any:
    """A value of a type that the schema doesn't take; None if it takes any."""
    schema = resolved(schema)
    taken = [resolved(each).get("type") for each in schema.get("anyOf", [schema])]
    if not any(taken):
        return None
    return {"wrong": 1} if "object" not in taken else 17


def test_values_of_a_wrong_type_are_named(operations_world: OperationsWorld) -> None:
    cases = [
        (each, name, value)
        for each in WITH_BODY
        for name, schema in (each.body or {}).get("properties", {}).items()
        if (value := wrong(schema)) is not None
    ]
    with operations_world.tenant.deployed.unchanged():
        for each, name, value in spread(cases, 3):
            body = {**(operations_world.body(each) or {}), name: value}
            refusal = problem(operations_world.tenant.human.send(each.method, operations_world.path(each), body))
            assert refusal["status"] == 422, f"{each} {name}"
            assert {error["field"].split(".")[0] for error in refusal["errors"]} == {name}, f"{each} {name}"
    assert len(cases) > 90


def test_numbers_texts_and_truth_are_told_apart(operations_world: OperationsWorld) -> None:
    held, human = operations_world.tasks["complete"], operations_world.tenant.human
    claim_id, failure = operations_world.claim["claim_id"], {"type": "nonsense", "description": CANARY}
    bad: list[tuple[str, str, dict[str, Any], str]] = [
        ("POST", f"/tasks/{operations_world.needing}/approve", {"revision": "1"}, "revision"),
        ("POST", f"/tasks/{operations_world.needing}/approve", {"revision": True}, "revision"),
        ("POST", f"/tasks/{operations_world.needing}/approve", {"revision": 1.5}, "revision"),
        ("POST", f"/tasks/{operations_world.needing}/approve", {"revision": 0}, "revision"),
        ("POST", f"/tasks/{operations_world.needing}/approve", {"revision": 2**53}, "revision"),
        ("POST", f"/tasks/{held}/heartbeat", {"claim_id": claim_id, "lease_seconds": 14}, "lease_seconds"),
        ("POST", f"/tasks/{held}/heartbeat", {"claim_id": claim_id, "lease_seconds": 43_201}, "lease_seconds"),
        ("POST", f"/tasks/{held}/heartbeat", {"claim_id": "a/b"}, "claim_id"),
        ("POST", f"/tasks/{held}/fail", {"claim_id": claim_id, "failure": failure}, "failure.type"),
        ("PUT", "/agents/reviewer", {"active": "false"}, "active"),
        ("PUT", "/agents/reviewer", {"name": "a\nb"}, "name"),
        ("PUT", "/agents/Not-A-Slug", {}, "slug"),
        ("PUT", "/agents/runner", {"tools": ["unknown_tool"]}, "tools"),
        ("PUT", "/agents/runner", {"max_turns": 101}, "max_turns"),
        ("PUT", "/agents/runner", {"quorum": 2}, "quorum"),
        ("PUT", "/tools/Not-A-Name", {}, "name"),
        ("PUT", "/tools/new_tool", {}, "config.target_agent"),
        ("PUT", "/tools/new_tool", {"config": {"target_agent": "nobody"}}, "config.target_agent"),
        ("PUT", "/tools/new_tool", {"config": {"context_variables": [{"name": "_x"}]}},
         "config.context_variables.0.name"),
        ("PUT", "/tools/new_tool", {"config": {"context_variables": [{"name": "x", "type": "text"}]}},
         "config.context_variables.0.type"),
        ("POST", "/conversations", {"agent": "nobody", "message": CANARY}, "agent"),
        ("POST", "/conversations", {"agent": "reviewer", "message": " "}, "message"),
        ("POST", "/conversations", {"agent": "reviewer", "message": CANARY, "context": {"_x": 1}}, "context._x"),
        ("POST", f"/conversations/{operations_world.conversation}/messages", {"message": ""}, "message"),
        ("PUT", "/workspace/settings", {"time_zone": "Mars/Olympus"}, "time_zone"),
        ("PUT", "/workspace/settings", {"time_zone": "../../etc/passwd"}, "time_zone"),
        ("PUT", "/workspace/settings", {"escalation_cap": 0}, "escalation_cap"),
        ("PUT", "/workspace/settings", {"holidays": ["2026-02-30"]}, "holidays.0"),
        ("POST", "/tokens", {"kind": "human", "subject": "bob", "expires_at": "2020-01-01T00:00:00Z"}, "expires_at"),
        ("POST", "/tokens", {"kind": "human", "subject": "bob", "expires_at": "2030-01-01T00:00:00"}, "expires_at"),
        ("POST", "/tokens", {"kind": "agent", "subject": "nobody-knows"}, "subject"),
        ("POST", "/tokens", {"kind": "human", "subject": "bob", "scopes": ["root"]}, "scopes"),
    ]  # fmt: skip
    with operations_world.tenant.deployed.unchanged():
        for method, path, body, field in bad:
            refusal = problem(human.send(method, path, body))
            assert (refusal["status"], refusal["errors"][0]["field"]) == (422, field), f"{method} {path} {body}"


MARKERS: list[tuple[dict[str, Any], str]] = [
    ({"source_agent": "Nobody"}, "Invalid source_agent: Nobody. Valid names: {names}"),
    ({"source_agent": None}, "Invalid source_agent: . Valid names: {names}"),
    ({"source_agent": "Nobody", "target_agent": "Nobody"}, "Invalid source_agent: Nobody. Valid names: {names}"),
    ({"target_agent": "Release"}, "Invalid target_agent: Release. Valid names: {names}"),
    ({"target_agent": ["reviewer"]}, "Invalid target_agent: ['reviewer']. Valid names: {names}"),
    ({"escalation_reason": " \n "}, "escalation_reason and source_digest_url are required"),
    ({"source_digest_url": "", "task_priority": None}, "escalation_reason and source_digest_url are required"),
    ({"task_priority": None}, "task_priority is required when create_task is true"),
    ({"task_priority": None, "target_agent": "scout"}, "task_priority is required when create_task is true"),
    ({"target_agent": "scout"}, "source_agent and target_agent must differ"),
    ({"source_digest_url": "ftp://a.example"}, "source_digest_url must be an http or https URL"),
    ({"escalation_reason": "x" * 2_001}, "escalation_reason must be at most 2000 characters"),
    ({"create_task": "yes"}, "create_task must be true or false"),
    ({"due": "today"}, "due is not a field of a handoff marker"),
]  # fmt: skip


@pytest.mark.parametrize(("changes", "sentence"), MARKERS)
def test_a_marker_is_refused_in_the_words_that_its_callers_know(
    operations_world: OperationsWorld, changes: dict[str, Any], sentence: str
) -> None:
    agents = operations_world.tenant.human.get("/agents")["items"]
    names = ", ".join(sorted(agent["name"] for agent in agents))
    with operations_world.tenant.deployed.unchanged():
        refusal = problem(operations_world.tenant.scout.send("POST", "/handoff-markers", marker_body(**changes)))
    assert (refusal["success"], refusal["error"], refusal["status"]) == (False, sentence.format(names=names), 422)
    assert refusal["errors"][0]["field"] in {*marker_body(), "create_task", "due"}


def test_every_refusal_of_a_marker_has_its_two_fields(operations_world: OperationsWorld) -> None:
    for raw in (b"", b"[]", b"\xff", b"{", b'{"source_agent": NaN}'):
        refusal = problem(operations_world.tenant.scout.send("POST", "/handoff-markers", raw=raw))
        assert refusal["success"] is False
        assert refusal["error"] == refusal["detail"]


ODD = [" ", "%", "TASK#1", "a:b", "'\"", "\\", "\0", "..", "é", "😀", "x" * 65, "x" * 3_000]


@pytest.mark.parametrize("odd", ODD)
def test_an_id_of_odd_characters_is_unknown(operations_world: OperationsWorld, odd: str) -> None:
    with operations_world.tenant.deployed.unchanged():
        for each in some([each for each in WITH_TOKEN if each.has_ids], ODD.index(odd), len(ODD)):
            if odd == ".." and each.id in {"list_task_questions", "get_settings_version"}:
                continue  # the rest of the path names another resource
            path = each.path
            for name in each.parameters("path"):
                path = path.replace(f"{{{name}}}", quote(odd, safe=""))
            refusal = problem(operations_world.tenant.human.send(each.method, path, operations_world.body(each)))
            assert refusal["status"] in ({404, 405, 422} if each.takes_new_names or odd == ".." else {404}), str(each)


def sealed(operations_world: OperationsWorld, path: str, query: dict[str, Any], cursor: str) -> str:
    """A cursor as Baton would give it out, if it ever pointed there: the seal is no secret."""
    parts = f"{operations_world.tenant.name}\n{path}\n{json.dumps(query, separators=(',', ':'))}\n{cursor}"
    text = json.dumps([hashlib.sha256(parts.encode()).hexdigest()[:16], cursor])
    return base64.urlsafe_b64encode(text.encode()).decode()


def test_a_cursor_that_was_never_given_out_is_refused(operations_world: OperationsWorld) -> None:
    cursors = ["x", "e30", "W10", "%00", "%F0%9F%98%80", "..%2F", "WyJhIiwgImIiXQ", "=" * 9, "x" * 2_000, "x" * 3_000]
    cursors += [sealed(operations_world, "/tokens", {}, forged) for forged in ("", "\0", "x" * 1_025, "é" * 600, "~")]
    listings = [each for each in WITH_TOKEN if "cursor" in each.parameters("query")]
    with operations_world.tenant.deployed.unchanged():
        for each, cursor in crossed(listings, cursors):
            refusal = problem(
                operations_world.tenant.human.send(each.method, f"{operations_world.path(each)}?cursor={cursor}")
            )
            assert (refusal["status"], refusal["errors"][0]["field"]) == (422, "cursor"), f"{each} {cursor}"
            assert re.match("(is not|belongs|must) ", refusal["errors"][0]["message"]), refusal


# What no schema says: a parameter that isn't here is tried past the bounds of its own (``outside``).
QUERIES = {
    "limit": ["0", "201", "-1", "1.5", "1e3", "", "٣", "true", "9" * 40],
    "after": ["-1", "x", "9" * 40],
    "timeout": ["-1", "26", "x", "1e1"],
    "state": ["nonsense", "needs,nonsense", "%00"],
    "day": ["2026-02-30", "yesterday", "20261121"],
    "agent": ["A", "a b", "x" * 64],
    "target": ["A", "a b", "x" * 64],
    "begun_by": ["", "x" * 101],
    "source": ["", "x" * 101],
    "workflow": ["a b", "x" * 65],
    "since": ["2026-11-20", "1800000000", "now"],
    "until": ["2026-11-20", "now"],
    "scope": ["", "a//b", "..", "x" * 301],
    "path": ["", "a//b", "..", "x" * 301],
    "q": ["", "x" * 1_001],
    "label": ["", "x" * 265],
    "page": ["", "a b"],
    "by": ["", "x" * 201],
    "kind": ["nonsense", "transfer,nonsense"],
    "priority": ["P9", "P0,P9"],
    "tag": ["", "x" * 51],
    "entry_type": ["rumour", "finding,rumour"],
    "node": ["", "auditor", "nothing:auditor"],
    "depth": ["0", "4", "x"],
    "format": ["svg", ""],
    "task_id": ["a b", "x" * 65],
    "accepts": ["x" * 101],
    "produces": ["x" * 101],
    "cursor": [],
    "tools": ["", "nonsense", "worker,sender"],
    "worker": ["", "x" * 101],
}
# Handoffs are listed day by day, not from any day on.
TOO_EARLY = ("/handoffs", "since", "2020-01-01T00:00:00Z")


def outside(name: str, schema: dict[str, Any]) -> list[str]:
    """Values that the schema of a parameter doesn't take."""
    schema = resolved(schema)
    found = [str(schema[bound] + step) for bound, step in (("minimum", -1), ("maximum", 1)) if bound in schema]
    found += ["x" * (schema["maxLength"] + 1)] if "maxLength" in schema else []
    found += ["nonsense"] if {"enum", "format"} & schema.keys() or schema.get("type") in {"integer", "boolean"} else []
    found += ["a b"] if not re.search(schema.get("pattern", ""), "a b") else []
    assert found, f"nothing bounds the parameter {name}: say in QUERIES what it refuses"
    return found


def with_query(path: str, name: str, value: str) -> str:
    """The path with this parameter, and with others that it can't be asked without."""
    bare, _, query = path.partition("?")
    kept = [each for each in query.split("&") if each and each.partition("=")[0] not in {name, "timeout"}]
    return f"{bare}?{'&'.join([*kept, f'{name}={value}'])}"


def test_a_query_out_of_bounds_is_refused_under_its_name(operations_world: OperationsWorld) -> None:
    cases = [
        (each, name, value)
        for each in WITH_TOKEN
        for name, schema in each.parameters("query").items()
        for value in (QUERIES[name] if name in QUERIES else outside(name, schema))
    ]
    cases += [(each, *TOO_EARLY[1:]) for each in WITH_TOKEN if each.path == TOO_EARLY[0] and each.method == "GET"]
    with operations_world.tenant.deployed.unchanged():
        for each, name, value in spread(cases, 6):
            path = with_query(operations_world.path(each), name, value)
            refusal = problem(operations_world.tenant.human.send(each.method, path, operations_world.body(each)))
            assert (refusal["status"], refusal["errors"][0]["field"]) == (422, name), f"{each} {name}={value}"


def test_a_query_that_a_route_does_not_know_is_refused(operations_world: OperationsWorld, deployed: Deployed) -> None:
    with deployed.unchanged():
        for each in spread([each for each in OPERATIONS if not each.id.startswith("find_nothing")], 3):
            path = with_query(operations_world.path(each), "surprise", "1")
            response = operations_world.tenant.human.send(each.method, path, operations_world.body(each))
            assert (response.status_code, problem(response)["errors"][0]["field"]) == (422, "surprise"), str(each)


ODD_KEYS = ["", "x" * 201, "ключ"]


@pytest.mark.parametrize("key", ODD_KEYS)
def test_an_idempotency_key_of_odd_characters_is_refused(operations_world: OperationsWorld, key: str) -> None:
    headers: Any = {"Idempotency-Key": key.encode()}
    taking = [each for each in WITH_BODY if each.takes_key]
    with operations_world.tenant.deployed.unchanged():
        for each in taking if IS_WHOLE else some(taking, ODD_KEYS.index(key), len(ODD_KEYS)):
            refusal = problem(
                operations_world.tenant.human.send(
                    each.method, operations_world.path(each), operations_world.body(each), headers=headers
                )
            )
            assert (refusal["status"], refusal["errors"][0]["field"]) == (422, "Idempotency-Key"), str(each)
