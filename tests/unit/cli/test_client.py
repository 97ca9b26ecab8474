"""What is sent again, with which key, and how a refusal comes out."""

from __future__ import annotations

import socket
from collections.abc import Callable, Iterator
from threading import Thread
from typing import Any

import pytest

from baton_cli.failures import ExitCode, exit_of
from baton_client.caller import Caller
from baton_client.core import Answer as Answered
from baton_client.core import Patience, Request, with_query
from baton_client.errors import NoAnswer, Refused
from baton_client.profiles import Profile
from support.scripted_api import Answer, ScriptedApi
from support.values.genuine_answers import completed

ONE_ATTEMPT = Patience(attempts=1, seconds=0)
ClientOf = Callable[[Patience], Caller]
BUSY = Answer(503, {"code": "busy", "title": "Busy"}, {"Retry-After": "7"})


@pytest.fixture
def naps() -> list[float]:
    return []


@pytest.fixture
def client_of(scripted: ScriptedApi, naps: list[float]) -> Iterator[ClientOf]:
    made: list[Caller] = []

    def client(patience: Patience) -> Caller:
        made.append(Caller(Profile("", scripted.url, "baton_tok_secret"), patience, sleep=naps.append))
        return made[-1]

    yield client
    for each in made:
        each.close()


@pytest.fixture
def client(client_of: ClientOf) -> Caller:
    return client_of(Patience())


@pytest.mark.parametrize(
    "answer",
    [
        Answer(0),
        Answer(500),
        Answer(429),
        BUSY,
        Answer(403, "<html>"),
        Answer(200, {"ok": True}, {"Content-Type": "text/html"}),
    ],
    ids=["lost", "500", "429", "busy", "another program's refusal", "another program's page"],
)
def test_a_keyed_request_is_sent_again_under_the_same_key(
    client: Caller, scripted: ScriptedApi, answer: Answer
) -> None:
    scripted.will(answer, Answer(201, {"made": True}))
    assert client.call(Request[Any]("POST", "/handoffs", {"a": 1}, "key-1"))["made"] is True
    assert scripted.keys == ["key-1", "key-1"]
    assert [each.body for each in scripted.asked] == [{"a": 1}, {"a": 1}]


@pytest.mark.parametrize("method", ["GET", "PUT", "DELETE"])
def test_what_is_safe_is_sent_again(client: Caller, scripted: ScriptedApi, method: str) -> None:
    scripted.will(BUSY, Answer(200, {}))
    client.call(Request[Any](method, "/agents"))
    assert len(scripted.asked) == 2


def test_what_has_no_key_is_sent_once(client: Caller, scripted: ScriptedApi) -> None:
    scripted.will(Answer(0))
    with pytest.raises(NoAnswer):
        client.call(Request[Any]("POST", "/tracker/webhook", {}))
    scripted.will(BUSY)
    with pytest.raises(Refused):
        client.call(Request[Any]("POST", "/tracker/webhook", {}))
    assert len(scripted.asked) == 2


def test_what_may_be_repeated_without_a_key_is(client: Caller, scripted: ScriptedApi) -> None:
    scripted.will(Answer(0))
    client.call(Request[Any]("POST", "/tasks/t/heartbeat", {}), repeatable=True)
    assert len(scripted.asked) == 2


def test_retry_after_is_waited_for_and_said(scripted: ScriptedApi, naps: list[float]) -> None:
    said: list[str] = []
    client = Caller(Profile("", scripted.url, "t"), sleep=naps.append, say=said.append)
    scripted.will(BUSY)
    client.get("/tasks")
    client.close()
    assert 7 <= naps[0] <= 7.5
    assert said in (["the API answers 503: again in 7 s …"], ["the API answers 503: again in 8 s …"])


def test_pauses_grow_and_are_bounded() -> None:
    patience = Patience(base_seconds=1, longest_seconds=4)
    assert all(patience.pause(number, 0) <= min(2**number, 4) for number in range(8))
    assert patience.pause(0, 3600) <= 5
    assert Answered(headers={"retry-after": "Wed, 21 Oct 2026 07:28:00 GMT"}).retry_after == 0


def test_an_api_that_stays_busy_is_a_remote_failure(client_of: ClientOf, scripted: ScriptedApi) -> None:
    client = client_of(Patience(seconds=0))
    scripted.will(*[BUSY] * 4)
    with pytest.raises(Refused) as refused:
        client.get("/tasks")
    assert (len(scripted.asked), refused.value.code, exit_of(refused.value)) == (4, "busy", ExitCode.REMOTE)


@pytest.mark.parametrize(
    ("status", "ends"),
    [
        *[(each, ExitCode.FAILED) for each in (400, 409, 413, 422)],
        *[(each, ExitCode.NOT_ALLOWED) for each in (401, 403)],
        *[(each, ExitCode.REMOTE) for each in (429, 500, 503)],
        (404, ExitCode.NOT_FOUND),
    ],
)
def test_a_refusal_has_the_problems_fields(
    client_of: ClientOf, scripted: ScriptedApi, status: int, ends: ExitCode
) -> None:
    errors = [{"field": "a.b", "message": "is missing"}]
    problem = {"code": "c", "title": "T", "detail": "D", "errors": errors, "request_id": "r-1"}
    scripted.will(Answer(status, problem))
    with pytest.raises(Refused) as refused:
        client_of(ONE_ATTEMPT).get("/x")
    said = refused.value
    assert (said.status, said.code, said.errors, said.request_id, exit_of(said)) == (status, "c", errors, "r-1", ends)
    assert (said.what, said.why) == (f"T ({status} c)", "D\na.b: is missing")


def test_an_answer_of_awss_own_is_none_and_its_status_is_told(client_of: ClientOf, scripted: ScriptedApi) -> None:
    scripted.will(Answer(413, {"message": "Request Too Long"}))
    with pytest.raises(NoAnswer, match=r"http://127\.0\.0\.1:\d+ doesn't answer") as failure:
        client_of(ONE_ATTEMPT).get("/x")
    assert failure.value.why == "413 without a code of Baton's (type application/json)"
    assert failure.value.next_step == "check the address and the proxies on the way: baton doctor"
    assert (failure.value.foreign, exit_of(failure.value)) == (413, ExitCode.REMOTE)


def test_one_connection_serves_many_requests_and_is_made_anew_when_the_server_closed_it(
    client: Caller, scripted: ScriptedApi
) -> None:
    client.get("/a")
    scripted.will(Answer(0), Answer(200, {"b": 1}))
    assert client.request("GET", "/b").json == {"b": 1}


def test_pages_follow_cursors(client: Caller, scripted: ScriptedApi) -> None:
    scripted.will(Answer(body={"items": [1], "next_cursor": "c/1"}), Answer(body={"items": [2], "next_cursor": None}))
    assert [page["items"] for page in client.pages("/tasks", {"state": ["done", "failed"]})] == [[1], [2]]
    assert [each.path for each in scripted.asked] == [
        "/tasks?state=done%2Cfailed",
        "/tasks?state=done%2Cfailed&cursor=c%2F1",
    ]


def test_a_look_that_finds_the_same_is_answered_in_short(client: Caller, scripted: ScriptedApi) -> None:
    first = Answer(200, {"a": 1}, {"ETag": 'W/"1"'})
    scripted.will(first, Answer(304), Answer(200, {"a": 2}, {"ETag": 'W/"2"'}), Answer(304), Answer(200, {"a": 3}))
    assert [client.again("/tasks/t")["a"] for _ in range(5)] == [1, 1, 2, 2, 3]
    assert [each.headers.get("if-none-match") for each in scripted.asked] == [None, *['W/"1"'] * 2, *['W/"2"'] * 2]
    assert [each.headers.get("cache-control") for each in scripted.asked] == [None, *["max-age=30"] * 4]


def test_the_tag_of_an_answer_that_says_nothing_new_is_shown_next(client: Caller, scripted: ScriptedApi) -> None:
    first, same = Answer(200, {"a": 1}, {"ETag": 'W/"1"'}), Answer(304, headers={"ETag": 'W/"1.2"'})
    scripted.will(first, same, Answer(304))
    assert [client.again("/workflows/w/chain")["a"] for _ in range(3)] == [1, 1, 1]
    assert [each.headers.get("if-none-match") for each in scripted.asked] == [None, 'W/"1"', 'W/"1.2"']


def test_values_that_are_not_given_are_not_in_the_query() -> None:
    assert with_query("/x", {"a": None, "b": (), "c": True, "d": "é"}) == "/x?c=true&d=%C3%A9"


def test_nobody_answers(naps: list[float]) -> None:
    said: list[str] = []
    client = Caller(Profile("", "http://127.0.0.1:9", "t"), sleep=naps.append, say=said.append)
    with pytest.raises(NoAnswer, match=r"http://127\.0\.0\.1:9 doesn't answer"):
        client.get("/x")
    assert 39 <= sum(naps) <= 45
    assert said[0].startswith("http://127.0.0.1:9 doesn't answer (")
    assert 4 <= len(said) <= 5  # at the first pause, and then each 10 s


@pytest.mark.parametrize(
    ("url", "no_proxy", "asked"),
    [
        ("https://baton.example", "", "CONNECT baton.example:443 "),
        ("https://baton.example:8443", "", "CONNECT baton.example:8443 "),
        ("https://127.0.0.1:9", "127.0.0.1", None),
    ],
)
def test_a_proxy_is_asked_for_a_tunnel_and_sees_no_token(
    monkeypatch: pytest.MonkeyPatch, url: str, no_proxy: str, asked: str | None
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as proxy:
        monkeypatch.setenv("HTTPS_PROXY", f"http://me:secret@127.0.0.1:{proxy.getsockname()[1]}")
        monkeypatch.setenv("NO_PROXY", no_proxy)
        heard: list[str] = []

        def refuse() -> None:
            connection, _ = proxy.accept()
            with connection:
                heard.append(connection.recv(65_536).decode())
                connection.sendall(b"HTTP/1.1 403 Forbidden\r\n\r\n")

        listening = Thread(target=refuse, daemon=True)
        listening.start()
        client = Caller(Profile("", url, "baton_tok_secret"), ONE_ATTEMPT)
        with pytest.raises(NoAnswer):
            client.get("/tasks")
        client.close()
        if asked is None:
            assert heard == []
            socket.create_connection(proxy.getsockname()).close()  # so that it ends
        listening.join(10)
    if asked is not None:
        assert heard[0].startswith(asked)
        assert "Proxy-Authorization: Basic bWU6c2VjcmV0" in heard[0]
        assert "baton_tok_secret" not in heard[0]


WAIT, LOOK = Request[Any]("POST", "/agents/a/claims/wait", {}, "k"), Request[Any]("POST", "/agents/a/claims", {}, "k")
CLAIM = completed("POST", "/agents/a/claims", 200, {"claim_id": "clm_1"})
TOO_MANY = Answer(429, {"code": "too_many_polls"}, {"Retry-After": "6"})


@pytest.mark.parametrize("refusal", [Answer(429, {"message": "Too Many Requests"}), Answer(503), TOO_MANY])
def test_a_refused_wait_looks_once_at_once_and_the_next_one_begins_later(
    client: Caller, scripted: ScriptedApi, naps: list[float], refusal: Answer
) -> None:
    scripted.will(refusal, Answer(204), refusal, Answer(200, {"claim_id": "clm_1"}))
    assert client.wait(WAIT, LOOK, 20) is None
    assert naps == []
    assert client.wait(WAIT, LOOK, 20) == CLAIM
    assert [each.path for each in scripted.asked] == [WAIT.path, LOOK.path] * 2
    assert len(naps) == 1
    assert naps[0] >= (6 if refusal is TOO_MANY else 0.5)


def test_refused_waits_are_made_less_and_less_often_and_never_longer_apart_than_ten_seconds(
    client: Caller, scripted: ScriptedApi, naps: list[float]
) -> None:
    scripted.will(*[Answer(503), Answer(204)] * 8)
    for _ in range(8):
        client.wait(WAIT, LOOK, 20)
    assert naps == sorted(naps) or max(naps[4:]) <= 10
    assert naps[0] < 2 < 8 <= naps[-1] <= 10


def test_a_wait_that_was_cut_short_gives_way_for_a_moment(
    client: Caller, scripted: ScriptedApi, naps: list[float]
) -> None:
    scripted.will(Answer(204), Answer(200, {"claim_id": "clm_1"}))
    assert [client.wait(WAIT, LOOK, 20), client.wait(WAIT, LOOK, 20)] == [None, CLAIM]
    assert 0.5 <= naps[0] <= 0.7


def test_a_pause_is_no_longer_than_what_is_left(client: Caller, scripted: ScriptedApi, naps: list[float]) -> None:
    scripted.will(TOO_MANY, Answer(204))
    client.wait(WAIT, LOOK, 20)
    client.wait(WAIT, LOOK, 0.2)
    assert naps == [0.2]


def test_a_wait_that_was_not_clear_is_sent_again_under_its_key(client: Caller, scripted: ScriptedApi) -> None:
    scripted.will(BUSY, Answer(0), Answer(200, {"claim_id": "clm_1"}))
    assert client.wait(WAIT, LOOK, 20) == CLAIM
    assert [each.path for each in scripted.asked] == [WAIT.path] * 3
