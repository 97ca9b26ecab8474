"""A worker that waits by the bell: a real worker process, a real WebSocket server, Baton in this process. Baton's clock
is days away from the worker's."""

from __future__ import annotations

import json
import signal
import time
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from subprocess import Popen
from typing import Any

import pytest

from baton.services.access.change_settings import change_settings
from support.fakes.fake_bell import FakeBell, fake_bell
from support.worlds.http_agents import ALICE
from support.worlds.worker_processes import PATIENCE_SECONDS, SLUG, WorkerProcesses, until, worker_processes

pytestmark = pytest.mark.slow
WORK, LOOK, POLL = f"work:{SLUG}", f"/agents/{SLUG}/claims", f"/agents/{SLUG}/claims/wait"


@pytest.fixture
def tower() -> Iterator[FakeBell]:
    with fake_bell() as made:
        yield made


@pytest.fixture
def home(tmp_path: Path, tower: FakeBell) -> Iterator[WorkerProcesses]:
    """Nothing lags here, and who has lost the bell may try again at once."""
    with worker_processes(tmp_path, bell_url=tower.url, settle=0.2, retry=0.1) as found:
        yield found


def idle(home: WorkerProcesses, tower: FakeBell) -> Popen[str]:
    """A worker that has found nothing, and waits."""
    worker = home.start(program=("true",))
    tower.until(lambda: tower.looks >= 2)
    return worker


def at(home: WorkerProcesses, seconds: float) -> str:
    return (home.clock.now() + timedelta(seconds=seconds)).isoformat()


def done(home: WorkerProcesses, task_id: str) -> bool:
    return bool(home.task(task_id)["state"] == "done")


def stopped(worker: Popen[str]) -> tuple[int, list[dict[str, Any]]]:
    """Its exit code, and the lines of its log."""
    worker.send_signal(signal.SIGTERM)
    _, said = worker.communicate(timeout=PATIENCE_SECONDS)
    return worker.returncode, [json.loads(line) for line in said.splitlines()]


def test_idle_worker_asks_for_nothing_until_it_is_rung_and_then_claims_all_there_is(
    home: WorkerProcesses, tower: FakeBell
) -> None:
    worker = idle(home, tower)
    assert home.asked == [LOOK, "/bell"]
    tasks = [home.hand_off(summary=f"Task {number}") for number in range(3)]
    assert home.asked == [LOOK, "/bell"]
    tower.ring(WORK)
    until(lambda: all(done(home, each) for each in tasks))
    until(lambda: home.asked.count(LOOK) == 5)  # the first, one for each task, and one that finds nothing
    code, said = stopped(worker)
    assert (code, POLL in home.asked, home.asked.count(LOOK)) == (0, False, 5)
    assert "no_bell" not in {line["action"] for line in said}


def test_worker_that_is_rung_ahead_claims_when_the_task_is_due_by_batons_clock(
    home: WorkerProcesses, tower: FakeBell
) -> None:
    idle(home, tower)
    task_id = home.hand_off()
    begun_at, due_in = time.monotonic(), 1.5
    tower.ring(WORK, due_at=at(home, due_in))
    until(lambda: home.asked.count(LOOK) > 1)
    assert time.monotonic() - begun_at > due_in - 1.0  # a Date has whole seconds
    until(lambda: done(home, task_id))


def test_worker_looks_when_an_empty_answer_says_that_something_is_due(home: WorkerProcesses, tower: FakeBell) -> None:
    idle(home, tower)
    change_settings(home.agents.gateway.deps, ALICE, {"dispatch_delay_seconds": 3})
    body = {"source": {"agent": "architect"}, "target": {"agent": SLUG, "reason": "Build it"}, "summary": "Build it"}
    task_id = home.agents.gateway.post(ALICE, "/handoffs", body).json["task"]["id"]
    tower.ring(WORK)  # too early
    until(lambda: done(home, task_id))
    assert POLL not in home.asked


def test_idle_worker_ends_at_once_when_it_is_told_to(home: WorkerProcesses, tower: FakeBell) -> None:
    worker = idle(home, tower)
    begun_at = time.monotonic()
    assert stopped(worker)[0] == 0
    assert time.monotonic() - begun_at < 6  # a poll would take eight seconds
    tower.until(lambda: not tower.listening)


def test_idle_worker_ends_after_its_idle_time(home: WorkerProcesses, tower: FakeBell) -> None:
    home.bell_times = {}
    code, summary = home.run("--idle-timeout", "1s", program=("true",))
    assert (code, sum(summary.values()), tower.looks <= 1) == (0, 0, True)


def test_worker_polls_while_its_bell_is_lost_says_so_once_and_goes_back_to_it(
    home: WorkerProcesses, tower: FakeBell
) -> None:
    worker = idle(home, tower)
    tower.refused = 503
    tower.drop()
    first = home.hand_off(summary="Nobody rings for it")
    until(lambda: done(home, first))
    tower.until(lambda: len(tower.handshakes) >= 3)
    assert POLL in home.asked
    tower.refused = 0
    tower.until(lambda: tower.looks >= 4)
    until(lambda: home.asked[-1] == LOOK)
    polls = home.asked.count(POLL)
    second = home.hand_off(summary="It is rung for again")
    tower.ring(WORK)
    until(lambda: done(home, second))
    code, said = stopped(worker)
    assert (code, home.asked.count(POLL)) == (0, polls)
    assert [line["action"] for line in said].count("no_bell") == 1
