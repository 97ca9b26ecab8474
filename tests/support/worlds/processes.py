"""Baton's processes around one table and one queue. Each may die between any two calls to the outside."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

from baton.adapters.dynamodb.patience import Patience
from baton.adapters.dynamodb.table import Table
from baton.adapters.sqs import SqsDispatchQueue
from baton.ports.runs import RunInput, RunSucceeded
from baton.ports.store import Store
from baton.services.runs.process_task import DispatchNotice, TimeBudget, process_task
from baton.services.tasks.sweep import sweep
from support.clock import NOON, FakeClock
from support.fakes.store import StoreOfTests
from support.faults.choke_point import Choked, Plan, no_fault
from support.worlds.rig import Rig
from support.worlds.world import World

LEASE_SECONDS = 120
VISIBILITY_SECONDS = 180


@dataclass
class Message:
    body: str
    visible_at: datetime


@dataclass
class FakeQueue:
    """An SQS client and its queue: a message that was received and not deleted comes again after the visibility
    timeout."""

    clock: FakeClock
    messages: list[Message] = field(default_factory=list)

    def send_message(self, *, MessageBody: str, DelaySeconds: int, **_: Any) -> None:  # noqa: N803 - SQS's own words
        assert 0 <= DelaySeconds <= 900
        self._add(MessageBody, DelaySeconds)

    def receive(self) -> Message | None:
        now = self.clock.now()
        for message in self.messages:
            if message.visible_at <= now:
                message.visible_at = _later(now, VISIBILITY_SECONDS)
                return message
        return None

    def _add(self, body: str, delay: int) -> None:
        self.messages.append(Message(body, _later(self.clock.now(), delay)))


class Runner:
    """Counts its runs of each task."""

    def __init__(self) -> None:
        self.worked: Counter[str] = Counter()

    def run(self, work: RunInput) -> RunSucceeded:
        self.worked[work.details.task.id] += 1
        return RunSucceeded({"by": work.agent.slug})


class Processes:
    """``plan(number, operation)``: None, ``crash_before`` or ``crash_after`` at the call of that number to the table or
    the queue. All processes share the count, so that a new call anywhere is covered."""

    def __init__(self, rig: Rig) -> None:
        self.rig, self.clock = rig, rig.clock
        self.queue, self.runner = FakeQueue(rig.clock), Runner()
        self.calls: list[str] = []
        self.plan: Plan = no_fault
        self._begin(StoreOfTests(Table(self._wrapped(rig.raw), rig.table, Patience(rig.clock)), rig.raw))

    def _begin(self, store: Store) -> None:
        """Begins a process, with notices that can be lost."""
        self.world = World(store=store, clock=self.clock)
        dispatch_queue = SqsDispatchQueue(self._wrapped(self.queue), "queue", self.world.deps.log)
        self.world.deps = replace(self.world.deps, dispatch_queue=dispatch_queue)

    def _wrapped(self, client: Any) -> Choked:
        choked = Choked(client, lambda number, operation: self.plan(number, operation))
        choked.calls = self.calls
        return choked

    def sweep(self) -> None:
        assert sweep(self.world.deps).failed == 0

    def deliver(self) -> bool:
        """Hands one message to process-task, and deletes it once it was handled."""
        message = self.queue.receive()
        if message is None:
            return False
        time_budget = TimeBudget(lease_seconds=LEASE_SECONDS, time_left=lambda: 60.0)
        process_task(self.world.deps, self.runner, DispatchNotice(**json.loads(message.body)), time_budget)
        self.queue.messages.remove(message)
        return True

    def double_every_message(self) -> None:
        now = self.clock.now()
        self.queue.messages += [Message(each.body, now) for each in self.queue.messages]

    def deliver_all(self) -> None:
        while self.deliver():
            pass

    def quiet(self, minutes: int = 15) -> None:
        """Without further faults: a sweep and every delivery, minute by minute, until nothing is on its way."""
        for _ in range(minutes):
            self.clock.advance(60)
            self.sweep()
            self.deliver_all()
            if not self.queue.messages and not self.open_work():
                return

    def tasks(self) -> list[Any]:
        return list(self.world.store.lists.tasks_of_day("acme", NOON.date(), 100, None).items)

    def open_work(self) -> list[Any]:
        """Returns the work that Baton itself has to get done. Agents that pull come when they like."""
        return [task for task in self.tasks() if task.state in {"delegated", "claimed"} and task.meta.runtime == "run"]


def _later(now: datetime, seconds: float) -> datetime:
    clock = FakeClock(now)
    clock.advance(seconds)
    return clock.now()
