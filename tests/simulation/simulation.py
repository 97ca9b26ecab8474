"""One world: the real store on a fake table, the use cases, those who use them, and the oracle that looks on."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from datetime import timedelta
from itertools import count
from types import SimpleNamespace
from typing import Any, TypeVar

import baton.adapters.dynamodb.table as table_module
import baton.services.bell.ring as bell_module
import baton.services.runs.process_task as process_task_module
from baton.adapters.dynamodb.concurrent_calls import Calls
from baton.adapters.dynamodb.patience import Patience
from baton.adapters.dynamodb.shards import Shards, Spread
from baton.adapters.dynamodb.store import DynamoStore
from baton.adapters.dynamodb.table import Layout, Table
from baton.adapters.lexical_search import LexicalSearch, SearchLimits
from baton.domain.errors import Busy
from baton.domain.memory.entry_index import Question, ScoredEntry
from baton.domain.runs import account as account_module
from baton.domain.runs.account import MAX_ACCOUNTS
from baton.ports.deps import Deps
from baton.ports.writes import Write
from baton.services.bell.ring import AT_ONCE
from baton.services.runs.run_agent import AgentLoop
from simulation.actors.trust.staff import Staff
from simulation.bell import SimulatedConnections
from simulation.chance import Chance
from simulation.habits import Habits
from simulation.lambdas import Lambdas
from simulation.notices import ShakyLooks, ShakyQueue, ShakyTrackerQueue
from simulation.oracle import Oracle
from simulation.ports import BEGIN, WORKSPACE, NumberedIds, ScriptedModel, ShakyBus, SimulatedRunner, SkewedClock
from simulation.quick_types import QuickDeserializer, QuickSerializer
from simulation.random_faults import RandomFaults
from simulation.scheduler import Actor, Process, Scheduler
from simulation.threads import ActorFuture, ActorThread
from simulation.tracker import SimulatedTracker
from support.clock import FakeClock
from support.fakes.fake_dynamo import Change, FakeDynamo
from support.fakes.fake_dynamo.indexes import FakeIndex, Key, index_entry
from support.fakes.ports import FakeCallbackKey, FakeSecrets
from support.fakes.store import PeopleOfTests
from support.faults.threads import StillClock
from support.published import bell_records

T = TypeVar("T")
TABLE = "simulated"
# Processes that live on between calls, each with what it keeps in memory. They write to different numbers of shards, as
# while a number is being changed, and each reads all of them.
SHARDS = (Shards(Spread(4), Spread(1, 2)), Shards(Spread(2, 4), Spread(2)), Shards(Spread(1, 4), Spread(1, 2)))
CONTAINERS = len(SHARDS)
# Seconds for which they try a call of the table again, the least of them hardly any.
PATIENCE = dict(zip(SHARDS, (3.0, 10.0, 0.1), strict=True))


# So few entries that there are packs.
SEARCHED = SearchLimits(per_pack=3)


class ReadOnlyStore(DynamoStore):
    """For a look at how things are."""

    def commit(self, workspace: str, *writes: Write) -> None:
        raise Busy


class MovingIndex(FakeIndex):
    """An entry leaves its old place at one moment, and comes to the new one at another."""

    def changed(self, key: Key, old: Any, new: Any, shows_at_ms: Callable[[], int]) -> None:
        before, after = (index_entry(self.name, each) for each in (old, new))
        if before is None or after is None or before[0] == after[0]:
            super().changed(key, old, new, shows_at_ms)
            return
        first, last = sorted((shows_at_ms(), shows_at_ms()))
        super().changed(key, old, None, lambda: first)
        super().changed(key, None, new, lambda: last)


class SimulatedDynamo(FakeDynamo):
    """Nobody needs a turn to find that a shard of the wake index is empty, and there are many."""

    fault_source: RandomFaults

    def __init__(self, fault_source: RandomFaults, habits: Habits) -> None:
        super().__init__(fault_source)
        self.is_query_torn = habits.is_query_torn
        if habits.do_entries_move:
            self.indexes = {name: MovingIndex(name) for name in self.indexes}

    def query(self, *, IndexName: str | None = None, **request: Any) -> dict[str, Any]:  # noqa: N803
        if IndexName == "wake":
            partition = request["ExpressionAttributeValues"][":pk"]["S"]
            if not self.indexes["wake"].rows(partition, self.fault_source.now_ms):
                return {"Items": []}
        page = super().query(IndexName=IndexName, **request)
        if not self.is_query_torn or IndexName is not None or not self._is_whole(page) or not self.fault_source.torn():
            return page
        self.fault_source.rest("query.rest", None)
        later = self._at_the_same_moment(request)
        return self._mixed(page, later, request) if self._is_whole(later) else page

    def forget(self, now_ms: int) -> None:
        """What has a time to live that is over."""
        over = [
            (pk, sk)
            for pk, rows in self.items.items()
            for sk, item in rows.items()
            if "ttl" in item and int(item["ttl"]["N"]) * 1_000 < now_ms
        ]
        for key in over:
            self.write([(key, self.item(key), None)])
            self.fault_source.happened("deleted by its time to live")

    def _is_whole(self, page: dict[str, Any]) -> bool:
        return bool(page["Items"]) and "LastEvaluatedKey" not in page

    def _at_the_same_moment(self, request: dict[str, Any]) -> dict[str, Any]:
        """As nobody else had a turn."""
        was_calm, self.fault_source.is_calm = self.fault_source.is_calm, True
        try:
            return super().query(**request)
        finally:
            self.fault_source.is_calm = was_calm

    def _mixed(self, page: dict[str, Any], later: dict[str, Any], request: dict[str, Any]) -> dict[str, Any]:
        """Each item as it was at one of two moments."""
        before, after = ({(row["pk"]["S"], row["sk"]["S"]): row for row in each["Items"]} for each in (page, later))
        if before == after:
            return page
        self.fault_source.happened("query torn")
        chosen = {key: (after if self.fault_source.draw(2) else before).get(key) for key in {**before, **after}}
        backward = not request.get("ScanIndexForward", True)
        items = [row for _, row in sorted(chosen.items(), reverse=backward) if row]
        return {"Items": items, "Count": len(items)}


class Simulation:
    """``choices``: instead of the seed's. ``is_stopping``: the actors begin nothing new."""

    def __init__(
        self, seed: int, habits: Habits, choices: Sequence[int] | None = None, *, is_traced: bool = False
    ) -> None:
        self.habits, self.chance = habits, Chance(seed, choices)
        self.oracle = Oracle(self)
        self.scheduler = Scheduler(self.oracle.verdict.actor_raised)
        self.fault_source = RandomFaults(habits, self.chance, self.scheduler, is_traced=is_traced)
        self.is_stopping = False
        self.stream: list[dict[str, Any]] = []
        self.bell_stream: list[dict[str, Any]] = []
        self.settings: dict[str, Any] = {}
        self.dynamo = SimulatedDynamo(self.fault_source, habits)
        self.dynamo.watch = self._wrote
        self._client: Any = self.dynamo  # as botocore's, it says more exactly what it takes than the product asks for
        self.clock, self.ids, self.queue, self.bus = SkewedClock(self), NumberedIds(), ShakyQueue(self), ShakyBus(self)
        self.tracker, self.tracker_queue, self.secrets = SimulatedTracker(self), ShakyTrackerQueue(self), FakeSecrets()
        self.looks, self.connections = ShakyLooks(self), SimulatedConnections(self)
        self.model, self.staff = ScriptedModel(self), Staff(self)
        self._containers = [self._container(shards) for shards in SHARDS]
        self.lambdas = Lambdas(self)
        self._patch(seed)

    def draw(self, n: int) -> int:
        return self.chance.draw(n)

    def pick(self, values: Sequence[T]) -> T:
        return self.chance.pick(values)

    @property
    def deps(self) -> Deps:
        """Of the container in which the present call runs."""
        return self._containers[self._here()][0]

    @property
    def runner(self) -> SimulatedRunner:
        return self._containers[self._here()][1]

    @property
    def current(self) -> Actor:
        return self.scheduler.current

    @property
    def now_ms(self) -> int:
        return self.scheduler.now_ms

    @property
    def steps(self) -> int:
        return self.scheduler.steps

    def some_living(self) -> Deps:
        """Of a process that answered calls before."""
        return self._containers[self.draw(CONTAINERS)][0]

    def newborn(self) -> Deps:
        return self._container(SHARDS[0])[0]

    def found_anew(self, question: Question) -> list[ScoredEntry]:
        """What a process finds that begins now, without writing anything."""
        store = ReadOnlyStore(Table(self.dynamo, TABLE, Patience(StillClock())))
        clock = FakeClock(BEGIN + timedelta(milliseconds=self.now_ms))
        return LexicalSearch(store, clock, SEARCHED).find(WORKSPACE, question).items

    def sleep(self, seconds: float) -> None:
        if self.fault_source.is_calm:
            self.scheduler.now_ms += int(seconds * 1000)
        else:
            self.scheduler.park(self.now_ms + max(1, int(seconds * 1000)))

    def monotonic(self) -> float:
        return self.now_ms / 1000

    def pass_to(self, now_ms: int) -> None:
        """Where it is calm."""
        self.scheduler.now_ms = max(self.now_ms, now_ms)

    def spawn(
        self, name: str, act: Callable[[], object], at_ms: int | None = None, process: Process | None = None
    ) -> None:
        self.scheduler.spawn(name, act, process or Process(self.fault_source.skew_ms()), at_ms)

    def power_off(self) -> None:
        """Everything dies at once; what was on its way is lost, and from then on it is calm."""
        self.scheduler.kill_all()
        self.fault_source.is_calm = True
        self.stream, self.bell_stream = [], []

    def _wrote(self, changes: Sequence[Change]) -> None:
        self.oracle.wrote(changes)
        if self.habits.has_bell:
            self.bell_stream += bell_records(changes)

    def _here(self) -> int:
        process = self.current.process
        if process.container is None:
            process.container = 0 if self.fault_source.is_calm else self.draw(CONTAINERS)
            if not self.fault_source.is_calm and self.chance.happens(self.habits.cold_share):
                self._replace(process.container)
        return process.container

    def _replace(self, at: int) -> None:
        """By a new one, which knows nothing, and may write to another number of shards. Whoever runs in the old one
        goes on with what the new one knows."""
        self.fault_source.happened("cold start")
        self._containers[at] = self._container(SHARDS[self.draw(CONTAINERS)])

    def _in_any_order(self, calls: Calls) -> None:
        left = list(calls)
        while left:
            left.pop(0 if self.fault_source.is_calm or len(left) == 1 else self.draw(len(left)))()

    def _container(self, shards: Shards) -> tuple[Deps, SimulatedRunner]:
        store = DynamoStore(
            Table(self._client, TABLE, Patience(self, PATIENCE[shards]), Layout(shards), self._in_any_order)
        )
        store.tokens = PeopleOfTests(store.tokens, self.dynamo)  # type: ignore[assignment]
        deps = Deps(
            store=store,
            search=LexicalSearch(store, self.clock, SEARCHED),
            dispatch_queue=self.queue,
            clock=self.clock,
            ids=self.ids,
            trackers=self.tracker,
            tracker_queue=self.tracker_queue,
            looks=self.looks,
            secrets=self.secrets,
            callback_key=FakeCallbackKey(),
            public_url="https://simulated.example",
            log=self.oracle.answers.logged,
        )
        return deps, SimulatedRunner(self, AgentLoop(deps, self.model))

    def _patch(self, seed: int) -> None:
        """What the product takes from Python itself and that would be different in every run."""
        tokens = count(1)
        table: Any = table_module
        process_task: Any = process_task_module
        table._serializer, table._deserializer = QuickSerializer(), QuickDeserializer()
        table.uuid4 = lambda: SimpleNamespace(hex=f"token{next(tokens):027d}")
        process_task.Thread = lambda target, **_: ActorThread(self, target)
        process_task.Future = _futures(self)
        # In every other seed so few that accounts move.
        accounts: Any = account_module
        accounts.MAX_ACCOUNTS = 2 if seed % 2 else MAX_ACCOUNTS
        # In every other seed with a bell pages are so short that there are several.
        bell: Any = bell_module
        bell.AT_ONCE = 1 if seed % 8 == 7 else AT_ONCE
        random.seed(seed)


def _futures(sim: Simulation) -> Any:
    """It is named as a type in the product, too."""
    return lambda: ActorFuture(sim)
