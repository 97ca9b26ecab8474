"""Both drivers against a server that means no good: none hangs, none is misled, and the token goes nowhere else."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable
from io import BufferedIOBase
from threading import Event
from typing import Any, Protocol

import pytest

from baton_client import core
from baton_client.async_wire import AsyncWires
from baton_client.core import Answer, Request
from baton_client.errors import Misused, NoAnswer, Unreadable
from baton_client.verbs import waited
from baton_client.wire import MOST_HINTS, Wires
from support.http_server import Answer as Answered
from support.http_server import Received, Sent, served
from support.values.genuine_answers import JSON_TYPE, sent_json

GET: Request[Any] = Request("GET", "/tasks/1")
TASK = sent_json("GET", "/tasks/1", 200, {"id": "task_1"})
PAGE = [("Content-Type", "text/html")]


class Exchange(Protocol):
    def __call__(self, url: str, seconds: float, times: int = 2) -> list[Answer]: ...


def by_threads(url: str, seconds: float, times: int = 2) -> list[Answer]:
    wires = Wires(url, "secret", "test")
    try:
        return [wires.send(GET, seconds) for _ in range(times)]
    finally:
        wires.close()


def by_tasks(url: str, seconds: float, times: int = 2) -> list[Answer]:
    async def sent() -> list[Answer]:
        wires = AsyncWires(url, "secret", "test")
        try:
            return [await wires.send(GET, seconds) for _ in range(times)]
        finally:
            await wires.close()

    return asyncio.run(sent())


both = pytest.mark.parametrize("exchange", [by_threads, by_tasks])


def dripping(wire: BufferedIOBase) -> None:
    with contextlib.suppress(OSError):
        for each in b"HTTP/1.1 200 OK\r\nX: " + b"x" * 60_000:
            wire.write(bytes([each]))
            wire.flush()
            Event().wait(0.005)


def huge(wire: BufferedIOBase) -> None:
    wire.write(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n")
    with contextlib.suppress(OSError):
        while True:
            wire.write(b" " * 2**20)


def cut(wire: BufferedIOBase) -> None:
    wire.write(b'HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{"id": 1}')


@both
def test_a_slow_drip_ends_with_the_deadline(exchange: Exchange) -> None:
    with served(lambda _: dripping) as url:
        answers = exchange(url, 0.1)
    assert [(each.status, each.why) for each in answers] == [(0, "it didn't answer in time")] * 2


@both
def test_a_huge_answer_is_cut_off_and_not_taken_for_batons(exchange: Exchange, monkeypatch: pytest.MonkeyPatch) -> None:
    for module in ("core", "wire", "async_wire"):
        monkeypatch.setattr(f"baton_client.{module}.MOST_BYTES", 2**20)
    with served(lambda _: huge) as url:
        answers = exchange(url, 10)
    assert [(each.status, each.foreign) for each in answers] == [(0, 200)] * 2
    with pytest.raises(NoAnswer, match="bytes"):
        core.body_of(answers[0])


@both
def test_an_answer_that_was_cut_short_is_none(exchange: Exchange) -> None:
    with served(lambda _: cut) as url:
        assert [each.status for each in exchange(url, 10)] == [0, 0]


@both
def test_a_redirect_is_not_followed_and_the_token_goes_to_no_other_host(exchange: Exchange) -> None:
    asked = list[Received]()

    def elsewhere(request: Received) -> Answered:
        asked.append(request)
        return TASK

    with served(elsewhere) as other, served(lambda _: Sent(307, [("Location", other)], b"")) as url:
        answers = exchange(url, 10)
    assert asked == []
    with pytest.raises(NoAnswer, match="307") as caught:
        core.body_of(answers[0])
    assert caught.value.foreign == 307


@both
def test_no_cookie_is_sent_back(exchange: Exchange) -> None:
    asked = list[Received]()

    def answered(request: Received) -> Answered:
        asked.append(request)
        return Sent(200, [JSON_TYPE, ("Set-Cookie", "baton=mine; Path=/"), ("Set-Cookie", "a=b")], TASK.content)

    with served(answered) as url:
        assert [each.status for each in exchange(url, 10)] == [200, 200]
    assert [each.headers.get("cookie") for each in asked] == [None, None]
    assert {each.headers["authorization"] for each in asked} == {"Bearer secret"}
    assert {each.headers["host"] for each in asked} == {url.removeprefix("http://")}


@both
def test_what_is_no_json_object_is_a_clear_error(exchange: Exchange) -> None:
    contents = [b"<html>", b"[1]", b"[" * 100_000, b"\xff\xfe", b'"text"', b"1" * 10_000]
    left = iter(contents)
    with served(lambda _: Sent(200, [JSON_TYPE, ("Content-Encoding", "gzip")], next(left))) as url:
        for answer in exchange(url, 10, len(contents)):
            with pytest.raises(NoAnswer, match="another shape"):
                core.body_of(answer)


@both
@pytest.mark.parametrize("status", [200, 301, 401, 403, 404, 407, 429, 502, 511])
def test_a_page_of_the_network_is_no_answer(exchange: Exchange, status: int) -> None:
    with served(lambda _: Sent(status, [*PAGE, ("Retry-After", "7")], b"<html>Sign in</html>")) as url:
        answer, *_ = exchange(url, 10)
    assert (answer.status, answer.foreign, answer.retry_after, answer.url) == (0, status, 7.0, url)
    assert "text/html" in answer.why or status == 301


def early(*statuses: int) -> Callable[[BufferedIOBase], None]:
    """Returns what writes answers before the answer."""

    def write(wire: BufferedIOBase) -> None:
        hint = b"HTTP/1.1 %d Early\r\nLink: </style.css>; rel=preload\r\n\r\n"
        wire.writelines(hint % status for status in statuses)
        head = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n"
        wire.write(head % len(TASK.content) + TASK.content)

    return write


@both
@pytest.mark.parametrize("statuses", [(103,), (100, 103, 103), (102, 100)])
def test_early_hints_are_passed_over(exchange: Exchange, statuses: tuple[int, ...]) -> None:
    with served(lambda _: early(*statuses)) as url:
        answers = exchange(url, 10)
    assert [(each.status, (each.object or {})["id"]) for each in answers] == [(200, "task_1")] * 2


@pytest.mark.parametrize(("hints", "status"), [(MOST_HINTS - 1, 200), (MOST_HINTS, 0)])
def test_early_hints_without_an_end_are_no_answer(hints: int, status: int) -> None:
    with served(lambda _: early(*[103] * hints)) as url:
        assert by_threads(url, 10, 1)[0].status == status


@both
@pytest.mark.parametrize(
    ("first", "is_kept"),
    [
        (TASK, True),
        (sent_json("GET", "/tasks/1", 404, {"code": "not_found"}), True),
        (Sent(502, PAGE, b"<html>"), False),
        (Sent(200, PAGE, b"<html>"), False),
        (Sent(403, [JSON_TYPE], b'{"message": "Forbidden"}'), False),
    ],
)
def test_a_connection_with_an_answer_of_another_program_is_not_used_again(
    exchange: Exchange, first: Sent, is_kept: bool
) -> None:
    ports, left = list[int](), iter([first, TASK])

    def answered(request: Received) -> Answered:
        ports.append(request.port)
        return next(left)

    with served(answered) as url:
        assert exchange(url, 10)[1].status == 200
    assert (ports[0] == ports[1]) is is_kept


@both
def test_nobody_there_is_no_answer(exchange: Exchange) -> None:
    with served(lambda _: None) as url:
        pass
    with pytest.raises(NoAnswer):
        core.body_of(exchange(url, 10)[0])


def test_a_connection_that_the_server_closed_meanwhile_costs_no_request() -> None:
    asked = list[str]()

    def answered(request: Received) -> Answered:
        asked.append(request.method)
        return early() if len(asked) == 1 else TASK  # the first one is closed without saying so

    with served(answered) as url:
        wires = Wires(url, "", "test")
        assert [wires.send(each, 10).status for each in (GET, GET, Request("POST", "/x", {}))] == [200, 200, 200]
        wires.close()
    assert asked == ["GET", "GET", "POST"]


@pytest.mark.parametrize("wires", [Wires, AsyncWires])
def test_a_token_that_no_header_may_hold_is_refused_and_not_shown(wires: type[Wires | AsyncWires]) -> None:
    for token in ("sec\nret", "sec ret", "sécret", "sec\x00ret"):
        with pytest.raises(Misused) as caught:
            wires("http://127.0.0.1:9", token, "test")
        assert "ret" not in str(caught.value)


@pytest.mark.parametrize("field", ["id", "state", "title", "timed_out"])
def test_a_field_of_a_wrong_type_is_named(field: str) -> None:
    flow = waited(core.Patience(), "t", "ended", 0)
    next(flow)
    with pytest.raises(Unreadable, match=field):
        flow.send(Answer(200, json={"id": "t", "state": "done", "title": "T", "timed_out": False} | {field: 7}))
