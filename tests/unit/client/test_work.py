"""Work under a claim, by threads and by tasks, against an API of the test."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from threading import Event, Thread
from typing import Any

import pytest

from baton_client import AsyncBaton, Baton, ClaimLost, Misused
from baton_client.claiming import Claimed
from baton_client.claims import WorkVerbs
from baton_client.core import Answer, Flow, Patience, Send, Step
from baton_client.errors import Invalid, NoAnswer, ServerFailed
from baton_client.genuine import answers_of
from baton_client.heartbeats import Heartbeats, Signal
from baton_client.lease import Lease, ends_claim
from baton_client.verbs import question_of
from support.flows import pauses, played, sends
from support.http_server import Answer as Answered
from support.http_server import Received, Sent, served
from support.values.genuine_answers import problem, sent_json

TASK = {"id": "task_1", "state": "claimed", "title": "Test it"}
CLAIM: dict[str, Any] = {
    "task": TASK,
    "body": {"target": {"reason": "Test the login"}, "context": {"variables": {"branch": "main"}}},
    "claim_id": "clm_1",
    "fence": 1,
    "lease_seconds": 60,
    "checkpoint": {"state": {"at": 3}},
}
PATIENCE = Patience(seconds=0, base_seconds=0, drawn=min)


@dataclass
class Api:
    """Has ``claims`` to give, and takes whatever a worker says. ``is_away``: no end is answered. ``beats``: set with
    the third heartbeat."""

    claims: list[dict[str, Any]] = field(default_factory=lambda: [CLAIM])
    beat: Sent | None = None
    said: list[tuple[str, Any]] = field(default_factory=list)
    keys: list[str] = field(default_factory=list)
    end_keys: list[str] = field(default_factory=list)
    fails_first: bool = False
    is_away: bool = False
    beats: Event = field(default_factory=Event)
    url: str = ""

    def answer(self, request: Received) -> Answered:
        verb = request.path.split("?")[0].rsplit("/", 1)[-1]
        if "/claims" in request.path:
            self.keys.append(request.headers["idempotency-key"])
            if self.fails_first and len(self.keys) == 1:
                return None
            return said(request, self.claims.pop(0)) if self.claims else Sent(204, [], b"")
        self.said.append((verb, request.body))
        if verb != "heartbeat":
            self.end_keys.append(request.headers["idempotency-key"])
            return None if self.is_away else said(request, {"id": "task_1", "state": "done"})
        if sum(each == "heartbeat" for each, _ in self.said) == 3:
            self.beats.set()
        return self.beat or said(request, {})

    @property
    def ends(self) -> list[tuple[str, Any]]:
        return [each for each in self.said if each[0] != "heartbeat"]

    def threads(self) -> Baton:
        return Baton(self.url, "secret", agent="qa", patience=PATIENCE)

    def tasks(self) -> AsyncBaton:
        return AsyncBaton(self.url, "secret", agent="qa", patience=PATIENCE)


def said(request: Received, body: dict[str, Any]) -> Sent:
    """Returns Baton's answer to a request that succeeds."""
    status = min(answers_of(request.method, request.path.partition("?")[0]) or ())
    return sent_json(request.method, request.path, status, body)


STALE = sent_json("POST", "", 409, {"code": "stale_claim"})


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


def test_pages_of_the_network_in_place_of_heartbeats_lose_no_claim(api: Api) -> None:
    api.claims = [CLAIM | {"lease_seconds": 5}]
    api.beat = Sent(403, [("Content-Type", "text/html"), ("Retry-After", "86400")], b"<html>Blocked</html>")
    with api.threads() as baton, baton.claim() as work:
        assert work is not None
        beats = work._heartbeats
        beats.stop()
        beats._beat()
        assert (beats.why, work.lost, beats._lease.misses) == ("", False, 1)
        work.complete()
    assert [verb for verb, _ in api.ends] == ["complete"]


def test_a_lost_claim_is_told_and_what_follows_is_not_reported(api: Api) -> None:
    api.claims, api.beat = [CLAIM | {"lease_seconds": 0}], STALE
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


def test_a_long_retry_after_makes_no_heartbeat_rarer_than_usual(monkeypatch: pytest.MonkeyPatch) -> None:
    away = Answer(503, {"retry-after": "3600"})
    times = Times(monkeypatch, Answer(200), away, Answer(200), *[away] * 100)
    assert times.until_lost() == 20 + 20 + 20 + 60
    assert len(times.left) == 98


def test_no_retry_after_of_another_program_puts_a_heartbeat_off(monkeypatch: pytest.MonkeyPatch) -> None:
    page = Answer(0, {"retry-after": "86400"}, foreign=503)
    times = Times(monkeypatch, page, Answer(200), *[Answer(409, json={"code": "stale_claim"})])
    assert times.until_lost() <= 20 + 0.5 + 20


@pytest.mark.parametrize("seconds", [60, 300, 43_200])
@pytest.mark.parametrize("is_slow", [False, True])
def test_an_outage_of_30_seconds_leaves_a_heartbeat_the_time_before_a_program_is_stopped(
    seconds: int, *, is_slow: bool
) -> None:
    for _ in range(100):
        lease = Lease.taken(seconds, 0)
        over_at = lease.heartbeat_at + 30
        while lease.heartbeat_at < over_at:  # it begins with a heartbeat
            lease = lease.missed(lease.heartbeat_at + (lease.answer_seconds if is_slow else 0.0))
        assert lease.heartbeat_at < seconds * 0.9


@pytest.mark.parametrize("foreign", [401, 403, 404, 409, 422, 502])
def test_no_answer_of_another_program_ends_the_claim(foreign: int) -> None:
    assert not ends_claim(Answer(foreign=foreign))


OUTAGE = Patience(drawn=max)
ENDS: dict[str, Callable[[WorkVerbs], Flow[Any]]] = {
    "complete": lambda work: WorkVerbs.complete.flow(work, {"ok": True}),
    "fail": lambda work: WorkVerbs.fail.flow(work, "no disk"),
    "release": WorkVerbs.release.flow,
    "wait_for_answers": WorkVerbs.wait_for_answers.flow,
}
ENDED = Answer(200, json={"id": "task_1"})


def work_for(lease_seconds: int = 60, patience: Patience = OUTAGE) -> WorkVerbs:
    """Returns work without a wire. Its heartbeats are due later than any test ends."""
    claimed: Any = Claimed(CLAIM | {"lease_seconds": lease_seconds}, 0.0)  # type: ignore[arg-type]
    return WorkVerbs(claimed, "qa", patience, lambda _, lease, lost, name: Heartbeats(_unsent, lease, lost, name))


def _unsent(_seconds: float) -> Answer:
    raise AssertionError("no heartbeat is due")


def until(seconds: float, away: Answer, then: Answer) -> Callable[[float], Answer]:
    """Returns the answers by their time: ``away`` for so many seconds."""
    return lambda passed: away if passed < seconds else then


@pytest.mark.parametrize("end", ENDS)
@pytest.mark.parametrize(
    "away",
    [
        Answer(why="refused", took=2),
        Answer(why="late", took=10),
        Answer(foreign=403, took=3),
        Answer(503, json={"code": "busy"}, took=1),
    ],
)
def test_an_end_outlasts_an_outage_of_30_seconds_under_one_key(end: str, away: Answer) -> None:
    work = work_for()
    found, steps = played(ENDS[end](work), until(30, away, ENDED))
    assert found == ENDED.json
    assert len(sends(steps)) > 2
    assert len({each.key for each in sends(steps)}) == 1
    assert work.ended.is_set
    assert not work.lost


@pytest.mark.parametrize("lease_seconds", [15, 60, 300])
@pytest.mark.parametrize("left_by", [None, ValueError("no disk"), KeyboardInterrupt()])
def test_an_end_without_an_answer_is_sent_for_a_lease_and_once_after_it_and_nothing_follows(
    lease_seconds: int, left_by: BaseException | None
) -> None:
    work, steps = work_for(lease_seconds), list[Step]()
    with pytest.raises(NoAnswer):
        played(ENDS["complete"](work), [Answer(why="refused")] * 1_000, steps)
    assert sum(pauses(steps)) == pytest.approx(lease_seconds)
    assert isinstance(steps[-1], Send)
    assert not work.ended.is_set
    assert played(work._left(left_by), []) == (None, [])
    assert work.ended.is_set


def test_the_programs_repeat_of_an_end_without_an_answer_has_its_key() -> None:
    work, steps = work_for(patience=PATIENCE), list[Step]()
    for end in (ENDS["complete"], ENDS["complete"], lambda each: WorkVerbs.complete.flow(each, "another")):
        with pytest.raises(NoAnswer):
            played(end(work), [Answer(why="refused")] * 4, steps)
    keys = [each.key for each in sends(steps)]
    assert keys[:8] == [keys[0]] * 8
    assert keys[8:] == [keys[8]] * 4
    assert keys[8] != keys[0]


def test_an_end_stays_as_it_was_when_the_program_said_it() -> None:
    work, output = work_for(patience=PATIENCE), {"files": ["a"]}
    flow = WorkVerbs.complete.flow(work, output, notes=(notes := ["one"]))
    first = next(flow)
    assert isinstance(first, Send)
    content = first.request.content
    output["files"].append("b")
    notes.append("two")
    flow.send(Answer(why="refused"))
    again = flow.send(Answer())
    assert isinstance(again, Send)
    assert again.request.content == content


def test_an_end_that_was_never_sent_is_a_failure(api: Api) -> None:
    def by_threads() -> None:
        with api.threads() as baton, baton.claim() as work:
            assert work is not None
            work.complete({"ok": True}, notes=[object()])

    with pytest.raises(TypeError):
        by_threads()
    assert [verb for verb, _ in api.ends] == ["fail"]


def test_an_end_that_baton_refuses_is_over_and_the_program_may_say_another_one() -> None:
    work = work_for(patience=PATIENCE)
    with pytest.raises(Invalid):
        played(ENDS["complete"](work), [Answer(why="refused"), problem(422, "criteria_unreported")])
    _, steps = played(work._left(None), [ENDED])
    assert [each.path for each in sends(steps)] == ["/tasks/task_1/fail"]


def test_an_end_that_baton_puts_off_stays_open() -> None:
    work, steps = work_for(patience=PATIENCE), list[Step]()
    for _ in range(2):
        with pytest.raises(ServerFailed):
            played(ENDS["complete"](work), [problem(503, "busy")] * 4, steps)
    assert len({each.key for each in sends(steps)}) == 1
    assert played(work._left(None), []) == (None, [])


@pytest.mark.parametrize("seconds", [5.0, 100.0, 1_000.0])
def test_in_an_outage_a_wait_for_people_ends_by_its_own_seconds(seconds: float) -> None:
    work, steps = work_for(), list[Step]()
    question = question_of({"id": "q", "outcome": "open", "decisions": []})
    with pytest.raises(NoAnswer):
        played(WorkVerbs.answer_to.flow(work, question, seconds=seconds), [Answer()] * 1_000, steps)
    assert sum(pauses(steps)) == pytest.approx(seconds)


def test_a_program_that_leaves_its_work_after_an_end_without_an_answer_reports_no_failure(api: Api) -> None:
    def by_threads() -> None:
        with api.threads() as baton, baton.claim() as work:
            assert work is not None
            work.complete({"ok": True})

    async def by_tasks() -> None:
        async with api.tasks() as baton, baton.claim() as work:
            assert work is not None
            await work.complete({"ok": True})

    api.is_away = True
    for play in (by_threads, lambda: asyncio.run(by_tasks())):
        api.claims, api.said, api.end_keys = [CLAIM], [], []
        with pytest.raises(NoAnswer):
            play()
        assert {verb for verb, _ in api.ends} == {"complete"}
        assert len(api.ends) >= PATIENCE.attempts
        assert len({*api.end_keys}) == 1


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
