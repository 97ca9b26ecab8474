"""The tracker's function: what a notice sends, what is told of it, and what comes again."""

from __future__ import annotations

import gc
import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path
from typing import Any
from warnings import catch_warnings, simplefilter

import boto3
import pytest
from aws_lambda_powertools.metrics import Metrics
from moto import mock_aws

from baton.adapters.sqs_batch import MalformedMessage
from baton.adapters.system import RandomIds
from baton.bootstrap import forget_all, wire
from baton.domain.errors import TrackerAway
from baton.ports.deps import Deps
from baton.services.access.change_settings import change_settings
from baton.services.agents.register_agent import register_agent
from baton.services.escalations.create_handoff_marker import create_handoff_marker
from baton.services.tracker.set_tracker_token import set_tracker_token
from baton.steps.tracker.change_tracker_circuit import change_tracker_circuit, open_tracker_circuit
from support.context import FakeContext
from support.fakes.fake_dynamo import FakeDynamo
from support.fakes.ports import FakeDeadLetters, FakeVisibility
from support.faults.hooked_store import BusyStore
from support.sqs import failed_messages, sqs_batch
from support.worlds.notion_world import NotionWorld
from support.worlds.world import WORKSPACE, human, marker_body
from sync_tracker.handler import (
    TrackerNotice,
    TrackerNoticeHandler,
    answer_all,
    lambda_handler,
    notice_of,
)
from tools.stand_ins.fake_notion import FakeNotion, Fault
from tools.stand_ins.fake_notion.server import serve

EVENTS = Path(__file__).parents[3] / "events"
DEMO = "demo"


@dataclass
class TrackerConsumer:
    """What sync-tracker is: notices are answered, from a store that may be busy for some workspaces."""

    world: NotionWorld = field(default_factory=lambda: NotionWorld().settle())
    dead_letters: FakeDeadLetters = field(default_factory=FakeDeadLetters)
    visibility: FakeVisibility = field(default_factory=FakeVisibility)
    busy_for: frozenset[str] = frozenset()
    time_left: Callable[[], float] = lambda: 110.0

    def answer(self, bodies: list[str]) -> list[str]:
        """The message ids that come again."""
        deps: Deps = replace(self.world.deps, store=BusyStore(self.world.store, "of", self.busy_for))
        answering = TrackerNoticeHandler(deps, self.dead_letters, self.visibility, self.time_left, Metrics())
        result = answer_all(sqs_batch(bodies, "baton-tracker"), FakeContext(), answering)
        return failed_messages(result)

    def waiting(self) -> str:
        """A task whose page couldn't be made at once."""
        self.world.notion.fault = lambda _method, _path: Fault(status=503)
        task_id = self.world.needing()
        self.world.notion.fault = None
        self.world.clock.advance(120)
        return task_id


@pytest.fixture
def consumer() -> TrackerConsumer:
    return TrackerConsumer()


def notice(task_id: str | None = None, workspace: str = WORKSPACE) -> str:
    return json.dumps({"workspace": workspace, "task_id": task_id})


def lines(capsys: pytest.CaptureFixture[str]) -> list[dict[str, Any]]:
    return [json.loads(line) for line in capsys.readouterr().out.splitlines()]


def metrics(logged: list[dict[str, Any]]) -> dict[str, float]:
    """What was emitted as embedded metrics, added up."""
    (blob,) = [line for line in logged if "_aws" in line]
    return {each["Name"]: sum(blob[each["Name"]]) for each in blob["_aws"]["CloudWatchMetrics"][0]["Metrics"]}


def test_notice_of_a_task_sends_its_page(consumer: TrackerConsumer, capsys: pytest.CaptureFixture[str]) -> None:
    task_id = consumer.waiting()
    assert consumer.answer([notice(task_id)]) == []
    assert consumer.world.page(task_id).task_id == task_id
    logged = lines(capsys)
    (synced,) = [line for line in logged if line.get("action") == "tracker_synced"]
    assert (synced["message_id"], synced["workspace"], synced["task_id"]) == ("message-0", WORKSPACE, task_id)
    assert (synced["sent"], synced["failed"], synced["circuit_open"], synced["complete"]) == (1, 0, False, True)
    assert metrics(logged) == {"TrackerSent": 1, "TrackerFailed": 0, "TrackerGateClosed": 0}


def test_notice_of_no_task_sends_whatever_waits(consumer: TrackerConsumer) -> None:
    task_id = consumer.waiting()
    assert consumer.answer([notice()]) == []
    assert consumer.world.page(task_id).task_id == task_id


def test_notice_that_comes_twice_makes_one_page(consumer: TrackerConsumer) -> None:
    task_id = consumer.waiting()
    assert consumer.answer([notice(task_id), notice(task_id)]) == []
    assert consumer.answer([notice(task_id)]) == []
    assert consumer.world.page(task_id).task_id == task_id


def test_notice_of_a_workspace_without_a_tracker_is_acknowledged(consumer: TrackerConsumer) -> None:
    assert consumer.answer([notice(workspace="other"), notice("task_none", "other")]) == []


def test_a_tracker_that_does_not_answer_is_told_and_the_message_may_go(
    consumer: TrackerConsumer, capsys: pytest.CaptureFixture[str]
) -> None:
    """The outbox tries again by itself: what comes back over and over would end among the dead letters."""
    task_id = consumer.waiting()
    consumer.world.notion.fault = lambda _method, _path: Fault(status=503)
    assert consumer.answer([notice(task_id)]) == []
    counts = metrics(lines(capsys))
    assert (counts["TrackerFailed"], counts["TrackerGateClosed"]) == (1, 1)


def test_open_circuit_is_counted(consumer: TrackerConsumer, capsys: pytest.CaptureFixture[str]) -> None:
    task_id = consumer.waiting()
    consumer.world.notion.fault = lambda _method, _path: Fault(status=503)
    assert consumer.answer([notice(task_id), notice(task_id)]) == []
    assert metrics(lines(capsys))["TrackerGateClosed"] == 2


def test_nothing_is_begun_when_time_is_short(consumer: TrackerConsumer, capsys: pytest.CaptureFixture[str]) -> None:
    task_id = consumer.waiting()
    consumer.time_left = lambda: 12.0
    assert consumer.answer([notice(task_id)]) == []
    (synced,) = [line for line in lines(capsys) if line.get("action") == "tracker_synced"]
    assert (synced["sent"], synced["complete"]) == (0, False)
    assert consumer.world.row(task_id).page is None


def test_only_the_message_that_failed_comes_again(
    consumer: TrackerConsumer, capsys: pytest.CaptureFixture[str]
) -> None:
    task_id = consumer.waiting()
    consumer.busy_for = frozenset({"silent"})
    assert consumer.answer([notice(workspace="silent"), notice(task_id)]) == ["message-0"]
    assert consumer.world.page(task_id).task_id == task_id
    failed = [line for line in lines(capsys) if line.get("action") == "tracker_bell_failed"]
    assert [(line["message_id"], line["error"]) for line in failed] == [("message-0", "Busy")]


def test_batch_that_fails_as_a_whole_is_no_error_of_the_function(consumer: TrackerConsumer) -> None:
    consumer.busy_for = frozenset({WORKSPACE})
    assert consumer.answer([notice()]) == ["message-0"]
    assert consumer.visibility.hidden == [("handle-0", 10)]


MALFORMED = [
    "",
    "not json",
    "[]",
    "null",
    "[" * 100_000,
    "{}",
    '{"workspace": "acme"}',
    '{"workspace": "acme", "task_id": 1}',
    '{"workspace": "acme", "task_id": ""}',
    '{"workspace": "acme", "task_id": "a b"}',
    '{"workspace": null, "task_id": null}',
    '{"workspace": "a/b", "task_id": null}',
]


@pytest.mark.parametrize("body", MALFORMED)
def test_malformed_message_is_refused(body: str) -> None:
    with pytest.raises(MalformedMessage):
        notice_of(body)


def test_a_notice_names_a_workspace_and_maybe_a_task() -> None:
    assert notice_of(notice("task_1")) == TrackerNotice(workspace=WORKSPACE, task_id="task_1")
    assert notice_of(notice()) == TrackerNotice(workspace=WORKSPACE, task_id=None)


def test_a_field_that_a_newer_version_sends_is_ignored() -> None:
    newer = json.dumps(json.loads(notice("task_1")) | {"of_a_newer_version": 1})
    assert notice_of(newer) == notice_of(notice("task_1"))


def test_malformed_message_is_given_up_visibly_and_stops_nothing(
    consumer: TrackerConsumer, capsys: pytest.CaptureFixture[str]
) -> None:
    task_id = consumer.waiting()
    assert consumer.answer(["not json", notice(task_id)]) == []
    assert consumer.dead_letters.letters == [("not json", "not JSON")]
    assert consumer.world.page(task_id).task_id == task_id
    logged = lines(capsys)
    assert metrics(logged)["MalformedMessage"] == 1
    assert [line["message_id"] for line in logged if line.get("action") == "message_given_up"] == ["message-0"]


def test_malformed_message_comes_again_while_it_cannot_be_given_up(consumer: TrackerConsumer) -> None:
    consumer.dead_letters.is_away = True
    assert consumer.answer(["not json"]) == ["message-0"]


def test_no_payload_is_logged(consumer: TrackerConsumer, capsys: pytest.CaptureFixture[str]) -> None:
    consumer.answer(['{"hush": 1}', notice(consumer.waiting())])
    logged = capsys.readouterr().out
    assert logged
    assert "hush" not in logged
    assert "Stale spike" not in logged
    assert "ntn_" not in logged


# The event files, through the handler, on the real adapters and the stand-in for Notion


class KnownIds(RandomIds):
    """``task_example1`` is the task, as the event files name it."""

    def new(self, prefix: str, at: datetime) -> str:
        return "task_example1" if prefix == "task" else super().new(prefix, at)


@dataclass
class Account:
    notion: FakeNotion
    dead_letters_url: str

    def handle(self, name: str) -> Any:
        event = json.loads((EVENTS / f"sync_tracker-{name}.json").read_text(encoding="utf-8"))
        return lambda_handler(event, FakeContext())


@pytest.fixture
def account(monkeypatch: pytest.MonkeyPatch, function_environment: None, dynamo: FakeDynamo) -> Iterator[Account]:
    """With a task whose row in the outbox was just put back, and a tracker that answers again."""
    notion = FakeNotion(any_token=True)
    database = notion.add_database()
    with mock_aws(), serve(notion) as server:
        urls = [boto3.client("sqs").create_queue(QueueName=name)["QueueUrl"] for name in ("tracker", "dead")]
        monkeypatch.setenv("BATON_TRACKER_QUEUE_URL", urls[0])
        monkeypatch.setenv("BATON_TRACKER_DLQ_URL", urls[1])
        monkeypatch.setenv("BATON_NOTION_URL", server.url)
        forget_all()
        deps = replace(wire(), ids=KnownIds())
        for slug in ("scout", "auditor"):
            register_agent(deps, human(DEMO), slug, {"name": slug})
        set_tracker_token(deps, human(DEMO), "ntn_secret")
        change_settings(deps, human(DEMO), {"tracker": {"database": database.id}})
        open_tracker_circuit(deps, DEMO, TrackerAway("It is away."))
        create_handoff_marker(deps, human(DEMO), marker_body())
        change_tracker_circuit(deps, DEMO, lambda circuit: circuit.closed(deps.clock.now()))
        yield Account(notion, urls[1])
    forget_connections()


def forget_connections() -> None:
    """Those to the tracker are never closed: they end with their process."""
    with catch_warnings():
        simplefilter("ignore", ResourceWarning)
        forget_all()
        gc.collect()


@pytest.mark.parametrize("name", ["bell", "bell_of_no_task"])
def test_event_of_a_notice_sends_the_page(account: Account, name: str) -> None:
    assert account.notion.pages == {}
    assert account.handle(name) == {"batchItemFailures": []}
    (page,) = account.notion.pages.values()
    assert page.task_id == "task_example1"
    assert account.handle(name) == {"batchItemFailures": []}
    assert len(account.notion.pages) == 1


def test_event_of_a_malformed_message_goes_to_the_dead_letters(account: Account) -> None:
    assert account.handle("malformed") == {"batchItemFailures": []}
    sqs = boto3.client("sqs")
    (letter,) = sqs.receive_message(QueueUrl=account.dead_letters_url, MessageAttributeNames=["All"])["Messages"]
    assert letter["Body"] == '{"task_id": "task_example1"}'
    assert letter["MessageAttributes"]["reason"]["StringValue"] == "without one of the fields task_id, workspace"
    assert account.notion.pages == {}
