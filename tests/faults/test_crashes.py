"""A process dies between any two calls to the outside, the table's or the queue's. Whatever was accepted gets done or
waits where it is seen; nothing is done twice; a caller who got no answer and asks again finds one task."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from baton.domain.access.principal import Principal
from baton.domain.idempotency import IdempotencyKey
from baton.domain.tasks.task import Task
from baton.domain.tasks.trail import replay
from baton.services.claims.claim_task import claim_next
from baton.services.escalations.create_handoff_marker import create_handoff_marker
from baton.steps.claims.take_task import Claimer
from support.faults.choke_point import Crash, at_call, no_fault
from support.faults.soak import crossed, spread
from support.worlds.processes import LEASE_SECONDS, VISIBILITY_SECONDS, Processes
from support.worlds.rig import Rig
from support.worlds.world import agent, direction_now, human, marker_body

SCOUT = agent("scout")
FIRST = "nothing more happens"
READS = {"get_item", "batch_get_item", "query"}
Act = Callable[[Processes], Any]


class RepeatableAct:
    """Processes up to the moment at which something will be done; ``again`` goes back there."""

    def __init__(self, prepare: Act, act: Act) -> None:
        self.rig = Rig().settle()
        first = Processes(self.rig)
        prepare(first)
        self.bodies = [(message.body, message.visible_at) for message in first.queue.messages]
        self.restore, self.act = self.rig.keep(), act

    def again(self) -> Processes:
        self.restore()
        processes = Processes(self.rig)
        for body, visible_at in self.bodies:
            processes.queue.send_message(MessageBody=body, DelaySeconds=0)
            processes.queue.messages[-1].visible_at = visible_at
        return processes

    def points(self, *, reads: bool = True) -> list[tuple[int, str, str]]:
        """Every place to die at: found by doing it once and counting. Without ``reads``: only around what leaves a mark
        outside, since dying around a reading is dying after the mark before it."""
        processes = self.again()
        self.act(processes)
        assert processes.calls
        return [
            (number, fault, operation)
            for number, operation in enumerate(processes.calls, 1)
            for fault in ("crash_before", "crash_after")
            if reads or operation not in READS
        ]


def check(processes: Processes, where: str) -> None:
    """The promises, after the quiet."""
    for task in processes.tasks():
        store = processes.world.store
        events = store.trail.events("acme", task.id, 0, 1000)
        types, replayed = [event.type for event in events], replay(events)
        assert (replayed.state, replayed.fence, replayed.flags) == (task.state, task.fence, task.flags), where
        assert task.state == "done" or is_seen(task), f"{where}: {task.state} after {types}"
        assert types.count("handoff_initiated") == 1, where
        assert types.count("handoff_completed") == (task.state == "done"), where
        assert types.count("handoff_received") == task.fence, where
        lost = types.count("heartbeat_lost")
        if task.target_agent == "runner":
            assert task.fence - lost <= processes.runner.worked[task.id] <= task.fence, where
        direction = direction_now(processes.world.deps, "acme", task.source_agent, str(task.target_agent))
        entries = [entry.closed for entry in direction.escalations if entry.task_id == task.id]
        assert entries == [task.is_ended], where
    assert processes.queue.messages == [], f"{where}: a message that never ends"


def is_seen(task: Task) -> bool:
    """Waits for a human, or for a worker that pulls and is looked after."""
    return task.state == "needs" or bool(task.flags) or (task.meta.runtime == "pull" and task.meta.wake_at is not None)


def survive(
    repeatable: RepeatableAct, then: Act, promise: Callable[[Processes, Any, str], None], *, reads: bool
) -> None:
    for number, fault, operation in spread(repeatable.points(reads=reads), 5):
        processes = repeatable.again()
        processes.plan = at_call(number, fault)
        where = f"{fault} at call {number}, {operation}"
        with pytest.raises(Crash):
            repeatable.act(processes)
        processes.plan = no_fault
        answers = then(processes)
        processes.quiet()
        check(processes, where)
        promise(processes, answers, where)


# Creating: the caller got no answer. Asking again with the same key gives the one task.


def create(processes: Processes, by: Principal = SCOUT, target: str = "runner") -> str:
    body = marker_body(target_agent=target)
    key = IdempotencyKey(by, "/x", "key-1", "hash-1")
    with processes.world.request():
        task_id = create_handoff_marker(processes.world.deps, by, body, key).task_id
    assert task_id
    return task_id


def nothing(_processes: Processes) -> None:
    return None


def after_a_lease(processes: Processes) -> None:
    processes.clock.advance(LEASE_SECONDS + VISIBILITY_SECONDS)


def after_a_minute(processes: Processes) -> None:
    processes.clock.advance(61)


def in_turn(*steps: Act) -> Act:
    """One after the other; the answer is the last one's."""

    def act(processes: Processes) -> Any:
        return [step(processes) for step in steps][-1]

    return act


CREATIONS: dict[str, Act] = {
    "under a standing approval": create,
    "by a human": lambda processes: create(processes, human()),
    "for a worker that pulls": lambda processes: create(processes, SCOUT, "auditor"),
    "by a human for a worker that pulls": lambda processes: create(processes, human(), "auditor"),
}
ASKING: dict[str, Callable[[Processes, Act], list[str]]] = {
    FIRST: lambda _processes, _act: [],
    "asked again at once": lambda processes, act: [act(processes)],
    "asked twice": lambda processes, act: [act(processes), act(processes)],
    "asked again after a lease": lambda processes, act: [in_turn(after_a_lease, act)(processes)],
    "the sweeper comes first": lambda processes, act: [in_turn(after_a_minute, Processes.sweep, act)(processes)],
    "asked again when it was done": lambda processes, act: [in_turn(Processes.quiet, act)(processes)],
}


@pytest.mark.parametrize(("kind", "asking"), crossed(list(CREATIONS), list(ASKING)))
def test_a_create_that_dies_anywhere(kind: str, asking: str) -> None:
    act = CREATIONS[kind]

    def promise(processes: Processes, answers: list[str], where: str) -> None:
        ids = [task.id for task in processes.tasks()]
        assert len(ids) <= 1, where
        assert set(answers) == set(ids) or not answers, where

    survive(
        RepeatableAct(nothing, act), lambda processes: ASKING[asking](processes, act), promise, reads=asking == FIRST
    )


# Working: the message comes again, or doesn't.


def one_waits(processes: Processes) -> None:
    create(processes)


def two_wait(processes: Processes) -> None:
    create(processes)
    processes.clock.advance(1)
    body = marker_body(source_agent="auditor", target_agent="runner")
    create_handoff_marker(processes.world.deps, agent("auditor"), body)


def deliver_now(processes: Processes) -> None:
    for message in processes.queue.messages:
        message.visible_at = processes.clock.now()
    processes.deliver_all()


DELIVERIES: dict[str, Act] = {
    FIRST: nothing,
    "comes again at once": deliver_now,
    "comes again after the lease": in_turn(after_a_lease, Processes.deliver_all),
    "comes after the sweeper": in_turn(after_a_lease, Processes.sweep, Processes.deliver_all),
    "comes twice": in_turn(Processes.double_every_message, deliver_now),
    "is lost": lambda processes: processes.queue.messages.clear(),
}


@pytest.mark.parametrize(("waiting", "delivery"), crossed([one_waits, two_wait], list(DELIVERIES)))
def test_process_task_that_dies_anywhere(waiting: Act, delivery: str) -> None:
    def promise(processes: Processes, _: Any, where: str) -> None:
        assert {task.state for task in processes.tasks()} == {"done"}, where

    survive(RepeatableAct(waiting, Processes.deliver), DELIVERIES[delivery], promise, reads=delivery == FIRST)


# Sweeping: a lease that ran out, a notice that was lost, work that nobody took.


def lease_ran_out(processes: Processes) -> None:
    create(processes)
    processes.queue.messages.clear()
    runner = Claimer(by=agent("runner"), agent="runner", worker="w", lease_seconds=LEASE_SECONDS)
    assert claim_next(processes.world.deps, runner)
    after_a_lease(processes)


def notice_was_lost(processes: Processes) -> None:
    create(processes)
    processes.queue.messages.clear()
    processes.clock.advance(61)


def nobody_took_it(processes: Processes) -> None:
    create(processes, human(), "auditor")
    processes.clock.advance(3_700)


def all_of_it(processes: Processes) -> None:
    nobody_took_it(processes)
    body = marker_body(source_agent="auditor", target_agent="runner")
    create_handoff_marker(processes.world.deps, agent("auditor"), body)
    lease_ran_out(processes)


SWEEPS: dict[str, Act] = {
    FIRST: nothing,
    "again at once": Processes.sweep,
    "again after a lease": in_turn(after_a_lease, Processes.sweep),
    "twice": in_turn(Processes.sweep, Processes.sweep),
    "messages first": Processes.deliver_all,
}


ALONE = crossed([lease_ran_out, notice_was_lost, nobody_took_it], list(SWEEPS))


@pytest.mark.parametrize(("due", "again"), [*ALONE, (all_of_it, FIRST)])
def test_a_sweep_that_dies_anywhere(due: Act, again: str) -> None:
    def promise(processes: Processes, _: Any, where: str) -> None:
        for task in processes.tasks():
            if task.target_agent == "runner":
                assert task.state == "done", where
            else:
                assert "unclaimed_too_long" in task.flags, where

    survive(RepeatableAct(due, Processes.sweep), SWEEPS[again], promise, reads=again == FIRST)


def test_the_points_come_from_the_run() -> None:
    """Creating reads four times in a new process, writes three times and notifies; the queue's call is one of them."""
    points = RepeatableAct(nothing, create).points()
    assert [operation for _, fault, operation in points if fault == "crash_before"] == [
        "get_item",
        "batch_get_item",
        "query",
        "batch_get_item",
        "put_item",
        "put_item",
        "transact_write_items",
        "send_message",
    ]
