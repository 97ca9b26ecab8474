"""A process dies between any two calls to the outside, the table's or the queue's. Whatever was accepted gets done or
waits where it is seen; nothing is done twice; a caller who got no answer and asks again finds one task."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from baton.domain.events import replay
from baton.domain.idempotency import Once
from baton.domain.principal import Principal
from baton.domain.task import Task
from baton.services.claim_task import Claimer, claim_next
from baton.services.create_handoff_marker import create_handoff_marker
from support.faults import Crash
from support.office import LEASE_SECONDS, VISIBILITY_SECONDS, Office
from support.rig import Rig
from support.world import agent, human, marker_body

SCOUT = agent("scout")
FIRST = "nothing more happens"
READS = {"get_item", "batch_get_item", "query"}
Act = Callable[[Office], Any]


class Scene:
    """An office up to the moment at which something will be done; ``again`` goes back there."""

    def __init__(self, prepare: Act, act: Act) -> None:
        self.rig = Rig().settle()
        first = Office(self.rig)
        prepare(first)
        self.bodies = [(message.body, message.visible_at) for message in first.queue.messages]
        self.restore, self.act = self.rig.keep(), act

    def again(self) -> Office:
        self.restore()
        office = Office(self.rig)
        for body, visible_at in self.bodies:
            office.queue.send_message(MessageBody=body, DelaySeconds=0)
            office.queue.messages[-1].visible_at = visible_at
        return office

    def points(self, *, reads: bool = True) -> list[tuple[int, str, str]]:
        """Every place to die at: found by doing it once and counting. Without ``reads``: only around what leaves a mark
        outside, since dying around a reading is dying after the mark before it."""
        office = self.again()
        self.act(office)
        assert office.calls
        return [
            (number, fault, operation)
            for number, operation in enumerate(office.calls, 1)
            for fault in ("crash_before", "crash_after")
            if reads or operation not in READS
        ]


def check(office: Office, where: str) -> None:
    """The promises, after the quiet."""
    for task in office.tasks():
        store = office.world.store
        events = store.events("acme", task.id, 0, 1000)
        types, told = [event.type for event in events], replay(events)
        assert (told.state, told.fence, told.flags) == (task.state, task.fence, task.flags), where
        assert task.state == "done" or is_seen(task), f"{where}: {task.state} after {types}"
        assert types.count("handoff_initiated") == 1, where
        assert types.count("handoff_completed") == (task.state == "done"), where
        assert types.count("handoff_received") == task.fence, where
        lost = types.count("heartbeat_lost")
        if task.target_agent == "runner":
            assert task.fence - lost <= office.runner.worked[task.id] <= task.fence, where
        direction = store.marker_facts("acme", (task.source_agent, task.target_agent), None)[1]
        assert direction is not None
        entries = [entry.closed for entry in direction.escalations if entry.task_id == task.id]
        assert entries == [task.is_ended], where
    assert office.queue.messages == [], f"{where}: a message that never ends"


def is_seen(task: Task) -> bool:
    """Waits for a human, or for a worker that pulls and is looked after."""
    return task.state == "needs" or bool(task.flags) or (task.runtime == "pull" and task.wake_at is not None)


def survive(scene: Scene, then: Act, promise: Callable[[Office, Any, str], None], *, reads: bool) -> None:
    for number, fault, operation in scene.points(reads=reads):
        office = scene.again()
        office.plan = lambda n, at=number, what=fault: what if n == at else None
        where = f"{fault} at call {number}, {operation}"
        with pytest.raises(Crash):
            scene.act(office)
        office.plan = lambda _n: None
        answers = then(office)
        office.quiet()
        check(office, where)
        promise(office, answers, where)


# Creating: the caller got no answer. Asking again with the same key gives the one task.


def create(office: Office, by: Principal = SCOUT, target: str = "runner") -> str:
    body = marker_body(target_agent=target)
    task_id = create_handoff_marker(office.world.baton, by, body, Once(by, "/x", "key-1", "hash-1")).task_id
    assert task_id
    return task_id


def nothing(_office: Office) -> None:
    return None


def after_a_lease(office: Office) -> None:
    office.clock.advance(LEASE_SECONDS + VISIBILITY_SECONDS)


CREATIONS: dict[str, Act] = {
    "under a standing approval": create,
    "by a human": lambda office: create(office, human()),
    "for a worker that pulls": lambda office: create(office, SCOUT, "auditor"),
    "by a human for a worker that pulls": lambda office: create(office, human(), "auditor"),
}
ASKING: dict[str, Callable[[Office, Act], list[str]]] = {
    FIRST: lambda _office, _act: [],
    "asked again at once": lambda office, act: [act(office)],
    "asked twice": lambda office, act: [act(office), act(office)],
    "asked again after a lease": lambda office, act: [after_a_lease(office) or act(office)],
    "the sweeper comes first": lambda office, act: [office.clock.advance(61) or office.sweep() or act(office)],
    "asked again when it was done": lambda office, act: [office.quiet() or act(office)],
}


@pytest.mark.parametrize("kind", CREATIONS)
@pytest.mark.parametrize("asking", ASKING)
def test_a_create_that_dies_anywhere(kind: str, asking: str) -> None:
    act = CREATIONS[kind]

    def promise(office: Office, answers: list[str], where: str) -> None:
        ids = [task.id for task in office.tasks()]
        assert len(ids) <= 1, where
        assert set(answers) == set(ids) or not answers, where

    survive(Scene(nothing, act), lambda office: ASKING[asking](office, act), promise, reads=asking == FIRST)


# Working: the message comes again, or doesn't.


def one_waits(office: Office) -> None:
    create(office)


def two_wait(office: Office) -> None:
    create(office)
    office.clock.advance(1)
    body = marker_body(source_agent="auditor", target_agent="runner")
    create_handoff_marker(office.world.baton, agent("auditor"), body)


def deliver_now(office: Office) -> None:
    for message in office.queue.messages:
        message.visible_at = office.clock.now()
    office.deliver_all()


DELIVERIES: dict[str, Act] = {
    FIRST: nothing,
    "comes again at once": deliver_now,
    "comes again after the lease": lambda office: (after_a_lease(office), office.deliver_all()),
    "comes after the sweeper": lambda office: (after_a_lease(office), office.sweep(), office.deliver_all()),
    "comes twice": lambda office: (office.double_every_message(), deliver_now(office)),
    "is lost": lambda office: office.queue.messages.clear(),
}


@pytest.mark.parametrize("waiting", [one_waits, two_wait])
@pytest.mark.parametrize("delivery", DELIVERIES)
def test_process_task_that_dies_anywhere(waiting: Act, delivery: str) -> None:
    def promise(office: Office, _: Any, where: str) -> None:
        assert {task.state for task in office.tasks()} == {"done"}, where

    survive(Scene(waiting, Office.deliver), DELIVERIES[delivery], promise, reads=delivery == FIRST)


# Sweeping: a lease that ran out, a bell that was lost, work that nobody took.


def lease_ran_out(office: Office) -> None:
    create(office)
    office.queue.messages.clear()
    runner = Claimer(by=agent("runner"), agent="runner", worker="w", lease_seconds=LEASE_SECONDS)
    assert claim_next(office.world.baton, runner)
    after_a_lease(office)


def bell_was_lost(office: Office) -> None:
    create(office)
    office.queue.messages.clear()
    office.clock.advance(61)


def nobody_took_it(office: Office) -> None:
    create(office, human(), "auditor")
    office.clock.advance(3_700)


def all_of_it(office: Office) -> None:
    nobody_took_it(office)
    body = marker_body(source_agent="auditor", target_agent="runner")
    create_handoff_marker(office.world.baton, agent("auditor"), body)
    lease_ran_out(office)


SWEEPS: dict[str, Act] = {
    FIRST: nothing,
    "again at once": Office.sweep,
    "again after a lease": lambda office: (after_a_lease(office), office.sweep()),
    "twice": lambda office: (office.sweep(), office.sweep()),
    "messages first": Office.deliver_all,
}


ALONE = [(due, again) for due in (lease_ran_out, bell_was_lost, nobody_took_it) for again in SWEEPS]


@pytest.mark.parametrize(("due", "again"), [*ALONE, (all_of_it, FIRST)])
def test_a_sweep_that_dies_anywhere(due: Act, again: str) -> None:
    def promise(office: Office, _: Any, where: str) -> None:
        for task in office.tasks():
            if task.target_agent == "runner":
                assert task.state == "done", where
            else:
                assert "unclaimed_too_long" in task.flags, where

    survive(Scene(due, Office.sweep), SWEEPS[again], promise, reads=again == FIRST)


def test_the_points_come_from_the_run() -> None:
    """Creating reads three times in a new process, writes and rings; the queue's call is one of them."""
    points = Scene(nothing, create).points()
    assert [operation for _, fault, operation in points if fault == "crash_before"] == [
        "get_item",
        "query",
        "batch_get_item",
        "transact_write_items",
        "send_message",
    ]
