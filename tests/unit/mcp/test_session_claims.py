"""baton-mcp keeps its session's claims alive, for a while, and gives back what a cancelled call has claimed."""

from __future__ import annotations

import json
from typing import Any

import anyio
import httpx2
import pytest

from baton_mcp import session_claims as module
from baton_mcp.mcp_connection import McpConnection
from baton_mcp.session_claims import SessionClaims
from support.fakes.httpx_wires import HttpxWires
from support.values.genuine_answers import sent_json

CLAIMED: dict[str, Any] = {
    "structuredContent": {"task_id": "task_1", "claim_id": "clm_1", "lease_seconds": 300},
    "isError": False,
}
ENDED = {"structuredContent": {"task_id": "task_1", "state": "done"}, "isError": False}


def told(result: dict[str, Any]) -> httpx2.Response:
    return httpx2.Response(200, json={"jsonrpc": "2.0", "id": 1, "result": result})


class Api:
    """Answers tool calls after ``wait``, and notes what else it is sent. ``is_foreign``: another program answers that
    with ``status``."""

    def __init__(self, status: int = 200, next_claim: Any = None) -> None:
        self.said: list[tuple[str, Any]] = []
        self.status, self.wait, self.next_claim, self.is_foreign = status, anyio.Event(), next_claim, False

    @property
    def body(self) -> dict[str, Any]:
        return {"code": "refused"} if self.status >= 400 else {}

    async def answer(self, request: httpx2.Request) -> httpx2.Response:
        body = json.loads(request.content)
        if request.url.path != "/mcp":
            self.said.append((request.url.path, body))
            if self.is_foreign:
                headers = {"Retry-After": "86400"} if self.status == 503 else {}
                return httpx2.Response(self.status, text="<html>Blocked</html>", headers=headers)
            answer = sent_json(request.method, request.url.path, self.status, self.body)
            return httpx2.Response(answer.status, headers=dict(answer.headers), content=answer.content)
        if body["params"]["name"] == "claim_next":
            await self.wait.wait()
            return told(CLAIMED)
        if self.next_claim:
            await self.wait.wait()
            ended = {**ENDED, "structuredContent": {"state": "done", "next_claim": self.next_claim}}
            return told(ended)
        return told(ENDED)

    @property
    def door(self) -> McpConnection:
        http = httpx2.AsyncClient(base_url="http://baton.test", transport=httpx2.MockTransport(self.answer))
        return McpConnection(HttpxWires(http), "usual")


async def settled() -> None:
    for _ in range(50):
        await anyio.lowlevel.checkpoint()


def test_a_claim_gets_heartbeats_until_it_is_ended() -> None:
    async def play() -> None:
        api = Api()
        api.wait.set()
        async with anyio.create_task_group() as tasks:
            claims = SessionClaims(api.door, tasks)
            await claims.call("claim_next", {})
            await settled()
            assert api.said == [("/tasks/task_1/heartbeat", {"claim_id": "clm_1"})], "at once"
            await claims.call("complete", {"task_id": "task_1", "claim_id": "clm_1"})
            assert not claims._live
            tasks.cancel_scope.cancel()

    anyio.run(play)


def test_a_claim_that_was_given_up_for_an_answer_gets_no_more_heartbeats(monkeypatch: pytest.MonkeyPatch) -> None:
    async def play() -> None:
        api = Api()
        api.wait.set()
        async with anyio.create_task_group() as tasks:
            claims = SessionClaims(api.door, tasks)
            await claims.call("claim_next", {})
            asked = {"task_id": "task_1", "claim_id": "clm_1", "give_up_claim": True}
            await claims.call("ask_person", asked)
            assert "clm_1" in claims._live, "people had answered: the claim goes on"
            monkeypatch.setitem(ENDED, "structuredContent", {"outcome": "open", "claim_is_over": True})
            await claims.call("ask_person", asked)
            assert not claims._live
            tasks.cancel_scope.cancel()

    anyio.run(play)


@pytest.mark.parametrize("status", [401, 403, 404, 409, 422])
def test_a_claim_that_is_over_gets_no_more_heartbeats(status: int) -> None:
    async def play() -> None:
        api = Api(status)
        api.wait.set()
        async with anyio.create_task_group() as tasks:  # ends by itself: nothing goes on
            await SessionClaims(api.door, tasks).call("claim_next", {})
        assert len(api.said) == 1

    anyio.run(play)


def test_programs_of_the_session_are_told_of_claims_until_they_end_and_of_lost_ones_until_a_call_names_them(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(CLAIMED["structuredContent"], "lease_seconds", 0)
    heard: list[tuple[Any, Any]] = []

    async def play() -> None:
        api = Api()
        api.wait.set()
        async with anyio.create_task_group() as tasks:
            claims = SessionClaims(api.door, tasks, lambda live, lost: heard.append((live, lost)))
            await claims.call("claim_next", {})
            await claims.call("complete", {"task_id": "task_1", "claim_id": "clm_1"})
            await settled()
            assert heard[0] == ({"clm_1": "task_1"}, {})
            assert heard[-1] == ({}, {}), "ended, not lost"
            await claims.call("claim_next", {})
            api.status = 409
            await settled()
            assert heard[-1] == ({}, {"clm_1": "task_1"})
            await claims.call("recall", {"query": "x"})
            assert heard[-1] == ({}, {"clm_1": "task_1"})
            await claims.call("heartbeat", {"task_id": "task_1", "claim_id": "clm_1"})
            assert heard[-1] == ({}, {})
            tasks.cancel_scope.cancel()

    anyio.run(play)


def test_a_claim_is_kept_for_an_hour_after_the_last_call_and_no_longer(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "KEPT_SECONDS", 0.0)

    async def play() -> None:
        api = Api()
        api.wait.set()
        async with anyio.create_task_group() as tasks:
            await SessionClaims(api.door, tasks).call("claim_next", {})
        assert api.said == []

    anyio.run(play)


def test_a_claim_that_the_model_has_forgotten_isnt_kept_by_calls_about_other_things(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(CLAIMED["structuredContent"], "lease_seconds", 0)
    now = [0.0]
    monkeypatch.setattr(anyio, "current_time", lambda: now[0])

    async def play() -> None:
        api = Api()
        api.wait.set()
        async with anyio.create_task_group() as tasks:
            claims = SessionClaims(api.door, tasks)
            await claims.call("claim_next", {})
            for about, is_kept in (({"claim_id": "clm_1"}, True), ({"claim_id": "clm_2"}, False)):
                now[0] += module.KEPT_SECONDS - 1
                await claims.call("checkpoint", about)
                now[0] += 2
                await settled()
                assert bool(claims._live) is is_kept
            tasks.cancel_scope.cancel()

    anyio.run(play)


@pytest.mark.parametrize("tool", ["complete", "fail"])
def test_what_a_cancelled_call_claims_next_is_given_back(tool: str) -> None:
    async def play() -> None:
        api = Api(next_claim=CLAIMED["structuredContent"])
        async with anyio.create_task_group() as tasks:
            with anyio.CancelScope() as scope:
                tasks.start_soon(_cancel, scope)
                await SessionClaims(api.door, tasks).call(tool, {"claim_id": "clm_0", "claim_next": True})
            assert scope.cancelled_caught
            api.wait.set()
        ((path, body),) = api.said
        assert (path, body["claim_id"]) == ("/tasks/task_1/release", "clm_1")

    async def _cancel(scope: anyio.CancelScope) -> None:
        await settled()
        scope.cancel()

    anyio.run(play)


def test_a_claim_that_is_told_again_and_again_gets_the_heartbeats_of_one() -> None:
    async def play() -> None:
        api = Api()
        api.wait.set()
        async with anyio.create_task_group() as tasks:
            claims = SessionClaims(api.door, tasks)
            for _ in range(5):  # a repeat with its request_id
                await claims.call("claim_next", {"request_id": "one"})
            await settled()
            assert len(api.said) == 1
            tasks.cancel_scope.cancel()

    anyio.run(play)


def test_what_a_cancelled_call_claims_under_a_request_id_is_the_repeats() -> None:
    async def play() -> None:
        api = Api()
        async with anyio.create_task_group() as tasks:
            claims = SessionClaims(api.door, tasks)
            asked = {"request_id": "r", "wait_seconds": 20}
            with anyio.CancelScope() as scope:
                tasks.start_soon(_cancelled, scope)
                await claims.call("claim_next", asked)
            api.wait.set()
            again = await claims.call("claim_next", asked)
            await settled()
            assert again["structuredContent"]["claim_id"] == "clm_1"
            assert {path for path, _ in api.said} <= {"/tasks/task_1/heartbeat"}
            tasks.cancel_scope.cancel()

    anyio.run(play)


async def _cancelled(scope: anyio.CancelScope) -> None:
    await settled()
    scope.cancel()


def test_what_a_cancelled_call_claims_after_all_is_given_back() -> None:
    async def play() -> None:
        api = Api()
        async with anyio.create_task_group() as tasks:
            claims = SessionClaims(api.door, tasks)
            with anyio.CancelScope() as scope:
                tasks.start_soon(_cancel, scope)
                await claims.call("claim_next", {"wait_seconds": 20})
            assert scope.cancelled_caught
            api.wait.set()
        ((path, body),) = api.said
        assert (path, body["claim_id"]) == ("/tasks/task_1/release", "clm_1")
        assert not claims._live

    async def _cancel(scope: anyio.CancelScope) -> None:
        await settled()
        scope.cancel()

    anyio.run(play)


class Times:
    """Heartbeats by a clock of the test: a pause takes no time. The last of ``answers`` is that of all that follow."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, *answers: tuple[int, bool]) -> None:
        self.api, self.now, self.left, self.pauses = Api(), 0.0, list(answers), list[float]()
        self.api.wait.set()
        self.is_over = anyio.Event()
        monkeypatch.setattr(module, "now", lambda: self.now)
        monkeypatch.setattr(anyio, "sleep", self.sleep)
        self.next()

    def next(self) -> None:
        self.api.status, self.api.is_foreign = self.left.pop(0)

    async def sleep(self, seconds: float) -> None:
        self.pauses.append(seconds)
        self.now += seconds
        if not self.left:
            self.is_over.set()
            await anyio.Event().wait()
        self.next()

    def play(self) -> tuple[Any, Any]:
        """Returns the live claims and the lost ones, once all answers were given."""
        heard: list[tuple[Any, Any]] = []

        async def play() -> None:
            async with anyio.create_task_group() as tasks:
                claims = SessionClaims(self.api.door, tasks, lambda live, lost: heard.append((live, lost)))
                await claims.call("claim_next", {})
                await self.is_over.wait()
                tasks.cancel_scope.cancel()

        anyio.run(play)
        return heard[-1]


OK, BUSY = (200, False), (503, False)


def test_heartbeats_are_sent_again_soon_after_one_without_an_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    times = Times(monkeypatch, OK, (502, True), BUSY, (403, True), (200, True), OK, (502, True), OK)
    assert times.play() == ({"clm_1": "task_1"}, {})
    usual, first = 20.0, 0.5
    longest = [usual, first, 2 * first, 4 * first, 8 * first, usual, first, usual]
    assert all(most / 2 <= each <= most + 1e-6 for each, most in zip(times.pauses, longest, strict=True))


def test_no_retry_after_of_another_program_puts_a_heartbeat_off(monkeypatch: pytest.MonkeyPatch) -> None:
    times = Times(monkeypatch, OK, (503, True), (503, True), OK)
    assert times.play() == ({"clm_1": "task_1"}, {})
    assert all(most / 2 <= each <= most + 1e-6 for each, most in zip(times.pauses, [20, 0.5, 1, 20], strict=True))


@pytest.mark.parametrize("status", [401, 403, 404, 409, 422])
def test_a_refusal_of_another_program_loses_no_claim(monkeypatch: pytest.MonkeyPatch, status: int) -> None:
    times = Times(monkeypatch, OK, *[(status, True)] * 60, OK)
    assert times.play() == ({"clm_1": "task_1"}, {})
    assert len(times.api.said) == 62
    assert times.now > CLAIMED["structuredContent"]["lease_seconds"], "also after a lease without an answer"
