"""Outages in the worker's log."""

from __future__ import annotations

import io
import json
from typing import Any

import pytest

from baton_cli.worker.api_client import post
from baton_cli.worker.log import Log
from baton_cli.worker.outage_log import LoggedApi, OutageLog
from baton_client.core import Answer, body_of

LOST = Answer(why="Connection refused", url="http://baton.test")
PAGE = Answer(why="403 without a code of Baton's (type text/html)", url="http://baton.test", foreign=403)
BUSY = Answer(503, {}, {"code": "busy"})
DONE = Answer(200, {}, {})


class PlayedApi:
    """Gives an answer until it is told another one."""

    answer = DONE

    def request(self, *_: Any, **__: Any) -> Answer:
        return self.answer if self.answer.status else body_of(self.answer)

    def close(self) -> None: ...


class World:
    def __init__(self) -> None:
        self.now, self.stream, self.played = 0.0, io.StringIO(), PlayedApi()
        outages = OutageLog(Log(self.stream), clock=lambda: self.now)
        self.apis = [LoggedApi(self.played, outages), LoggedApi(self.played, outages)]

    def pass_(self, seconds: int, answer: Answer) -> list[tuple[str, str]]:
        """Returns the events of so many seconds, in which each of two workers sends a request each second."""
        self.played.answer = answer
        for _ in range(seconds):
            self.now += 1
            for api in self.apis:
                post(api, "/agents/qa/claims", {})
        return [(each["action"], each["message"]) for each in self.taken()]

    def taken(self) -> list[dict[str, str]]:
        lines = self.stream.getvalue().splitlines()
        self.stream.truncate(0)
        self.stream.seek(0)
        return [json.loads(each) for each in lines]


@pytest.mark.parametrize(
    ("answer", "cause"),
    [
        (LOST, "http://baton.test doesn't answer: Connection refused"),
        (PAGE, "http://baton.test doesn't answer: 403 without a code of Baton's (type text/html)"),
        (BUSY, "the API answers 503"),
    ],
)
def test_the_cause_is_logged_after_a_minute_and_then_once_a_minute(answer: Answer, cause: str) -> None:
    world = World()
    assert world.pass_(60, answer) == []
    assert world.pass_(60, answer) == [("outage", f"for 60 s: {cause}")]
    assert world.pass_(120, answer) == [("outage", f"for 120 s: {cause}"), ("outage", f"for 180 s: {cause}")]
    assert world.pass_(1, DONE) == [("outage_over", "Baton answers again after 240 s")]
    assert world.pass_(100, DONE) == []


def test_a_short_outage_is_not_logged_and_each_one_counts_from_its_beginning() -> None:
    world = World()
    for _ in range(5):
        assert world.pass_(59, LOST) == []
        assert world.pass_(1, DONE) == []


def test_an_outage_begins_when_its_first_request_was_sent() -> None:
    world = World()
    world.played.answer = LOST
    outages = OutageLog(Log(world.stream), clock=lambda: 61.0)
    outages.missed(1.0, "no answer in time")
    assert [each["message"] for each in world.taken()] == ["for 60 s: no answer in time"]


def test_a_refusal_of_batons_is_an_answer() -> None:
    world = World()
    assert world.pass_(200, Answer(403, {}, {"code": "inactive_agent"})) == []
