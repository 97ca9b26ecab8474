"""Each call of a function, in each scenario, meets a throttled table. If the throttle ends within a second, the
function answers, stores and sends what the golden file says. If it lasts, it says in time that it is busy."""

from __future__ import annotations

import random
from functools import cache
from typing import Any

import pytest

from baton import bootstrap
from baton.adapters.dynamodb.concurrent_calls import run_in_turn
from baton.adapters.dynamodb.patience import Patience
from baton.domain.errors import Busy
from golden.bodies import handed
from golden.environment import ENVIRONMENT, Environment
from golden.play import Play
from golden.readable import written
from golden.test_golden import FILES, SCENARIOS
from support.clock import FakeClock
from support.faults.soak import IS_WHOLE, spread
from support.faults.throttle import Begins, Throttled

# What is written by one call that is tried once: nothing rests on it.
TRIED_ONCE = ("#SEEN", "#USE#", "#POLLS#", "#WATCH#")
SECONDS = 1.0
REQUESTS = ("api", "create_handoff_marker", "wait", "mcp_door", "notion_webhook", "listen")


def first_call(number: int, _operation: str, _request: dict[str, Any]) -> bool:
    return number == 1


def first_write(_number: int, operation: str, request: dict[str, Any]) -> bool:
    key = request.get("Item") or request.get("Key") or {"pk": {"S": ""}}
    is_write = operation in {"put_item", "update_item", "transact_write_items"}
    return is_write and not any(each in key["pk"]["S"] for each in TRIED_ONCE)


class Unseen(FakeClock):
    """Pauses that take nobody else's time, and none of the others' chance."""

    def monotonic(self) -> float:
        self._chance = random.getstate()
        return super().monotonic()

    def sleep(self, seconds: float) -> None:
        random.setstate(self._chance)
        super().sleep(seconds)


class ThrottledEnvironment(Environment):
    def __init__(self, monkeypatch: pytest.MonkeyPatch, begins: Begins) -> None:
        super().__init__(monkeypatch)
        self.pauses = Unseen()
        self.throttled = self.services["dynamodb"] = Throttled(self.dynamo, self.pauses, SECONDS, begins)
        monkeypatch.setattr(bootstrap, "_patience", cache(lambda: Patience(self.pauses)))
        monkeypatch.setattr(bootstrap, "ConcurrentCalls", lambda _: run_in_turn)  # of two, either might draw first

    def invoke(self, function: str, event: dict[str, Any]) -> Any:
        self.throttled.begin()
        return super().invoke(function, event)


class LastingEnvironment(ThrottledEnvironment):
    """Each call is made twice: while the table is throttled, and then while it isn't."""

    def invoke(self, function: str, event: dict[str, Any]) -> Any:
        began = self.pauses.monotonic()
        self.throttled.seconds = 600
        try:
            answer = super().invoke(function, event)
        except Busy:
            answer = {"failed": 1}
        if self.throttled.is_on:
            assert is_busy(answer) or function == "publish_events", "what isn't noted as told is told once more"
            if "batchItemFailures" in answer:
                queue = ENVIRONMENT["BATON_QUEUE_URL" if function == "process_task" else "BATON_TRACKER_QUEUE_URL"]
                hidden = self.queues.hidden[-1]
                assert (hidden["QueueUrl"], hidden["VisibilityTimeout"]) == (queue, 10)
            least = 3 if function in REQUESTS else 10
            assert least <= self.pauses.monotonic() - began < least + 2
        self.throttled.seconds = 0
        return super().invoke(function, event)


def is_busy(answer: dict[str, Any]) -> bool:
    """As each function tells it. A tool's answer, many approvals and an import of pages are a 200 whatever becomes of
    them."""
    if "statusCode" not in answer:
        return bool(answer.get("batchItemFailures") or answer.get("failed"))
    if "body" not in answer:  # of a message to the bell
        return bool(answer["statusCode"] == 503)
    return answer["statusCode"] in (200, 503) and ("busy" in answer["body"] or '"complete":false' in answer["body"])


# ``make soak``: each scenario with both; else with one of them, and the next one with the other.
BEGINS = (first_call, first_write)
PLAYED = [
    (name, begins)
    for number, name in enumerate(SCENARIOS)
    for turn, begins in enumerate(BEGINS)
    if IS_WHOLE or number % len(BEGINS) == turn
]


@pytest.mark.parametrize(("name", "begins"), PLAYED)
def test_a_second_of_throttle_shows_nowhere(name: str, begins: Begins, monkeypatch: pytest.MonkeyPatch) -> None:
    environment = ThrottledEnvironment(monkeypatch, begins)
    try:
        play = Play(environment)
        SCENARIOS[name](play)
    finally:
        environment.leave()
    assert written(play.told()) == (FILES / f"{name}.json").read_text(encoding="utf-8")


@pytest.mark.parametrize("name", spread(list(SCENARIOS), 4))
def test_what_lasts_is_busy_in_time(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    environment = LastingEnvironment(monkeypatch, first_write)
    try:
        SCENARIOS[name](Play(environment))
    finally:
        environment.leave()


class AtBothEnds(Throttled):
    """Of a call: almost as long as one is waited for, and from the 25th second on for good."""

    @property
    def is_on(self) -> bool:
        age = None if self._until is None else self._clock.monotonic() - (self._until - self.seconds)
        return age is not None and not self.seconds <= age <= 25


def test_a_long_poll_ends_within_its_functions_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("golden.environment.MILLISECONDS", 29_000)
    environment = Environment(monkeypatch)
    try:
        play = Play(environment)
        play.crew("scout", "auditor")
        task = handed(play)
        throttled = environment.services["dynamodb"] = AtBothEnds(
            environment.dynamo, environment.clock, 2.9, first_call
        )
        bootstrap.forget_all()
        began = environment.clock.monotonic()
        answer = play("human:alice", f"GET /tasks/{task}/await?timeout=25")
        took = environment.clock.monotonic() - began - 1  # the play's own
        assert answer["code"] == "busy"
        assert throttled.is_on
        assert 27.9 < took < 28.5
    finally:
        environment.leave()
