"""Who may ask the servers of this machine: programs that run here and a server's own pages, and no other page."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from typing import Any

import pytest

from tools.stack.front_door import Message, Windowed, engine_refusal, guarded, refusal, with_values, without_slash

KEY = "0f" * 20
BELL = "1b2c3d4e.execute-api.localhost:4566"
API = "0a1b2c3d.execute-api.localhost:4566"
URL = "p0q1r2s3t4u5v6w7x8y9z0a1b2c3d4e5.lambda-url.us-east-1.localhost:4566"
AWS = "127.0.0.1:4566"
CLIENT = ("User-Agent", f"Boto3/1.43 md/Botocore#1.43 app/{KEY}")
SIGNED = ("Authorization", "AWS4-HMAC-SHA256 Credential=test/20261122/us-east-1/dynamodb/aws4_request, Signature=0")


def asked(host: str, **named: str) -> list[tuple[str, str]]:
    return [("Host", host), *((name.replace("_", "-"), value) for name, value in named.items())]


@pytest.mark.parametrize("host", [API, URL, AWS, "localhost:4566", "localhost", "0a1b2c3d.execute-api.localhost"])
@pytest.mark.parametrize("method", ["GET", "POST", "PUT", "DELETE", "PATCH", "HEAD"])
def test_programs_of_this_machine_may_ask(host: str, method: str) -> None:
    assert refusal(method, asked(host)) is None


@pytest.mark.parametrize("site", ["same-origin", "none"])
def test_a_servers_own_page_may_ask(site: str) -> None:
    assert refusal("POST", asked(API, Origin=f"http://{API}", Sec_Fetch_Site=site, Sec_Fetch_Mode="cors")) is None


@pytest.mark.parametrize(
    "host",
    [
        "",
        "evil.example",
        "evil.example:4566",
        "127.0.0.1.evil.example",
        "localhost.evil.example",
        "localhost.",
        "localhost:4566:80",
        "evil@localhost",
        "127.0.0.2",
        "0a1b2c3d.execute-api.evil.example",
        "zzzzzzzz.execute-api.localhost",  # no API of the engine's: it would be asked for its AWS services
        "0A1B2C3D.execute-api.localhost",
        "evil.0a1b2c3d.execute-api.localhost",
        "p0q1r2s3t4u5v6w7x8y9z0a1b2c3d4e5.lambda-url.us-east-1.evil.example",
        "p0q1r2s3t4u5v6w7x8y9z0a1b2c3d4e5.lambda-url.us-east-1.on.aws",
        "p0q1.lambda-url.us-east-1.localhost",  # none of the engine's either
        "0a1b2c3d-0a1b-0a1b-0a1b-0a1b2c3d4e5f.lambda-url.us-east-1.localhost",
        "bucket.s3.localhost",
    ],
)
def test_a_name_that_another_page_has_pointed_here_is_refused(host: str) -> None:
    assert refusal("GET", asked(host)) == "This server is asked by a name of this machine only."


def test_two_names_or_none_are_refused() -> None:
    assert refusal("GET", [*asked(API), *asked(AWS)])
    assert refusal("GET", [])


@pytest.mark.parametrize(
    "origin",
    ["http://evil.example", "null", "", f"https://{API}", "http://localhost:4566", f"http://{API}.evil.example"],
)
@pytest.mark.parametrize("method", ["GET", "POST"])
def test_a_page_of_another_origin_is_refused(method: str, origin: str) -> None:
    assert refusal(method, asked(API, Origin=origin)) == "No page of another origin may ask here."


def test_one_foreign_origin_beside_ours_is_refused() -> None:
    assert refusal("POST", [*asked(API, Origin=f"http://{API}"), ("origin", "http://evil.example")])


@pytest.mark.parametrize("site", ["cross-site", "same-site", "Same-Origin", "anything"])
@pytest.mark.parametrize("method", ["GET", "POST"])
def test_a_page_of_another_site_is_refused(method: str, site: str) -> None:
    assert refusal(method, asked(API, Sec_Fetch_Site=site, Sec_Fetch_Mode="no-cors")) is not None


def test_no_preflight_is_answered() -> None:
    asks = {"Access_Control_Request_Method": "POST", "Origin": "http://evil.example"}
    assert refusal("OPTIONS", asked(API, **asks)) is not None
    assert refusal("OPTIONS", asked(API)) is not None


@pytest.mark.parametrize(
    ("method", "mode", "dest", "is_taken"),
    [
        ("GET", "navigate", "document", True),
        ("POST", "navigate", "document", False),
        ("GET", "navigate", "iframe", False),
        ("GET", "no-cors", "image", False),
        ("GET", "cors", "empty", False),
    ],
)
def test_of_another_site_only_a_link_that_a_person_follows_is_taken(
    method: str, mode: str, dest: str, is_taken: bool
) -> None:
    headers = asked(API, Sec_Fetch_Site="cross-site", Sec_Fetch_Mode=mode, Sec_Fetch_Dest=dest)
    assert (refusal(method, headers) is None) == is_taken


def test_the_deployed_api_asks_for_no_key() -> None:
    for path in ("/", "/tasks", "/handoff-markers", "/callbacks/cb_1", "/healthz", "/console/app.js", "/.well-known/x"):
        assert engine_refusal("POST", path, asked(API), KEY) is None


@pytest.mark.parametrize(
    "path",
    [
        "/_ministack/reset",
        "/_localstack/health",
        "/_aws/lambda-url/x",
        "/health",
        "/iceberg/v1/config",
        "/v2/_catalog",
        "/oauth2/token",
        "/Execute",
        "/v20180820/mrap/x",
        "/restapis/x/y/_user_request_/z",
        "/WriteGetObjectResponse",
    ],
)
def test_what_the_engine_takes_for_itself_is_closed_under_the_apis_name(path: str) -> None:
    assert engine_refusal("POST", path, [*asked(API), CLIENT], KEY) is not None


@pytest.mark.parametrize("agent", [None, "", "app/", "app/0", KEY, f"app/{KEY}0", f"Xapp/{KEY}", f"app/{KEY.upper()}"])
def test_aws_services_ask_for_the_key(agent: str | None) -> None:
    shown = [] if agent is None else [("User-Agent", agent)]
    assert engine_refusal("POST", "/", [*asked(AWS), SIGNED, *shown], KEY) is not None
    assert engine_refusal("POST", "/", [*asked(AWS), SIGNED, CLIENT], KEY) is None


def test_no_key_opens_nothing() -> None:
    assert engine_refusal("POST", "/", [*asked(AWS), ("User-Agent", "app/")], "") is not None


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("POST", "/_ministack/reset"),
        ("POST", "/_ministack/config"),
        ("GET", "/_ministack/health"),
        ("POST", "/_ministack/ready"),
        ("GET", "/_localstack/health"),
        ("GET", "/health"),
    ],
)
def test_the_engine_is_administered_by_nobody(method: str, path: str) -> None:
    assert engine_refusal(method, path, [*asked(AWS), CLIENT], KEY) == "The engine is administered by make only."


def test_whoever_has_the_key_may_ask_whether_it_is_ready() -> None:
    assert engine_refusal("GET", "/_ministack/ready", [*asked(AWS), CLIENT], KEY) is None
    assert engine_refusal("GET", "/_ministack/ready", asked(AWS), KEY) is not None


def sent_by(scope: Message, body: Iterable[Message] = ()) -> tuple[bool, list[dict[str, Any]]]:
    """Whether the engine was reached, and what was sent."""
    reached, sent = [], []
    received = iter(body)

    async def engine(scope: Message, receive: Any, send: Any) -> None:
        reached.append(scope)

    async def receive() -> Message:
        return next(received, {"type": f"{scope['type']}.disconnect"})

    async def send(message: Any) -> None:
        sent.append(message)

    async def ask() -> None:
        await guarded(engine, KEY)(scope, receive, send)

    asyncio.run(ask())
    return bool(reached), sent


def test_what_is_refused_never_reaches_the_engine() -> None:
    scope = {"type": "http", "method": "POST", "path": "/", "headers": [(b"host", AWS.encode())]}
    reached, (start, body) = sent_by(scope)
    assert not reached
    assert start["status"] == 403
    assert b"engine_key" in body["body"]
    assert not [name for name, _ in start["headers"] if name.startswith(b"access-control")]


@pytest.mark.parametrize(("pieces", "left"), [(2, 0), (11, 0), (1_000, 989)])
def test_a_refusal_waits_for_the_request_unless_no_one_would_take_it(pieces: int, left: int) -> None:
    scope = {"type": "http", "method": "POST", "path": "/", "headers": [(b"host", AWS.encode())]}
    rest = ({"type": "http.request", "body": bytes(10**6), "more_body": n < pieces} for n in range(1, pieces + 1))
    _, (start, _) = sent_by(scope, rest)
    assert start["status"] == 403
    assert len(list(rest)) == left


def test_what_may_be_asked_reaches_the_engine() -> None:
    scope = {"type": "http", "method": "POST", "path": "/tasks", "headers": [(b"host", API.encode())]}
    assert sent_by(scope) == (True, [])
    assert sent_by({"type": "lifespan"}) == (True, [])


PAGE = f"http://{API}"


@pytest.mark.parametrize(
    ("path", "headers", "is_let"),
    [
        ("/live", {"host": BELL}, True),
        ("/live", {"host": BELL, "origin": PAGE}, True),
        ("/live", {"host": BELL, "origin": "https://evil.example"}, False),
        ("/live", {"host": BELL, "origin": "null"}, False),
        ("/live", {"host": BELL, "origin": "http://localhost:4566"}, False),
        ("/_ministack/live", {"host": BELL}, False),
        ("/live", {"host": "localhost:4566"}, False),
        ("/live", {"host": "evil.example"}, False),
        ("/mqtt", {"host": "127.0.0.1:4566"}, False),
    ],
)
def test_websockets_are_of_deployed_apis_for_programs_and_their_own_pages(
    path: str, headers: dict[str, str], is_let: bool
) -> None:
    raw = [(name.encode(), value.encode()) for name, value in headers.items()]
    reached, sent = sent_by({"type": "websocket", "path": path, "headers": raw, "subprotocols": []})
    assert bool(reached) == is_let
    assert sent == ([] if is_let else [{"type": "websocket.close", "code": 1008}])


def test_what_posts_to_a_connection_shows_the_stacks_key() -> None:
    headers = [("host", BELL)]
    assert engine_refusal("POST", "/live/@connections/abc", headers, "key") is not None
    shown = [*headers, ("user-agent", "Boto3 app/key")]
    assert engine_refusal("POST", "/live/@connections/abc", shown, "key") is None


STREAM = "arn:aws:dynamodb:us-east-1:000000000000:table/baton/stream/2026-11-22"


def test_a_stream_is_read_once_in_the_batching_window_of_its_mapping_and_at_each_poll_without_one() -> None:
    queue = "arn:aws:sqs:us-east-1:000000000000:queue"
    mappings: list[dict[str, Any]] = [
        {"UUID": "a", "EventSourceArn": STREAM, "MaximumBatchingWindowInSeconds": 1},
        {"UUID": "b", "EventSourceArn": STREAM},
        {"UUID": "c", "EventSourceArn": queue, "MaximumBatchingWindowInSeconds": 1},
    ]
    now, read = [0.0], dict[str, list[float]]()
    windowed = Windowed(lambda: [("account", "region", each) for each in mappings], lambda: now[0])
    times = [0.0, 0.25, 0.5, 1.0, 1.25, 2.25]
    for now[0] in times:
        for _, _, mapping in windowed():
            read.setdefault(mapping["UUID"], []).append(now[0])
    assert read == {"a": [0.0, 1.0, 2.25], "b": times, "c": times}


def test_what_a_parameter_is_given_is_seen_where_its_default_would_be() -> None:
    rules: dict[str, dict[str, Any]] = {"Release": {"Type": "String", "Default": ""}, "Count": {"Type": "Number"}}
    template = {"Resources": {"One": {}}, "Parameters": rules}
    seen = with_values(template, {"Release": "0f", "Count": "2"})
    assert seen == {**template, "Parameters": {**rules, "Release": {"Type": "String", "Default": "0f"}}}
    assert rules["Release"]["Default"] == ""
    assert with_values({}, {}) == {"Parameters": {}}


def test_a_slash_at_the_end_makes_no_other_path_as_at_the_gateway() -> None:
    known = {"/console": {}, "/console/app.js": {"proxy": "app.js"}}
    match = without_slash(lambda _route, path: known.get(path))
    assert [match("", path) for path in ("/console", "/console/", "/console/app.js", "/console//", "/", "")] == [
        *({}, {}, {"proxy": "app.js"}, None, None, None),
    ]
