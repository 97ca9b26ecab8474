"""Finding work: what an agent may take, what waits for a human, what the sweeper must look at."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable
from datetime import datetime
from itertools import islice
from typing import Any

from baton.domain.priority import Priority
from baton.domain.task_state import State
from baton.domain.tasks.change import Change
from baton.domain.times import seconds
from baton.ports.paging import Page
from baton.ports.queues import ReadyTask, Skills
from baton.ports.store import Store
from support.clock import NOON
from support.values.changes import a_claim, claimed, looked_at, new, plant, queued, stored, then
from support.values.tasks import MS, an_agent
from support.worlds.world import WORKSPACE

Plant = Callable[[Iterable[Change]], object]
P0, P1, P2 = Priority
LATER = NOON + seconds(60)


def approved(id_: str, ready_at: datetime = NOON, **values: Any) -> Change:
    return new(id_, state=State.DELEGATED, ready_at=ready_at, **values)


def ready(store: Store, agent: str = "auditor", workspace: str = WORKSPACE, now: datetime = NOON) -> list[str]:
    return [entry.task_id for entry in store.queues.ready(workspace, agent, now)[1]]


def offered(store: Store, now: datetime = NOON) -> list[str]:
    return [entry.task_id for entry in store.queues.open_work(WORKSPACE, now)]


def test_priority_comes_first_then_who_is_ready_longer_then_the_id(store: Store) -> None:
    queued(store, "task_low", NOON - seconds(900), priority=P2)
    queued(store, "task_new", NOON, priority=P0)
    queued(store, "task_old", NOON - seconds(1), priority=P0)
    queued(store, "task_mid_b", NOON - seconds(5), priority=P1)
    queued(store, "task_mid_a", NOON - seconds(5), priority=P1)
    assert ready(store) == ["task_old", "task_new", "task_mid_a", "task_mid_b", "task_low"]


def test_ready_tells_since_when(store: Store) -> None:
    queued(store, "task_1", NOON - MS)
    (entry,) = store.queues.ready(WORKSPACE, "auditor", NOON)[1]
    assert (entry.task_id, entry.ready_at) == ("task_1", NOON - MS)


def test_a_task_is_ready_from_its_very_millisecond_on(store: Store) -> None:
    queued(store, "task_now", NOON)
    queued(store, "task_soon", NOON + MS)
    assert ready(store) == ["task_now"]
    assert ready(store, now=NOON + MS) == ["task_now", "task_soon"]


def test_only_approved_tasks_of_this_agent_are_ready(store: Store) -> None:
    queued(store, "task_1")
    queued(store, "task_2", target_agent="auditor-2")
    queued(store, "task_3", target_agent="audito")
    queued(store, "task_4", workspace="other")
    stored(store, "task_5", state=State.NEXT, ready_at=NOON)
    stored(store, "task_6", state=State.NEEDS)
    claimed(store, "task_7", ready_at=NOON)
    stored(store, "task_8", state=State.DONE, ready_at=NOON)
    assert ready(store) == ["task_1"]
    assert ready(store, workspace="other") == ["task_4"]
    assert ready(store, agent="nobody") == []


def test_more_than_a_page_is_read_to_the_end_without_loss_or_repeat(store: Store) -> None:
    changes = [
        approved(f"task_{priority}_{number:02d}", NOON - seconds(100 - number), priority=priority)
        for priority in Priority
        for number in range(30)
    ]
    plant(store, changes)
    assert ready(store) == [change.task.id for change in changes]


def test_exactly_full_pages_end(store: Store) -> None:
    plant(store, (approved(f"task_{number:02d}") for number in range(50)))
    assert len(ready(store)) == 50


def test_what_is_due_of_a_lower_priority_is_found_behind_more_than_a_page_of_what_is_not(store: Store) -> None:
    plant(store, (approved(f"task_later_{number:02d}", LATER, priority=P0) for number in range(40)))
    queued(store, "task_urgent", NOON - MS, priority=P0)
    queued(store, "task_mid", NOON, priority=P1)
    plant(store, (approved(f"task_mid_later_{number:02d}", LATER, priority=P1) for number in range(30)))
    queued(store, "task_low", NOON, priority=P2)
    assert ready(store) == ["task_urgent", "task_mid", "task_low"]


def test_any_mixture_is_read_in_order(store: Store) -> None:
    dice = random.Random(7)
    changes, due = [], []
    for number in range(120):
        priority, at = dice.choice(list(Priority)), NOON + seconds(dice.choice([-60, -1, 0, 1, 60]))
        changes.append(approved(f"task_{number:03d}", at, priority=priority))
        if at <= NOON:
            due.append((str(priority), at, f"task_{number:03d}"))
    plant(store, changes)
    assert ready(store) == [task_id for _, _, task_id in sorted(due)]


def test_a_claimed_task_has_left_the_queue_and_comes_back_with_its_release(store: Store) -> None:
    task = queued(store, "task_1")
    change = then(task, state=State.CLAIMED, claim=a_claim(), fence=1)
    store.commit(WORKSPACE, change)
    assert ready(store) == []
    store.commit(WORKSPACE, then(change.task, state=State.DELEGATED, claim=None, ready_at=NOON))
    assert ready(store) == ["task_1"]


def test_taking_tasks_while_reading_on_skips_none(store: Store) -> None:
    plant(store, (approved(f"task_{number:02d}") for number in range(30)))
    seen = []
    for entry in store.queues.ready(WORKSPACE, "auditor", NOON)[1]:
        task = store.tasks.load(WORKSPACE, entry.task_id)[0]
        store.commit(WORKSPACE, then(task, state=State.CLAIMED, claim=a_claim(), fence=1))
        seen.append(entry.task_id)
    assert seen == [f"task_{number:02d}" for number in range(30)]


def pages(read: Page, store: Store, limit: int) -> list[str]:
    found = [task.id for task in read.items]
    while read.cursor is not None:
        assert 0 < len(read.items) <= limit
        read = store.queues.needs(WORKSPACE, limit, read.cursor)
        found += [task.id for task in read.items]
    return found


def test_what_needs_a_human_is_listed_by_urgency_and_age(store: Store) -> None:
    expected = []
    for priority in Priority:
        for number in range(5):
            id_ = f"task_{priority}_{number}"
            stored(store, id_, priority=priority, created_at=NOON + seconds(number))
            expected.append(id_)
    queued(store, "task_ready")
    stored(store, "task_other", workspace="other")
    for limit in (1, 2, 4, 5, 14, 15, 16):
        assert pages(store.queues.needs(WORKSPACE, limit, None), store, limit) == expected
    assert store.queues.needs(WORKSPACE, 15, None).cursor is None


def test_an_approved_task_needs_nobody_any_more(store: Store) -> None:
    task = stored(store)
    store.commit(WORKSPACE, then(task, state=State.DELEGATED, ready_at=NOON))
    assert store.queues.needs(WORKSPACE, 10, None) == Page(())


def test_due_is_what_has_come_and_nothing_else(store: Store) -> None:
    stored(store, "task_past", wake_at=NOON - seconds(5))
    stored(store, "task_now", wake_at=NOON)
    stored(store, "task_soon", wake_at=NOON + MS)
    stored(store, "task_never")
    stored(store, "task_theirs", wake_at=NOON, workspace="other")
    expected = {(WORKSPACE, "task_past", None), (WORKSPACE, "task_now", None), ("other", "task_theirs", None)}
    assert set(store.queues.due(NOON)) == expected
    assert list(store.queues.due(NOON - seconds(6))) == []


def test_claims_come_before_everything_else(store: Store) -> None:
    for number in range(20):
        stored(store, f"task_other_{number:02d}", wake_at=NOON - seconds(1_000))
        claimed(store, f"task_claimed_{number:02d}", wake_at=NOON)
    found = [task_id for _, task_id, _ in store.queues.due(NOON)]
    assert len(set(found)) == len(found) == 40
    assert all("claimed" in task_id for task_id in found[:20])


def test_the_longest_due_come_first_whatever_their_shard(store: Store) -> None:
    for number in range(30):
        stored(store, f"task_{number:02d}", wake_at=NOON - seconds(number))
    assert [int(task_id[-2:]) for _, task_id, _ in store.queues.due(NOON)] == list(reversed(range(30)))


def test_due_goes_on_past_every_page(store: Store) -> None:
    count = 1_000
    plant(store, (new(f"task_{number:03d}", wake_at=NOON - seconds(number % 7)) for number in range(count)))
    found = list(store.queues.due(NOON))
    assert len(found) == len(set(found)) == count


def test_due_ends_though_what_it_names_is_moved_on_meanwhile(store: Store) -> None:
    plant(store, (new(f"task_{number:03d}", wake_at=NOON) for number in range(40)))
    seen = []
    for workspace, task_id, _ in store.queues.due(NOON):
        task = store.tasks.load(workspace, task_id)[0]
        store.commit(workspace, looked_at(task, wake_at=NOON + seconds(60)))
        seen.append(task_id)
    assert sorted(seen) == [f"task_{number:03d}" for number in range(40)]
    assert list(store.queues.due(NOON)) == []


def test_due_reads_no_further_than_it_is_asked_for(store: Store) -> None:
    for number in range(5):
        stored(store, f"task_{number}", wake_at=NOON)
    assert len(list(islice(store.queues.due(NOON), 2))) == 2


def test_an_agents_queue_tells_what_it_can_do(store: Store) -> None:
    plant(store, (approved(f"task_{number:02d}", priority=Priority.P0) for number in range(60)))
    assert store.queues.ready(WORKSPACE, "auditor", NOON)[0] is None
    values: dict[str, Any] = {"accepts": ("repo", "log"), "produces": ("report",), "max_concurrent": 7}
    store.agents.save_agent(an_agent(**values), store.agents.roster(WORKSPACE))
    skills, entries = store.queues.ready(WORKSPACE, "auditor", NOON)
    assert skills == Skills(("repo", "log"), ("report",), 7)
    assert [entry.task_id for entry in entries] == [f"task_{number:02d}" for number in range(60)]


def test_an_agent_without_work_or_limit_has_skills_too_whether_it_is_active_or_not(store: Store) -> None:
    store.agents.save_agent(an_agent(), store.agents.roster(WORKSPACE))
    assert ready(store) == []
    assert store.queues.ready(WORKSPACE, "auditor", NOON)[0] == Skills((), ())
    store.agents.save_agent(an_agent(version=2, active=False, produces=("x",)), store.agents.roster(WORKSPACE))
    assert store.queues.ready(WORKSPACE, "auditor", NOON)[0] == Skills((), ("x",))
    assert store.queues.ready(WORKSPACE, "audito", NOON)[0] is None


def test_open_work_is_offered_to_everybody_with_what_it_requires(store: Store) -> None:
    queued(store, "task_low", NOON - seconds(60), target_agent=None, priority=P2)
    queued(store, "task_1", NOON, target_agent=None, source_agent="architect", requires=("accepts:code", "produces:x"))
    queued(store, "task_soon", NOON + MS, target_agent=None)
    queued(store, "task_mine")
    stored(store, "task_needs", target_agent=None)
    first, last = store.queues.open_work(WORKSPACE, NOON)
    assert first == ReadyTask("task_1", NOON, ("accepts:code", "produces:x"), "architect")
    assert last == ReadyTask("task_low", NOON - seconds(60), (), "scout")
    assert ready(store) == ["task_mine"]


def test_open_work_is_in_no_agents_listing_and_in_its_days(store: Store) -> None:
    task = queued(store, "task_1", target_agent=None)
    assert store.lists.tasks_of_agent(WORKSPACE, "auditor", 10, None).items == ()
    assert store.lists.tasks_of_day(WORKSPACE, task.created_at.date(), 10, None).items == (task,)


def test_much_open_work_is_read_to_the_end_and_leaves_with_its_claim(store: Store) -> None:
    plant(store, (approved(f"task_{number:02d}", target_agent=None, priority=P0) for number in range(60)))
    task = queued(store, "task_last", target_agent=None)
    assert offered(store) == [*(f"task_{number:02d}" for number in range(60)), "task_last"]
    store.commit(WORKSPACE, then(task, state=State.CLAIMED, claim=a_claim(), fence=1))
    assert offered(store)[-1] == "task_59"


def test_what_was_put_off_is_in_no_queue_until_it_is_due(store: Store) -> None:
    deferred = stored(store, "task_deferred", deferred_until=LATER, parked=True, wake_at=LATER)
    later = queued(store, "task_later", NOON - MS, not_before=LATER, parked=True)
    open_ = queued(store, "task_open", NOON - MS, target_agent=None, parked=True)
    assert (ready(store), offered(store), store.queues.needs(WORKSPACE, 10, None).items) == ([], [], ())
    for task in (deferred, later, open_):
        store.commit(WORKSPACE, looked_at(task, parked=False))
    assert (ready(store), offered(store)) == (["task_later"], ["task_open"])
    assert [task.id for task in store.queues.needs(WORKSPACE, 10, None).items] == ["task_deferred"]
