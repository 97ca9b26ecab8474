"""The channel's bell, against a real WebSocket server on this machine."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta

import anyio
import httpx2
import pytest

from baton_client.bell import BellTimes
from baton_client.bells import Bells
from baton_client.core import Answer, Listen
from baton_client.profiles import Profile
from baton_mcp import bell as module
from baton_mcp.bell import Bell
from baton_mcp.news_poller import NewsPoller
from baton_mcp.profile import ServerProfile
from baton_mcp.serve import bells
from support.fakes.fake_bell import FakeBell, fake_bell
from support.fakes.httpx_wires import HttpxWires
from support.scripted_api import ScriptedApi, scripted_api

TOPICS = ("work:qa", "inbox:qa")
SELDOM = 100.0  # a test that waits for it fails by its time


@pytest.fixture
def tower(monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeBell]:
    monkeypatch.setattr(module, "SETTLE_SECONDS", 0.0)
    monkeypatch.setattr(module, "AWAY_PAUSE_SECONDS", 0.05)
    monkeypatch.setattr(module, "LISTEN_SECONDS", 0.3)
    with fake_bell() as made:
        yield made


@pytest.fixture
def scripted() -> Iterator[ScriptedApi]:
    with scripted_api() as api:
        yield api


@pytest.fixture
def bell(scripted: ScriptedApi, tower: FakeBell) -> Bell:
    scripted.bell = tower.url
    quick = {"answer": 0.3, "settle": 0.0, "retry": 0.01, "longest_retry": 0.05, "no_bell": 0.05, "longest": 0.01}
    return Bell(Bells(Profile("", scripted.url, "baton_tok_secret"), lambda _said: None, BellTimes(**quick)), TOPICS)


@asynccontextmanager
async def listening(tower: FakeBell, bell: Bell) -> AsyncIterator[None]:
    """Both topics are heard, and what was to be looked at for that has been."""
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(bell.run)
        while len(bell._open) < len(bell.topics):
            await bell.wait(0.01)
        await bell.wait(0.01)
        yield
        tasks.cancel_scope.cancel()


def test_it_listens_to_its_topics_with_its_token_and_sleeps_until_it_is_rung(tower: FakeBell, bell: Bell) -> None:
    async def play() -> None:
        async with listening(tower, bell):
            assert {each.path for each in tower.handshakes} == {f"/live?listen={topic}" for topic in TOPICS}
            assert {each.headers["Authorization"] for each in tower.handshakes} == {"Bearer baton_tok_secret"}
            threading.Timer(0.2, tower.ring, TOPICS[:1]).start()
            with anyio.fail_after(20):
                await bell.wait(SELDOM)
            due_at = datetime.now(UTC) + timedelta(seconds=1.5)
            tower.ring("work:qa", due_at=due_at.isoformat())
            with anyio.fail_after(20):
                await bell.wait(SELDOM)
            assert datetime.now(UTC) > due_at - timedelta(seconds=0.1)

    anyio.run(play)


class AtTheEnd:
    """Rings when its listener's time is over, or later: the machine was busy."""

    def __init__(self) -> None:
        self.answers = [Answer(204, took=99.0), Answer(200, took=99.0)]

    def wait(self, step: Listen) -> Answer:
        if not self.answers:
            time.sleep(0.2)
        return self.answers.pop(0) if self.answers else Answer(204, took=step.seconds)

    def close(self) -> None:
        pass


def test_a_ring_at_the_end_of_a_listen_is_heard() -> None:
    bell = Bell(AtTheEnd(), TOPICS[:1])  # type: ignore[arg-type]

    async def play() -> None:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(bell.run)
            with anyio.fail_after(20):
                await bell.wait(SELDOM)
            tasks.cancel_scope.cancel()

    anyio.run(play)


def test_it_is_woken_when_something_is_known_to_be_due(tower: FakeBell, bell: Bell) -> None:
    async def play() -> None:
        async with listening(tower, bell):
            with anyio.fail_after(20):
                await bell.wait(SELDOM, due_seconds=0.1)

    anyio.run(play)


def test_without_a_bell_it_looks_as_often_as_said(scripted: ScriptedApi, bell: Bell) -> None:
    async def play() -> None:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(bell.run)
            begun_at = time.monotonic()
            for _ in range(3):
                await bell.wait(0.1)
            assert 0.25 < time.monotonic() - begun_at < 20
            tasks.cancel_scope.cancel()

    scripted.bell = None
    anyio.run(play)


def test_that_there_is_no_bell_is_said_once(scripted: ScriptedApi, capsys: pytest.CaptureFixture[str]) -> None:
    made = bells(ServerProfile(scripted.url, "t"))
    for topic in TOPICS:
        assert not made.wait(Listen(topic, 5)).status
    made.close()
    assert capsys.readouterr().err.count("baton-mcp: ") == 1


@pytest.mark.parametrize("how", ["refused", "silent"])
def test_a_bell_that_refuses_or_is_silent_is_none_until_it_answers(tower: FakeBell, bell: Bell, how: str) -> None:
    tower.refused, tower.is_silent = (403 if how == "refused" else 0), how == "silent"

    async def play() -> None:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(bell.run)
            while len(tower.handshakes) < 4:
                await bell.wait(0.05)
            assert not bell._open
            tower.refused, tower.is_silent = 0, False
            while len(bell._open) < 2:
                await bell.wait(0.05)
            tasks.cancel_scope.cancel()

    anyio.run(play)


def test_a_lost_connection_is_looked_for_at_once_and_made_again(tower: FakeBell, bell: Bell) -> None:
    async def play() -> None:
        async with listening(tower, bell):
            threading.Thread(target=tower.drop).start()
            with anyio.fail_after(20):
                while len(tower.handshakes) < 4 or len(bell._open) < 2:
                    await bell.wait(0.05)

    anyio.run(play)


def test_what_cannot_be_read_is_no_ring_and_no_end(tower: FakeBell, bell: Bell) -> None:
    async def play() -> None:
        async with listening(tower, bell):
            for said in ("", "[]", "[" * 4000, '{"ring": 7}', '{"ring": "work:another"}', b"\xff", "x" * 5000):
                tower.say(said)
                with anyio.move_on_after(0.3):
                    await bell.wait(SELDOM if len(said) < 5000 else 0.05)
                    assert len(said) == 5000, said
                with anyio.fail_after(20):
                    while len(bell._open) < 2:
                        await bell.wait(0.01)

    anyio.run(play)


def test_a_flood_of_rings_makes_few_looks(tower: FakeBell, bell: Bell) -> None:
    async def play() -> None:
        async with listening(tower, bell):
            looks = 0
            with anyio.move_on_after(2.5):
                while True:
                    for _ in range(100):
                        tower.ring("inbox:qa")
                    await bell.wait(SELDOM)
                    looks += 1
            assert looks <= 3

    anyio.run(play)


def test_a_look_says_when_the_next_task_may_be_claimed() -> None:
    task = {"id": "task_1", "attempt": 0, "state": "delegated", "not_before": None, "deferred_until": None}
    pending = [task | {"ready_at": f"2026-01-31T12:00:{second:02}.500Z"} for second in (9, 3)]

    def answered(request: httpx2.Request) -> httpx2.Response:
        items = pending if request.url.path.endswith("/pending") else []
        headers = {"Date": "Sat, 31 Jan 2026 12:00:00 GMT", "Content-Type": "application/json"}
        return httpx2.Response(200, content=json.dumps({"items": items, "next_cursor": None}), headers=headers)

    async def play() -> None:
        http = httpx2.AsyncClient(base_url="https://baton.example", transport=httpx2.MockTransport(answered))
        assert (await NewsPoller(HttpxWires(http), "qa").look()).due_seconds == 3.5

    anyio.run(play)
