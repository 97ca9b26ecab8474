"""The sweeper's function: what it tells, and when it stops."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from threading import get_ident
from typing import Any

import pytest

from baton.bootstrap import WORKERS_AT_ONCE
from baton.services.tasks.sweep import SweepReport, sweep
from support.clock import FakeClock
from support.context import FakeContext
from support.fakes.fake_dynamo import FakeDynamo
from support.fakes.store import InMemoryStore
from support.worlds.world import World
from sweep_stale_claims import handler


def metrics_of(text: str) -> dict[str, Any]:
    """All that was emitted as embedded metrics, by name."""
    blobs = [json.loads(line) for line in text.splitlines() if '"_aws"' in line]
    return {
        definition["Name"]: blob[definition["Name"]][0]
        for blob in blobs
        for definition in blob["_aws"]["CloudWatchMetrics"][0]["Metrics"]
    }


def test_round_is_told_as_metrics_with_a_heartbeat(world: World, capsys: pytest.CaptureFixture[str]) -> None:
    world.claimed(lease_seconds=15)
    world.clock.advance(20)
    handler.measure(sweep(world.deps))
    metrics = metrics_of(capsys.readouterr().out)
    assert (metrics["SweeperHeartbeat"], metrics["Swept"], metrics["SweepFailed"], metrics["Swept_lease_over"]) == (
        1,
        1,
        0,
        1,
    )


def test_age_of_work_that_nobody_takes_is_told(world: World, capsys: pytest.CaptureFixture[str]) -> None:
    world.ready()
    world.clock.advance(3_600)
    handler.measure(sweep(world.deps))
    assert metrics_of(capsys.readouterr().out)["UndispatchedAgeSeconds"] == 3_600


def test_an_unfinished_round_is_told_with_what_it_saw(world: World, capsys: pytest.CaptureFixture[str]) -> None:
    world.ready()
    world.ready(target_agent="runner")
    world.clock.advance(3_600)
    context = FakeContext(left=[60_000, 10_000])
    handler.measure(sweep(world.deps, lambda: handler.has_time(context)))
    metrics = metrics_of(capsys.readouterr().out)
    assert (metrics["SweepUnfinished"], metrics["UndispatchedAgeSeconds"], metrics["SweeperHeartbeat"]) == (1, 3_603, 1)


def test_finished_round_is_told_as_such(capsys: pytest.CaptureFixture[str]) -> None:
    handler.measure(SweepReport())
    assert metrics_of(capsys.readouterr().out)["SweepUnfinished"] == 0


def test_quiet_round_has_a_heartbeat_too(capsys: pytest.CaptureFixture[str]) -> None:
    handler.measure(SweepReport())
    assert metrics_of(capsys.readouterr().out)["SweeperHeartbeat"] == 1


def test_metrics_carry_the_dimension_that_the_alarms_look_at(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("POWERTOOLS_SERVICE_NAME", "sweep_stale_claims")
    handler.measure(SweepReport())
    (line,) = capsys.readouterr().out.splitlines()
    (metrics,) = json.loads(line)["_aws"]["CloudWatchMetrics"]
    assert (metrics["Namespace"], metrics["Dimensions"]) == ("Baton", [["service"]])
    assert json.loads(line)["service"] == "sweep_stale_claims"


def test_sweeper_stops_while_there_is_time_to_tell(world: World) -> None:
    for target in ("auditor", "runner"):
        world.ready(target_agent=target)
    world.clock.advance(86_400)
    context = FakeContext(left=[60_000, 10_000])
    this = sweep(world.deps, lambda: handler.has_time(context))
    assert (this.looked_at, this.complete) == (1, False)


def test_a_process_looks_at_tasks_in_threads(dynamo: FakeDynamo, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of which there are fewer than the connections that a client keeps."""
    world = World(store=InMemoryStore(dynamo), clock=FakeClock(datetime(2020, 1, 1, tzinfo=UTC))).settle()
    world.claimed(lease_seconds=15)
    writers: set[int] = set()
    write = dynamo.transact_write_items

    def noticed(**request: Any) -> Any:
        writers.add(get_ident())
        return write(**request)

    monkeypatch.setattr(dynamo, "transact_write_items", noticed)
    assert handler.lambda_handler({}, FakeContext())["reasons"] == {"lease_over": 1}
    assert writers
    assert get_ident() not in writers
    assert 2 <= WORKERS_AT_ONCE < 10
