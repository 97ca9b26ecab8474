"""Who handed work off finds in its inbox what became of it, from the end's own transaction on until it says so.
What a human should know is an alert, once."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from datetime import timedelta
from typing import Any

import pytest

from baton.domain.errors import StaleClaim
from baton.domain.ids import made_at
from baton.domain.tasks.calls import HumanCall
from baton.domain.tasks.task import Flag, Task
from baton.domain.times import rfc3339
from baton.services.agents.register_agent import register_agent
from baton.services.handoffs.read_inbox import acknowledge, read_inbox
from baton.services.tasks.approve_task import approve_task, approve_task_next
from baton.services.tasks.end_task import cancel_task, resolve_task
from baton.services.tasks.put_off_task import dismiss_task
from baton.services.tasks.sweep import sweep
from support.fakes.fake_dynamo import FakeDynamo
from support.fakes.fake_dynamo.fault_source import LateIndexes
from support.fakes.store import InMemoryStore
from support.faults.call_hooks import CallHooks, die
from support.faults.choke_point import Crash
from support.faults.hooked_store import HookedStore
from support.faults.threads import at_once
from support.worlds.team import HeldTask, Team
from support.worlds.world import WORKSPACE, World, agent, human

A, B, C = "anna", "bert", "carl"


def at_work(team: Team, **message: Any) -> HeldTask:
    """B works on what A handed off."""
    return team.take(B, team.ask(B, under=team.begin(A), **message).task.id)


def hours(team: Team, number: int) -> str:
    return rfc3339(team.world.clock.now() + timedelta(hours=number))


def deadline_passes(team: Team, held: HeldTask) -> None:
    team.later(7_200)
    sweep(team.deps)


ENDS: dict[str, Callable[[Team, HeldTask], object]] = {
    "handoff_completed": lambda team, held: team.complete(held),
    "handoff_failed": lambda team, held: team.fail(held),
    "handoff_rejected": lambda team, held: team.reject(held),
    "handoff_transferred": lambda team, held: team.transfer(held, C),
    "cancelled": lambda team, held: cancel_task(team.deps, human(), held.task.id, "stop"),
    "resolved": lambda team, held: resolve_task(team.deps, HumanCall(human(), held.task.id), None, "elsewhere"),
    "deadline": deadline_passes,
}


@pytest.mark.parametrize("end", ENDS)
def test_every_end_is_told_once_to_who_handed_it_off(end: str) -> None:
    team = Team(A, B, C)
    expectations = {"deadline": hours(team, 1), "fail_on_deadline": True} if end == "deadline" else {}
    held = at_work(team, expectations=expectations)
    ENDS[end](team, held)
    (message,) = [item for item in team.inbox(A) if item["task_id"] == held.task.id]
    task = team.task(held.task.id)
    assert message["type"] == ("handoff_failed" if end == "deadline" else end)
    assert (message["state"], message["handoff_id"], message["title"]) == (str(task.state), task.handoff_id, task.title)
    assert message["workflow_id"] == task.workflow_id
    assert message["agent"] == B
    last = team.events(held.task.id)[-1]
    assert message["by"] == {"kind": last.principal_kind, "id": last.principal_id}


@pytest.mark.parametrize("end", ["dismissed", "split"])
def test_what_a_human_takes_out_of_the_queue_is_told_too(end: str) -> None:
    team = Team(A)
    team.register(B, approval="manual")
    task = team.ask(B, by=agent(A)).task
    if end == "split":
        team.split(task.id, {"summary": "1"}, {"summary": "2"})
    else:
        dismiss_task(team.deps, human(), task.id, "no")
    (message,) = team.inbox(A)
    assert (message["type"], message["task_id"], message["agent"]) == (end, task.id, B)


def test_what_goes_on_is_no_end() -> None:
    team = Team(A, B, C)
    held = at_work(team)
    team.checkpoint(held, a=1)
    team.fail(held, retryable=True)
    team.later(10)
    team.release(team.take(B, held.task.id))
    team.delegate(team.take(B, held.task.id), C)
    assert team.inbox(A) == []


def test_what_nobodys_agent_handed_off_is_in_no_inbox() -> None:
    team = Team(A)
    team.complete(team.begin(A))
    assert team.inbox(A) == []


@pytest.mark.parametrize("end", [end for end in ENDS if end != "deadline"])
def test_the_end_and_the_word_of_it_are_one(end: str) -> None:
    """Whoever dies at any call to the store has told both or neither."""
    number, calls = 0, [""]
    while len(calls) >= number:
        number += 1
        for at in ("before", "after"):
            store = CallHooks()
            team = Team(A, B, C, world=World(store=store))
            held = at_work(team)
            store.begin_at(number, die, when=at)
            with suppress(Crash):
                ENDS[end](team, held)
            calls = store.calls
            store.begin()
            messages = [item for item in team.inbox(A) if item["task_id"] == held.task.id]
            assert len(messages) == team.task(held.task.id).is_ended


def test_an_inbox_keeps_what_is_not_acknowledged_and_is_its_agents_own() -> None:
    team = Team(A, B, C)
    root = team.begin(A)
    for number in range(3):
        team.complete(team.take(B, team.ask(B, f"part {number}", under=root).task.id))
    store = team.world.store
    items = store.inboxes.inbox(WORKSPACE, A, 10, None).items
    assert [item.content["title"] for item in items] == ["part 0", "part 1", "part 2"]
    store.inboxes.acknowledge(WORKSPACE, B, [item.id for item in items])
    store.inboxes.acknowledge("globex", A, [item.id for item in items])
    store.inboxes.acknowledge(WORKSPACE, A, ["inbox_of_nobody"])
    assert store.inboxes.inbox(WORKSPACE, A, 10, None).items == items
    for _ in range(2):
        store.inboxes.acknowledge(WORKSPACE, A, [items[1].id])
        assert store.inboxes.inbox(WORKSPACE, A, 10, None).items == (items[0], items[2])
    page = store.inboxes.inbox(WORKSPACE, A, 1, None)
    assert store.inboxes.inbox(WORKSPACE, A, 1, page.cursor).items == (items[2],)


# The inbox is read from an index, which lags


def lag(team: Team, lag_ms: int) -> LateIndexes:
    """From now on the indexes show each write so late."""
    store = team.world.store
    assert isinstance(store, InMemoryStore)
    store.dynamo.fault_source = LateIndexes(team.world.clock.now, lag_ms)
    return store.dynamo.fault_source


def inbox_ids(team: Team) -> list[str]:
    return [item.id for item in read_inbox(team.deps, agent(A), A, 10, None).items]


def test_an_end_is_in_the_inbox_once_the_index_shows_it_and_nothing_else_waits_for_that() -> None:
    team = Team(A, B, C)
    held = at_work(team)
    late = lag(team, 5_000)
    team.complete(held, output={"x": 1})
    assert team.inbox(A) == []
    assert team.task(held.task.id).is_ended
    assert team.world.store.tasks.read(WORKSPACE, held.task.id).output == {"x": 1}
    with pytest.raises(StaleClaim):
        team.fail(held)
    team.later(5)
    (message,) = team.inbox(A)
    assert message["task_id"] == held.task.id
    assert late.lag_ms() == 5_000


def test_what_is_acknowledged_is_not_shown_again_though_the_index_still_has_it() -> None:
    team = Team(A, B, C)
    for _ in range(2):
        team.complete(at_work(team))
    first, second = inbox_ids(team)
    lag(team, 60_000)
    assert acknowledge(team.deps, agent(A), A, [first]) == 1
    assert inbox_ids(team) == [second]
    page = read_inbox(team.deps, agent(A), A, 1, None)
    assert page.items == ()
    assert [item.id for item in read_inbox(team.deps, agent(A), A, 1, page.cursor).items] == [second]
    assert acknowledge(team.deps, agent(A), A, [first]) == 1
    assert inbox_ids(team) == [second]
    team.later(60)
    assert inbox_ids(team) == [second]


class Interrupted(FakeDynamo):
    """Does a step just before its next batch."""

    step: Callable[[], object] | None = None

    def batch_get_item(self, **request: Any) -> Any:
        step, self.step = self.step, None
        if step is not None:
            step()
        return super().batch_get_item(**request)


def test_an_item_that_is_acknowledged_while_its_inbox_is_listed_stays_away() -> None:
    """Between the look at the index and the look at the tasks."""
    dynamo = Interrupted()
    team = Team(A, B, C, world=World(store=InMemoryStore(dynamo)))
    team.complete(at_work(team))
    (item_id,) = inbox_ids(team)
    done: list[int] = []
    dynamo.step = lambda: done.append(acknowledge(team.deps, agent(A), A, [item_id]))
    assert (team.inbox(A), done) == ([], [1])
    assert inbox_ids(team) == []


def test_a_young_item_that_one_look_misses_is_looked_for_until_it_is_settled() -> None:
    """One look at an index may show less than the look before."""
    store = HookedStore()
    team = Team(A, B, C, world=World(store=store))
    team.complete(at_work(team))
    (item_id,) = inbox_ids(team)
    ended_at = made_at(item_id)
    assert ended_at is not None
    team.world.clock.time = ended_at
    looks: list[float] = []
    real = store.inner.inboxes.acknowledge

    def blind_once(*args: Any) -> Any:
        looks.append(1)
        return tuple(args[2]) if len(looks) == 1 else real(*args)

    store.inner.inboxes.acknowledge = blind_once
    assert acknowledge(team.deps, agent(A), A, [item_id]) == 1
    assert (len(looks), inbox_ids(team)) == (2, [])


def test_an_id_that_was_never_there_or_is_long_gone_is_looked_for_once() -> None:
    store = HookedStore()
    team = Team(A, B, C, world=World(store=store))
    team.complete(at_work(team))
    (item_id,) = inbox_ids(team)
    team.later(2)
    before = team.world.clock.now()
    for _ in range(2):
        assert acknowledge(team.deps, agent(A), A, [item_id, "inbox_unknown"]) == 2
    assert team.world.clock.now() == before


def test_eight_acknowledge_the_same_items_and_each_goes_once() -> None:
    team = Team(A, B, C)
    for _ in range(3):
        team.complete(at_work(team))
    ids = inbox_ids(team)
    team.later(2)
    answers = at_once(8, lambda: acknowledge(team.deps, agent(A), A, ids[:2]))
    assert answers == [2] * 8
    assert inbox_ids(team) == ids[2:]


def test_an_acknowledgement_changes_no_task_and_tells_the_bus_nothing() -> None:
    team = Team(A, B, C)
    held = at_work(team)
    team.complete(held, output={"x": 1})
    store = team.world.store
    before, events = store.tasks.read(WORKSPACE, held.task.id), store.trail.events(WORKSPACE, held.task.id, 0, 100)
    acknowledge(team.deps, agent(A), A, inbox_ids(team))
    assert store.tasks.read(WORKSPACE, held.task.id) == before
    assert store.trail.events(WORKSPACE, held.task.id, 0, 100) == events
    assert isinstance(store, InMemoryStore)
    (head,) = [item for key, item in store.dynamo.contents().items() if key[1] == "HEAD" and held.task.id in key[0]]
    assert not {"queue_pk", "queue_sk", "fresh"} & head.keys()


# Alerts: each flag brings one


def undeliverable(team: Team) -> Task:
    task = team.ask(B).task
    register_agent(team.deps, human(), B, {"active": False})
    team.later(3_600)
    return task


def next_stale(team: Team) -> Task:
    register_agent(team.deps, human(), B, {"approval": "manual"})
    task = team.ask(B, by=agent(A)).task
    approve_task_next(team.deps, human(), task.id, None)
    team.later(86_400)
    return task


def attempts_exhausted(team: Team) -> Task:
    task = team.ask(B).task
    for _ in range(3):
        team.take(B, task.id)
        team.later(300)
        sweep(team.deps)
    return task


def released_too_often(team: Team) -> Task:
    task = team.ask(B).task
    for _ in range(10):
        team.release(team.take(B, task.id))
        team.later(300)
    return task


def waiting_too_long(team: Team) -> Task:
    task = team.delegate(team.begin(A), B).task
    team.later(86_400)
    return task


def callback_missed(team: Team) -> Task:
    task = team.wait(team.begin(A))[0].task
    team.later(7 * 86_400)
    return task


def unclaimed(team: Team) -> Task:
    task = team.ask(B).task
    team.later(3_600)
    return task


def deadline_passed(team: Team) -> Task:
    held = team.begin(A, expectations={"deadline": hours(team, 1)})
    team.later(3_600)
    return held.task


FLAGS: dict[Flag, Callable[[Team], Task]] = {
    Flag.UNDELIVERABLE: undeliverable,
    Flag.UNCLAIMED: unclaimed,
    Flag.NEXT_STALE: next_stale,
    Flag.DEADLINE_PASSED: deadline_passed,
    Flag.ATTEMPTS_EXHAUSTED: attempts_exhausted,
    Flag.RELEASED_TOO_OFTEN: released_too_often,
    Flag.WAITING: waiting_too_long,
    Flag.CALLBACK_MISSED: callback_missed,
}


@pytest.mark.parametrize("flag", FLAGS)
def test_a_flag_is_one_alert_and_one_event_however_often_it_is_looked_at(flag: Flag) -> None:
    team = Team(A, B)
    task = FLAGS[flag](team)
    for _ in range(3):
        assert sweep(team.deps).failed == 0
        team.later(90_000)
    assert flag in team.task(task.id).flags
    alerts = [
        alert
        for alert in team.world.store.alerts.alerts_of_task(WORKSPACE, task.id, 100, None).items
        if alert.kind == flag
    ]
    flagged = [event for event in team.events(task.id) if event.data.get("flag") == flag]
    assert (len(alerts), len(flagged)) == (1, 1)
    assert alerts[0].raised_at == flagged[0].at
    team.check()


def test_every_flag_is_shown() -> None:
    assert set(Flag) - set(FLAGS) == {Flag.CLOSED_BY_BOT, Flag.APPROVAL_OVERDUE}, "the tracker's, and a rule's"


def test_what_a_human_lets_go_to_work_again_may_be_flagged_again() -> None:
    team = Team(A, B)
    task = attempts_exhausted(team)
    assert team.task(task.id).state == "needs"
    approve_task(team.deps, human(), task.id, None)
    assert team.task(task.id).flags == frozenset()
    team.later()
    for _ in range(3):
        team.take(B, task.id)
        team.later(300)
        sweep(team.deps)
    assert [event.type for event in team.events(task.id)].count("alert_raised") == 2


def test_the_last_attempts_failure_is_rolled_back_however_retryable_it_is() -> None:
    team = Team(A, B)
    child = team.ask(B, under=team.begin(A)).task
    for attempt in (1, 2, 3):
        record = team.fail(team.take(B, child.id), retryable=True).failure or {}
        team.later(300)
        assert record.get("rollback", {}).get("status") == (None if attempt < 3 else "created")
    assert team.task(child.id).state == "failed"
