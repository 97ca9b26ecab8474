"""The dispatch queue's function: partial batches, malformed messages, duplicates."""

from __future__ import annotations

import json
from dataclasses import dataclass, field, replace
from typing import Any

import pytest
from aws_lambda_powertools.metrics import Metrics

from baton.adapters.sqs_batch import MalformedMessage
from baton.domain.agents.agent import Approval, Runtime
from baton.domain.errors import Conflict, WrittenByNewer
from baton.ports.deps import Deps
from baton.ports.runs import RunFailed, RunInput, RunSucceeded
from baton.services.agents.register_agent import register_agent
from baton.services.runs.process_task import TimeBudget
from process_task.handler import DispatchNoticeHandler, answer_all, notice_of
from support.context import FakeContext
from support.fakes.ports import FakeDeadLetters, FakeVisibility
from support.faults.hooked_store import BusyStore, HookedStore
from support.faults.soak import spread
from support.sqs import failed_messages, sqs_batch
from support.worlds.world import WORKSPACE, World, human, marker_body

AGENTS = [f"runner-{number}" for number in range(10)]


class Echo:
    def __init__(self) -> None:
        self.ran: list[str] = []

    def run(self, work: RunInput) -> RunSucceeded | RunFailed:
        self.ran.append(work.details.task.id)
        return RunSucceeded({"echo": work.details.task.title})


@dataclass
class DispatchConsumer:
    """What process-task is: notices are answered, from a store that may be busy for some agents."""

    world: World
    runner: Echo
    dead_letters: FakeDeadLetters
    store: Any
    visibility: FakeVisibility = field(default_factory=FakeVisibility)

    def answer(self, bodies: list[str], received: int = 1) -> list[str]:
        """The message ids that come again."""
        deps: Deps = replace(self.world.deps, store=self.store)
        time_budget = TimeBudget(lease_seconds=150, time_left=lambda: 60)
        queue = self.dead_letters, self.visibility
        answering = DispatchNoticeHandler(deps, self.runner, *queue, time_budget, Metrics())
        result = answer_all(sqs_batch(bodies, received=received), FakeContext(), answering)
        return failed_messages(result)

    def task(self, slug: str) -> str:
        body = marker_body(target_agent=slug, source_agent="scout", task_priority="P1")
        made = self.world.mark(**body)
        assert made.task_id
        self.world.clock.advance(3)
        return made.task_id


@pytest.fixture
def consumer() -> DispatchConsumer:
    return a_consumer()


def a_consumer() -> DispatchConsumer:
    world = World().settle()
    for slug in AGENTS:
        register_agent(world.deps, human(), slug, {"name": slug, "runtime": Runtime.RUN, "approval": Approval.AUTO})
    return DispatchConsumer(world, Echo(), FakeDeadLetters(), BusyStore(world.store, "agent"))


def notice(agent: str, task_id: str = "task_1", workspace: str = WORKSPACE) -> str:
    return json.dumps({"workspace": workspace, "agent": agent, "task_id": task_id})


def test_notice_runs_the_task_to_its_end(consumer: DispatchConsumer) -> None:
    task_id = consumer.task("runner-0")
    assert consumer.answer([notice("runner-0", task_id)]) == []
    assert consumer.world.task(task_id).state == "done"
    assert consumer.world.trail(task_id)[-2:] == ["handoff_received", "handoff_completed"]


def test_notice_that_comes_twice_runs_its_task_once(consumer: DispatchConsumer) -> None:
    task_id = consumer.task("runner-0")
    assert consumer.answer([notice("runner-0", task_id)] * 3) == []
    assert consumer.runner.ran == [task_id]


def test_notice_of_nothing_is_acknowledged(consumer: DispatchConsumer) -> None:
    assert consumer.answer([notice("runner-0"), notice("nobody"), notice("runner-0", workspace="other")]) == []


def test_other_workspaces_notice_touches_nothing(consumer: DispatchConsumer) -> None:
    consumer.world.settle("other")
    task_id = consumer.task("runner-0")
    assert consumer.answer([notice("runner-0", task_id, "other"), notice("runner", task_id, "other")]) == []
    assert consumer.world.task(task_id).state == "delegated"


def test_agents_that_pull_are_not_run(consumer: DispatchConsumer) -> None:
    task_id = consumer.world.ready()
    assert consumer.answer([notice("auditor", task_id)]) == []
    assert consumer.world.task(task_id).state == "delegated"


def test_all_1024_failure_masks_of_a_batch_of_ten() -> None:
    """Every 170th mask, all under ``make soak``. Exactly the failed messages come again; the others' tasks
    are done, and after the second try all are, once."""
    for mask in spread(range(1_024), 170):
        consumer = a_consumer()
        tasks = {slug: consumer.task(slug) for slug in AGENTS}
        silent = [slug for number, slug in enumerate(AGENTS) if mask >> number & 1]
        consumer.store.busy_for = frozenset(silent)
        again = consumer.answer([notice(slug, tasks[slug]) for slug in AGENTS])
        assert again == [f"message-{AGENTS.index(slug)}" for slug in silent]
        assert [slug for slug in AGENTS if consumer.world.task(tasks[slug]).state != "done"] == silent
        consumer.store.busy_for = frozenset()
        assert not silent or consumer.answer([notice(slug, tasks[slug]) for slug in silent]) == []
        assert sorted(consumer.runner.ran) == sorted(tasks.values())


@pytest.mark.parametrize(("received", "seconds"), [(1, 10), (2, 20), (3, 40)])
def test_a_message_of_a_busy_moment_comes_again_soon(consumer: DispatchConsumer, received: int, seconds: int) -> None:
    """And no other of its batch."""
    consumer.store.busy_for = frozenset({"runner-1"})
    notices = [notice(slug, consumer.task(slug)) for slug in ("runner-0", "runner-1")]
    assert consumer.answer(notices, received) == ["message-1"]
    assert consumer.visibility.hidden == [("handle-1", seconds)]


@pytest.mark.parametrize("received", [4, 5])
def test_the_last_receives_of_a_message_take_the_queues_time(consumer: DispatchConsumer, received: int) -> None:
    """A table that is away for minutes makes no dead letter: that takes two receives after 12 minutes each."""
    consumer.store.busy_for = frozenset({"runner-0"})
    assert consumer.answer([notice("runner-0", consumer.task("runner-0"))], received) == ["message-0"]
    assert consumer.visibility.hidden == []


@pytest.mark.parametrize(
    ("error", "is_passing"), [(Conflict("task"), True), (WrittenByNewer(), True), (KeyError(), False)]
)
def test_only_what_passes_brings_a_message_again_soon(
    consumer: DispatchConsumer, error: Exception, *, is_passing: bool
) -> None:
    def fail() -> None:
        raise error

    task_id = consumer.task("runner-0")
    consumer.store = HookedStore(consumer.world.store)
    consumer.store.before["agent"] = fail
    assert consumer.answer([notice("runner-0", task_id)]) == ["message-0"]
    assert bool(consumer.visibility.hidden) is is_passing


MALFORMED = [
    "",
    "not json",
    "[]",
    "null",
    "[" * 100_000,
    "{}",
    '{"workspace": "acme", "agent": "runner"}',
    '{"workspace": "acme", "agent": "runner", "task_id": 1}',
    '{"workspace": "acme", "agent": "Run Ner", "task_id": "t"}',
    '{"workspace": "a b", "agent": "runner", "task_id": "t"}',
    '{"workspace": "acme", "agent": "runner", "task_id": ""}',
]


@pytest.mark.parametrize("body", MALFORMED)
def test_malformed_message_is_refused(body: str) -> None:
    with pytest.raises(MalformedMessage):
        notice_of(body)


def test_a_field_that_a_newer_version_sends_is_ignored() -> None:
    newer = json.dumps(json.loads(notice("runner", "task_1")) | {"of_a_newer_version": 1})
    assert notice_of(newer) == notice_of(notice("runner", "task_1"))


def test_malformed_message_is_given_up_visibly_and_stops_nothing(
    consumer: DispatchConsumer, capsys: pytest.CaptureFixture[str]
) -> None:
    task_id = consumer.task("runner-0")
    assert consumer.answer(["not json", notice("runner-0", task_id)]) == []
    assert consumer.dead_letters.letters == [("not json", "not JSON")]
    assert consumer.world.task(task_id).state == "done"
    lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [line["MalformedMessage"] for line in lines if "_aws" in line] == [[1.0]]
    assert [line["message_id"] for line in lines if line.get("action") == "message_given_up"] == ["message-0"]


def test_malformed_message_comes_again_while_it_cannot_be_given_up(consumer: DispatchConsumer) -> None:
    consumer.dead_letters.is_away = True
    assert consumer.answer(["not json"]) == ["message-0"]


def test_no_payload_is_logged(consumer: DispatchConsumer, capsys: pytest.CaptureFixture[str]) -> None:
    consumer.answer(['{"hush": 1}', notice("runner-0", consumer.task("runner-0"))])
    logged = capsys.readouterr().out
    assert logged
    assert "hush" not in logged
    assert "Stale spike" not in logged
