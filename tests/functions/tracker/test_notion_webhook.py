"""Notion's webhook over HTTP: its installation by a human, and what comes in at its address."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from baton.domain.errors import Busy
from baton.domain.ids import SLUG_PATTERN
from baton.domain.tracker.webhook import sign
from rest.routing import PATTERNS
from rest.strict_json import MAX_BYTES
from support.faults.hooked_store import FailingStore
from support.faults.soak import scaled
from support.gateway import Gateway, Reply, gateway_event
from support.worlds.notion_world import NotionWorld
from support.worlds.world import agent, human, marker_body, service

ALICE, SCOUT = human(), agent("scout")
PATH = "/tracker/webhook"
SECRET_TOKEN = "secret_fake_verification"


@dataclass
class Line:
    """Notion's end of one address. ``sent``: the deliveries, as they were sent."""

    gateway: Gateway
    path: str
    sent: list[tuple[bytes, dict[str, str]]] = field(default_factory=list)
    replies: list[Reply] = field(default_factory=list)

    def deliver(self, body: bytes, headers: Mapping[str, str]) -> int:
        lowered = {name.lower(): value for name, value in headers.items()}
        self.sent.append((body, lowered))
        self.replies.append(self.gateway.send(None, "POST", self.path, body, headers=lowered))
        return self.replies[-1].status

    def handshake(self, token: Any = SECRET_TOKEN) -> Reply:
        self.deliver(json.dumps({"verification_token": token}).encode(), {})
        return self.replies[-1]

    def event(self, content: Any, token: str = SECRET_TOKEN, body: bytes | None = None) -> Reply:
        raw = json.dumps(content).encode() if body is None else body
        self.deliver(raw, {"X-Notion-Signature": f"sha256={sign(token, raw)}"})
        return self.replies[-1]

    def again(self) -> Reply:
        self.deliver(*self.sent[-1])
        return self.replies[-1]

    @property
    def received(self) -> list[str]:
        return [str(reply.json["received"]) for reply in self.replies]


@pytest.fixture
def tracked() -> NotionWorld:
    return NotionWorld().settle()


@pytest.fixture
def edge(tracked: NotionWorld) -> Gateway:
    return Gateway(tracked.deps)


@pytest.fixture
def line(edge: Gateway) -> Line:
    return opened(edge)


def opened(edge: Gateway, workspace: str = "acme") -> Line:
    url = edge.post(human(workspace), PATH).json["url"]
    return Line(edge, url.removeprefix("https://baton.example"))


def mark(edge: Gateway, workspace: str = "acme") -> dict[str, Any]:
    told: dict[str, Any] = edge.post(agent("scout", workspace), "/handoff-markers", marker_body()).json
    assert told["tracker_page_id"]
    return told


def change(page_id: str, **changes: Any) -> dict[str, Any]:
    """Notion's event for a person's change of a page."""
    usual = {
        "id": "367cba44-b6f3-4c92-81e7-6a2e9659efd4",
        "timestamp": "2026-11-18T12:00:00.000Z",
        "type": "page.properties_updated",
        "authors": [{"id": "c7c11cca-1d73-471d-9b6e-bdef51470190", "type": "person"}],
        "entity": {"id": page_id, "type": "page"},
        "data": {"parent": {"id": "556a1abf-4f08-40c6-878a-75890d2a88ba", "type": "block"}},
    }
    return usual | changes


def looks(tracked: NotionWorld, task_id: str, workspace: str = "acme") -> int:
    return tracked.row(task_id, workspace).looks


# What its role may write


def test_all_that_it_writes_is_in_the_partitions_that_its_role_may_write(tracked: NotionWorld, edge: Gateway) -> None:
    """The role's condition is IAM's own: a write elsewhere would be refused where it is deployed."""
    template = (Path(__file__).parents[3] / "template.yaml").read_text(encoding="utf-8")
    found = re.findall(r"ForAnyValue:StringNotLike:\s+dynamodb:LeadingKeys: (\[.*\])", template)
    (allowed,) = [each for each in found if "TRACKER" in each]
    told, line = mark(edge), opened(edge)
    before = tracked.stored()
    line.handshake()
    assert line.event(change(told["tracker_page_id"])).json == {"received": "reported"}
    after = tracked.stored()
    written = {partition for (partition, _), item in after.items() if before.get((partition, _)) != item}
    assert len(written) == 3
    assert not [each for each in written if not any(fnmatchcase(each, like) for like in json.loads(allowed))]
    kept_out = {"TOKEN#baton_1", "WS#acme#SESSIONS#human:alice", "WS#acme#SETTINGS", "WS#acme#AGENTS", "WS#acme#TOKENS"}
    assert not [each for each in kept_out if any(fnmatchcase(each, like) for like in json.loads(allowed))]


# Its installation


def test_webhook_is_opened_installed_verified_and_taken_down(tracked: NotionWorld, edge: Gateway) -> None:
    reply = edge.post(ALICE, PATH)
    assert (reply.status, reply.json["expires_at"]) == (201, "2026-11-18T12:10:00.000Z")
    assert reply.json["url"].startswith("https://baton.example/notion/webhook/acme.")
    line = Line(edge, reply.json["url"].removeprefix("https://baton.example"))
    states = [edge.get(ALICE, PATH).json]
    tracked.clock.advance(60)
    line.handshake()
    states.append(edge.get(ALICE, PATH).json)
    tracked.clock.advance(60)
    line.event(change("x", timestamp="2026-11-18T12:02:00Z"))
    states.append(edge.get(ALICE, PATH).json)
    assert [each["state"] for each in states] == ["open", "installed", "verified"]
    assert [each["verification_token"] for each in states] == [None, SECRET_TOKEN, None]
    assert states[2] == {
        "state": "verified",
        "opened_at": "2026-11-18T12:00:00.000Z",
        "expires_at": "2026-11-18T12:10:00.000Z",
        "installed_at": "2026-11-18T12:01:00.000Z",
        "verified_at": "2026-11-18T12:02:00.000Z",
        "verification_token": None,
    }
    health = edge.get(SCOUT, "/tracker/health").json["webhook"]
    assert health == {name: states[2][name] for name in ("state", "opened_at", "installed_at", "verified_at")}
    assert edge.delete(ALICE, PATH).status == 204
    assert line.event(change("x")).status == 404
    assert (edge.get(ALICE, PATH).status, edge.delete(ALICE, PATH).status) == (404, 404)
    assert edge.get(SCOUT, "/tracker/health").json["webhook"]["state"] == "none"


def test_handshake_is_open_for_ten_minutes(tracked: NotionWorld, edge: Gateway, line: Line) -> None:
    tracked.clock.advance(600)
    assert edge.get(ALICE, PATH).json["state"] == "expired"
    late = line.handshake()
    assert (late.status, late.code) == (409, "handshake_closed")
    assert opened(edge).handshake().json == {"received": "installed"}


def test_opening_again_makes_the_address_before_unknown(edge: Gateway, line: Line) -> None:
    second = opened(edge)
    assert second.path != line.path
    assert (line.handshake().status, second.handshake().status) == (404, 200)


def test_installed_webhook_is_not_replaced_before_it_is_taken_down(edge: Gateway, line: Line) -> None:
    line.handshake()
    refused = edge.post(ALICE, PATH)
    assert (refused.status, refused.code) == (409, "webhook_installed")
    edge.delete(ALICE, PATH)
    assert edge.post(ALICE, PATH).status == 201


def test_key_does_not_get_the_address_shown_again(edge: Gateway) -> None:
    keyed: dict[str, Any] = {"headers": {"idempotency-key": "w-1"}}
    first, second = (edge.post(ALICE, PATH, {}, **keyed).json["url"] for _ in range(2))
    assert first != second
    assert [reply for reply in (edge.get(ALICE, PATH), edge.get(ALICE, "/tracker/health")) if first in reply.text] == []


def test_second_handshake_is_refused_and_the_first_one_repeated_is_not(line: Line) -> None:
    assert line.handshake().json == line.again().json == {"received": "installed"}
    other = line.handshake("secret_of_somebody_else")
    assert (other.status, other.code) == (409, "handshake_closed")
    assert line.event(change("x"), "secret_of_somebody_else").status == 401
    assert line.event(change("x")).status == 200


@pytest.mark.parametrize("token", ["", "x" * 201, 5, ["a"], {"a": 1}, True, "a\nb"])
def test_handshake_with_a_wrong_token_is_refused(edge: Gateway, line: Line, token: Any) -> None:
    reply = line.handshake(token)
    assert (reply.status, reply.fields) == (422, ["verification_token"])
    assert edge.get(ALICE, PATH).json["state"] == "open"


# What comes in


def test_persons_change_is_reported_once_and_rings(tracked: NotionWorld, edge: Gateway, line: Line) -> None:
    marked = mark(edge)
    line.handshake()
    tracked.tracker_queue.notices.clear()
    event = change(marked["tracker_page_id"])
    assert line.event(event).json == {"received": "reported"}
    assert line.again().json == {"received": "repeated"}
    assert line.event(event | {"attempt_number": 2}).json == {"received": "repeated"}
    assert looks(tracked, marked["task_id"]) == 1
    assert tracked.tracker_queue.notices == [("acme", marked["task_id"], 0)]


def test_task_closed_in_notion_is_done(tracked: NotionWorld, edge: Gateway, line: Line) -> None:
    marked = mark(edge)
    tracked.notion.subscribe(line.deliver)
    tracked.notion.edit(marked["tracker_page_id"], status="Done")
    assert line.received == ["installed", "reported"]
    tracked.sync()
    task = edge.get(ALICE, f"/tasks/{marked['task_id']}").json
    assert (task["state"], task["tracker"]["status"]) == ("done", "ok")


def test_burst_of_changes_is_reported_change_by_change(tracked: NotionWorld, edge: Gateway, line: Line) -> None:
    marked = mark(edge)
    line.handshake()
    for number in range(30):
        assert line.event(change(marked["tracker_page_id"], id=f"event-{number}")).json == {"received": "reported"}
    assert looks(tracked, marked["task_id"]) == 30


def test_own_echo_is_no_news(tracked: NotionWorld, edge: Gateway, line: Line) -> None:
    tracked.notion.subscribe(line.deliver)
    marked = mark(edge)
    edge.post(ALICE, f"/tasks/{marked['task_id']}/cancel")
    tracked.sync()
    assert len(line.received) > 2
    assert set(line.received[1:]) == {"not_a_person"}
    assert looks(tracked, marked["task_id"]) == 0


BORING: dict[str, dict[str, Any]] = {
    "not_a_person": {"authors": [{"id": "x", "type": "bot"}]},
    "not_a_page": {"entity": {"id": "0" * 32, "type": "database"}},
    "unknown_page": {"entity": {"id": "0" * 32, "type": "page"}},
    "too_old": {"timestamp": "2026-11-16T11:59:59.999Z"},
}


@pytest.mark.parametrize("received", BORING)
def test_what_is_of_no_interest_is_taken_and_left(
    tracked: NotionWorld, edge: Gateway, line: Line, received: str
) -> None:
    marked = mark(edge)
    line.handshake()
    assert line.event(change(marked["tracker_page_id"]) | BORING[received]).json == {"received": received}
    assert looks(tracked, marked["task_id"]) == 0


@pytest.mark.parametrize(
    ("timestamp", "received"),
    [
        ("2026-11-16T12:00:00.000Z", "reported"),
        ("2026-11-18T12:05:00.000Z", "reported"),
        ("2026-11-18T12:05:00.001Z", "too_old"),
    ],
)
def test_delivery_of_the_last_two_days_is_fresh(edge: Gateway, line: Line, timestamp: str, received: str) -> None:
    page_id = mark(edge)["tracker_page_id"]
    line.handshake()
    assert line.event(change(page_id, timestamp=timestamp)).json == {"received": received}


@pytest.mark.parametrize(
    ("changes", "name"),
    [
        ({"id": None}, "id"),
        ({"id": ""}, "id"),
        ({"id": "x" * 101}, "id"),
        ({"timestamp": "yesterday"}, "timestamp"),
        ({"timestamp": "2026-11-18T12:00:00"}, "timestamp"),
        ({"timestamp": "0001-01-01T00:00:00+23:59"}, "timestamp"),
        ({"timestamp": 5}, "timestamp"),
    ],
)
def test_signed_nonsense_is_refused(line: Line, changes: dict[str, Any], name: str) -> None:
    line.handshake()
    reply = line.event(change("x", **changes))
    assert (reply.status, reply.fields) == (422, [name])


@pytest.mark.parametrize(
    "changes",
    [
        {"authors": "person"},
        {"authors": [None, 5, "person", {"type": ["person"]}]},
        {"authors": None},
        {"entity": None},
        {"entity": {"type": "page"}},
        {"entity": {"type": "page", "id": {"a": 1}}},
        {"entity": {"type": "page", "id": "https://[/"}},
        {"data": [[[]]], "unheard_of": {"a": "\ud83d\ude00"}},
        {"type": 5},
    ],
)
def test_signed_surprise_is_taken(line: Line, changes: dict[str, Any]) -> None:
    line.handshake()
    assert line.event(change("x", **changes)).status == 200


# Who is believed


def test_nobody_is_believed_without_the_signature(tracked: NotionWorld, edge: Gateway, line: Line) -> None:
    marked = mark(edge)
    line.handshake()
    raw = json.dumps(change(marked["tracker_page_id"])).encode()
    right = sign(SECRET_TOKEN, raw)
    wrong = [None, "", "sha256=", right, f"sha1={right}", f"sha256={right[:-1]}", f"sha256={'0' * 64}", "sha256=ü"]
    for signature in wrong:
        line.deliver(raw, {} if signature is None else {"X-Notion-Signature": signature})
        assert (line.replies[-1].status, line.replies[-1].code) == (401, "bad_signature"), signature
    assert looks(tracked, marked["task_id"]) == 0
    assert edge.get(ALICE, PATH).json["state"] == "installed"


def test_signature_is_that_of_the_very_bytes(line: Line) -> None:
    line.handshake()
    content = change("x", name="Füße")
    spellings = [
        json.dumps(content, indent=2).encode(),
        json.dumps(content, ensure_ascii=False, separators=(",", ":")).encode(),
        b" \n" + json.dumps(content).encode() + b"\r\n ",
    ]
    for raw in spellings:
        assert line.event(None, body=raw).status == 200
        signed = {"X-Notion-Signature": f"sha256={sign(SECRET_TOKEN, raw)}"}
        assert line.deliver(raw + b" ", signed) == 401
        assert line.deliver(json.dumps(json.loads(raw), separators=(", ", ": ")).encode() + b"\n", signed) == 401


def test_body_comes_in_base_64_or_as_text(edge: Gateway, line: Line) -> None:
    line.handshake()
    raw = json.dumps(change("x", name="Füße"), ensure_ascii=False).encode()
    headers = {"x-notion-signature": f"sha256={sign(SECRET_TOKEN, raw)}"}
    for body in (raw, raw.decode()):
        event = gateway_event(None, "POST", line.path, body, headers=headers)
        assert event["isBase64Encoded"] is isinstance(body, bytes)
        assert edge.send(None, "POST", line.path, body, headers=headers).status == 200


def test_delivery_before_the_handshake_is_not_believed(edge: Gateway, line: Line) -> None:
    for token in ("", SECRET_TOKEN):
        assert line.event(change("x"), token).status == 401
    assert edge.get(ALICE, PATH).json["state"] == "open"


def test_page_of_another_workspace_is_unknown(tracked: NotionWorld, edge: Gateway, line: Line) -> None:
    tracked.settle("other")
    theirs, ours = mark(edge, "other"), mark(edge)
    other = opened(edge, "other")
    line.handshake()
    other.handshake("secret_fake_other")
    assert line.event(change(theirs["tracker_page_id"])).json == {"received": "unknown_page"}
    assert other.event(change(ours["tracker_page_id"]), "secret_fake_other").json == {"received": "unknown_page"}
    assert line.event(change("x"), "secret_fake_other").status == 401
    assert looks(tracked, theirs["task_id"], "other") == looks(tracked, ours["task_id"]) == 0
    edge.delete(human("other"), PATH)
    assert edge.get(ALICE, PATH).json["state"] == "verified"


@pytest.mark.parametrize("who", [SCOUT, service()])
def test_only_humans_see_the_verification_token(edge: Gateway, line: Line, who: Any) -> None:
    line.handshake()
    replies = [edge.get(who, PATH), edge.get(who, "/tracker/health")]
    assert (replies[0].status, replies[0].code) == (403, "human_required")
    assert [reply for reply in replies if SECRET_TOKEN in reply.text] == []


def test_address_that_is_none_is_unknown_whatever_it_looks_like(edge: Gateway, line: Line) -> None:
    secret = line.path.rpartition(".")[2]
    paths = [
        f"acme.{'0' * 64}",
        f"other.{secret}",
        f"nobody.{secret}",
        *(f"acme.{secret[:-1]}", f"acme.{secret}0", f"acme.{secret}\n", f"acme{secret}", secret, "acme.", f".{secret}"),
        *(f"ACME.{secret}", f"acme.{secret.upper()}x", f"a/cme.{secret}"[2:], "é", "..", "%00", "x" * 3_000),
    ]
    unknown = Line(edge, f"/notion/webhook/{paths[0]}").handshake()
    assert (unknown.status, unknown.code, unknown.json["detail"]) == (404, "not_found", "No such webhook.")
    for path in paths:
        assert Line(edge, f"/notion/webhook/{path}").handshake().json == unknown.json, path
    assert edge.get(ALICE, PATH).json["state"] == "open"


def test_pattern_of_an_address_is_that_of_the_documents() -> None:
    assert PATTERNS["secret"] == f"{SLUG_PATTERN[:-1]}\\.[0-9a-f]{{64}}$"


# What it shows and survives


def test_no_line_and_no_answer_shows_a_secret(
    tracked: NotionWorld, edge: Gateway, capsys: pytest.CaptureFixture[str]
) -> None:
    line = opened(edge)
    marked, secret = mark(edge), line.path.rpartition(".")[2]
    line.handshake()
    line.event(change(marked["tracker_page_id"]))
    line.event(change("x"), "wrong")
    line.deliver(b"{", {})
    for path in (line.path, f"{line.path}/x", f"{line.path}?a=1", line.path.upper()):
        edge.send(ALICE, "GET", path)
        edge.send(None, "POST", path, b"{}")
    edge.send(None, "POST", line.path, b"{}", query=f"{'a' * 9}=1")
    broken = Gateway(replace(tracked.deps, store=FailingStore(RuntimeError(secret))))
    for gateway, body in ((broken, b"{}"), (broken, b"[]")):
        assert gateway.send(None, "POST", line.path, body).status in {400, 500}
    shown = "".join(reply.text + str(reply.headers) for reply in (*edge.replies[1:], *broken.replies))
    shown += capsys.readouterr().out + str(tracked.logged)
    assert secret not in shown
    assert secret.upper() not in shown
    assert SECRET_TOKEN not in shown
    assert "webhook_received" in shown


def test_line_tells_the_workspace_and_what_became_of_it(edge: Gateway, capsys: pytest.CaptureFixture[str]) -> None:
    opened(edge).handshake()
    _, *lines = [json.loads(text) for text in capsys.readouterr().out.splitlines()]
    assert [(each["action"], each["workspace"], each["route"]) for each in lines] == [
        ("webhook_received", "acme", "receive_delivery"),
        ("request_answered", "acme", "receive_delivery"),
    ]
    assert lines[0]["received"] == "installed"


def test_busy_store_asks_notion_to_come_again(tracked: NotionWorld, line: Line) -> None:
    line.gateway = Gateway(replace(tracked.deps, store=FailingStore(Busy())))
    reply = line.handshake()
    assert (reply.status, reply.code, reply.headers["Retry-After"]) == (503, "busy", "1")


def test_body_beyond_the_limit_is_refused_unread(line: Line) -> None:
    line.handshake()
    frame = len(json.dumps(change("x", padding="")))
    assert line.event(change("x", padding="p" * (MAX_BYTES - frame))).status == 200
    reply = line.event(change("x", padding="p" * (MAX_BYTES - frame + 1)))
    assert (reply.status, reply.fields) == (413, ["padding"])


def test_query_is_refused(edge: Gateway, line: Line) -> None:
    assert edge.send(None, "POST", line.path, b"{}", query="a=1").fields == ["a"]


bodies = st.binary(max_size=80) | st.text(alphabet='{}[]:,"\\ude01 verification_token', max_size=60)
signatures = st.none() | st.text(max_size=80) | st.just(f"sha256={'0' * 64}")


@given(bodies, signatures)
@settings(max_examples=scaled(150), suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
def test_no_bytes_and_no_signature_are_a_fault(edge: Gateway, body: bytes | str, signature: str | None) -> None:
    line = opened(edge)
    headers = {} if signature is None else {"x-notion-signature": signature}
    assert edge.send(None, "POST", line.path, body, headers=headers).status in {200, 400, 401, 422}
    assert line.event(None, body=body if isinstance(body, bytes) else body.encode()).status in {400, 401}
    if edge.get(ALICE, PATH).json["state"] != "open":
        edge.delete(ALICE, PATH)
