"""What a minute's round gets through: due tasks that the sweeper looks at, and events that are told, per second. On a
table in memory that answers as late as AWS is assumed to (docs/cost.md)."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Sequence
from contextlib import redirect_stdout
from pathlib import Path
from typing import Any

from baton.adapters.worker_threads import WorkerThreads
from baton.bootstrap import WORKERS_AT_ONCE, logger
from baton.domain.events.bus_events import BusEvent
from baton.domain.task_state import State
from baton.ports.events import PublishResult
from baton.ports.system import Workers, in_turn
from baton.services.events.publish_events import publish_fresh, publish_overdue
from baton.services.tasks.sweep import sweep
from support.clock import NOON
from support.fakes.fake_dynamo import FakeDynamo
from support.fakes.ports import FakeBus
from support.fakes.store import InMemoryStore
from support.published import PublishedEvents
from support.values.changes import new, plant
from support.worlds.world import World
from tools.bench.tables import table

TASKS = 400
READ_SECONDS, WRITE_SECONDS, BUS_SECONDS = 0.005, 0.010, 0.015
EVENTS_IN_A_CALL = 10


class LateDynamo(FakeDynamo):
    """Answers as late as a table on AWS, while ``is_late``. Its time isn't that of the process: others go on."""

    is_late = False

    def __getattribute__(self, name: str) -> Any:
        found = super().__getattribute__(name)
        if name in _LATE and super().__getattribute__("is_late"):
            time.sleep(_LATE[name])
        return found


class LateBus(FakeBus):
    def publish(self, notices: Sequence[BusEvent]) -> PublishResult:
        time.sleep(BUS_SECONDS * -(-len(notices) // EVENTS_IN_A_CALL))
        return super().publish(notices)


_LATE = {
    **dict.fromkeys(("get_item", "batch_get_item", "query"), READ_SECONDS),
    **dict.fromkeys(("put_item", "update_item", "transact_write_items"), WRITE_SECONDS),
}


def show_rounds() -> None:
    os.environ.setdefault("BATON_TABLE", "bench")
    os.environ.setdefault("POWERTOOLS_SERVICE_NAME", "bench")
    with Path(os.devnull).open("w") as nowhere, redirect_stdout(nowhere):
        logger()
        rows = [
            [name, *(f"{_per_second(act, workers):.0f}" for workers in (in_turn, WorkerThreads(WORKERS_AT_ONCE)))]
            for name, act in (("due tasks swept", _swept), ("events told, late", _late), ("events told, new", _new))
        ]
    table(
        "Per second, in one process",
        ("", "in turn", f"{WORKERS_AT_ONCE} at once"),
        rows,
        f"{TASKS} tasks. Assumed, in ms: {READ_SECONDS * 1_000:.0f} for a reading, {WRITE_SECONDS * 1_000:.0f} for a "
        f"writing call, {BUS_SECONDS * 1_000:.0f} for one of the bus.\n"
        "The table in memory takes this processor's time as well.",
    )


def _per_second(act: Callable[[World, LateBus, Workers], int], workers: Workers) -> float:
    world = World(store=InMemoryStore(dynamo := LateDynamo())).settle()
    states = {"state": State.DELEGATED, "ready_at": NOON, "wake_at": NOON}
    plant(world.store, (new(f"task_{number:04d}", **states) for number in range(TASKS)))
    world.clock.advance(120)
    dynamo.is_late = True
    begun = time.perf_counter()
    done = act(world, LateBus(), workers)
    took = time.perf_counter() - begun
    if done != TASKS:
        raise RuntimeError(f"{done} of {TASKS} were done")
    return done / took


def _swept(world: World, _bus: LateBus, workers: Workers) -> int:
    return sweep(world.deps, workers=workers).looked_at


def _late(world: World, bus: LateBus, workers: Workers) -> int:
    return publish_overdue(world.deps, bus, workers=workers).published


def _new(world: World, bus: LateBus, workers: Workers) -> int:
    waiting = PublishedEvents(world, bus).waiting()
    batches = [waiting[start : start + 100] for start in range(0, len(waiting), 100)]
    return sum(publish_fresh(world.deps, bus, batch, workers).published for batch in batches)
