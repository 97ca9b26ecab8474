"""A worker on a faulty network, beside the cells of the matrix: what it reads, and the reports that it has left."""

from __future__ import annotations

from pathlib import Path

import pytest

from functions.network.foreign_answers import BEFORE, KINDS
from functions.network.programs import CODER, Scene, Worker, scene
from support.http_server import Received
from support.worlds.http_agents import ALICE


@pytest.fixture(autouse=True)
def quiet(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BATON_LOG_LEVEL", "CRITICAL")


def retried(made: Scene) -> str:
    """Fails the task, and has a human retry it. Returns the first task's id."""
    first, claim = made.task_id, made.claim()
    failure = {"type": "error", "description": "It broke"}
    assert made.gateway.post(CODER, f"/tasks/{first}/fail", {"claim_id": claim, "failure": failure}).status == 200
    handoff_id = made.gateway.get(ALICE, f"/tasks/{first}").json["handoff_id"]
    again = made.gateway.post(ALICE, f"/handoffs/{handoff_id}/retry")
    assert again.status == 201, again.text
    made.task_id = again.json["task"]["id"]
    return first


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seconds", [0.0, 30.0])
def test_a_worker_reads_what_its_program_needs_through_an_outage_of_30_seconds(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, kind: str, seconds: float
) -> None:
    with scene(monkeypatch, tmp_path) as made:
        first = retried(made)
        made.network.fault, made.network.seconds = BEFORE[kind], seconds
        made.network.is_hit = lambda request: (request.method, request.path) == ("GET", f"/tasks/{first}")
        assert Worker().play(made, "complete") == "exit code 0"
        assert (made.state, made.began, made.trail.count("handoff_received")) == ("done", 1, 1)


def test_a_worker_that_never_reads_what_its_program_needs_releases_the_task(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    with scene(monkeypatch, tmp_path) as made:
        first = retried(made)
        made.network.fault, made.network.seconds = BEFORE["502 page"], float("inf")
        made.network.is_hit = lambda request: (request.method, request.path) == ("GET", f"/tasks/{first}")
        assert Worker().play(made, "complete") == "exit code 1"
        assert (made.state, made.began, made.trail[-1]) == ("delegated", 0, "released")
        assert 40 <= made.time.seconds < 60


def test_a_heartbeat_that_no_answer_comes_to_is_sent_again_before_the_program_begins(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    with scene(monkeypatch, tmp_path) as made:
        first = retried(made)
        made.network.fault, made.network.seconds = BEFORE["reset"], 30.0
        made.network.is_hit = lambda request: request.path.endswith((f"/tasks/{first}", "/heartbeat"))
        assert Worker().play(made, "complete") == "exit code 0"
        assert (made.state, made.began) == ("done", 1)


def test_a_report_that_a_worker_has_left_is_sent_by_its_next_poll(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """The network is away until the lease is over. Nobody else has claimed the task."""
    with scene(monkeypatch, tmp_path) as made:
        made.network.fault, made.network.seconds = BEFORE["502 page"], 70.0
        made.network.is_hit = lambda request: request.path.endswith("/complete")
        assert Worker().play(made, "complete") == "exit code 1"
        assert made.files == [".json"]
        assert (made.state, len({each.key for each in made.network.noted})) == ("claimed", 1)
        key = made.network.noted[0].key
        made.time.sleep(10)
        Worker().play(made, "complete")
        assert (made.files, made.network.noted[-1].key) == ([], key)
        assert made.trail.count("handoff_completed") == 1
        assert (made.state, made.began) == ("done", 1)


def test_a_refused_report_stays_and_the_others_are_sent(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A firewall refuses the content of one report. The next report arrives."""
    with scene(monkeypatch, tmp_path) as made:
        made.leave_a_report("task_unknown", "clm_1")
        made.leave_a_report(made.task_id, made.claim())
        made.network.fault, made.network.seconds = BEFORE["403 page"], float("inf")
        made.network.is_hit = is_refused
        Worker().play(made, "complete")
        assert (made.files, made.state, made.began) == ([".json"], "done", 0)


@pytest.mark.parametrize(("seconds", "files"), [(30.0, []), (float("inf"), [".kept"])])
def test_a_left_report_is_kept_for_people_if_it_is_too_large_for_40_seconds(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, seconds: float, files: list[str]
) -> None:
    with scene(monkeypatch, tmp_path) as made:
        made.leave_a_report("task_unknown", "clm_1")
        made.claim()
        made.network.fault, made.network.seconds = BEFORE["413 page"], seconds
        made.network.is_hit = is_refused
        Worker().play(made, "complete")
        assert made.files == files


def is_refused(request: Received) -> bool:
    return "task_unknown" in request.path
