"""What can't be kept, hashed and given back exactly is refused before anything is written, and the field is named."""

from __future__ import annotations

import json
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from baton.domain.errors import InvalidInput
from mcp_door.shapes import McpError
from rest.strict_json import MAX_BYTES, MAX_DEPTH, read_json
from support.faults.soak import crossed, scaled
from support.gateway import ROUTES, Gateway, gateway_event
from support.values.bodies import BODIES, IDS
from support.worlds.world import World, human

ALICE = human()
# The door for models has errors of its protocol: tests/functions/mcp/test_protocol.py.
BODY_ROUTES = [route for route in ROUTES if route.body is not None and route.problem is not McpError]


def nested(levels: int) -> str:
    """An object whose field ``deep`` makes it this many levels deep."""
    return '{"ok": 1, "deep": ' + "[" * (levels - 1) + "]" * (levels - 1) + "}"


BAD: dict[str, tuple[str | bytes, int, str]] = {
    "an array": ("[1]", 400, "body"),
    "a number": ("1", 400, "body"),
    "null": ("null", 400, "body"),
    "cut off": ('{"a": "b', 400, "body"),
    "two values": ("{} {}", 400, "body"),
    "a second byte order mark": ("\ufeff\ufeff{}", 400, "body"),
    "not UTF-8": (b'{"a": "\xff"}', 400, "body"),
    "surrogates in UTF-8": (b'{"a": "\xed\xa0\x80"}', 400, "body"),
    "1,000 levels": (nested(1_000), 400, "deep"),
    "200,000 levels": ("[" * 200_000, 400, "body"),
    "a blank that isn't JSON's": ("\x0b", 400, "body"),
    "1,000 objects": ('{"a":' * 1_000, 400, "a"),
    "NaN": ('{"a": {"b": NaN}}', 400, "a.b"),
    "Infinity": ('{"a": [1, -Infinity]}', 400, "a.1"),
    "NaN itself": ("NaN", 400, "body"),
    "1e400": ('{"a": 1e400}', 400, "a"),
    "1e126": ('{"a": 1e126}', 400, "a"),
    "1e-131": ('{"a": -1e-131}', 400, "a"),
    "an endless exponent": ('{"a": 1e' + "9" * 5_000 + "}", 400, "a"),
    "5,000 digits": ('{"a": ' + "7" * 5_000 + "}", 400, "a"),
    "39 digits": ('{"a": [-' + "7" * 39 + "]}", 400, "a.0"),
    "39 digits of a fraction": ('{"a": 0.' + "7" * 39 + "}", 400, "a"),
    "a lone surrogate": (r'{"a": "x\ud800y"}', 400, "a"),
    "a lone surrogate as a name": (r'{"a": {"\udfff": 1}}', 400, "a.\ufffd"),
    "NUL": (r'{"a": "\u0000"}', 400, "a"),
    "NUL in a name": (r'{"a\u0000": 1}', 400, "a "),
    "a name given twice": ('{"a": {"b": 1, "b": 1}}', 400, "a.b"),
    "too large": ('{"small": 1, "large": "' + "x" * MAX_BYTES + '"}', 413, "large"),
    "too large and not JSON": ("x" * (MAX_BYTES + 1), 413, "body"),
    "too large and too deep": ('{"a": ' + "[" * MAX_BYTES, 413, "a"),
}


def test_bad_json_is_4xx_names_the_field_and_writes_nothing(world: World, gateway: Gateway) -> None:
    """One reader reads for all routes: under ``make soak`` each of them gets everything."""
    ids = IDS | {"task_id": world.needing()}
    before = world.stored()
    for route, name in crossed(BODY_ROUTES, list(BAD)):
        (body, status, field), sent = BAD[name], f"{route.name}, {name}"
        world.clock.advance(1)  # megabytes a second are too much
        reply = gateway.send(ALICE, route.method, route.path.format_map(ids), body)
        if route.body.is_raw and status != 413:  # nothing is read at an address that isn't known
            assert (reply.status, reply.code) == (404, "not_found"), sent
        else:
            assert (reply.status, reply.fields) == (status, [field]), sent
            assert reply.code == ("too_large" if status == 413 else "malformed_json"), sent
        assert world.stored() == before, sent


WRONG: list[tuple[str, str, Any, list[str]]] = [
    ("POST", "/tasks/{}/approve", {"revision": "1"}, ["revision"]),
    ("POST", "/tasks/{}/approve", {"revision": True}, ["revision"]),
    ("POST", "/tasks/{}/approve", {"revision": 1.0}, ["revision"]),
    ("POST", "/tasks/{}/approve", {"revision": 0}, ["revision"]),
    ("POST", "/tasks/{}/approve-next", {"seen": 1}, ["seen"]),
    ("POST", "/tasks/{}/undo", {"why": "x"}, ["why"]),
    ("POST", "/tasks/{}/cancel", {"reason": 5}, ["reason"]),
    ("POST", "/tasks/{}/cancel", {"reason": "x" * 2_001}, ["reason"]),
    ("POST", "/tasks/{}/resolve", {"reason": ["x"]}, ["reason"]),
    ("POST", "/tasks/{}/release-claim", {"fence": 0, "reason": " "}, ["fence", "reason"]),
    ("POST", "/tasks/{}/release-claim", {"reason": "it hangs"}, ["fence"]),
    ("POST", "/tasks/{}/claim", {"worker": ""}, ["worker"]),
    ("POST", "/tasks/{}/claim", {"worker": "x" * 101}, ["worker"]),
    ("POST", "/tasks/{}/claim", {"agent": "Not A Slug"}, ["agent"]),
    ("POST", "/agents/auditor/claims", {"lease_seconds": "60"}, ["lease_seconds"]),
    ("POST", "/agents/auditor/claims", {"lease_seconds": 10**38 - 1}, ["lease_seconds"]),
    ("POST", "/agents/auditor/claims/wait", {"lease_seconds": True}, ["lease_seconds"]),
    ("POST", "/tasks/{}/heartbeat", None, ["claim_id"]),
    ("POST", "/tasks/{}/heartbeat", {"claim_id": "a b"}, ["claim_id"]),
    ("POST", "/tasks/{}/complete", {"claim_id": 5, "out": 1}, ["claim_id", "out"]),
    ("POST", "/tasks/{}/fail", {"claim_id": "c"}, ["failure"]),
    ("POST", "/tasks/{}/fail", {"claim_id": "c", "failure": "x"}, ["failure"]),
    (
        "POST",
        "/tasks/{}/fail",
        {"claim_id": "c", "failure": {"type": "bored", "description": "", "x": 1}},
        ["failure.type", "failure.description", "failure.x"],
    ),
    (
        "POST",
        "/tasks/{}/fail",
        {"claim_id": "c", "failure": {"type": "error", "description": "x" * 2_001}, "retryable": "yes"},
        ["failure.description", "retryable"],
    ),
    ("POST", "/tasks/{}/release", {"claim_id": "c", "reason": 1}, ["reason"]),
    ("PUT", "/agents/new", {"aliases": "A"}, ["aliases"]),
    ("PUT", "/agents/new", {"aliases": ["A", 1]}, ["aliases.1"]),
    ("PUT", "/agents/new", {"aliases": ["A"] * 21}, ["aliases"]),
    ("PUT", "/agents/new", {"name": "  "}, ["name"]),
    ("PUT", "/agents/new", {"name": "a, b"}, ["name"]),
    ("PUT", "/agents/new", {"name": None}, ["name"]),
    ("PUT", "/agents/new", {"runtime": "cron"}, ["runtime"]),
    ("PUT", "/agents/new", {"active": 1}, ["active"]),
    ("PUT", "/agents/new", {"description": "x" * 2_001}, ["description"]),
    ("PUT", "/agents/new", {"version": -1}, ["version"]),
    ("PUT", "/agents/new", {"tools": "all"}, ["tools"]),
    ("PUT", "/agents/New", {}, ["slug"]),
    ("PUT", "/workspace/settings", {"time_zone": "Mars/Olympus"}, ["time_zone"]),
    ("PUT", "/workspace/settings", {"time_zone": "../../etc/passwd"}, ["time_zone"]),
    ("PUT", "/workspace/settings", {"holidays": ["2026-13-01"]}, ["holidays.0"]),
    ("PUT", "/workspace/settings", {"holidays": [20_000]}, ["holidays.0"]),
    ("PUT", "/workspace/settings", {"escalation_cap": 21}, ["escalation_cap"]),
    ("PUT", "/workspace/settings", {"handoff_window_days": 7.5}, ["handoff_window_days"]),
    ("PUT", "/workspace/settings", {"breaker_scope": "all"}, ["breaker_scope"]),
    ("PUT", "/workspace/settings", {"dispatch_delay_seconds": 901}, ["dispatch_delay_seconds"]),
    ("PUT", "/workspace/settings", {"unclaimed_alert_seconds": 59}, ["unclaimed_alert_seconds"]),
    ("POST", "/tokens", {}, ["kind", "subject"]),
    ("POST", "/tokens", {"kind": "root", "subject": "x"}, ["kind"]),
    ("POST", "/tokens", {"kind": "human", "subject": "X Y"}, ["subject"]),
    ("POST", "/tokens", {"kind": "agent", "subject": "nobody"}, ["subject"]),
    ("POST", "/tokens", {"kind": "agent", "subject": "scout", "scopes": ["act_as"]}, ["scopes"]),
    ("POST", "/tokens", {"kind": "human", "subject": "x", "scopes": ["admin"]}, ["scopes"]),
    ("POST", "/tokens", {"kind": "human", "subject": "x", "expires_at": "2026-11-19T00:00:00"}, ["expires_at"]),
    ("POST", "/tokens", {"kind": "human", "subject": "x", "expires_at": "2026-11-18T00:00:00Z"}, ["expires_at"]),
    ("POST", "/tokens", {"kind": "human", "subject": "x", "expires_at": 4_000_000_000}, ["expires_at"]),
    ("POST", "/tokens", {"kind": "human", "subject": "x", "expires_at": "9999-12-31T23:59:59-01:00"}, ["expires_at"]),
    ("POST", "/tokens", {"kind": "human", "subject": "x", "expires_at": "0001-01-01T00:00:00+23:59"}, ["expires_at"]),
    ("POST", "/manual-reviews/review_1/release", {"x": 1}, ["x"]),
    ("PUT", "/tracker/token", {"token": "ntn_fake", "workspace": "other"}, ["workspace"]),
    ("POST", "/tracker/check", {"database": "x"}, ["database"]),
    ("POST", "/tracker/check", {"tracker": []}, ["tracker"]),
    ("POST", "/tracker/retry", {"task_id": 5}, ["task_id"]),
    ("POST", "/tracker/retry", {"task_id": "a b"}, ["task_id"]),
    ("POST", "/tracker/retry", {"task": "x"}, ["task"]),
    ("POST", "/tracker/import", {"days": 7}, ["days"]),
    ("POST", "/tracker/webhook", {"url": "https://x.example"}, ["url"]),
]


def test_wrong_field_is_422_named_and_writes_nothing(world: World, gateway: Gateway) -> None:
    task_id = world.needing()
    before = world.stored()
    for method, path, body, fields in WRONG:
        reply = gateway.send(ALICE, method, path.format(task_id), body)
        assert (reply.status, reply.fields) == (422, fields), (method, path, body)
        assert world.stored() == before, (method, path, body)


WRONG_KEYS = ["", "x" * 201, "ü", "a\tb", "a\nb"]


def test_wrong_idempotency_key_is_named(world: World, gateway: Gateway) -> None:
    ids = IDS | {"task_id": world.needing()}
    for route, key in crossed([route for route in ROUTES if route.is_idempotent], WRONG_KEYS):
        path = route.path.format_map(ids)
        reply = gateway.post(ALICE, path, BODIES.get(route.name), headers={"idempotency-key": key})
        assert (reply.status, reply.fields) == (422, ["Idempotency-Key"]), (route.name, key)


def test_body_that_only_claims_to_be_base_64_is_refused(world: World, gateway: Gateway) -> None:
    gateway.admit(ALICE)
    event = gateway_event(ALICE, "POST", f"/tasks/{world.needing()}/approve", "{}!") | {"isBase64Encoded": True}
    assert gateway._api(event)["statusCode"] == 400


def test_16_levels_are_taken_and_17_are_not() -> None:
    assert read_json(nested(MAX_DEPTH).encode()).value["ok"] == 1
    with pytest.raises(InvalidInput, match="nested"):
        read_json(nested(MAX_DEPTH + 1).encode())


def test_body_of_exactly_the_limit_is_taken() -> None:
    frame = len('{"a": ""}')
    assert read_json(('{"a": "' + "x" * (MAX_BYTES - frame) + '"}').encode()).value
    with pytest.raises(InvalidInput):
        read_json(('{"a": "' + "x" * (MAX_BYTES - frame + 1) + '"}').encode())


def test_brackets_and_quotes_inside_of_texts_are_texts() -> None:
    value = {"a": "[" * 50 + '\\"{', 'q"[': {"b": "}]"}}
    assert read_json(json.dumps(value).encode()).value == value


def test_numbers_at_their_limits_are_taken() -> None:
    body = '{"a": 1e125, "b": 1e-130, "c": ' + "9" * 38 + ', "d": 0e-900, "e": -0.0}'
    assert set(read_json(body.encode()).value) == set("abcde")


texts = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"))
numbers = st.integers(-(10**37), 10**37) | st.floats(-1e100, 1e100).filter(lambda x: x == 0 or abs(x) > 1e-100)
values = st.recursive(
    st.none() | st.booleans() | numbers | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=8,
)


@settings(max_examples=scaled(100, 4))
@given(st.dictionaries(texts, values, max_size=4), st.booleans())
def test_what_is_taken_is_taken_exactly(value: dict[str, Any], ensure_ascii: bool) -> None:
    assert read_json(json.dumps(value, ensure_ascii=ensure_ascii).encode()).value == value


@given(st.binary(max_size=200) | st.text(alphabet='{}[]:,"\\u0de1 ', max_size=60).map(str.encode))
def test_anything_else_is_refused_and_never_raises_otherwise(body: bytes) -> None:
    with suppress(InvalidInput):
        assert isinstance(read_json(body).value, dict)
