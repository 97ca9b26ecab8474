"""The EventBridge bus behind its port: what goes in one call, and what its answers mean."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import botocore.session
import pytest
from botocore.exceptions import ClientError, ConnectTimeoutError, ReadTimeoutError
from botocore.model import ListShape, StructureShape

from baton.adapters.eventbridge import LOOK_EVERY, MAX_CALL_BYTES, EventBridgeBus, Rules
from baton.domain.events.bus_events import DETAIL_TYPE, MAX_DETAIL_BYTES, SOURCE, BusEvent
from baton.ports.events import PublishResult
from support.clock import NOON, FakeClock
from support.fakes.fake_dynamo import refusal

Answer = Callable[[list[dict[str, Any]]], dict[str, Any]]


def accepting(entries: list[dict[str, Any]]) -> dict[str, Any]:
    return {"FailedEntryCount": 0, "Entries": [{"EventId": entry["Detail"]} for entry in entries]}


class StrictEvents:
    """Holds each call to what EventBridge takes; ``answer`` may refuse or raise."""

    def __init__(self, answer: Answer = accepting) -> None:
        self.answer = answer
        self.calls: list[list[dict[str, Any]]] = []

    def put_events(self, **request: Any) -> dict[str, Any]:
        assert request.keys() == {"Entries"}
        entries: list[dict[str, Any]] = request["Entries"]
        assert 1 <= len(entries) <= 10
        size = sum(14 + sum(len(e[part].encode()) for part in ("Source", "DetailType", "Detail")) for e in entries)
        assert size <= MAX_CALL_BYTES
        assert all(set(e) == {"EventBusName", "Source", "DetailType", "Time", "Detail"} for e in entries)
        self.calls.append(entries)
        return self.answer(entries)


def notices(count: int, length: int = 2) -> list[BusEvent]:
    return [BusEvent(f"id-{number}", NOON, json.dumps("x" * length)) for number in range(count)]


def refused(code: str, status: int = 400) -> ClientError:
    return refusal(code, "PutEvents", status=status)


def published(client: StrictEvents, sent: list[BusEvent], logged: list[dict[str, Any]] | None = None) -> PublishResult:
    log = [] if logged is None else logged
    return EventBridgeBus(client, "baton-events", lambda _message, **fields: log.append(fields)).publish(sent)


def ids(*numbers: int) -> frozenset[str]:
    return frozenset(f"id-{number}" for number in numbers)


def test_an_entry_says_whose_it_is_and_when_it_happened() -> None:
    client = StrictEvents()
    published(client, [BusEvent("id-0", NOON, '{"version":"1"}')])
    assert client.calls == [
        [
            {
                "EventBusName": "baton-events",
                "Source": SOURCE,
                "DetailType": DETAIL_TYPE,
                "Time": NOON,
                "Detail": '{"version":"1"}',
            }
        ]
    ]


@pytest.mark.parametrize(("count", "calls"), [(0, []), (1, [1]), (10, [10]), (11, [10, 1]), (25, [10, 10, 5])])
def test_a_call_takes_ten(count: int, calls: list[int]) -> None:
    client = StrictEvents()
    assert published(client, notices(count)) == PublishResult(ids(*range(count)))
    assert list(map(len, client.calls)) == calls


def test_a_call_takes_so_many_bytes_and_the_longest_entry_fits_alone() -> None:
    client = StrictEvents()
    assert len(published(client, notices(3, MAX_DETAIL_BYTES - 2)).accepted) == 3
    assert len(published(client, notices(9, MAX_CALL_BYTES // 4)).accepted) == 9
    assert list(map(len, client.calls)) == [1, 1, 1, 3, 3, 3]


def test_each_result_is_looked_at_by_itself() -> None:
    def some(entries: list[dict[str, Any]]) -> dict[str, Any]:
        results = accepting(entries)["Entries"]
        results[1] = {"ErrorCode": "MalformedDetail", "ErrorMessage": "Detail is malformed."}
        results[3] = {"ErrorCode": "InternalFailure"}
        return {"FailedEntryCount": 2, "Entries": results}

    delivery = published(StrictEvents(some), notices(5))
    assert delivery == PublishResult(ids(0, 2, 4), {"id-1": "MalformedDetail", "id-3": "InternalFailure"})


def test_one_entry_that_has_a_call_refused_is_found_and_the_others_are_taken() -> None:
    def strict(entries: list[dict[str, Any]]) -> dict[str, Any]:
        if any("poison" in entry["Detail"] for entry in entries):
            raise refused("ValidationException")
        return accepting(entries)

    sent = notices(12)
    sent[4] = BusEvent("id-4", NOON, '"poison"')
    client = StrictEvents(strict)
    assert published(client, sent) == PublishResult(ids(*range(4), *range(5, 12)), {"id-4": "ValidationException"})
    assert list(map(len, client.calls)) == [10, *[1] * 10, 2]


@pytest.mark.parametrize("code", ["AccessDeniedException", "ThrottlingException", "ServiceUnavailable"])
def test_what_holds_for_everybody_is_not_tried_one_by_one(code: str) -> None:
    def denied(_entries: list[dict[str, Any]]) -> dict[str, Any]:
        raise refused(code)

    client = StrictEvents(denied)
    logged: list[dict[str, Any]] = []
    assert published(client, notices(25), logged) == PublishResult()
    assert len(client.calls) == 1
    assert logged == [{"action": "bus_away", "error": code}]


@pytest.mark.parametrize("error", [ConnectTimeoutError, ReadTimeoutError])
def test_out_of_reach_ends_it_and_what_was_taken_before_stays_taken(
    error: type[ConnectTimeoutError | ReadTimeoutError],
) -> None:
    def idempotency_key(entries: list[dict[str, Any]]) -> dict[str, Any]:
        if len(client.calls) == 2:
            raise error(endpoint_url="http://127.0.0.1/")
        return accepting(entries)

    client = StrictEvents(idempotency_key)
    assert published(client, notices(25)) == PublishResult(ids(*range(10)))
    assert len(client.calls) == 2


def test_a_request_is_what_the_sdk_understands() -> None:
    """The real client refuses unknown parameters before it asks anybody."""
    client = StrictEvents()
    published(client, notices(1))
    shape = botocore.session.Session().get_service_model("events").operation_model("PutEvents").input_shape
    assert shape is not None
    entries = shape.members["Entries"]
    assert isinstance(entries, ListShape)
    entry = entries.member
    assert isinstance(entry, StructureShape)
    assert set(client.calls[0][0]) <= set(entry.members)


class Ruled(StrictEvents):
    """Has rules in these states, two on a page."""

    def __init__(self, *states: str) -> None:
        super().__init__()
        self.states, self.asked = list(states), list[dict[str, Any]]()
        self.error: Exception | None = None

    def list_rules(self, **request: Any) -> dict[str, Any]:
        self.asked.append(request)
        if self.error is not None:
            raise self.error
        start = int(request.get("NextToken", "0"))
        page = [{"Name": f"rule-{start + number}", "State": state} for number, state in enumerate(self.states)][start:]
        more = {"NextToken": str(start + 2)} if len(page) > 2 else {}
        return {"Rules": page[:2], **more}


def heard_bus(client: Ruled, clock: FakeClock) -> EventBridgeBus:
    rules = Rules(client, "baton-events", clock.now, lambda *_args, **_fields: None)
    return EventBridgeBus(client, "baton-events", lambda *_args, **_fields: None, rules.are_there)


@pytest.mark.parametrize(
    ("states", "is_heard"),
    [
        ((), False),
        (("DISABLED",), False),
        (("DISABLED",) * 5, False),
        (("ENABLED",), True),
        (("ENABLED_WITH_ALL_CLOUDTRAIL_MANAGEMENT_EVENTS",), True),
        (("DISABLED", "DISABLED", "DISABLED", "ENABLED"), True),
    ],
)
def test_events_are_sent_while_a_rule_is_enabled(states: tuple[str, ...], *, is_heard: bool) -> None:
    client = Ruled(*states)
    delivery = heard_bus(client, FakeClock()).publish(notices(3))
    assert delivery == PublishResult(ids(0, 1, 2), is_sent=is_heard)
    assert bool(client.calls) is is_heard
    assert client.asked[0] == {"EventBusName": "baton-events"}


def test_rules_are_looked_for_once_an_hour() -> None:
    client, clock = Ruled(), FakeClock()
    bus = heard_bus(client, clock)
    for _ in range(3):
        bus.publish(notices(1))
    client.states.append("ENABLED")
    clock.advance(LOOK_EVERY.total_seconds() - 1)
    assert not bus.publish(notices(1)).is_sent
    assert len(client.asked) == 1
    clock.advance(1)
    assert bus.publish(notices(1)).is_sent
    client.states.clear()
    clock.advance(LOOK_EVERY.total_seconds())
    assert not bus.publish(notices(1)).is_sent
    assert len(client.asked) == 3


@pytest.mark.parametrize(
    "error", [refused("AccessDeniedException"), ReadTimeoutError(endpoint_url="http://127.0.0.1/")]
)
def test_events_are_sent_while_nobody_knows_who_listens(error: Exception) -> None:
    client, clock = Ruled(), FakeClock()
    client.error = error
    bus = heard_bus(client, clock)
    assert bus.publish(notices(1)).is_sent
    assert bus.publish(notices(1)).is_sent
    assert len(client.asked) == 1
    client.error = None
    clock.advance(LOOK_EVERY.total_seconds())
    assert not bus.publish(notices(1)).is_sent


def test_a_look_is_what_the_sdk_understands() -> None:
    client = Ruled(*["DISABLED"] * 3)
    heard_bus(client, FakeClock()).publish(notices(1))
    shape = botocore.session.Session().get_service_model("events").operation_model("ListRules").input_shape
    assert shape is not None
    assert {name for request in client.asked for name in request} == {"EventBusName", "NextToken"} <= set(shape.members)
