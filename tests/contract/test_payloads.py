"""What was given is what is read, to the last digit; and nobody shares it."""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy
from dataclasses import replace
from typing import Any

import pytest

from baton.domain.idempotency import IdempotencyKey
from baton.domain.task_state import State
from baton.domain.tasks.receipts import AskedRequest
from baton.domain.tasks.task_items import Note
from baton.ports.store import Store
from baton.ports.writes import Insert, SaveResponse
from support.clock import NOON
from support.values.changes import claimed, new, then, with_body, with_output
from support.values.records import add_review
from support.worlds.world import WORKSPACE, human

ONCE = IdempotencyKey(human(), "/x", "key", "hash")


def deep(levels: int) -> Any:
    value: Any = "bottom"
    for level in range(levels):
        value = {"a": value} if level % 2 else [value]
    return value


PAYLOADS: dict[str, Any] = {
    "nothing": {},
    "empty values": {"": "", "list": [], "map": {}, "null": None, "spaces": "  ", "false": False, "zero": 0},
    "unicode": {"schlüssel": "日本語 🧑‍🚀 \u200d \u00e9 e\u0301", "control": "\x00\x01\n\t\u2028", "rtl": "\u202eabc"},
    "big numbers": {
        "i": 10**40,
        "negative": -(10**100),
        "j": 2**63,
        "exact": 1234567890123456789012345678901234567,
    },
    "floats": {"f": 0.1, "small": 5e-324, "large": 1.7976931348623157e308, "third": 1 / 3, "whole": 1.0, "minus": -0.0},
    "depth 16": {"deep": deep(15)},
    "depth 60": {"deep": deep(60)},
    "wide": {f"k{n}": n for n in range(2_000)},
    "long": {"text": "x" * 300_000},
    "keys like ours": {"pk": "WS#acme", "sk": "HEAD", "version": 99, "written_by": "me", "S": {"S": "x"}},
}

Round = Callable[[Store, Any], Any]


def through_body(store: Store, value: Any) -> Any:
    store.commit(WORKSPACE, with_body(new(), value))
    return store.tasks.read(WORKSPACE, "task_1", with_body=True).body


def through_claimers_reading(store: Store, value: Any) -> Any:
    store.commit(WORKSPACE, with_body(new(), value))
    return store.tasks.read_for_claim(WORKSPACE, "task_1").body


def through_output(store: Store, value: Any) -> Any:
    task = claimed(store)
    store.commit(WORKSPACE, with_output(then(task, state=State.DONE, claim=None), value))
    return store.tasks.read(WORKSPACE, "task_1").output


def through_failure(store: Store, value: Any) -> Any:
    task = claimed(store)
    store.commit(WORKSPACE, replace(then(task, state=State.FAILED, claim=None, has_failure=True), failure=value))
    failure = store.tasks.read(WORKSPACE, "task_1").failure
    assert store.tasks.read_for_claim(WORKSPACE, "task_1").failure == failure
    return failure


def through_note(store: Store, value: Any) -> Any:
    store.commit(WORKSPACE, Insert(Note("task_1", "note_1", NOON, "human:alice", value)))
    return store.tasks.notes(WORKSPACE, "task_1", 1)[0].content


def through_key(store: Store, value: Any) -> Any:
    store.commit(WORKSPACE, SaveResponse(ONCE, value))
    saved_response = store.saved_response(ONCE)
    assert saved_response is not None
    return saved_response.answer


def through_receipt(store: Store, value: Any) -> Any:
    task = claimed(store)
    asked = AskedRequest(digest="h", computed={"value": value})
    store.commit(WORKSPACE, replace(then(task, state=State.DELEGATED, ready_at=NOON, claim=None), asked=asked))
    return received(store)


def received(store: Store) -> Any:
    receipt = store.trail.receipt(store.tasks.load(WORKSPACE, "task_1")[0], "clm_1")
    assert receipt is not None
    return receipt.computed["value"]


def through_review(store: Store, value: Any) -> Any:
    review = add_review(store, 1, request=value)
    return store.escalations.review(WORKSPACE, review.id).request


ROUNDS: list[Round] = [
    through_body,
    through_claimers_reading,
    through_output,
    through_failure,
    through_note,
    through_key,
    through_receipt,
    through_review,
]


@pytest.mark.parametrize("round_trip", ROUNDS)
@pytest.mark.parametrize("name", PAYLOADS)
def test_a_payload_comes_back_exactly(store: Store, round_trip: Round, name: str) -> None:
    value = PAYLOADS[name]
    found = round_trip(store, deepcopy(value))
    assert found == value
    assert repr(_ordered(found)) == repr(_ordered(value)), "types and digits too"


@pytest.mark.parametrize("output", [0, False, "", [], {}, 0.0, "text", [1, None]])
def test_any_json_may_be_an_output(store: Store, output: Any) -> None:
    found = through_output(store, output)
    assert found == output
    assert type(found) is type(output)


@pytest.mark.parametrize("round_trip", ROUNDS)
def test_changing_what_was_given_or_got_changes_nothing(store: Store, round_trip: Round) -> None:
    given: dict[str, Any] = {"list": [1, {"x": 1}]}
    found = round_trip(store, given)
    given["list"][1]["x"] = 2
    found["list"].append("mine")
    task_id, wanted = "task_1", {"list": [1, {"x": 1}]}
    again: dict[Round, Callable[[], Any]] = {
        through_body: lambda: store.tasks.read(WORKSPACE, task_id, with_body=True).body,
        through_claimers_reading: lambda: store.tasks.read_for_claim(WORKSPACE, task_id).body,
        through_output: lambda: store.tasks.read(WORKSPACE, task_id).output,
        through_failure: lambda: store.tasks.read(WORKSPACE, task_id).failure,
        through_note: lambda: store.tasks.notes(WORKSPACE, task_id, 1)[0].content,
        through_key: lambda: getattr(store.saved_response(ONCE), "answer", None),
        through_receipt: lambda: received(store),
        through_review: lambda: store.escalations.review(WORKSPACE, "review_01").request,
    }
    read = again[round_trip]
    assert read() == wanted
    got = read()
    assert got is not None
    got["list"].clear()
    assert read() == wanted


def test_changing_an_events_data_changes_nothing(store: Store) -> None:
    store.commit(WORKSPACE, new())
    store.trail.events(WORKSPACE, "task_1", 0, 1)[0].data["changes"].clear()
    assert store.trail.events(WORKSPACE, "task_1", 0, 1)[0].is_intact()
    for page in (
        store.tasks.load(WORKSPACE, "task_1", ONCE)[1],
        store.escalations.marker_inputs(WORKSPACE, None, ONCE)[2],
    ):
        assert page is None


def _ordered(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _ordered(value[key]) for key in sorted(value)}
    return [_ordered(each) for each in value] if isinstance(value, list) else value
