"""The publisher's function: what the stream brings, what the schedule finds, and what either tells of itself."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import boto3
import pytest
from moto import mock_aws

from baton.bootstrap import forget_all, wire
from baton.ports.deps import Deps
from baton.services.agents.register_agent import register_agent
from baton.services.escalations.create_handoff_marker import create_handoff_marker
from baton.services.events.publish_events import PublishReport
from publish_events import handler
from support.clock import NOON, FakeClock
from support.context import FakeContext
from support.fakes.fake_dynamo import FakeDynamo
from support.published import PublishedEvents
from support.worlds.world import World, agent, human, marker_body

EVENTS = Path(__file__).parents[3] / "events"
TICK, STREAM, UNREADABLE = "publish_events-tick", "publish_events-stream", "publish_events-stream_unreadable"


def event_of(name: str) -> dict[str, Any]:
    event: dict[str, Any] = json.loads((EVENTS / f"{name}.json").read_text(encoding="utf-8"))
    return event


def test_every_event_file_has_its_test() -> None:
    assert {path.stem for path in EVENTS.glob("publish_events-*.json")} == {TICK, STREAM, UNREADABLE}


@pytest.fixture
def outside(world: World) -> PublishedEvents:
    return PublishedEvents(world)


def told(outside: PublishedEvents, name: str, left: int = 50_000) -> dict[str, Any]:
    return handler.tell(outside.world.deps, outside.bus, event_of(name), FakeContext(left=[left]))


def test_a_batch_of_the_stream_is_told_in_order(outside: PublishedEvents) -> None:
    assert told(outside, STREAM) == {"published": 2, "failed": 0, "complete": True}
    assert [(each["id"], each["state_before"], each["state"]) for each in outside.details()] == [
        ("demo:task_example1:1", None, "needs"),
        ("demo:task_example1:2", "needs", "cancelled"),
    ]


def test_a_record_that_cannot_be_read_is_left_to_the_outbox_and_the_rest_is_told(outside: PublishedEvents) -> None:
    assert told(outside, UNREADABLE) == {"published": 1, "failed": 0, "complete": True}
    assert outside.told() == [("task_example1", 2)]


def test_a_bus_that_is_away_fails_no_batch(outside: PublishedEvents) -> None:
    """Else the stream would stand still for it."""
    outside.bus.is_away = True
    assert told(outside, STREAM) == {"published": 0, "failed": 0, "complete": False}


def test_the_schedule_tells_what_the_stream_missed(outside: PublishedEvents) -> None:
    outside.world.needing()
    assert told(outside, TICK) == {"published": 0, "failed": 0, "complete": True}
    outside.world.clock.advance(60)
    assert told(outside, TICK) == {"published": 1, "failed": 0, "complete": True}


def test_it_stops_while_there_is_time_to_tell(outside: PublishedEvents) -> None:
    outside.world.needing()
    outside.world.clock.advance(60)
    assert told(outside, TICK, left=20_000) == {"published": 0, "failed": 0, "complete": False}
    assert told(outside, TICK, left=20_001)["published"] == 1


def metrics_of(text: str) -> list[dict[str, Any]]:
    """Of each round, what was emitted as embedded metrics, by name."""
    return [
        {name["Name"]: blob[name["Name"]][0] for name in blob["_aws"]["CloudWatchMetrics"][0]["Metrics"]}
        for blob in (json.loads(line) for line in text.splitlines() if '"_aws"' in line)
    ]


def test_a_round_is_told_as_metrics_and_its_age_comes_from_the_schedule_alone(
    outside: PublishedEvents, capsys: pytest.CaptureFixture[str]
) -> None:
    told(outside, STREAM)
    outside.world.needing()
    outside.world.clock.advance(3_600)
    told(outside, TICK)
    told(outside, TICK)
    assert metrics_of(capsys.readouterr().out) == [
        {"EventsPublished": 2, "EventsFailed": 0},
        {"EventsPublished": 1, "EventsFailed": 0, "UnpublishedAgeSeconds": 3_600},
        {"EventsPublished": 0, "EventsFailed": 0, "UnpublishedAgeSeconds": 0},
    ]


def test_metrics_carry_the_dimension_that_the_alarm_looks_at(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("POWERTOOLS_SERVICE_NAME", "publish_events")
    handler.measure(PublishReport(), oldest_seconds=0)
    (line,) = capsys.readouterr().out.splitlines()
    (emitted,) = json.loads(line)["_aws"]["CloudWatchMetrics"]
    assert (emitted["Namespace"], emitted["Dimensions"]) == ("Baton", [["service"]])
    assert json.loads(line)["service"] == "publish_events"


def test_no_event_and_no_title_is_logged(outside: PublishedEvents, capsys: pytest.CaptureFixture[str]) -> None:
    outside.bus.refuses.add("demo:task_example1:1")
    told(outside, STREAM)
    text = capsys.readouterr().out + json.dumps(outside.world.logged)
    assert "events_published" in text
    assert "event_refused" in text
    assert "Handoff:" not in text


def put_rule(name: str) -> None:
    pattern = json.dumps({"source": ["baton"]})
    boto3.client("events").put_rule(Name=name, EventBusName="baton-events", EventPattern=pattern)


@pytest.fixture
def account(monkeypatch: pytest.MonkeyPatch, function_environment: None, dynamo: FakeDynamo) -> Iterator[Deps]:
    """A table, and moto's bus, as a deployment has them."""
    with mock_aws():
        boto3.client("events").create_event_bus(Name="baton-events")
        put_rule("listener")
        monkeypatch.setenv("BATON_BUS", "baton-events")
        forget_all()
        yield replace(wire(), clock=FakeClock(NOON))


def runs(account: Deps) -> list[int]:
    """How many events each of two runs sends, after a task was made."""
    for slug in ("scout", "auditor"):
        register_agent(account, human("demo"), slug, {"name": slug})
    create_handoff_marker(account, agent("scout", "demo"), marker_body(target_agent="auditor"))
    return [handler.lambda_handler(event_of(TICK), FakeContext())["published"] for _ in range(2)]


def has_pending_events(account: Deps) -> bool:
    return any(each.events for page in account.store.outbox.pending_tasks(NOON) for each in page)


def test_wired_up_it_empties_the_outbox(account: Deps) -> None:
    """What a rule then hears is shown on the deployed stack."""
    assert runs(account) == [1, 0]
    assert not has_pending_events(account)


@pytest.mark.parametrize("listeners", ["none", "disabled"])
def test_while_nobody_listens_nothing_is_sent_and_nothing_is_left_over(
    account: Deps, listeners: str, capsys: pytest.CaptureFixture[str]
) -> None:
    events = boto3.client("events")
    events.disable_rule(Name="listener", EventBusName="baton-events")
    if listeners == "none":
        events.delete_rule(Name="listener", EventBusName="baton-events")
    assert runs(account) == [0, 0]
    assert not has_pending_events(account)
    told = capsys.readouterr().out
    assert told.count('"action":"bus_unheard"') == 1
    assert [each["EventsPublished"] for each in metrics_of(told)] == [0, 0]
    assert [each["EventsFailed"] for each in metrics_of(told)] == [0, 0]


@pytest.mark.parametrize(("events", "sent"), [("on", [1, 0]), ("off", [0, 0])])
def test_a_parameter_says_so_whoever_listens(
    account: Deps, events: str, sent: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    boto3.client("events").delete_rule(Name="listener", EventBusName="baton-events")
    if events == "off":
        put_rule("listener")
    monkeypatch.setenv("BATON_EVENTS", events)
    forget_all()
    assert runs(account) == sent
    assert not has_pending_events(account)
