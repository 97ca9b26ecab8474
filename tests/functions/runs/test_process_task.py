"""The dispatch queue's function: partial batches, malformed messages, duplicates."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from typing import Any

import pytest
from aws_lambda_powertools.metrics import Metrics

from baton.adapters.sqs_batch import MalformedMessage
from baton.domain.agents.agent import Approval, Runtime
from baton.domain.errors import Busy
from baton.ports.deps import Deps
from baton.ports.runs import RunFailed, RunInput, RunSucceeded
from baton.services.agents.register_agent import register_agent
from baton.services.runs.process_task import TimeBudget
from process_task.handler import DispatchNoticeHandler, answer_all, notice_of
from support.context import FakeContext
from support.fakes.ports import FakeDeadLetters
from support.faults.soak import spread
from support.worlds.world import WORKSPACE, World, human, marker_body

AGENTS = [f"runner-{number}" for number in range(10)]


class Echo:
    def __init__(self) -> None:
        self.ran: list[str] = []

    def run(self, work: RunInput) -> RunSucceeded | RunFailed:
        self.ran.append(work.details.task.id)
        return RunSucceeded({"echo": work.details.task.title})


@dataclass
class Flaky:
    """A store that doesn't answer for some agents."""

    store: Any
    silent: frozenset[str] = frozenset()

    def read_for_dispatch(self, workspace: str, task_id: str, slug: str) -> Any:
        if slug in self.silent:
            raise Busy
        return self.store.read_for_dispatch(workspace, task_id, slug)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.store, name)


@dataclass
class Floor:
    """Where notices are answered."""

    world: World
    runner: Echo
    dead_letters: FakeDeadLetters
    store: Flaky

    def answer(self, bodies: list[str]) -> list[str]:
        """The message ids that come again."""
        deps: Deps = replace(self.world.deps, store=self.store)
        time_budget = TimeBudget(lease_seconds=150, time_left=lambda: 60)
        answering = DispatchNoticeHandler(deps, self.runner, self.dead_letters, time_budget, Metrics())
        result = answer_all(batch(bodies), FakeContext(), answering)
        return [failure["itemIdentifier"] for failure in result["batchItemFailures"]]

    def task(self, slug: str) -> str:
        body = marker_body(target_agent=slug, source_agent="scout", task_priority="P1")
        made = self.world.mark(**body)
        assert made.task_id
        self.world.clock.advance(3)
        return made.task_id


@pytest.fixture
def floor() -> Floor:
    return a_floor()


def a_floor() -> Floor:
    world = World().settle()
    for slug in AGENTS:
        register_agent(world.deps, human(), slug, {"name": slug, "runtime": Runtime.RUN, "approval": Approval.AUTO})
    return Floor(world, Echo(), FakeDeadLetters(), Flaky(world.store))


def notice(agent: str, task_id: str = "task_1", workspace: str = WORKSPACE) -> str:
    return json.dumps({"workspace": workspace, "agent": agent, "task_id": task_id})


def batch(bodies: list[str]) -> dict[str, Any]:
    return {
        "Records": [
            {
                "messageId": f"message-{number}",
                "receiptHandle": "handle",
                "body": body,
                "attributes": {"ApproximateReceiveCount": "1"},
                "messageAttributes": {},
                "md5OfBody": "",
                "eventSource": "aws:sqs",
                "eventSourceARN": "arn:aws:sqs:us-east-1:123456789012:baton",
                "awsRegion": "us-east-1",
            }
            for number, body in enumerate(bodies)
        ]
    }


def test_notice_runs_the_task_to_its_end(floor: Floor) -> None:
    task_id = floor.task("runner-0")
    assert floor.answer([notice("runner-0", task_id)]) == []
    assert floor.world.task(task_id).state == "done"
    assert floor.world.trail(task_id)[-2:] == ["handoff_received", "handoff_completed"]


def test_notice_that_comes_twice_runs_its_task_once(floor: Floor) -> None:
    task_id = floor.task("runner-0")
    assert floor.answer([notice("runner-0", task_id)] * 3) == []
    assert floor.runner.ran == [task_id]


def test_notice_of_nothing_is_acknowledged(floor: Floor) -> None:
    assert floor.answer([notice("runner-0"), notice("nobody"), notice("runner-0", workspace="other")]) == []


def test_other_workspaces_notice_touches_nothing(floor: Floor) -> None:
    floor.world.settle("other")
    task_id = floor.task("runner-0")
    assert floor.answer([notice("runner-0", task_id, "other"), notice("runner", task_id, "other")]) == []
    assert floor.world.task(task_id).state == "delegated"


def test_agents_that_pull_are_not_run(floor: Floor) -> None:
    task_id = floor.world.ready()
    assert floor.answer([notice("auditor", task_id)]) == []
    assert floor.world.task(task_id).state == "delegated"


def test_all_1024_failure_masks_of_a_batch_of_ten() -> None:
    """Every tenth mask, all under ``make soak``. Exactly the failed messages come again; the others' tasks
    are done, and after the second try all are, once."""
    for mask in spread(range(1_024)):
        floor = a_floor()
        tasks = {slug: floor.task(slug) for slug in AGENTS}
        silent = [slug for number, slug in enumerate(AGENTS) if mask >> number & 1]
        floor.store.silent = frozenset(silent)
        again = floor.answer([notice(slug, tasks[slug]) for slug in AGENTS])
        assert again == [f"message-{AGENTS.index(slug)}" for slug in silent]
        assert [slug for slug in AGENTS if floor.world.task(tasks[slug]).state != "done"] == silent
        floor.store.silent = frozenset()
        assert not silent or floor.answer([notice(slug, tasks[slug]) for slug in silent]) == []
        assert sorted(floor.runner.ran) == sorted(tasks.values())


MALFORMED = [
    "",
    "not json",
    "[]",
    "null",
    "[" * 100_000,
    "{}",
    '{"workspace": "acme", "agent": "runner"}',
    '{"workspace": "acme", "agent": "runner", "task_id": "t", "extra": 1}',
    '{"workspace": "acme", "agent": "runner", "task_id": 1}',
    '{"workspace": "acme", "agent": "Run Ner", "task_id": "t"}',
    '{"workspace": "a b", "agent": "runner", "task_id": "t"}',
    '{"workspace": "acme", "agent": "runner", "task_id": ""}',
]


@pytest.mark.parametrize("body", MALFORMED)
def test_malformed_message_is_refused(body: str) -> None:
    with pytest.raises(MalformedMessage):
        notice_of(body)


def test_malformed_message_is_given_up_visibly_and_stops_nothing(
    floor: Floor, capsys: pytest.CaptureFixture[str]
) -> None:
    task_id = floor.task("runner-0")
    assert floor.answer(["not json", notice("runner-0", task_id)]) == []
    assert floor.dead_letters.letters == [("not json", "not JSON")]
    assert floor.world.task(task_id).state == "done"
    lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [line["MalformedMessage"] for line in lines if "_aws" in line] == [[1.0]]
    assert [line["message_id"] for line in lines if line.get("action") == "message_given_up"] == ["message-0"]


def test_malformed_message_comes_again_while_it_cannot_be_given_up(floor: Floor) -> None:
    floor.dead_letters = Deaf()
    assert floor.answer(["not json"]) == ["message-0"]


class Deaf(FakeDeadLetters):
    def give_up(self, body: str, reason: str) -> None:
        raise Busy


def test_no_payload_is_logged(floor: Floor, capsys: pytest.CaptureFixture[str]) -> None:
    floor.answer(['{"hush": 1}', notice("runner-0", floor.task("runner-0"))])
    logged = capsys.readouterr().out
    assert logged
    assert "hush" not in logged
    assert "Stale spike" not in logged
