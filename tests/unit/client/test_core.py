"""The client without a wire: its flows are played by a list of answers."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import pytest

from baton_client import core, operations
from baton_client.claiming import Claiming, ClaimOrder
from baton_client.core import Answer, Flow, Listen, Patience, Pause, Request, Send, Step
from baton_client.errors import ClaimLost, NoAnswer, ServerFailed, StaleClaim, Unreadable
from baton_client.polls import Again, LongPoll
from baton_client.verbs import waited
from support.flows import pauses, played, sends

PATIENCE = Patience(seconds=0, drawn=max)  # four attempts
POST: Request[Any] = Request("POST", "/handoffs", {"a": 1}, key="k1")
BUSY = Answer(503, {"retry-after": "7"}, {"code": "busy"})
AWAITED = {"id": "task_1", "state": "next", "title": "T", "timed_out": True}


def test_a_request_with_a_key_is_sent_again_under_the_same_one() -> None:
    found, steps = played(core.call(POST, PATIENCE), [Answer(why="reset"), BUSY, Answer(201, json={"ok": True})])
    assert found == {"ok": True}
    assert [each.request.key for each in steps if isinstance(each, Send)] == ["k1"] * 3
    assert [each.seconds for each in steps if isinstance(each, Pause)] == [0.5, 7.5]


def test_what_might_be_done_twice_is_sent_once() -> None:
    with pytest.raises(NoAnswer):
        played(core.call(Request("POST", "/x", {}), PATIENCE), [Answer(why="reset")])


OUTAGE = Patience(drawn=max)


@pytest.mark.parametrize("away", [Answer(why="refused"), Answer(foreign=502), BUSY._replace(headers={})])
def test_a_request_is_repeated_for_40_seconds_and_once_after_them(away: Answer) -> None:
    steps = list[Step]()
    with pytest.raises((NoAnswer, ServerFailed)):
        played(core.call(POST, OUTAGE), [away] * 100, steps)
    assert sum(pauses(steps)) == 40.0
    assert isinstance(steps[-1], Send)
    assert {each.key for each in sends(steps)} == {"k1"}


def test_one_attempt_begins_after_the_seconds_however_long_the_attempts_take() -> None:
    steps, begun = list[Step](), list[float]()

    def away(passed: float) -> Answer:
        begun.append(passed)
        return Answer(why="late", took=12)

    with pytest.raises(NoAnswer):
        played(core.call(POST, OUTAGE), away, steps)
    assert [each >= 40 for each in begun] == [False] * (len(begun) - 1) + [True]


def test_the_seconds_of_the_attempts_count_too() -> None:
    steps = list[Step]()
    with pytest.raises(NoAnswer):
        played(core.call(POST, OUTAGE), [Answer(why="late", took=35)] * 100, steps)
    assert len(sends(steps)) == OUTAGE.attempts  # at least so many, however slow


def test_remarks_come_with_the_first_pause_and_then_every_10_seconds_with_the_cause() -> None:
    away = [Answer(why="no route", url="https://b.example"), *[Answer(foreign=502, why="502 of a proxy")] * 9]
    _, steps = played(core.call(POST, OUTAGE), [*away, Answer(201, json={"ok": True})])
    at, said = 0.0, list[tuple[float, str]]()
    for each in steps:
        if isinstance(each, Pause):
            said += [(at, each.why)] if each.why else []
            at += each.seconds
    assert said[0] == (0.0, "https://b.example doesn't answer (no route)")
    assert {why for _, why in said[1:]} == {"Baton doesn't answer (502 of a proxy)"}
    gaps = [later - earlier for (earlier, _), (later, _) in pairwise(said)]
    assert len(said) == 3
    assert all(10.0 <= each < 10.0 + OUTAGE.longest_pause for each in gaps)


def test_an_answer_of_batons_that_asks_for_time_is_named_by_its_status() -> None:
    _, steps = played(core.call(POST, OUTAGE), [BUSY, Answer(201, json={"ok": True})])
    assert [each.why for each in steps if isinstance(each, Pause)] == ["the API answers 503"]


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
    [Answer(302), Answer(200, json="<html>"), Answer(200, json=[1]), Answer(200)],
)
def test_an_answer_without_an_object_is_unreadable(answer: Answer) -> None:
    with pytest.raises(Unreadable):
        core.body_of(answer)


@pytest.mark.parametrize(
    ("status", "headers", "content", "why"),
    [
        (302, {"location": "https://portal.example"}, b"", "status 302"),
        (200, {"content-type": "text/html"}, b"<html>", "type text/html"),
        (200, {"content-type": "application/json"}, b'{"status": "up"}', "another shape"),
        (200, {}, b"", "without a body"),
        (403, {"content-type": "application/json"}, b'{"message": "Forbidden"}', "without a code"),
        (404, {"content-type": "application/json"}, b'{"code": "not_found", "status": 403}', "without a code"),
        (502, {"content-type": "text/html"}, b"<html>", "without a code"),
    ],
)
def test_an_answer_of_another_program_is_no_answer(
    status: int, headers: dict[str, str], content: bytes, why: str
) -> None:
    answer = core.answer_of(operations.get_task("t"), "https://baton.example", status, headers, content)
    assert (answer.status, answer.foreign) == (0, status)
    with pytest.raises(NoAnswer, match=r"https://baton\.example doesn't answer") as caught:
        core.body_of(answer)
    assert why in caught.value.why
    assert caught.value.foreign == status
    assert "proxies" in caught.value.next_step


@pytest.mark.parametrize("content", [b'{"next_cursor": null}', b'{"items": null, "next_cursor": null}'])
def test_a_list_without_items_is_no_answer(content: bytes) -> None:
    json_type = {"content-type": "application/json"}
    answer = core.answer_of(operations.list_agents(), "https://baton.example", 200, json_type, content)
    assert (answer.status, answer.foreign) == (0, 200)


def test_a_problem_with_a_code_is_batons() -> None:
    content = b'{"code": "not_found", "status": 404}'
    answer = core.answer_of(operations.get_task("t"), "", 404, {"content-type": "application/problem+json"}, content)
    assert (answer.status, answer.foreign, answer.code) == (404, 0, "not_found")


@pytest.mark.parametrize(("foreign", "seconds"), [(503, 30.0), (0, 86_400.0)])
def test_another_program_may_ask_for_half_a_minute_at_most(foreign: int, seconds: float) -> None:
    headers = {"retry-after": "86400"}
    assert Answer(0 if foreign else 503, headers, foreign=foreign).retry_after == seconds


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


@pytest.mark.parametrize("seconds", [100.0, 1_000.0])
def test_in_an_outage_a_wait_ends_by_its_own_seconds_only(seconds: float) -> None:
    steps = list[Step]()
    with pytest.raises(NoAnswer):
        played(waited(OUTAGE, "task_1", "ended", seconds), [Answer(why="refused")] * 1_000, steps)
    assert sum(pauses(steps)) == pytest.approx(seconds)


def test_a_wait_without_an_end_outlasts_an_hour_without_an_answer() -> None:
    ended = Answer(200, json=AWAITED | {"state": "done", "timed_out": False})
    still, away = Answer(200, json=AWAITED), Answer(foreign=504, took=60)
    task, steps = played(waited(OUTAGE, "task_1", "ended", None), [still, Answer(0), *[away] * 60, ended])
    assert task.is_done
    assert [each.request.path for each in steps if isinstance(each, Send)][1:] == [
        "/tasks/task_1/await?state=ended&timeout=20.0"
    ] * 61


@pytest.mark.parametrize("heard", [Answer(200), Answer(0)])
def test_the_seconds_of_an_outage_are_those_of_the_wait(heard: Answer) -> None:
    still, away = Answer(200, json=AWAITED), Answer(why="refused", took=25)
    task, steps = played(waited(OUTAGE, "task_1", "ended", 30), [still, heard, away, still._replace(took=10)])
    assert not task.has_ended
    assert len(sends(steps)) == 3


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


@pytest.mark.parametrize("seconds", [5.0, 300.0])
def test_a_claim_is_asked_for_through_an_outage_for_the_longer_of_both_times(seconds: float) -> None:
    steps, flow = list[Step](), Claiming(ClaimOrder("qa", 60), OUTAGE).within(seconds, by_bell=False)
    with pytest.raises(NoAnswer):
        played(flow, [Answer(foreign=502)] * 1_000, steps)
    longer = max(seconds, OUTAGE.seconds)
    assert longer <= sum(pauses(steps)) < longer + OUTAGE.longest_pause * 1.25
    assert len({each.key for each in sends(steps)}) == 1


def test_a_poll_that_another_program_refuses_keeps_its_key_until_it_brings_a_claim() -> None:
    flow = Claiming(ClaimOrder("qa", 60), PATIENCE).within(100, by_bell=False)
    refused, claim = Answer(foreign=503, took=1), Answer(200, json={"claim_id": "c"})
    _, steps = played(flow, [Answer(204), refused, Answer(204, took=20), refused, claim])
    look, *polls = (each.key for each in sends(steps))
    assert len(set(polls)) == 1
    assert look not in polls


def test_the_lease_of_a_claim_counts_from_the_refused_poll_that_may_have_made_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    moments = iter([0.0, 10.0, 50.0, 70.0])
    monkeypatch.setattr("baton_client.claiming.now", lambda: next(moments))
    flow = Claiming(ClaimOrder("qa", 60), PATIENCE).within(100, by_bell=False)
    found, _ = played(flow, [Answer(204), Answer(foreign=503, took=1), Answer(200, json={"claim_id": "c"}, took=1)])
    assert found.since == 60
