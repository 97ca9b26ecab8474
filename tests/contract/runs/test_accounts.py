"""What runs have used: each step of a run is counted once for its task and its workflow, whatever is lost, late or at
once, and a workflow's limits hold."""

from __future__ import annotations

import random
from contextlib import suppress
from functools import partial
from typing import Any

import pytest
from botocore.exceptions import ClientError

from baton.adapters.dynamodb import keys
from baton.adapters.dynamodb.patience import Patience
from baton.adapters.dynamodb.store import DynamoStore
from baton.adapters.dynamodb.table import Table
from baton.domain.errors import Busy, Conflict
from baton.domain.runs.account import MAX_ACCOUNTS, Spending
from baton.domain.runs.transcript import Usage
from baton.ports.store import Store
from support.fakes.fake_dynamo.sizes import item_bytes as size
from support.fakes.store import TABLE
from support.faults.choke_point import at_call
from support.faults.soak import scaled
from support.faults.threads import all_at_once
from support.values.runs import a_step, count, spent
from support.worlds.rig import Rig
from support.worlds.world import WORKSPACE

ONE = Usage(1, 100, 20)


def usage(store: Store, workflow_id: str = "wf_1", task_id: str = "task_1") -> tuple[Usage, Usage]:
    return store.runs.usage(WORKSPACE, workflow_id, task_id)


def of_task(number: int, fence: int = 1, **values: Any) -> Spending:
    return a_step(fence, task_id=f"task_{number:026d}", **values)


def sum_of(store: Store, tasks: list[str]) -> Usage:
    total = Usage()
    for task_id in tasks:
        total = total.plus(usage(store, task_id=task_id)[0])
    return total


# Counting


def test_what_runs_use_adds_up_by_task_and_by_workflow(store: Store) -> None:
    count(
        store,
        a_step(1, 1, (0, 0)),
        a_step(1, 0, (100, 20)),
        a_step(1, 1, (0, 0), task_id="task_10"),
        a_step(2, 1, (5, 7)),
        a_step(1, 1, (1, 1), workflow_id="wf_10", task_id="task_100"),
    )
    assert usage(store) == (Usage(2, 105, 27), Usage(3, 105, 27))
    assert usage(store, task_id="task_10") == (Usage(1), Usage(3, 105, 27))
    assert usage(store, "wf_10", "task_100") == (Usage(1, 1, 1), Usage(1, 1, 1))
    assert usage(store, "wf_2", "task_9") == (Usage(), Usage())


def test_a_call_that_found_the_model_away_is_taken_back(store: Store) -> None:
    count(store, a_step(1, 1, (0, 0), most_calls=1), a_step(1, -1, (0, 0)), a_step(2, 1, (0, 0), most_calls=1))
    assert usage(store) == (Usage(1), Usage(1))


def test_what_is_counted_late_is_added_beside_the_account(store: Store) -> None:
    """Also before a run has counted anything, and while one counts on what it has seen."""
    store.commit(WORKSPACE, spent(0, (1, 1)))
    seen = store.runs.accounts(WORKSPACE, "wf_1", "task_1")
    store.commit(WORKSPACE, spent(0, (2, 2)))
    after = store.runs.count(WORKSPACE, a_step(), seen)
    store.commit(WORKSPACE, spent(0, (3, 3)))
    store.runs.count(WORKSPACE, a_step(), after)
    assert usage(store) == (Usage(2, 206, 46), Usage(2, 206, 46))


def test_the_accounts_after_a_step_are_those_that_are_read_then(store: Store) -> None:
    seen = store.runs.accounts(WORKSPACE, "wf_1", "task_1")
    for fence in (1, 1, 2, 4, 4):
        seen = store.runs.count(WORKSPACE, a_step(fence), seen)
        assert seen == store.runs.accounts(WORKSPACE, "wf_1", "task_1")
    assert (seen.mine.fence, seen.mine.step, seen.mine.before) == (4, 2, (2, 1))
    assert [seen.mine.has(*each) for each in ((4, 2), (4, 3), (2, 1), (2, 2), (1, 1))] == [
        True,
        False,
        True,
        False,
        False,
    ]


def test_a_step_that_was_seen_otherwise_is_refused(store: Store) -> None:
    """By the next step of the same run, and by the first of a later one."""
    nothing = store.runs.accounts(WORKSPACE, "wf_1", "task_1")
    first = store.runs.count(WORKSPACE, a_step(), nothing)
    for seen, later in ((nothing, first), (first, None)):
        with pytest.raises(Conflict):
            store.runs.count(WORKSPACE, a_step(1), nothing)
        if later is not None:
            store.runs.count(WORKSPACE, a_step(2), later)
        with pytest.raises(Conflict):
            store.runs.count(WORKSPACE, a_step(1), seen)
    assert usage(store) == (ONE.plus(ONE), ONE.plus(ONE))


@pytest.mark.parametrize(
    ("had", "limits", "holds"),
    [
        (None, {"most_calls": 1, "most_tokens": 1}, True),
        (None, {"most_calls": 0}, False),
        (None, {"most_tokens": 0}, False),
        (None, {"most_calls": 1, "most_tokens": 0}, False),
        (a_step(1, 4, (60, 40)), {"most_calls": 5}, True),
        (a_step(1, 4, (60, 40)), {"most_calls": 4}, False),
        (a_step(1, 4, (60, 40)), {"most_tokens": 101}, True),
        (a_step(1, 4, (60, 40)), {"most_tokens": 100}, False),
        (a_step(1, 4, (60, 40)), {"most_calls": 5, "most_tokens": 101}, True),
        (a_step(1, 4, (60, 40)), {"most_calls": 5, "most_tokens": 100}, False),
        (a_step(1, 4, (60, 40)), {"most_calls": 4, "most_tokens": 101}, False),
        (a_step(1, 4, (60, 40)), {}, True),
        # Of one of the two there may be none yet.
        (a_step(1, 0, (60, 40)), {"most_calls": 1, "most_tokens": 101}, True),
        (a_step(1, 4, (0, 0)), {"most_calls": 5, "most_tokens": 1}, True),
        # What others spend counts, and what the task has spent elsewhere doesn't.
        (a_step(1, 4, (60, 40), task_id="task_2"), {"most_calls": 4}, False),
        (a_step(1, 4, (60, 40), workflow_id="wf_10"), {"most_calls": 1, "most_tokens": 1}, True),
    ],
)
def test_a_workflow_spends_up_to_its_limits(
    store: Store, had: Spending | None, limits: dict[str, int], *, holds: bool
) -> None:
    """The last one before a limit may go past it: what it will take isn't known before."""
    if had is not None:
        count(store, had)
    before = usage(store)
    more = a_step(1, 10, (1_000, 1_000), **limits)
    if holds:
        count(store, more)
        assert usage(store) == tuple(each.plus(more.used) for each in before)
    else:
        with pytest.raises(Conflict):
            count(store, more)
        assert usage(store) == before


def test_of_many_at_once_as_many_count_as_the_limit_allows() -> None:
    rig = Rig()
    count(rig.other_store, of_task(0))

    def call(number: int) -> bool:
        store = DynamoStore(Table(rig.raw, TABLE, Patience(rig.clock)))
        for _ in range(100):
            try:
                count(store, of_task(number, most_calls=10))
            except Conflict:
                if store.runs.accounts(WORKSPACE, "wf_1", "task_x").workflow.total.model_calls >= 10:
                    return False
            else:
                return True
        raise AssertionError

    won = all_at_once([partial(call, number) for number in range(1, 33)])
    assert won.count(True) == 9
    assert won.count(False) == 23
    assert usage(rig.other_store)[1].model_calls == 10
    assert sum_of(rig.other_store, [f"task_{number:026d}" for number in range(33)]) == usage(rig.other_store)[1]


# Accounts that move


def test_however_many_tasks_a_workflow_has_each_has_its_usage_and_a_write_costs_one_unit(rig: Rig) -> None:
    tasks = 3 * MAX_ACCOUNTS
    for fence in (1, 2):
        for number in range(tasks):
            count(rig.store, of_task(number, fence, tokens=(1_000 * number, 1)), of_task(number, fence))
    for number in range(tasks):
        task_id = f"task_{number:026d}"
        assert usage(rig.store, task_id=task_id)[0] == Usage(4, 2_000 * number + 200, 42), number
    _, total = usage(rig.store)
    assert total == sum_of(rig.store, [f"task_{number:026d}" for number in range(tasks)])


def test_the_item_of_a_workflows_usage_stays_below_a_kilobyte(rig: Rig) -> None:
    """With the accounts of first runs, under ordinary names."""
    workflow_id = f"wf_{0:026d}"
    for number in range(3 * MAX_ACCOUNTS):
        for _ in range(9):
            count(rig.store, of_task(number, tokens=(90_000, 9_000), workflow_id=workflow_id))
        key = keys.usage_of_workflow("acme-engineering", workflow_id)
        (item,) = [each for each in rig.items() if each["pk"]["S"].endswith(workflow_id)]
        assert size({**item, "pk": {"S": key.pk}}) < 1_024, number


def test_a_run_whose_account_has_moved_goes_on_counting(store: Store) -> None:
    """Others took its place; it takes another's."""
    count(store, of_task(0, most_calls=999))
    for number in range(1, MAX_ACCOUNTS + 3):
        count(store, of_task(number))
    assert store.runs.accounts(WORKSPACE, "wf_1", "x").workflow.of(f"task_{0:026d}") is None
    count(store, of_task(0), of_task(0, fence=2))
    assert usage(store, task_id=f"task_{0:026d}")[0] == Usage(3, 300, 60)
    assert store.runs.accounts(WORKSPACE, "wf_1", f"task_{0:026d}").mine.before == (1, 2)


def test_an_account_that_goes_on_while_it_is_moved_stays(store: Store) -> None:
    """Its run counts after the mover has read, before the copy or after it."""
    count(store, *(of_task(number) for number in range(MAX_ACCOUNTS)))
    seen = store.runs.accounts(WORKSPACE, "wf_1", "task_new")
    count(store, of_task(0))
    for _ in range(2):  # the second time there is a copy of the older account
        with pytest.raises(Conflict):
            store.runs.count(WORKSPACE, a_step(task_id="task_new"), seen)
    assert usage(store, task_id=f"task_{0:026d}")[0] == ONE.plus(ONE)
    count(store, a_step(task_id="task_new"))
    assert usage(store, task_id=f"task_{0:026d}")[0] == ONE.plus(ONE)
    assert usage(store)[1].model_calls == MAX_ACCOUNTS + 2


def test_a_step_that_was_counted_unheard_is_known_to_the_next_run(store: Store) -> None:
    """And one that wasn't, too: the earlier run asks before it counts late."""
    count(store, a_step(1), a_step(1), a_step(2), a_step(2))
    mine = store.runs.accounts(WORKSPACE, "wf_1", "task_1").mine
    assert [mine.has(1, step) for step in (1, 2, 3)] == [True, True, False]


class Recorded:
    """Keeps every update, so that it can arrive again."""

    def __init__(self, raw: Any) -> None:
        self.raw = raw
        self.sent: list[dict[str, Any]] = []

    def __getattr__(self, name: str) -> Any:
        return getattr(self.raw, name)

    def update_item(self, **request: Any) -> Any:
        self.sent.append(request)
        return self.raw.update_item(**request)


def everything(rig: Rig) -> Any:
    return sorted(map(str, rig.items()))


def test_no_step_that_arrives_again_is_counted_again_however_late() -> None:
    """First steps of a workflow, of a task and of a run, further ones, moves, and steps of accounts that came back:
    each arrives again after each later one."""
    rig = Rig()
    wire = Recorded(rig.raw)
    store = DynamoStore(Table(wire, TABLE, Patience(rig.clock)))
    steps = [of_task(0), of_task(0), *(of_task(number) for number in range(1, MAX_ACCOUNTS + 2))]
    steps += [of_task(0), of_task(0, 2), of_task(1), of_task(1, 3), of_task(0, 2)]
    for step in steps:
        count(store, step)
        before = everything(rig)
        for request in wire.sent:
            with suppress(ClientError):
                rig.raw.update_item(**request)
        assert everything(rig) == before, step


@pytest.mark.parametrize("fault", ["timeout_after", "error_after", "timeout_before", "throttle"])
@pytest.mark.parametrize("others", [0, MAX_ACCOUNTS + 1])
def test_a_lost_reply_is_a_conflict_and_the_step_is_seen_to_be_counted(rig: Rig, fault: str, others: int) -> None:
    """Or it was tried again and is counted. Either way once."""
    for number in range(others):
        count(rig.store, of_task(number))
    step = of_task(99)
    seen = rig.store.runs.accounts(WORKSPACE, "wf_1", step.task_id)
    first = len(rig.choked.calls) + 1
    rig.choked.plan = at_call(first, fault)
    with suppress(Conflict):
        rig.store.runs.count(WORKSPACE, step, seen)
    assert rig.other_store.runs.accounts(WORKSPACE, "wf_1", step.task_id).mine.has(1, 1)
    assert usage(rig.other_store, task_id=step.task_id)[0] == ONE
    assert usage(rig.other_store)[1].model_calls == others + 1


def test_a_run_that_dies_between_the_copy_and_the_move_leaves_every_usage_as_it_was(rig: Rig) -> None:
    for number in range(MAX_ACCOUNTS):
        count(rig.store, of_task(number), of_task(number))
    first = len(rig.choked.calls) + 3  # after the reading and the copy
    rig.choked.plan = lambda number, _op: "no_connection" if number >= first else None
    with pytest.raises(Busy):
        count(rig.store, of_task(50))
    store = rig.other_store
    moving = f"task_{0:026d}"
    assert usage(store, task_id=moving)[0] == ONE.plus(ONE)
    count(store, of_task(0), of_task(51))
    assert usage(store, task_id=moving)[0] == ONE.plus(ONE).plus(ONE)
    assert usage(store)[1].model_calls == 2 * MAX_ACCOUNTS + 2


def test_a_usage_that_moves_while_it_is_read_is_read_whole(rig: Rig) -> None:
    """A batch is of no single moment: the task's own item was read before the copy, the workflow's after the move."""
    for number in range(MAX_ACCOUNTS):
        count(rig.store, of_task(number))
    task_id = f"task_{0:026d}"

    class Torn:
        def __getattr__(self, name: str) -> Any:
            return getattr(rig.raw, name)

        def batch_get_item(self, **request: Any) -> Any:
            early = rig.raw.batch_get_item(**request)["Responses"][TABLE]
            count(rig.other_store, of_task(60))
            late = rig.raw.batch_get_item(**request)["Responses"][TABLE]
            both = [each for each in early if each["pk"]["S"].endswith(task_id)]
            both += [each for each in late if not each["pk"]["S"].endswith(task_id)]
            return {"Responses": {TABLE: both}}

    torn = DynamoStore(Table(Torn(), TABLE, Patience(rig.clock)))
    assert usage(torn, task_id=task_id)[0] == ONE


def test_a_step_costs_one_unit_and_a_reading_two(rig: Rig) -> None:
    count(rig.store, a_step())
    seen = rig.store.runs.accounts(WORKSPACE, "wf_1", "task_1")
    assert rig.count(lambda: rig.store.runs.count(WORKSPACE, a_step(), seen)) == ["update_item"]
    assert rig.count(lambda: rig.store.runs.usage(WORKSPACE, "wf_1", "task_1")) == ["batch_get_item"]


@pytest.mark.parametrize("seed", range(scaled(30)))
def test_a_random_history_with_lost_replies_keeps_the_sum(seed: int) -> None:
    dice, rig = random.Random(seed), Rig()
    tasks = [f"task_{number}" for number in range(MAX_ACCOUNTS + 4)]
    for _ in range(80):
        task_id = dice.choice(tasks)
        fence = rig.other_store.runs.accounts(WORKSPACE, "wf_1", task_id).mine.fence
        rig.choked.plan = at_call(len(rig.choked.calls) + dice.randint(1, 9), "timeout_after")
        with suppress(Conflict):
            count(rig.store, a_step(max(fence, 1) + dice.choice((0, 0, 0, 1)), task_id=task_id))
    assert sum_of(rig.other_store, tasks) == usage(rig.other_store)[1]
