"""``commit``: all of it or nothing, and only on what was read."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from baton.domain.errors import BatonError, Conflict, KeyTaken, Unknown
from baton.domain.escalations.direction import CountedEscalation, Direction
from baton.domain.idempotency import IdempotencyKey, SavedResponse
from baton.domain.task_state import State
from baton.domain.tasks.calls import WorkerCall
from baton.domain.tasks.trail import replay
from baton.domain.times import seconds
from baton.ports.store import Store
from baton.ports.writes import (
    CloseEscalation,
    EndReview,
    Insert,
    OpenEscalation,
    OpenReview,
    Save,
    SaveResponse,
    Write,
)
from support.clock import NOON
from support.values.changes import a_claim, claimed, looked_at, new, stored, then, with_body, with_output
from support.values.records import a_note, a_review
from support.values.task_items import a_recovery
from support.worlds.world import WORKSPACE, agent, human

PAIR = ("scout", "auditor")
UNTOUCHED = Direction(WORKSPACE, *PAIR)
ONCE = IdempotencyKey(human(), "/handoff-markers", "key-1", "hash-1")


def direction_of(store: Store) -> Direction:
    direction = store.escalations.marker_inputs(WORKSPACE, PAIR, None)[1]
    assert direction is not None
    return direction


def opened(store: Store, task_id: str, at_second: int = 0, **values: Any) -> None:
    extra = OpenEscalation(direction_of(store), task_id, NOON + seconds(at_second), **values)
    store.commit(WORKSPACE, new(task_id), extra)


def test_a_new_task_is_there_with_its_trail_after_its_commit(store: Store) -> None:
    change = new(wake_at=NOON)
    store.commit(WORKSPACE, with_body(change, {"text": "do it"}))
    assert store.tasks.load(WORKSPACE, "task_1") == (change.task, None)
    assert store.trail.events(WORKSPACE, "task_1", 0, 10) == change.events
    details = store.tasks.read(WORKSPACE, "task_1", with_body=True)
    assert (details.task, details.body) == (change.task, {"text": "do it"})


def test_the_body_is_read_only_where_it_is_asked_for(store: Store) -> None:
    store.commit(WORKSPACE, with_body(new(), {"text": "do it"}))
    assert store.tasks.read(WORKSPACE, "task_1").body is None


def test_an_id_is_created_once(store: Store) -> None:
    first = stored(store)
    with pytest.raises(Conflict):
        store.commit(WORKSPACE, new(title="another"))
    assert store.tasks.load(WORKSPACE, "task_1")[0] == first


def test_a_change_of_a_task_that_does_not_exist_is_refused(store: Store) -> None:
    with pytest.raises(Conflict):
        store.commit(WORKSPACE, then(new().task, title="x"))
    with pytest.raises(Unknown):
        store.tasks.load(WORKSPACE, "task_1")


def test_the_second_of_two_changes_decided_on_one_reading_is_refused(store: Store) -> None:
    task = stored(store)
    store.commit(WORKSPACE, then(task, title="first"))
    with pytest.raises(Conflict):
        store.commit(WORKSPACE, with_output(then(task, state=State.DONE), "x"), Insert(a_note()))
    details = store.tasks.read(WORKSPACE, "task_1")
    assert (details.task.title, details.task.meta.version, details.output) == ("first", 2, None)
    assert len(store.trail.events(WORKSPACE, "task_1", 0, 10)) == 2
    assert store.tasks.notes(WORKSPACE, "task_1", 10) == ()


def test_a_change_decided_before_a_heartbeat_is_refused(store: Store) -> None:
    task = claimed(store)
    renewed = store.claims.renew(WorkerCall(agent("auditor"), task.id, "clm_1"), NOON + seconds(60), None)
    with pytest.raises(Conflict):
        store.commit(WORKSPACE, then(task, state=State.DELEGATED, claim=None))
    assert store.tasks.load(WORKSPACE, task.id)[0].claim == renewed


def test_bookkeeping_without_an_event_raises_the_version_and_moves_the_next_look(store: Store) -> None:
    task = stored(store, wake_at=NOON)
    store.commit(WORKSPACE, looked_at(task, wake_at=NOON + seconds(60), rings=1))
    found = store.tasks.load(WORKSPACE, task.id)[0]
    assert (found.meta.version, found.meta.wake_at, found.meta.rings, found.meta.seq) == (2, NOON + seconds(60), 1, 1)
    with pytest.raises(Conflict):
        store.commit(WORKSPACE, looked_at(task, wake_at=None))


def test_what_a_change_leaves_beside_is_read_with_the_task(store: Store) -> None:
    task = claimed(store)
    recoveries = [a_recovery(number) for number in range(1, 13)]
    for recovery in recoveries:
        change = replace(then(task, recoveries=recovery.number), recovery=recovery)
        store.commit(WORKSPACE, change)
        task = change.task
    change = replace(then(task, state=State.DONE, has_failure=True), failure={"type": "error", "description": ""})
    store.commit(WORKSPACE, with_output(change, {"done": [1, 2.5, None]}))
    details = store.tasks.read(WORKSPACE, task.id)
    assert details.recoveries == tuple(recoveries)
    assert details.failure == {"type": "error", "description": ""}
    assert details.output == {"done": [1, 2.5, None]}
    assert replay(store.trail.events(WORKSPACE, task.id, 0, 100)).recoveries == 12


def test_a_task_that_ends_leaves_claim_and_places_behind(store: Store) -> None:
    task = claimed(store)
    store.commit(WORKSPACE, then(task, state=State.DONE, claim=None, wake_at=None))
    found = store.tasks.load(WORKSPACE, task.id)[0]
    assert (found.claim, found.meta.wake_at) == (None, None)
    assert list(store.queues.due(NOON + seconds(10_000))) == []


def key_used(store: Store) -> Write:
    store.commit(WORKSPACE, SaveResponse(ONCE, {"n": 1}))
    return SaveResponse(ONCE, {"n": 2})


def direction_moved_on(store: Store) -> Write:
    read = direction_of(store)
    opened(store, "task_0")
    return OpenEscalation(read, "task_1", NOON)


def direction_moved_on_for_a_review(store: Store) -> tuple[Write, ...]:
    read = direction_of(store)
    opened(store, "task_0")
    return (Save(a_review()), OpenReview(read, a_review().id))


def direction_got_a_review(store: Store) -> Write:
    read = direction_of(store)
    store.commit(WORKSPACE, Save(a_review(0)), OpenReview(read, a_review(0).id), Insert(a_note(1, "task_0")))
    return OpenEscalation(read, "task_1", NOON)


def direction_read_too_early(store: Store) -> Write:
    opened(store, "task_0")
    read = direction_of(store)
    opened(store, "task_00", 1)
    return OpenEscalation(read, "task_1", NOON)


def direction_moved_on_for_a_closing(store: Store) -> tuple[Write, ...]:
    store.commit(WORKSPACE, Save(a_review()), OpenReview(UNTOUCHED, a_review().id), Insert(a_note(1, "task_0")))
    read = direction_of(store)
    opened(store, "task_0")
    return (Save(a_review(version=2, closed_at=NOON, closed_by="human:alice", closed_reason="no")), EndReview(read))


def review_moved_on(store: Store) -> Write:
    store.commit(WORKSPACE, Save(a_review()), OpenReview(UNTOUCHED, a_review().id), Insert(a_note(1, "task_0")))
    store.commit(WORKSPACE, Save(a_review(version=2, count=2)), Insert(a_note(2, "task_0")))
    return Save(a_review(version=2, count=7))


def review_unknown(store: Store) -> Write:
    return Save(a_review(version=2))


@pytest.mark.parametrize(
    ("prepare", "error"),
    [
        (key_used, KeyTaken),
        (direction_moved_on, Conflict),
        (direction_moved_on_for_a_review, Conflict),
        (direction_moved_on_for_a_closing, Conflict),
        (direction_got_a_review, Conflict),
        (direction_read_too_early, Conflict),
        (review_moved_on, Conflict),
        (review_unknown, Conflict),
    ],
)
def test_an_extra_that_does_not_hold_refuses_the_whole_commit(
    store: Store, prepare: Callable[[Store], Write | tuple[Write, ...]], error: type[BatonError]
) -> None:
    prepared = prepare(store)
    extras = prepared if isinstance(prepared, tuple) else (prepared,)
    directions, before = direction_of(store), store.escalations.reviews(WORKSPACE, 10, None)
    idempotency_key = replace(ONCE, key="key-2")
    with pytest.raises(error) as raised:
        store.commit(
            WORKSPACE,
            with_body(new(), {"text": "x"}),
            Insert(a_note()),
            SaveResponse(idempotency_key, {}),
            *extras,
            CloseEscalation("a", "b", "task_0"),
        )
    assert type(raised.value) is error
    with pytest.raises(Unknown):
        store.tasks.load(WORKSPACE, "task_1")
    assert store.trail.events(WORKSPACE, "task_1", 0, 10) == ()
    assert store.tasks.notes(WORKSPACE, "task_1", 10) == ()
    assert store.saved_response(idempotency_key) is None
    assert (direction_of(store), store.escalations.reviews(WORKSPACE, 10, None)) == (directions, before)


def test_a_used_key_is_named_even_where_the_task_changed_too(store: Store) -> None:
    task = stored(store)
    store.commit(WORKSPACE, then(task, title="first"), SaveResponse(ONCE, {"n": 1}))
    with pytest.raises(KeyTaken):
        store.commit(WORKSPACE, then(task, title="second"), SaveResponse(ONCE, {"n": 2}))
    saved_response = store.saved_response(ONCE)
    assert saved_response is not None
    assert saved_response.answer == {"n": 1}


def test_keys_remember_their_answer_apart_from_each_other(store: Store) -> None:
    others = [
        replace(ONCE, key="key-2"),
        replace(ONCE, route="/tasks/1/approve"),
        replace(ONCE, principal=human(name="bob")),
        replace(ONCE, principal=human("other")),
    ]
    store.commit(WORKSPACE, SaveResponse(ONCE, {"n": 1}))
    assert [store.saved_response(other) for other in others] == [None] * 4
    assert store.saved_response(replace(ONCE, body_hash="other")) == SavedResponse("hash-1", {"n": 1})
    stored(store)
    assert store.tasks.load(WORKSPACE, "task_1", ONCE)[1] == SavedResponse("hash-1", {"n": 1})
    assert store.tasks.load(WORKSPACE, "task_1", others[0])[1] is None
    assert store.escalations.marker_inputs(WORKSPACE, None, ONCE)[2] == SavedResponse("hash-1", {"n": 1})


def test_a_direction_holds_its_escalations_in_order(store: Store) -> None:
    assert direction_of(store) == UNTOUCHED
    opened(store, "task_1")
    opened(store, "task_2", 1)
    store.commit(WORKSPACE, CloseEscalation(*PAIR, "task_1"), Insert(a_note()))
    found = direction_of(store)
    assert found.escalations == (
        CountedEscalation("task_1", NOON, True),
        CountedEscalation("task_2", NOON + seconds(1)),
    )
    assert found.version == 2


def test_an_end_told_between_reading_and_opening_is_not_in_the_way(store: Store) -> None:
    opened(store, "task_1")
    read = direction_of(store)
    store.commit(WORKSPACE, CloseEscalation(*PAIR, "task_1"), Insert(a_note()))
    store.commit(WORKSPACE, new("task_2"), OpenEscalation(read, "task_2", NOON + seconds(1)))
    assert [e.closed for e in direction_of(store).escalations] == [True, False]


def test_an_end_may_be_told_any_number_of_times_even_of_what_nobody_opened(store: Store) -> None:
    for note in (1, 2):
        store.commit(WORKSPACE, CloseEscalation(*PAIR, "task_0"), Insert(a_note(note)))
    assert direction_of(store) == UNTOUCHED
    opened(store, "task_1")
    assert [e.task_id for e in direction_of(store).escalations] == ["task_1"]


def test_directions_whose_names_begin_alike_do_not_see_each_other(store: Store) -> None:
    opened(store, "task_1")
    for pair in [("scout", "auditor-2"), ("scout-a", "auditor"), ("auditor", "scout"), ("scou", "t-auditor")]:
        assert store.escalations.marker_inputs(WORKSPACE, pair, None)[1] == Direction(WORKSPACE, *pair)


def test_what_is_forgotten_is_gone_and_the_rest_stays(store: Store) -> None:
    for second in range(4):
        opened(store, f"task_{second}", second)
    store.commit(WORKSPACE, CloseEscalation(*PAIR, "task_0"), Insert(a_note(1)))
    store.commit(WORKSPACE, CloseEscalation(*PAIR, "task_2"), Insert(a_note(2)))
    opened(store, "task_9", 9, forget=("task_0", "task_1"))
    kept = [(e.task_id, e.closed) for e in direction_of(store).escalations]
    assert kept == [("task_2", True), ("task_3", False), ("task_9", False)]


def test_everything_may_be_forgotten_at_once(store: Store) -> None:
    opened(store, "task_0")
    opened(store, "task_1", 1, forget=("task_0",))
    assert [e.task_id for e in direction_of(store).escalations] == ["task_1"]


def test_a_review_is_open_in_its_direction_until_it_ends(store: Store) -> None:
    store.commit(WORKSPACE, Save(a_review()), OpenReview(UNTOUCHED, a_review().id), Insert(a_note()))
    assert direction_of(store).review_id == "review_01"
    again = a_review(count=2, version=2, last_at=NOON + seconds(5))
    store.commit(WORKSPACE, Save(again), Insert(a_note(2)))
    assert store.escalations.review(WORKSPACE, "review_01") == again
    assert direction_of(store).version == 1
    released = replace(again, version=3, released_at=NOON, released_by="human:alice", task_id="task_1")
    extras: list[Write] = [
        Save(released),
        OpenEscalation(direction_of(store), "task_1", NOON, ends_review=True),
    ]
    store.commit(WORKSPACE, new(), *extras)
    assert direction_of(store).review_id is None
    assert store.escalations.review(WORKSPACE, "review_01") == released


def test_a_review_that_is_closed_is_no_longer_its_directions(store: Store) -> None:
    opened(store, "task_0")
    store.commit(WORKSPACE, Save(a_review()), OpenReview(direction_of(store), a_review().id), Insert(a_note()))
    closed = a_review(version=2, closed_at=NOON, closed_by="human:alice", closed_reason="not wanted")
    store.commit(WORKSPACE, Save(closed), EndReview(direction_of(store)))
    assert (direction_of(store).review_id, direction_of(store).version) == (None, 3)
    assert [each.task_id for each in direction_of(store).escalations] == ["task_0"]
    assert store.escalations.review(WORKSPACE, closed.id) == closed


def test_one_commit_may_carry_everything(store: Store) -> None:
    change = new(state=State.CLAIMED, claim=a_claim(), wake_at=NOON)
    store.commit(
        WORKSPACE,
        with_body(change, {"text": "x"}),
        SaveResponse(ONCE, {"n": 1}),
        OpenEscalation(UNTOUCHED, "task_1", NOON),
        Insert(a_note()),
    )
    details = store.tasks.read(WORKSPACE, "task_1", with_body=True)
    assert (details.task, details.body) == (change.task, {"text": "x"})
    assert store.tasks.notes(WORKSPACE, "task_1", 10) == (a_note(),)
