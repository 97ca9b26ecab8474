"""Live claims are held by their agent, and a permit by one claim at a time: whatever begins or ends a claim."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from baton.domain.errors import Conflict, KeyTaken, SlotTaken, Unknown
from baton.domain.handoffs.workflow import HeldClaim
from baton.domain.idempotency import IdempotencyKey
from baton.domain.task_state import State
from baton.domain.tasks.calls import WorkerCall
from baton.domain.times import seconds
from baton.ports.store import Store
from baton.ports.writes import Insert, NotCancelled, Require, SaveResponse, UnderClaim
from support.clock import NOON
from support.values.changes import a_claim, claimed, looked_at, new, queued, stored, then
from support.values.records import a_note
from support.values.task_items import freed, holding, slotted
from support.worlds.world import WORKSPACE, agent, human


def held(store: Store, slug: str = "auditor") -> list[tuple[str, str]]:
    return [(each.task_id, each.claim_id) for each in store.claims.held(WORKSPACE, slug)]


def slots(store: Store, slug: str = "auditor") -> list[int]:
    return sorted(store.claims.taken_slots(WORKSPACE, slug))


def test_a_claim_is_held_from_its_beginning_to_its_end(store: Store) -> None:
    task = queued(store, "task_1", workflow_id="wf_7")
    assert store.claims.held(WORKSPACE, "auditor") == ()
    begun = then(task, state=State.CLAIMED, claim=a_claim(), fence=1)
    store.commit(WORKSPACE, begun)
    assert store.claims.held(WORKSPACE, "auditor") == (HeldClaim("task_1", "clm_1", "wf_7"),)
    freed(store, begun.task)
    assert store.claims.held(WORKSPACE, "auditor") == ()


@pytest.mark.parametrize("slot", [None, 0, 1, 99])
@pytest.mark.parametrize("state", [State.DONE, State.FAILED, State.CANCELLED, State.WAITING, State.NEEDS])
def test_it_is_held_no_more_whatever_ends_it(store: Store, slot: int | None, state: State) -> None:
    task = holding(store, "task_1", slot)
    assert held(store) == [("task_1", "clm_1")]
    assert slots(store) == ([] if slot is None else [slot])
    freed(store, task, state=state)
    assert (held(store), slots(store)) == ([], [])


def test_a_change_under_a_claim_leaves_it_held(store: Store) -> None:
    task = holding(store, "task_1", 3)
    changed = then(task, checkpoints=1)
    store.commit(WORKSPACE, changed)
    store.claims.renew(WorkerCall(agent("auditor"), "task_1", "clm_1"), NOON + seconds(60), None)
    store.commit(WORKSPACE, looked_at(store.tasks.load(WORKSPACE, "task_1")[0], rings=1))
    assert (held(store), slots(store)) == ([("task_1", "clm_1")], [3])


def test_the_claim_whose_lease_ends_first_comes_first_with_or_without_a_permit(store: Store) -> None:
    for number, slot in enumerate((None, 10, 2, None)):
        claim = replace(slotted(slot, fence=number + 1), expires_at=NOON + seconds(300 - number))
        claimed(store, f"task_{number}", claim)
    assert held(store) == [("task_3", "clm_4"), ("task_2", "clm_3"), ("task_1", "clm_2"), ("task_0", "clm_1")]
    assert slots(store) == [2, 10]


def test_a_mark_stands_behind_the_work_of_the_agents_queue_and_is_no_work(store: Store) -> None:
    holding(store, "task_1")
    queued(store, "task_2")
    skills, work = store.queues.ready(WORKSPACE, "auditor", NOON + seconds(299))
    assert (skills, [ready.task_id for ready in work]) == (None, ["task_2"])
    assert held(store) == [("task_1", "clm_1")]


def test_whoever_made_the_claim_it_is_its_agents(store: Store) -> None:
    claimed(store, "task_1", a_claim(by=human()))
    claimed(store, "task_2", slotted(None, agent="auditor-2"))
    claimed(store, "task_3", slotted(None, agent="auditor-2"), target_agent=None)
    assert held(store) == [("task_1", "clm_1")]
    assert sorted(held(store, "auditor-2")) == [("task_2", "clm_1"), ("task_3", "clm_1")]


def test_a_permit_is_taken_once(store: Store) -> None:
    holding(store, "task_1", 1)
    task = queued(store, "task_2")
    with pytest.raises(SlotTaken):
        store.commit(WORKSPACE, then(task, state=State.CLAIMED, claim=slotted(1), fence=1))
    assert store.tasks.load(WORKSPACE, "task_2")[0] == task
    store.commit(WORKSPACE, then(task, state=State.CLAIMED, claim=slotted(2), fence=1))
    assert sorted(held(store)) == [("task_1", "clm_1"), ("task_2", "clm_1")]
    assert slots(store) == [1, 2]


def test_a_permit_of_another_agent_is_another_permit(store: Store) -> None:
    holding(store, "task_1", 1)
    claimed(store, "task_2", slotted(1, agent="auditor-2"))
    assert held(store, "auditor-2") == [("task_2", "clm_1")]
    assert slots(store, "auditor-2") == [1]


def test_a_permit_that_was_given_back_may_be_taken_by_any_task(store: Store) -> None:
    task = holding(store, "task_1", 1)
    task = freed(store, task)
    holding(store, "task_2", 1)
    with pytest.raises(SlotTaken):
        store.commit(WORKSPACE, then(task, state=State.CLAIMED, claim=slotted(1, fence=2), fence=2))
    store.commit(WORKSPACE, then(task, state=State.CLAIMED, claim=slotted(2, fence=2), fence=2))
    assert sorted(held(store)) == [("task_1", "clm_2"), ("task_2", "clm_1")]
    assert slots(store) == [1, 2]


@pytest.mark.parametrize(("before", "after"), [(None, None), (1, 1), (None, 1), (1, None), (1, 2)])
def test_one_claim_in_the_place_of_another_is_the_one_that_is_held(
    store: Store, before: int | None, after: int | None
) -> None:
    task = holding(store, "task_1", before)
    store.commit(WORKSPACE, then(task, claim=slotted(after, fence=2), fence=2))
    assert held(store) == [("task_1", "clm_2")]
    assert slots(store) == ([] if after is None else [after])


def test_a_claim_decided_on_an_old_reading_says_so_rather_than_that_its_permit_is_taken(store: Store) -> None:
    task = queued(store, "task_2")
    store.commit(WORKSPACE, then(task, title="meanwhile"))
    holding(store, "task_1", 1)
    with pytest.raises(Conflict) as raised:
        store.commit(WORKSPACE, then(task, state=State.CLAIMED, claim=slotted(1), fence=1))
    assert type(raised.value) is Conflict
    idempotency_key = IdempotencyKey(human(), "/x", "key", "hash")
    store.commit(WORKSPACE, SaveResponse(idempotency_key, {}))
    with pytest.raises(KeyTaken):
        store.commit(
            WORKSPACE, then(task, state=State.CLAIMED, claim=slotted(1), fence=1), SaveResponse(idempotency_key, {})
        )


def test_what_is_decided_under_a_claim_holds_while_it_is_the_current_one(store: Store) -> None:
    task = holding(store, "task_1")
    store.commit(WORKSPACE, new("task_2"), Require(UnderClaim("task_1", "clm_1")))
    store.claims.renew(WorkerCall(agent("auditor"), "task_1", "clm_1"), NOON + seconds(60), None)
    store.commit(WORKSPACE, new("task_3"), Require(UnderClaim("task_1", "clm_1")))
    freed(store, store.tasks.load(WORKSPACE, task.id)[0])
    back = store.tasks.load(WORKSPACE, "task_1")[0]
    store.commit(WORKSPACE, then(back, state=State.CLAIMED, claim=a_claim(fence=2), fence=2))
    for under in (
        Require(UnderClaim("task_1", "clm_1")),
        Require(UnderClaim("task_2", "clm_1")),
        Require(UnderClaim("task_9", "clm_1")),
    ):
        with pytest.raises(Conflict):
            store.commit(WORKSPACE, new("task_4"), under)
        with pytest.raises(Unknown):
            store.tasks.load(WORKSPACE, "task_4")


def test_what_hangs_below_a_task_holds_while_that_is_not_cancelled(store: Store) -> None:
    above = stored(store, "task_1")
    store.commit(WORKSPACE, new("task_2"), Require(NotCancelled("task_1")))
    done = then(above, state=State.DONE)
    store.commit(WORKSPACE, done)
    store.commit(WORKSPACE, new("task_3"), Require(NotCancelled("task_1")), Require(NotCancelled("task_2")))
    store.commit(WORKSPACE, then(store.tasks.load(WORKSPACE, "task_2")[0], state=State.CANCELLED))
    for task_id in ("task_2", "task_9"):
        with pytest.raises(Conflict):
            store.commit(WORKSPACE, new("task_4"), Require(NotCancelled("task_1")), Require(NotCancelled(task_id)))
        with pytest.raises(Unknown):
            store.tasks.load(WORKSPACE, "task_4")


def test_claims_may_begin_and_end_in_one_write(store: Store) -> None:
    one, other = holding(store, "task_1", 1), queued(store, "task_2")
    ends = then(one, state=State.DONE, claim=None)
    begins: dict[str, Any] = {"state": State.CLAIMED, "claim": slotted(2), "fence": 1}
    store.commit(WORKSPACE, ends, then(other, **begins))
    assert (held(store), slots(store)) == ([("task_2", "clm_1")], [2])


def test_an_agents_many_claims_are_all_told(store: Store) -> None:
    for number in range(130):
        stored(store, f"task_{number:03d}", state=State.CLAIMED, claim=slotted(number, fence=number), fence=number)
    assert sorted(task_id for task_id, _ in held(store)) == [f"task_{number:03d}" for number in range(130)]
    assert slots(store) == list(range(130))


def test_what_is_kept_under_a_claim_is_counted_on_it_and_changes_nothing_else(store: Store) -> None:
    task = holding(store, "task_1")
    for size in (10, 5):
        store.commit(WORKSPACE, Insert(a_note(size, "task_1")), Require(UnderClaim("task_1", "clm_1", size)))
    counted = store.tasks.load(WORKSPACE, "task_1")[0]
    assert counted.claim is not None
    assert task.claim is not None
    assert (counted.claim.kept_bytes, counted.meta.version) == (15, task.meta.version)
    assert counted.changed(claim=task.claim) == task
    store.claims.renew(WorkerCall(agent("auditor"), "task_1", "clm_1"), NOON + seconds(60), None)
    renewed = store.tasks.load(WORKSPACE, "task_1")[0]
    assert renewed.claim is not None
    assert renewed.claim.kept_bytes == 15
    store.commit(WORKSPACE, then(renewed, checkpoints=1, claim=renewed.claim.keeping(85, 100)))
    kept = store.tasks.load(WORKSPACE, "task_1")[0].claim
    assert kept is not None
    assert kept.kept_bytes == 100
    with pytest.raises(Conflict):
        store.commit(WORKSPACE, Insert(a_note(7, "task_1")), Require(UnderClaim("task_1", "clm_2", 1)))
