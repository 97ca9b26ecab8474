"""What a worker owes Baton next, and how long it surely holds a claim."""

from __future__ import annotations

import math
from itertools import pairwise

import pytest

from baton_cli.worker import checkpoints
from baton_cli.worker.api_client import AnswerKind, ApiAnswer
from baton_cli.worker.lease import limits
from baton_cli.worker.poll_backoff import PollBackoff
from baton_cli.worker.poller import poll_seconds
from baton_cli.worker.program import TimeLimits
from baton_cli.worker.report import ClaimReport
from baton_cli.worker.request_schedule import KeyedRequest, RequestKind, RequestSchedule
from baton_cli.worker.watchdog import TimeOrders
from baton_client.lease import Lease

REPORT = ClaimReport("complete")
CHECKPOINT = KeyedRequest({"step_name": "a", "state": {}}, "k")


@pytest.mark.parametrize(("seconds", "heartbeat_at"), [(15, 5), (60, 20), (43_200, 20)])
def test_heartbeat_is_due_after_a_third_of_the_lease_and_at_least_every_20_seconds(
    seconds: int, heartbeat_at: int
) -> None:
    lease = Lease.taken(seconds, asked_at=0)
    assert (lease.heartbeat_at, lease.held_until) == (heartbeat_at, seconds)


def test_heartbeats_that_fail_extend_nothing_and_come_more_slowly() -> None:
    lease = Lease.taken(300, asked_at=0)
    moments = []
    for _ in range(8):
        lease = lease.missed(lease.heartbeat_at)
        moments.append(lease.heartbeat_at)
    gaps = [after - before for before, after in pairwise(moments)]
    assert lease.held_until == 300
    assert gaps[0] <= 1.0
    assert 5 <= gaps[-1] <= 10
    assert lease.renewed(250).held_until == 550


def test_program_gets_term_a_tenth_of_the_lease_before_its_end_and_is_killed_at_its_end() -> None:
    lease = Lease.taken(15, asked_at=100)
    assert limits(lease, math.inf, grace_seconds=10) == TimeLimits(113.5, 115)
    assert limits(lease, 105, grace_seconds=4) == TimeLimits(105, 109)


def test_checkpoints_go_before_the_report_and_heartbeats_before_both() -> None:
    schedule = RequestSchedule(Lease.taken(15, asked_at=0))
    assert schedule.next(2) == (RequestKind.WAIT, 3)
    schedule.checkpoints.append(CHECKPOINT)
    schedule.report = REPORT
    assert schedule.next(5).kind is RequestKind.HEARTBEAT
    schedule.lease = schedule.lease.renewed(5)
    assert schedule.next(5).kind is RequestKind.CHECKPOINT
    schedule.checkpoints.clear()
    assert schedule.next(99).kind is RequestKind.REPORT


def test_report_without_an_answer_is_made_again_and_no_heartbeat_comes_between() -> None:
    schedule = RequestSchedule(Lease.taken(300, asked_at=-100), report=REPORT)
    waits = []
    now = 10.0
    for _ in range(8):
        schedule.missed(now, retry_after=0)
        kind, seconds = schedule.next(now)
        assert kind is RequestKind.WAIT
        waits.append(seconds)
        now += seconds
        assert schedule.next(now).kind is RequestKind.REPORT
    assert waits == [0.5, 1, 2, 4, 8, 15, 15, 15]


def test_three_answers_that_it_is_too_large_show_that_a_repeat_is_in_vain() -> None:
    schedule = RequestSchedule(Lease.taken(15, asked_at=0), report=REPORT)
    statuses = [413, 0, 403, 413, 502, 413]
    assert [schedule.missed(10, 0, each) for each in statuses] == [False] * 5 + [True]
    schedule.answered()
    assert not schedule.missed(10, 0, 413)


@pytest.mark.parametrize(("lease_seconds", "longest"), [(15, 1.875), (60, 7.5), (120, 15), (43_200, 15)])
def test_a_pause_is_at_most_an_eighth_of_a_lease(lease_seconds: int, longest: float) -> None:
    schedule = RequestSchedule(Lease.taken(lease_seconds, asked_at=0), report=REPORT)
    for _ in range(8):
        schedule.missed(10, retry_after=0)
    assert schedule.not_before == 10 + longest


def test_refusals_of_another_program_for_40_seconds_show_that_a_repeat_is_in_vain() -> None:
    schedule = RequestSchedule(Lease.taken(60, asked_at=0), report=REPORT)
    steps = [(0, 403), (20, 502), (21, 401), (40, 404), (60, 403), (61, 429), (62, 404), (63, 405), (101, 403)]
    assert not any(schedule.missed(at, 0, each) for at, each in steps)
    assert schedule.missed(102, 0, 403)


def test_refusals_of_a_short_lease_are_in_vain_before_it_is_over() -> None:
    schedule = RequestSchedule(Lease.taken(15, asked_at=0), report=REPORT)
    assert [schedule.missed(at, 0, 403) for at in (0, 5, 9, 10)] == [False, False, False, True]


def test_a_report_waits_for_a_checkpoint_without_an_answer_for_40_seconds() -> None:
    schedule = RequestSchedule(Lease.taken(60, asked_at=0))
    schedule.checkpoints.append(CHECKPOINT)
    assert not any(schedule.missed(at, 0) for at in (0, 40, 100)), "no report waits for it"
    schedule.answered()
    schedule.report = REPORT
    assert [schedule.missed(at, 0) for at in (100, 139, 140)] == [False, False, True]


def test_watchdog_tells_once_and_kills_in_time() -> None:
    orders = TimeOrders(grace=10, term_at=100, kill_at=110)
    assert orders.due(99, is_told=False) is None
    assert orders.due(100, is_told=False).name == "SIGTERM"  # type: ignore[union-attr]
    assert orders.due(109, is_told=True) is None
    assert orders.due(110, is_told=True).name == "SIGKILL"  # type: ignore[union-attr]
    assert orders.why == "due"


def test_stop_that_was_asked_for_kills_after_the_grace_whatever_heartbeats_bring() -> None:
    orders = TimeOrders(grace=10, term_at=100, kill_at=110)
    orders.obey(b"stop", 50)
    assert orders.due(50, is_told=False).name == "SIGTERM"  # type: ignore[union-attr]
    orders.obey(b"until 500.0 510.0", 55)
    assert orders.next_at(is_told=True) == 60
    assert orders.due(60, is_told=True).name == "SIGKILL"  # type: ignore[union-attr]
    assert orders.why == "asked"


def test_key_of_a_claim_stays_until_a_claim_is_answered() -> None:
    backoff = PollBackoff()
    first = backoff.poll.key
    assert backoff.pause_after(ApiAnswer(AnswerKind.RETRY, retry_after=7), 10, 11) >= 7
    assert (backoff.poll.key, backoff.poll.asked_at(20)) == (first, 10)  # the claim may have been made then
    assert backoff.pause_after(ApiAnswer(AnswerKind.DONE), 20, 28) == 0
    assert (backoff.poll.key, backoff.poll.asked_at(30)) == (first, 30)
    assert backoff.pause_after(ApiAnswer(AnswerKind.DONE, {"task": {}}), 30, 30.1) == 0
    assert backoff.poll.key != first


def test_refusals_wait_or_end_the_worker() -> None:
    backoff = PollBackoff()
    assert backoff.pause_after(ApiAnswer(AnswerKind.REFUSED, {"code": "inactive_agent"}, status=403), 0, 0) == 15
    assert backoff.fatal == ""
    backoff.pause_after(ApiAnswer(AnswerKind.DENIED, {"code": "token_refused", "detail": "No."}, status=403), 0, 0)
    assert backoff.fatal == "403 token_refused No."


def test_agents_of_one_token_take_turns_beyond_four() -> None:
    assert [poll_seconds(count) for count in (1, 4, 8, 64)] == [8, 8, 4, 1]


@pytest.mark.parametrize(
    ("line", "found"),
    [
        (b'{"step_name": "a", "state": {"n": 1}}', {"step_name": "a", "state": {"n": 1}}),
        (b'{"step_name": "a"}', "it isn't an object with step_name and state"),
        (b'{"step_name": 1, "state": {}}', "step_name is of another type"),
        (b"[" * 100_000, "it isn't JSON"),
        (None, "it is longer than 256 KiB"),
    ],
)
def test_line_of_a_checkpoint(line: bytes | None, found: object) -> None:
    assert checkpoints.parsed(line) == found


def test_look_in_the_place_of_a_poll_has_a_key_of_its_own_until_it_brings_a_claim() -> None:
    backoff, refused = PollBackoff(), ApiAnswer(AnswerKind.RETRY, status=503)
    backoff.pause_after(ApiAnswer(AnswerKind.RETRY), 10, 11)
    poll, look = backoff.poll.key, backoff.look.key
    assert 1 <= backoff.pause_after(ApiAnswer(AnswerKind.DONE), 20, 21, refused) <= 1.25
    assert (backoff.poll.asked_at(30), backoff.look.asked_at(30)) == (10, 30)
    assert backoff.pause_after(ApiAnswer(AnswerKind.DONE, {"task": {}}), 30, 31, refused) == 0
    assert backoff.poll.key == poll, "what the lost poll may have claimed is asked for again"
    assert backoff.look.key != look


def test_look_without_an_answer_is_a_miss() -> None:
    backoff, refused = PollBackoff(), ApiAnswer(AnswerKind.RETRY, status=503)
    pauses = [backoff.pause_after(ApiAnswer(AnswerKind.RETRY), at, at, refused) for at in range(8)]
    assert (backoff.misses, backoff.look.asked_at(99)) == (8, 0)
    assert pauses[0] <= 1.25
    assert 8 <= pauses[-1] <= 10


def test_poll_that_was_cut_short_gives_way_and_a_whole_one_does_not() -> None:
    backoff = PollBackoff(asked_seconds=8)
    assert 0.5 <= backoff.pause_after(ApiAnswer(AnswerKind.DONE), 0, 2) <= 0.625
    assert backoff.pause_after(ApiAnswer(AnswerKind.DONE), 0, 8) == 0
