"""What the SDK repeats by itself: a message, an event, the reading of a secret, once; a call of the table never, as the
table repeats its own. Over a server on loopback."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from botocore.config import Config

from baton import bootstrap
from baton.adapters.dynamodb.patience import MOST_TRIES, SECONDS
from baton.adapters.system import SystemClock
from baton.domain import errors
from baton.domain.events.bus_events import BusEvent
from support.clock import NOON, FakeClock
from support.fakes.loopback import Canned, Loopback

SENT = Canned(body={"MessageId": "message-1"})
TAKEN = Canned(body={"FailedEntryCount": 0, "Entries": [{"EventId": "1"}]})
READ = Canned(body={"Name": "baton/acme/notion", "SecretString": "a token"})
FAILS = {
    "server error": Canned(status=500, body={"__type": "InternalFailure"}),
    "throttle": Canned(status=400, body={"__type": "ThrottlingException"}),
    "too slow": Canned(pause=5),
}
ABSENT = Canned(body={})
REFUSED = Canned(status=400, body={"__type": "AccessDeniedException"})
# The longest pause before the second attempt of the SDK's standard mode.
LONGEST_PAUSE = 1.0


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Loopback]:
    """In the place of all of AWS."""
    with Loopback().serving() as server:
        monkeypatch.setenv("AWS_ENDPOINT_URL", server.url)
        monkeypatch.setenv("BATON_TABLE", "baton-test")
        monkeypatch.setenv("BATON_QUEUE_URL", f"{server.url}/1/dispatch")
        monkeypatch.setenv("BATON_TRACKER_QUEUE_URL", f"{server.url}/1/tracker")
        monkeypatch.setenv("BATON_DLQ_URL", f"{server.url}/1/dead")
        monkeypatch.setenv("BATON_BUS", "baton-events")
        monkeypatch.setenv("BATON_EVENTS", "on")
        monkeypatch.setenv("BATON_SECRETS_PREFIX", "baton")
        monkeypatch.setenv("POWERTOOLS_SERVICE_NAME", "test-clients")
        bootstrap.forget_all()
        yield server
        bootstrap.forget_all()


CALLS: dict[str, tuple[Callable[[], Any], Canned]] = {
    "dispatch notice": (lambda: bootstrap.wire().dispatch_queue.notify("acme", "runner", "task_1"), SENT),
    "tracker notice": (lambda: bootstrap.wire().tracker_queue.notify("acme", "task_1"), SENT),
    "dead letter": (lambda: bootstrap.wire_dead_letters().give_up("{}", "broken"), SENT),
    "time of a message": (lambda: bootstrap.wire_visibility().hide("handle", 10), ABSENT),
    "event": (lambda: bootstrap.wire_bus().publish([BusEvent("id-0", NOON, "{}")]), TAKEN),
    "secret": (lambda: bootstrap.wire().secrets.get("acme"), READ),
}


@pytest.mark.parametrize("call", CALLS)
def test_what_may_come_twice_is_tried_twice(server: Loopback, call: str) -> None:
    act, answer = CALLS[call]
    server.then(FAILS["server error"], answer)
    act()
    assert (len(server.received), list(server.line)) == (2, [])


@pytest.mark.parametrize("fault", FAILS)
def test_after_each_kind_of_fault(server: Loopback, fault: str) -> None:
    server.then(FAILS[fault], READ)
    assert bootstrap.wire().secrets.get("acme") == "a token"
    assert len(server.received) == 2


@pytest.mark.parametrize("fault", [FAILS["server error"], FAILS["throttle"]], ids=["server error", "throttle"])
def test_and_no_more_than_twice(server: Loopback, fault: Canned) -> None:
    server.then(fault, fault, SENT)
    with pytest.raises(errors.Busy):
        bootstrap.wire_dead_letters().give_up("{}", "broken")
    assert len(server.received) == 2


def test_a_message_whose_time_cannot_be_set_comes_again_at_the_queues(server: Loopback) -> None:
    server.then(REFUSED)
    bootstrap.wire_tracker_visibility().hide("handle", 10)
    (request,) = server.received
    asked = {"QueueUrl": f"{server.url}/1/tracker", "ReceiptHandle": "handle", "VisibilityTimeout": 10}
    assert (request.headers["x-amz-target"], request.body) == ("AmazonSQS.ChangeMessageVisibility", asked)


def test_a_refusal_is_not_repeated(server: Loopback) -> None:
    server.then(REFUSED, SENT)
    with pytest.raises(errors.Busy):
        bootstrap.wire_dead_letters().give_up("{}", "broken")
    assert len(server.received) == 1


def throttled_for(seconds: float, server: Loopback, monkeypatch: pytest.MonkeyPatch) -> FakeClock:
    """The table's answers to each of Baton's own tries. The SDK's would find nothing in line."""
    clock = FakeClock()
    began = clock.monotonic()

    def sleep(_: SystemClock, pause: float) -> None:
        clock.sleep(pause)
        server.then(FAILS["throttle"] if clock.monotonic() - began < seconds else ABSENT)

    monkeypatch.setattr(SystemClock, "sleep", sleep)
    monkeypatch.setattr(SystemClock, "monotonic", lambda _: clock.monotonic())
    server.then(FAILS["throttle"])
    return clock


def test_a_call_of_the_table_is_repeated_by_baton_while_a_throttle_lasts(
    server: Loopback, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = throttled_for(1.0, server, monkeypatch)
    with pytest.raises(errors.Unknown):
        bootstrap.wire().store.tasks.load("acme", "task_1")
    assert len(server.received) == len(clock.slept) + 1 <= MOST_TRIES
    assert not server.line


def test_and_not_for_longer_than_its_time(server: Loopback, monkeypatch: pytest.MonkeyPatch) -> None:
    clock = throttled_for(60.0, server, monkeypatch)
    with pytest.raises(errors.Busy):
        bootstrap.wire().store.tasks.load("acme", "task_1")
    assert len(server.received) == len(clock.slept) + 1 <= MOST_TRIES
    assert sum(clock.slept) == pytest.approx(SECONDS, abs=0.02)


@pytest.mark.parametrize(
    ("settings", "most_seconds"),
    [
        (bootstrap.CLIENT, 6.0),
        (bootstrap.MESSAGES, 6.0),  # no longer than one attempt at the table
        (bootstrap.SECRETS, 3.0),  # what a marker may wait for the tracker
    ],
    ids=["table", "messages", "secrets"],
)
def test_all_attempts_together_stay_within_their_time(settings: Config, most_seconds: float) -> None:
    known: Any = settings
    attempts = known.retries["total_max_attempts"]
    whole = attempts * (known.connect_timeout + known.read_timeout) + (attempts - 1) * LONGEST_PAUSE
    assert whole <= most_seconds
    assert (known.tcp_keepalive, known.retries["mode"]) == (True, "standard")
