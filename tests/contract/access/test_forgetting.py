"""Answers to requests with a key are remembered for seven days. What is over is so by its time: the table may take days
to forget it."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta

import pytest

from baton.domain.errors import KeyTaken
from baton.domain.idempotency import REMEMBERED_FOR, IdempotencyKey, SavedResponse
from baton.domain.task_state import State
from baton.domain.tasks.receipts import AskedRequest
from baton.domain.tasks.tail import MAX_TAIL_BYTES
from baton.domain.tasks.task import Task
from baton.domain.times import seconds, to_ms
from baton.ports.store import Store
from baton.ports.writes import SaveResponse
from support.clock import NOON
from support.values.changes import a_claim, claimed, stored, then, with_output
from support.values.records import a_token
from support.values.tasks import MS
from support.worlds.rig import Rig
from support.worlds.world import WORKSPACE, human

SECOND = timedelta(seconds=1)
WEEK = timedelta(days=7)


def idempotency_key(at: datetime | None = NOON) -> IdempotencyKey:
    return IdempotencyKey(human(), "POST /x", "key", "hash", at)


def remember(store: Store, at: datetime | None, number: int) -> None:
    store.commit(WORKSPACE, SaveResponse(idempotency_key(at), {"n": number}))


def test_an_answer_is_remembered_for_a_week(store: Store) -> None:
    assert REMEMBERED_FOR == WEEK
    remember(store, NOON, 1)
    kept = store.saved_response(idempotency_key())
    assert kept == SavedResponse("hash", {"n": 1}, NOON + WEEK)
    assert idempotency_key(NOON + WEEK - MS).replay(kept) == {"n": 1}
    assert idempotency_key(NOON + WEEK).replay(kept) is None


@pytest.mark.parametrize("late", [timedelta(), SECOND, 30 * WEEK])
def test_a_repeat_after_that_is_a_new_request_whose_answer_takes_the_place_of_the_old(
    store: Store, late: timedelta
) -> None:
    remember(store, NOON, 1)
    with pytest.raises(KeyTaken):
        remember(store, NOON + WEEK - SECOND, 2)
    again = NOON + WEEK + late
    remember(store, again, 3)
    kept = store.saved_response(idempotency_key(again))
    assert kept == SavedResponse("hash", {"n": 3}, again + WEEK)
    with pytest.raises(KeyTaken):
        remember(store, again + SECOND, 4)


def test_every_reading_tells_until_when(store: Store) -> None:
    remember(store, NOON + seconds(0.25), 1)
    stored(store)
    expected = SavedResponse("hash", {"n": 1}, NOON + WEEK)
    assert store.tasks.load(WORKSPACE, "task_1", idempotency_key())[1] == expected
    assert store.escalations.marker_inputs(WORKSPACE, None, idempotency_key()).saved_response == expected


def test_a_key_makes_one_token_a_week(store: Store) -> None:
    store.tokens.add_token(a_token(1), idempotency_key())
    with pytest.raises(KeyTaken):
        store.tokens.add_token(a_token(2), idempotency_key(NOON + WEEK - SECOND))
    store.tokens.add_token(a_token(3), idempotency_key(NOON + WEEK))
    kept = store.saved_response(idempotency_key())
    assert kept is not None
    assert kept.answer == {"token_id": a_token(3).id}


def test_without_a_time_an_answer_is_kept_for_good(store: Store) -> None:
    remember(store, None, 1)
    with pytest.raises(KeyTaken):
        remember(store, NOON + 100 * WEEK, 2)
    assert store.saved_response(idempotency_key()) == SavedResponse("hash", {"n": 1})


def test_a_receipt_tells_until_when_the_answer_is_given_again(store: Store) -> None:
    task = claimed(store)
    change = then(task, state=State.DONE, claim=None)
    store.commit(WORKSPACE, replace(change, asked=AskedRequest(digest="complete")))
    kept = store.trail.receipt(store.tasks.load(WORKSPACE, task.id)[0], "clm_1")
    assert kept is not None
    assert (kept.is_over(NOON + WEEK - MS), kept.is_over(NOON + WEEK), kept.is_over(None)) == (False, True, False)


def test_nothing_but_copies_of_answers_is_ever_forgotten(rig: Rig) -> None:
    """What a task is and what became of it stays: trails, payloads, outputs, checkpoints, agents, tokens."""
    before = rig.items()
    assert not [item for item in before if "ttl" in item]
    task = with_receipts(rig.store)
    rig.store.commit(WORKSPACE, with_output(then(task, state=State.DONE), 1), SaveResponse(idempotency_key(), {}))
    forgotten = {item["sk"]["S"]: item["ttl"]["N"] for item in rig.items() if "ttl" in item}
    assert forgotten == {"ONCE": str(to_ms(NOON + WEEK) // 1_000)}


def with_receipts(store: Store) -> Task:
    """Its first claim was ended by its holder, its second one by somebody else. What HEAD has of that is too long."""
    task = claimed(store)
    asked = AskedRequest(digest="release", key="a-key")
    back = replace(then(task, state=State.DELEGATED, ready_at=NOON, claim=None), by_holder=True, asked=asked)
    store.commit(WORKSPACE, back)
    again = then(back.task, state=State.CLAIMED, claim=a_claim(fence=2), fence=2, title="t" * MAX_TAIL_BYTES)
    store.commit(WORKSPACE, again)
    # The change after a full tail leaves it whole to a chunk, so the second end is in the tail with a full one before.
    ended = then(again.task, state=State.DELEGATED, ready_at=NOON, claim=None, title="t" * MAX_TAIL_BYTES + "u")
    store.commit(WORKSPACE, ended)
    return ended.task


def test_a_repeat_under_another_body_is_told_so_within_the_week_only() -> None:
    kept = SavedResponse("another", {}, NOON + WEEK)
    assert replace(idempotency_key(), at=NOON + WEEK).replay(kept) is None
