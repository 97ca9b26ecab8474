"""Work under a claim, by threads and by tasks, against an API of the test."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from threading import Event, Thread
from typing import Any

import pytest

from baton_client import AsyncBaton, Baton, ClaimLost, Misused
from baton_client.core import Answer, Patience
from baton_client.heartbeats import Heartbeats, Signal
from baton_client.lease import Lease, ends_claim
from support.http_server import Answer as Answered
from support.http_server import Received, Sent, served

TASK = {"id": "task_1", "state": "claimed", "title": "Test it"}
CLAIM: dict[str, Any] = {
    "task": TASK,
    "body": {"target": {"reason": "Test the login"}, "context": {"variables": {"branch": "main"}}},
    "claim_id": "clm_1",
    "fence": 1,
    "lease_seconds": 60,
    "checkpoint": {"state": {"at": 3}},
}
PATIENCE = Patience(base_seconds=0, drawn=min)


@dataclass
class Api:
    """Has ``claims`` to give, and takes whatever a worker says. ``beats``: set with the third heartbeat."""

    claims: list[dict[str, Any]] = field(default_factory=lambda: [CLAIM])
    beat: tuple[int, dict[str, Any]] = (200, {})
    said: list[tuple[str, Any]] = field(default_factory=list)
    keys: list[str] = field(default_factory=list)
    fails_first: bool = False
    beats: Event = field(default_factory=Event)
    url: str = ""

    def answer(self, request: Received) -> Answered:
        verb = request.path.split("?")[0].rsplit("/", 1)[-1]
        if "/claims" in request.path:
            self.keys.append(request.headers["idempotency-key"])
            if self.fails_first and len(self.keys) == 1:
                return None
            return sent(200, self.claims.pop(0)) if self.claims else Sent(204, [], b"")
        self.said.append((verb, request.body))
        if verb != "heartbeat":
            return sent(200, {"id": "task_1", "state": "done", "checkpoint_id": "c"})
        if sum(each == "heartbeat" for each, _ in self.said) == 3:
            self.beats.set()
        return sent(*self.beat)

    @property
    def ends(self) -> list[tuple[str, Any]]:
        return [each for each in self.said if each[0] != "heartbeat"]

    def threads(self) -> Baton:
        return Baton(self.url, "secret", agent="qa", patience=PATIENCE)

    def tasks(self) -> AsyncBaton:
        return AsyncBaton(self.url, "secret", agent="qa", patience=PATIENCE)


def sent(status: int, body: Any) -> Sent:
    return Sent(status, [], json.dumps(body).encode())


@pytest.fixture
def api() -> Iterator[Api]:
    api = Api()
    with served(api.answer) as api.url:
        yield api


def test_work_has_what_was_handed_off_and_ends_once(api: Api) -> None:
    with api.threads() as baton, baton.claim() as work:
        assert work is not None
        assert (work.reason, work.variables, work.checkpoint) == ("Test the login", {"branch": "main"}, {"at": 3})
        work.complete({"ok": True}, met={"it passes": "pytest", "it is quick": False})
    ((verb, body),) = api.ends
    assert verb == "complete"
    assert body["verification"]["acceptance_criteria_met"] == [
        {"criterion": "it passes", "met": True, "evidence": "pytest"},
        {"criterion": "it is quick", "met": False},
    ]


def test_no_work_is_none(api: Api) -> None:
    api.claims = []
    with api.threads() as baton, baton.claim(wait=0) as work:
        assert work is None


def test_a_claim_whose_answer_was_lost_is_asked_for_under_the_same_key(api: Api) -> None:
    api.fails_first = True
    with api.threads() as baton, baton.claim() as work:
        assert work is not None
        work.release()
    assert len(api.keys) == 2
    assert len({*api.keys}) == 1


@pytest.mark.parametrize(("error", "verb"), [(ValueError("no disk"), "fail"), (KeyboardInterrupt(), "release")])
def test_what_ends_the_program_ends_its_work(api: Api, error: BaseException, verb: str) -> None:
    def by_threads() -> None:
        with api.threads() as baton, baton.claim():
            raise error

    async def by_tasks() -> None:
        async with api.tasks() as baton, baton.claim():
            raise error

    for play in (by_threads, lambda: asyncio.run(by_tasks())):
        api.claims, api.said = [CLAIM], []
        with pytest.raises(type(error)):
            play()
        ((said, body),) = api.ends
        assert said == verb
        if said == "fail":
            assert body["retryable"] is True
            assert body["failure"]["description"] == "ValueError: no disk"


def test_work_that_nobody_ended_is_a_failure(api: Api) -> None:
    with api.threads() as baton:
        for _ in baton.work(idle_seconds=0):
            pass
    assert [verb for verb, _ in api.ends] == ["fail"]


def test_a_cancelled_task_gives_its_work_back(api: Api) -> None:
    async def cancelled() -> None:
        async with api.tasks() as baton:
            begun = asyncio.Event()

            async def working() -> None:
                async with baton.claim():
                    begun.set()
                    await asyncio.Event().wait()

            task = asyncio.create_task(working())
            await begun.wait()
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task

    asyncio.run(cancelled())
    assert [verb for verb, _ in api.ends] == ["release"]


def test_heartbeats_go_on_while_the_event_loop_is_blocked(api: Api) -> None:
    api.claims = [CLAIM | {"lease_seconds": 0}]

    async def blocking() -> None:
        async with api.tasks() as baton, baton.claim() as work:
            assert work is not None
            assert api.beats.wait(10)  # nothing else runs in this loop meanwhile
            await work.complete()

    asyncio.run(blocking())


def test_a_lost_claim_is_told_and_what_follows_is_not_reported(api: Api) -> None:
    api.claims, api.beat = [CLAIM | {"lease_seconds": 0}], (409, {"code": "stale_claim"})
    told = Event()

    def working() -> None:
        with api.threads() as baton, baton.claim() as work:
            assert work is not None
            work.when_lost(told.set)
            assert told.wait(10)
            assert work.lost
            raise ClaimLost(409, {})

    with pytest.raises(ClaimLost):
        working()
    assert api.ends == []


def test_no_more_is_claimed_than_there_are_places(api: Api) -> None:
    api.claims = [CLAIM | {"task": TASK | {"id": f"task_{number}"}} for number in range(3)]
    with api.threads() as baton:
        works = baton.work(concurrency=2, idle_seconds=0)
        first, second = next(works), next(works)
        assert len(api.keys) == 2
        Thread(target=first.complete).start()  # any thread ends it; the iterator waits for that
        third = next(works)
        assert {each.task_id for each in (first, second, third)} == {"task_0", "task_1", "task_2"}
        second.complete()
        third.complete()


def test_one_client_serves_many_threads_at_once(api: Api) -> None:
    api.claims = []
    with api.threads() as baton:
        found = list[Any]()

        def recalled() -> None:
            for number in range(5):
                found.append(baton.remember(f"it is {number}"))

        threads = [Thread(target=recalled) for _ in range(8)]
        for each in threads:
            each.start()
        for each in threads:
            each.join()
    assert len(found) == len(api.ends) == 40


class Times:
    """Heartbeats without a thread: the test says what time it is, and what is answered."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, *answers: Answer) -> None:
        self.now, self.left, self.lost = 0.0, [*answers], Signal()
        monkeypatch.setattr("baton_client.heartbeats.now", lambda: self.now)
        monkeypatch.setattr("baton_client.heartbeats.Thread", lambda **_: Unstarted())
        self.beats = Heartbeats(lambda _: self.left.pop(0), Lease.taken(60, 0), self.lost, "t")

    def until_lost(self) -> float:
        while not self.beats.why:
            self.now = max(self.now, self.beats._lease.next_at)
            self.beats._beat()
        return self.now


class Unstarted:
    def start(self) -> None: ...


def test_a_lease_without_an_answer_is_lost_when_it_is_over_and_not_before(monkeypatch: pytest.MonkeyPatch) -> None:
    times = Times(monkeypatch, Answer(200), *[Answer(503)] * 100)
    assert times.until_lost() == 20 + 60


@pytest.mark.parametrize(("status", "is_over"), [(409, True), (404, True), (403, True), (429, False), (302, False)])
def test_a_refused_heartbeat_ends_the_claim_and_a_busy_api_does_not(status: int, *, is_over: bool) -> None:
    assert ends_claim(Answer(status)) is is_over


def test_an_address_that_is_named_takes_nothing_from_anybodys_profile(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    file = tmp_path / "baton/config.toml"
    file.parent.mkdir()
    file.write_text('default = "work"\n[profiles.work]\nurl = "https://a.example"\ntoken = "t"\nagent = "qa"\n')
    file.chmod(0o600)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    for name in ("BATON_URL", "BATON_TOKEN", "BATON_AGENT", "BATON_PROFILE"):
        monkeypatch.delenv(name, raising=False)
    assert Baton("https://b.example", "other").agent == ""
    assert [(each.url, each.agent) for each in (Baton(), Baton("work"))] == [("https://a.example", "qa")] * 2
    with pytest.raises(Misused):
        Baton("https://b.example")
