"""What each alarm is there for, as AWS would measure it: an hour of it, in the middle of an ordinary day."""

from __future__ import annotations

from collections.abc import Callable

from infra.template import FRONT_DOORS, GATEWAY, URL
from infra.weeks import HEARTBEATS, HOUR, UNPUBLISHED, Deployment, of_function, of_queue, own

BEGUN, OVER = 10 * HOUR, 11 * HOUR
DURING = range(BEGUN, OVER)
Failure = Callable[[Deployment], None]
# Of each alarm: what is wrong, with which front doors, within how many minutes it is told, and what happens.
FAILURES: list[tuple[str, str, tuple[str, ...], int, Failure]] = []


def failure(alarm: str, within: int, *doors: str) -> Callable[[Failure], Failure]:
    def register(function: Failure) -> Failure:
        FAILURES.append((alarm, function.__name__, doors or FRONT_DOORS, within, function))
        return function

    return register


# ---- somebody must get up --------------------------------------------------------------------------------------------


@failure("FrontDoorFailuresAlarm", 4)
def one_request_in_twenty_fails(found: Deployment) -> None:
    for at in DURING:
        found.failed(at, 2)


@failure("FrontDoorFailuresAlarm", 12)
def a_few_callers_get_nothing_but_failures(found: Deployment) -> None:
    for at in DURING[::2]:
        found.failed(at, 1, by_itself=True)


@failure("FrontDoorRefusalsAlarm", 18)
def more_callers_than_the_front_door_lets_in(found: Deployment) -> None:
    for at in DURING:
        found.refused(at, 20)


@failure("StandstillAlarm", 18)
def every_answer_takes_twenty_seconds(found: Deployment) -> None:
    found.take(own("AnswerMilliseconds"), DURING)
    found.take(of_function("Duration", "Api"), DURING)
    for at in DURING:
        found.answered(at, 3, 20_000)


@failure("SweeperMissingAlarm", 12)
def the_sweeper_is_silent(found: Deployment) -> None:
    found.take(HEARTBEATS, DURING)


@failure("SweeperMissingAlarm", 12)
def nothing_runs_every_minute(found: Deployment) -> None:
    found.take(HEARTBEATS, DURING)
    found.take(UNPUBLISHED, DURING)


@failure("DispatchStuckAlarm", 47)
def nobody_answers_notices(found: Deployment) -> None:
    for metric in ("NumberOfMessagesDeleted", "ApproximateAgeOfOldestMessage"):
        found.take(of_queue(metric, "DispatchQueue"), DURING)
    for at in DURING:
        found.queues(at, 60.0 * (at - BEGUN))


# ---- tomorrow is soon enough -----------------------------------------------------------------------------------------


@failure("SlowAlarm", 18)
def one_answer_in_twenty_takes_eight_seconds(found: Deployment) -> None:
    for at in DURING:
        found.answered(at, 2, 8_000)


@failure("SlowAlarm", 18)
def markers_alone_are_slow(found: Deployment) -> None:
    for at in DURING:
        found.answered(at, 2, 8_000, "CreateHandoffMarker")


@failure("FrontDoorErrorsAlarm", 12)
def the_webhook_fails_though_few_ask_it(found: Deployment) -> None:
    for at in DURING[::5]:
        found.failed(at, 1, "NotionWebhook", by_itself=True)


@failure("BackgroundErrorsAlarm", 5)
def a_release_that_the_sweeper_cannot_import(found: Deployment) -> None:
    found.take(HEARTBEATS, DURING)
    for at in DURING:
        found.put(of_function("Errors", "SweepStaleClaims"), at, 1)


@failure("BackgroundErrorsAlarm", 12)
def each_run_fails(found: Deployment) -> None:
    for at in DURING[::5]:
        found.put(of_function("Errors", "ProcessTask"), at, 1)


@failure("RequestFailedAlarm", 25)
def a_case_that_nobody_thought_of_comes_again_and_again(found: Deployment) -> None:
    for at in DURING[::10]:
        found.put(own("RequestFailed"), at, 1)


@failure("WrittenByNewerAlarm", 16)
def an_older_version_is_back_for_good(found: Deployment) -> None:
    for at in DURING[::5]:
        found.put(own("WrittenByNewer"), at, 1)


@failure("ReservesNearlyFullAlarm", 16, GATEWAY)
def the_fifty_first_worker_waits(found: Deployment) -> None:
    for at in DURING:
        found.concurrent(at, 20, Wait=50)
        found.beyond_reserve(at, 3, "Wait")


@failure("ReservesNearlyFullAlarm", 16, GATEWAY)
def polls_have_all_their_places(found: Deployment) -> None:
    """Baton leaves them four fifths of the reserve."""
    for at in DURING:
        found.concurrent(at, 20, Wait=40)


@failure("ReservesNearlyFullAlarm", 16, URL)
def polls_have_all_their_places_at_the_url(found: Deployment) -> None:
    for at in DURING:
        found.concurrent(at, 0, AllRoutes=80)
        found.refused(at, 1)


@failure("ReservesNearlyFullAlarm", 16, GATEWAY)
def more_clients_of_mcp_than_are_served_at_once(found: Deployment) -> None:
    for at in DURING:
        found.concurrent(at, 20, McpDoor=50)
        found.beyond_reserve(at, 3, "McpDoor")


@failure("ReservesNearlyFullAlarm", 16, GATEWAY)
def the_console_is_asked_all_the_time(found: Deployment) -> None:
    for at in DURING:
        found.concurrent(at, 20, Console=45)


@failure("ReservesNearlyFullAlarm", 16, URL)
def workers_have_taken_the_url(found: Deployment) -> None:
    for at in DURING:
        found.concurrent(at, 0, AllRoutes=90)


@failure("AccountNearlyFullAlarm", 16)
def somebody_else_uses_up_the_account(found: Deployment) -> None:
    for at in DURING:
        found.concurrent(at, 700)


@failure("TableThrottlesAlarm", 16)
def the_table_does_not_grow_fast_enough(found: Deployment) -> None:
    for at in DURING:
        found.throttled_by_table(at, 20)


@failure("TableThrottlesAlarm", 16)
def one_index_is_hot(found: Deployment) -> None:
    for at in DURING:
        found.throttled_by_table(at, 5, "wake")


@failure("UndispatchedAlarm", 23)
def nobody_takes_what_was_approved(found: Deployment) -> None:
    for at in DURING:
        found.swept(at, oldest=60.0 * (at - BEGUN))


@failure("OldestMessageAlarm", 37)
def notices_come_faster_than_they_are_answered(found: Deployment) -> None:
    for at in DURING:
        found.queues(at, 60.0 * (at - BEGUN), handled=2)


@failure("DeadLettersAlarm", 2)
def a_notice_is_given_up(found: Deployment) -> None:
    for at in range(BEGUN, found.minutes):
        found.queues(at, dead=1)


@failure("DeadLettersAlarm", 2)
def a_second_notice_to_the_tracker_is_given_up(found: Deployment) -> None:
    for at in range(found.minutes):
        found.put(of_queue("ApproximateNumberOfMessagesVisible", "TrackerDeadLetters"), at, 1 + (at >= BEGUN))


@failure("TrackerOldestMessageAlarm", 8)
def pages_are_an_hour_behind(found: Deployment) -> None:
    for at in DURING:
        found.queues(at, tracker_age=3_700)


@failure("SweepUnfinishedAlarm", 4)
def rounds_run_out_of_time(found: Deployment) -> None:
    for at in DURING:
        found.swept(at, unfinished=1)


@failure("SweepFailedAlarm", 4)
def something_due_cannot_be_handled(found: Deployment) -> None:
    for at in DURING:
        found.swept(at, failed=1)


@failure("UnpublishedAlarm", 2)
def the_bus_takes_nothing(found: Deployment) -> None:
    for at in DURING:
        found.looked_at_events(at, 901)


@failure("UnpublishedAlarm", 17)
def the_publisher_is_silent(found: Deployment) -> None:
    found.take(UNPUBLISHED, DURING)


@failure("StreamAgeAlarm", 5)
def the_stream_is_late(found: Deployment) -> None:
    for at in DURING:
        found.streamed(at, 150_000)


@failure("BellAlarm", 12)
def connections_are_refused_by_a_failing_function(found: Deployment) -> None:
    for at in DURING[::5]:
        found.put(of_function("Errors", "Listen"), at, 1)


@failure("BellAlarm", 5)
def a_release_that_cannot_ring(found: Deployment) -> None:
    for at in DURING:
        found.put(of_function("Errors", "Ring"), at, 1)


@failure("BellAlarm", 12)
def rings_may_not_be_posted(found: Deployment) -> None:
    found.take(own("Rung", "service=ring"), DURING)
    for at in DURING:
        found.rang(at, 0, lost=10)


@failure("BellAlarm", 5)
def rings_are_two_minutes_late(found: Deployment) -> None:
    for at in DURING:
        found.rang(at, 10, age_ms=150_000)
