"""Ends are counted once and decisions are recorded, in whatever order, however often and by however many publishers at
once the stream's batches are handled, wherever one of them dies, and whatever replies are lost."""

from __future__ import annotations

from collections import Counter
from contextlib import suppress
from datetime import timedelta
from random import Random
from typing import Any

import pytest

from baton.domain.errors import Busy
from baton.domain.handoffs.handoff_message import message_from
from baton.domain.stats.day_counts import DayCounts, figures_of, place_of
from baton.domain.tasks.calls import WorkerCall
from baton.domain.tasks.spans import spans_of
from baton.services.claims.complete_task import CompletedWork, complete_task
from baton.services.claims.fail_task import FailedWork, fail_task
from baton.services.events.publish_events import publish_overdue, publish_records
from baton.services.handoffs.create_handoff import CreateHandoff, create_handoff
from baton.services.tasks.approve_task import approve_task
from baton.services.tasks.end_task import cancel_task
from support.fakes.ports import FakeBus
from support.faults.choke_point import Crash, at_call, no_fault
from support.faults.soak import crossed, scaled
from support.published import Stream, stream_records
from support.worlds.rig import Rig
from support.worlds.world import WORKSPACE, agent, human

FAULTS = ("crash_before", "crash_after", "timeout_after", "error_before", "throttle", "no_connection")


class Desk:
    """Tasks that have ended, and the batches of the stream that tell of it."""

    def __init__(self, tasks: int, random: Random | None = None) -> None:
        self.rig, self.bus, self.random = Rig().settle(), FakeBus(), random or Random(1)
        self.stream = Stream(self.rig.raw)
        self.ids = [self._ended(number) for number in range(tasks)]
        records = stream_records(self.stream.waiting)
        self.batches: list[list[dict[str, Any]]] = []
        while records:
            size = self.random.randint(1, 12)
            self.batches.append(records[:size])
            records = records[size:]

    def _ended(self, number: int) -> str:
        """Of four two are done, one fails and one is cancelled."""
        world = self.rig.world
        world.clock.advance(self.random.randint(600, 3_000))
        message = {"source": {"agent": "scout"}, "target": {"agent": "auditor", "reason": f"part {number}"}}
        task_id = create_handoff(world.deps, agent("scout"), CreateHandoff(message=message_from(message))).task.id
        world.clock.advance(self.random.randint(0, 100))
        approve_task(world.deps, human(), task_id, None)
        world.clock.advance(self.random.randint(3, 100))
        if number % 4 == 3:
            cancel_task(world.deps, human(), task_id, "not needed")
            return task_id
        claim = world.claim()
        call = WorkerCall(agent("auditor"), task_id, claim.claim_id, "h", None)
        world.clock.advance(self.random.randint(0, 200))
        if number % 4 == 2:
            work = FailedWork(failure={"type": "error", "description": "broke"})
            fail_task(world.deps, call, work)
        else:
            complete_task(world.deps, call, CompletedWork(output={"done": True}))
        return task_id

    def settle(self) -> None:
        """The schedule goes on until nothing waits."""
        for _ in range(40):
            self.rig.clock.advance(900)
            publish_overdue(self.rig.world.deps, self.bus)

    def counts(self) -> list[DayCounts]:
        days = sorted({place_of(self.rig.world.task(task_id)).day for task_id in self.ids})
        return [each for found in self.rig.other_store.stats.of_days(WORKSPACE, days, 100).values() for each in found]

    def check(self) -> None:
        """Compares everything with a count that is made anew from the trails."""
        wanted: dict[Any, DayCounts] = {}
        decided = []
        store = self.rig.other_store
        for task_id in self.ids:
            task = store.tasks.load(WORKSPACE, task_id)[0]
            events = store.trail.events(WORKSPACE, task_id, 0, 1_000)
            place = place_of(task)
            counts = wanted.setdefault(place, DayCounts(place=place))
            wanted[place] = counts.with_ended([figures_of(task, spans_of(events, task.meta.updated_at))])
            decided += [(task_id, event.seq) for event in events if event.principal_kind == "human"]
        assert [_told(each) for each in self.counts()] == [_told(wanted[place]) for place in sorted(wanted)]
        days = sorted({place.day for place in wanted} | {self.rig.clock.now().date() - timedelta(days=1)})
        found = Counter(
            (each.task_id, each.seq)
            for day in days
            for each in store.stats.decisions(WORKSPACE, day, 1_000, None).items
        )
        assert found == Counter(dict.fromkeys(decided, 1))


def _told(counts: DayCounts) -> tuple[object, ...]:
    phases = {phase: dict(of) for phase, of in counts.phases.items()}
    hours = {hour: tuple(of) for hour, of in counts.hours.items()}
    return counts.place, hours, dict(counts.begun), phases, counts.recoveries, counts.retries, counts.failed_id


def test_whatever_happens_at_a_call_ends_are_counted_once() -> None:
    desk = Desk(3)
    records = [record for batch in desk.batches for record in batch]
    again = desk.rig.keep()
    again()
    calls = len(desk.rig.count(lambda: publish_records(desk.rig.world.deps, desk.bus, records)))
    for number, fault in crossed(range(1, calls + 1), FAULTS):
        again()
        desk.rig.choked.plan = at_call(number, fault)
        with suppress(Crash, Busy):
            publish_records(desk.rig.world.deps, desk.bus, records)
        desk.rig.choked.plan = no_fault
        publish_records(desk.rig.world.deps, desk.bus, records)
        desk.settle()
        desk.check()


@pytest.mark.parametrize("seed", range(scaled(60, 20)))
def test_any_order_repeat_race_and_crash_gives_the_recount(seed: int) -> None:
    random = Random(seed)
    desk = Desk(random.choice([5, scaled(40, 2), scaled(70, 2)]), random)
    inside = False

    def plan(_number: int, _operation: str) -> str | None:
        """Now and then another publisher does a whole batch, or a round of the schedule, in the middle of this."""
        nonlocal inside
        if not inside and random.random() < 0.08:
            inside = True
            if random.random() < 0.8:
                publish_records(desk.rig.other().deps, desk.bus, random.choice(desk.batches))
            else:
                publish_overdue(desk.rig.other().deps, desk.bus)
            inside = False
        return random.choice(FAULTS) if random.random() < 0.04 else None

    desk.rig.choked.plan = plan
    for _ in range(2 * len(desk.batches)):
        if random.random() < 0.1:
            desk.rig.clock.advance(100)
        with suppress(Crash, Busy):
            if random.random() < 0.85:
                publish_records(desk.rig.world.deps, desk.bus, random.choice(desk.batches))
            else:
                publish_overdue(desk.rig.world.deps, desk.bus)
    desk.rig.choked.plan = no_fault
    desk.settle()
    desk.check()
