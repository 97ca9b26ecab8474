"""The client without a wire: its flows are played by a list of answers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from baton_client import core, operations
from baton_client.claiming import Claiming, ClaimOrder
from baton_client.core import Answer, Flow, Listen, Patience, Pause, Request, Send, Step
from baton_client.errors import ClaimLost, NoAnswer, ServerFailed, StaleClaim, Unreadable
from baton_client.polls import Again, LongPoll
from baton_client.verbs import waited

PATIENCE = Patience(drawn=max)
POST: Request[Any] = Request("POST", "/handoffs", {"a": 1}, key="k1")
BUSY = Answer(503, {"retry-after": "7"}, {"code": "busy"})
AWAITED = {"id": "task_1", "state": "next", "title": "T", "timed_out": True}


def played(flow: Flow[Any], answers: Sequence[Answer]) -> tuple[Any, list[Step]]:
    """Returns the flow's result, and what it wanted done."""
    steps, left = list[Step](), list(answers)
    try:
        step = next(flow)
        while True:
            steps.append(step)
            step = flow.send(Answer(took=step.seconds) if isinstance(step, Pause) else left.pop(0))
    except StopIteration as ended:
        return ended.value, steps


def test_a_request_with_a_key_is_sent_again_under_the_same_one() -> None:
    found, steps = played(core.call(POST, PATIENCE), [Answer(why="reset"), BUSY, Answer(201, json={"ok": True})])
    assert found == {"ok": True}
    assert [each.request.key for each in steps if isinstance(each, Send)] == ["k1"] * 3
    assert [each.seconds for each in steps if isinstance(each, Pause)] == [0.5, 7.5]


def test_what_might_be_done_twice_is_sent_once() -> None:
    with pytest.raises(NoAnswer):
        played(core.call(Request("POST", "/x", {}), PATIENCE), [Answer(why="reset")])


def test_an_end_of_patience_is_what_was_answered_last() -> None:
    with pytest.raises(ServerFailed) as caught:
        played(core.call(POST, PATIENCE), [BUSY] * 4)
    assert (caught.value.code, caught.value.retry_after) == ("busy", 7.0)


def test_a_refusal_is_of_the_class_of_its_code_or_else_of_its_status() -> None:
    with pytest.raises(StaleClaim) as caught:
        core.body_of(Answer(409, json={"code": "stale_claim", "detail": "gone"}))
    assert isinstance(caught.value, ClaimLost)
    with pytest.raises(ServerFailed):
        core.body_of(Answer(502, json={"code": "stale_claim"}))


@pytest.mark.parametrize(
    "answer",
    [Answer(302), Answer(200, json="<html>"), Answer(200, json=[1]), Answer(200), Answer(200, why="too large")],
)
def test_what_is_not_batons_is_said_so(answer: Answer) -> None:
    with pytest.raises(Unreadable):
        core.body_of(answer)


def test_an_operation_names_its_path_its_query_and_a_key() -> None:
    request = operations.list_all_alerts(state="open", snoozed=None, limit=5)
    assert (request.method, request.path) == ("GET", "/alerts?limit=5&state=open")
    assert operations.get_task("../x").path == "/tasks/..%2Fx"
    first, second = operations.create_marker({}).key, operations.create_marker({}).key  # type: ignore[typeddict-item]
    assert first != second
    assert operations.heartbeat("t", {"claim_id": "c"}).may_repeat


def test_a_wait_that_is_refused_looks_once_and_the_next_one_stays_away() -> None:
    polls, wait, look = LongPoll(PATIENCE), operations.await_a_task("t", timeout=20), operations.await_a_task("t")
    refused = Answer(429, {"retry-after": "2"}, {"code": "too_many_polls"})
    _, steps = played(polls.wait(wait, look, 20), [refused, Answer(200, json=AWAITED)])
    assert [each.request for each in steps if isinstance(each, Send)] == [wait, look]
    _, steps = played(polls.wait(wait, look, 20), [Answer(200, json=AWAITED, took=20)])
    assert isinstance(steps[0], Pause)
    assert 2 <= steps[0].seconds <= 2.5


def test_a_wait_is_by_the_bell_where_it_rings_and_by_polls_where_not() -> None:
    ended = AWAITED | {"state": "done", "timed_out": False}
    flow = waited(PATIENCE, "task_1", "ended", None)
    still = Answer(200, json=AWAITED)
    task, steps = played(flow, [still, Answer(200, took=9), still, Answer(0), Answer(200, json=ended, took=3)])
    assert task.is_done
    assert [isinstance(each, Listen) for each in steps] == [False, True, False, True, False]
    paths = [each.request.path for each in steps if isinstance(each, Send)]
    assert paths == [f"/tasks/task_1/await?state=ended&timeout={each}" for each in (0, 0, 20.0)]


def test_a_wait_ends_with_its_seconds() -> None:
    task, steps = played(waited(PATIENCE, "task_1", "ended", 5), [Answer(200, json=AWAITED), Answer(200, took=5)] * 2)
    assert not task.has_ended
    assert len(steps) == 3


def test_an_answer_that_has_not_changed_is_the_known_one() -> None:
    again, request = Again(), Request[Any]("GET", "/tasks")
    played(again.get(request, PATIENCE), [Answer(200, {"etag": "W/1"}, {"items": [1]})])
    found, steps = played(again.get(request, PATIENCE), [Answer(304)])
    assert found == {"items": [1]}
    assert [each.request.headers["If-None-Match"] for each in steps if isinstance(each, Send)] == ["W/1"]


def claiming(seconds: float | None) -> Flow[Any]:
    return Claiming(ClaimOrder("qa", 60), PATIENCE).within(seconds, by_bell=True)


def test_work_that_is_due_soon_is_listened_for_and_an_outage_is_waited_out() -> None:
    none = Answer(204, {"baton-due-at": "2026-01-31T12:00:03Z"})
    claim = Answer(200, json={"claim_id": "c"}, took=1)
    found, steps = played(claiming(None), [none, Answer(200, took=3), *[Answer(why="reset", took=2)] * 9, claim])
    assert [each.due_at for each in steps if isinstance(each, Listen)] == ["2026-01-31T12:00:03Z"]
    sent = [each.request.key for each in steps if isinstance(each, Send)]
    assert len({*sent[1:]}) == 1
    assert found.since == 9 * 2 + 1 + sum(each.seconds for each in steps if isinstance(each, Pause))


def test_an_outage_for_all_of_the_time_is_told_and_a_claim_that_is_over_is_asked_for_anew() -> None:
    with pytest.raises(NoAnswer):
        played(claiming(5), [Answer(why="reset", took=2)] * 4)
    over = Answer(409, json={"code": "claim_over"})
    _, steps = played(claiming(5), [over, Answer(200, json={"claim_id": "c"})])
    first, second = (each.request.key for each in steps if isinstance(each, Send))
    assert first != second
