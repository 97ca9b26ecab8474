"""baton-mcp looks without waiting where a wait is refused, and keeps to the time that its client asked for."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import anyio
import httpx2
import pytest

from baton_client.core import Patience
from baton_mcp import waits as module
from baton_mcp.mcp_connection import McpConnection, Refused, Unanswered
from baton_mcp.waits import call_tool
from support.fakes.httpx_wires import HttpxWires

NOTHING, WORK = {"claimed": False}, {"claimed": True, "task_id": "task_1"}


class Door:
    """Gives ``answers`` in turn: a status that AWS gives, or the data of a tool's answer."""

    def __init__(self, *answers: int | dict[str, Any]) -> None:
        self.answers, self.seconds, self.ids = list(answers), list[Any](), list[Any]()

    async def answer(self, request: httpx2.Request) -> httpx2.Response:
        given = json.loads(request.content)["params"]["arguments"]
        self.seconds.append(given.get("wait_seconds", given.get("timeout_seconds")))
        self.ids.append(given.get("request_id"))
        answer = self.answers.pop(0)
        if isinstance(answer, int):
            return httpx2.Response(answer, json={"message": "Too Many Requests"})
        result = {"structuredContent": answer, "isError": False}
        return httpx2.Response(200, json={"jsonrpc": "2.0", "id": 1, "result": result})

    def call(self, name: str, arguments: dict[str, Any], **options: Callable[[], bool]) -> Any:
        async def play() -> Any:
            http = httpx2.AsyncClient(base_url="http://baton.test", transport=httpx2.MockTransport(self.answer))
            door = McpConnection(HttpxWires(http), "usual", patience=Patience(attempts=1, seconds=0))
            found = await call_tool(door, name, arguments, **options)
            return found["structuredContent"]

        return anyio.run(play)


@pytest.fixture(autouse=True)
def _no_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "PAUSES", (0.001,))


@pytest.mark.parametrize("status", [429, 503])
def test_a_refused_wait_looks_once_at_once(status: int) -> None:
    door = Door(status, WORK)
    assert door.call("claim_next", {"wait_seconds": 20}) == WORK
    assert door.seconds == [20, 0]


def test_a_look_after_a_refused_wait_has_its_request_id_and_the_next_wait_another_one() -> None:
    door = Door(503, NOTHING, 503, WORK)
    assert door.call("claim_next", {"wait_seconds": 20}) == WORK
    assert door.ids == [door.ids[0]] * 2 + [door.ids[2]] * 2
    assert len({*door.ids} - {None}) == 2


def test_a_wait_that_ends_sooner_goes_on_for_the_time_that_was_asked_for() -> None:
    door = Door(NOTHING, 503, NOTHING, WORK)
    assert door.call("claim_next", {"wait_seconds": 20}) == WORK
    assert door.seconds == [20, 19, 0, 19]


def test_when_the_time_is_over_there_is_nothing() -> None:
    door = Door(NOTHING, NOTHING)
    assert door.call("claim_next", {"wait_seconds": 1}) == NOTHING
    assert door.seconds == [1]


def test_a_task_is_awaited_the_same_way() -> None:
    door = Door(429, {"timed_out": True}, {"timed_out": False, "state": "done"})
    assert door.call("await_task", {"task_id": "task_1"})["state"] == "done"
    assert door.seconds == [25, 0, 24]


def test_so_is_the_answer_to_a_question() -> None:
    door = Door({"outcome": "open"}, {"outcome": "approved"})
    assert door.call("ask_person", {"wait_seconds": 20}) == {"outcome": "approved"}


def test_a_call_that_nobody_waits_for_any_more_ends() -> None:
    door = Door(NOTHING)
    assert door.call("claim_next", {"wait_seconds": 20}, is_wanted=lambda: False) == NOTHING


@pytest.mark.parametrize(("status", "failure"), [(503, Refused), (502, Unanswered)])
def test_a_look_that_is_refused_too_is_told(status: int, failure: type[Exception]) -> None:
    door = Door(status, status)
    with pytest.raises(failure):
        door.call("claim_next", {"wait_seconds": 20})
    assert len(door.seconds) == (2 if failure is Refused else 1)


def test_what_does_not_wait_is_asked_once() -> None:
    door = Door(NOTHING, 503)
    assert door.call("claim_next", {}) == NOTHING
    with pytest.raises(Refused):
        door.call("claim_next", {"wait_seconds": 0})
    assert door.seconds == [None, 0]
