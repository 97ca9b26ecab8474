"""The hottest partition keys: what one handoff writes to each, and how many handoffs a second it allows.

Many handoffs are played through the use cases on a table in memory, and every write unit is booked on the key that it
falls on: of the table, or of an index. DynamoDB takes 1,000 write units and 3,000 read units a second for a key. Shards
of a key get equal parts, as a hash spreads them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any

from baton.adapters.dynamodb import keys
from baton.adapters.dynamodb.patience import Patience
from baton.adapters.dynamodb.shards import Shards
from baton.adapters.dynamodb.store import DynamoStore
from baton.adapters.dynamodb.table import DEFAULT_SHARDS, Layout, Table
from baton.adapters.system import SystemClock
from baton.domain.access.principal import Principal, PrincipalKind
from baton.services.events.publish_events import publish_overdue
from support.fakes.fake_dynamo import Charge, FakeDynamo
from support.fakes.fake_dynamo.capacity import read_units
from support.fakes.fake_dynamo.sizes import item_bytes
from tools.bench.office import WORKSPACE, Office, approve, beat, claim, complete, mark, outlive, wait
from tools.bench.tables import number, table

WRITES_A_SECOND, READS_A_SECOND = 1_000, 3_000
HANDOFFS, AGENTS = 400, 24  # 552 directions: each takes one task
SHOWN = 14
Booked = Counter[tuple[str, str]]


@dataclass(frozen=True)
class HotKey:
    """``kind``: of the table or an index. ``count``: how many keys of the kind there are. ``write_units``,
    ``read_units``: a handoff's, on one of them. ``alone``: the same, if every handoff met the same key."""

    kind: str
    count: int
    write_units: float
    read_units: float
    alone: float

    @property
    def handoffs_a_second(self) -> float:
        return WRITES_A_SECOND / self.write_units if self.write_units else float("inf")

    @property
    def reads_allow(self) -> float:
        return READS_A_SECOND / self.read_units if self.read_units else float("inf")


@dataclass(frozen=True)
class Heat:
    """What so many handoffs in so many workspaces left on the keys, the hottest first."""

    workspaces: int
    keys: tuple[HotKey, ...]

    @property
    def of_deployment(self) -> float:
        """Handoffs a second, however many workspaces there are."""
        return self._least(lambda key: key.kind.startswith(keys.WAKE_INDEX))

    @property
    def of_workspace(self) -> float:
        """Handoffs a second of each workspace, by the keys that all of its tasks share."""
        return self._least(lambda key: key.count == self.workspaces) / self.workspaces

    def _least(self, is_meant: Callable[[HotKey], bool]) -> float:
        return min((key.handoffs_a_second for key in self.keys if is_meant(key)), default=float("inf"))


class KeyTracer:
    """Around the fake: books what each call reads and writes on partition keys."""

    def __init__(self, dynamo: FakeDynamo) -> None:
        self._dynamo = dynamo
        self.written, self.read = Booked(), Booked()
        dynamo.bill = self._bill

    def __getattr__(self, operation: str) -> Any:
        return getattr(self._dynamo, operation)

    def forget(self) -> None:
        self.written.clear()
        self.read.clear()

    def get_item(self, **request: Any) -> Any:
        answer = self._dynamo.get_item(**request)
        self._book(None, request["Key"]["pk"]["S"], [item_bytes(answer.get("Item", {}))])
        return answer

    def batch_get_item(self, **request: Any) -> Any:
        answer = self._dynamo.batch_get_item(**request)
        ((_, asked),) = request["RequestItems"].items()
        sizes = {
            (item["pk"]["S"], item["sk"]["S"]): item_bytes(item)
            for items in answer["Responses"].values()
            for item in items
        }
        for key in asked["Keys"]:
            self._book(None, key["pk"]["S"], [sizes.get((key["pk"]["S"], key["sk"]["S"]), 0)])
        return answer

    def query(self, **request: Any) -> Any:
        answer = self._dynamo.query(**request)
        partition = request["ExpressionAttributeValues"][":pk"]["S"]
        self._book(request.get("IndexName"), partition, [sum(map(item_bytes, answer["Items"]))])
        return answer

    def _book(self, index: str | None, partition: str, sizes: list[int]) -> None:
        self.read[index or "table", partition] += read_units(sizes, is_consistent=index is None)  # type: ignore[assignment]

    def _bill(self, charges: Sequence[Charge]) -> None:
        for charge in charges:
            self.written[charge.index or "table", charge.partition] += charge.units


def show_keys() -> None:
    for workspaces in (1, 10):
        heat = measured(workspaces)
        rows = [
            [
                key.kind,
                str(key.count),
                f"{key.write_units:.3f}",
                _a_second(key.handoffs_a_second),
                number(key.alone),
                f"{key.read_units:.3f}",
                _a_second(key.reads_allow),
            ]
            for key in heat.keys[:SHOWN]
        ]
        table(
            f"Hottest partition keys, {workspaces} workspace{'s' * (workspaces > 1)} of {AGENTS} agents",
            ("", "keys", "WU a handoff", "handoffs/s", "WU if it's one key", "RU a handoff", "handoffs/s"),
            rows,
            _note(heat),
        )


def _note(heat: Heat) -> str:
    wake, lists = DEFAULT_SHARDS.wake.written, DEFAULT_SHARDS.lists.written
    return (
        f"On paper {_a_second(heat.of_deployment)} handoffs/s in the deployment, by the wake index in {wake} shards,\n"
        f"and {_a_second(heat.of_workspace)} in each workspace, by its lists in {lists}. A key takes "
        f"{WRITES_A_SECOND:,} write units and\n{READS_A_SECOND:,} read units a second. Where there are many keys, each "
        "agent, direction or task has its\nown; the fifth column is for all work on one of them. Without the reads of "
        "the token and\nof the kill switch."
    )


def measured(workspaces: int, shards: Shards = DEFAULT_SHARDS, handoffs: int = HANDOFFS) -> Heat:
    """The heat of so many handoffs in each workspace: created, approved, claimed, renewed, completed, and told to the
    bus."""
    tracer = KeyTracer(FakeDynamo())
    store = DynamoStore(Table(tracer, "bench", Patience(SystemClock()), Layout(shards)))
    offices = [Office(store, f"{WORKSPACE}-{each}", agents=AGENTS).open() for each in range(workspaces)]
    tracer.forget()
    for office in offices:
        _hand_off(office, handoffs)
    outlive(offices[0])
    publish_overdue(offices[0].deps, offices[0].bus)
    return Heat(workspaces, _hot_keys(tracer, shards, workspaces * handoffs))


def _hand_off(office: Office, handoffs: int) -> None:
    """All of them are at each step together, so that time stands nearly still."""
    works = []
    for source, target in islice(office.directions(), handoffs):
        _turn_to(office, source, target)
        mark(office)
        approve(office)
    wait(office)
    for _, target in islice(office.directions(), handoffs):
        _turn_to(office, "", target)
        claim(office)
        works.append((target, office.task_id, office.claim_id))
    for target, task_id, claim_id in works:
        _turn_to(office, "", target)
        office.task_id, office.claim_id = task_id, claim_id
        beat(office)
        complete(office)


def _turn_to(office: Office, source: str, target: str) -> None:
    office.source, office.target = source, target
    office.worker = Principal(office.workspace, PrincipalKind.AGENT, target)


def _hot_keys(tracer: KeyTracer, shards: Shards, handoffs: int) -> tuple[HotKey, ...]:
    """Shards of one key count as one key, with an equal part of it."""
    kinds: dict[str, dict[str, HotKey]] = {}
    for booked, field in ((tracer.written, "write_units"), (tracer.read, "read_units")):
        for (place, partition), units in booked.items():
            whole, parts = _whole(partition, shards)
            of_kind = kinds.setdefault(f"{place} {_kind(whole)}", {})
            before = of_kind.setdefault(whole, HotKey("", 0, 0, 0, 0))
            of_kind[whole] = replace(before, **{field: getattr(before, field) + units / handoffs / parts})
    found = [_hottest(kind, list(each.values())) for kind, each in kinds.items()]
    return tuple(sorted(found, key=lambda key: min(key.handoffs_a_second, key.reads_allow)))


def _hottest(kind: str, of_kind: list[HotKey]) -> HotKey:
    return HotKey(
        kind,
        len(of_kind),
        max(key.write_units for key in of_kind),
        max(key.read_units for key in of_kind),
        sum(key.write_units for key in of_kind),
    )


def _whole(partition: str, shards: Shards) -> tuple[str, int]:
    """The partition without its shard, and how many of them share it."""
    before, _, last = partition.rpartition("#")
    base = before if last.isdecimal() and partition in shards.all_of(before) else partition
    return base, len(shards.all_of(base)) if partition in shards.all_of(base) else 1


def _kind(partition: str) -> str:
    return keys.kind_of(partition) if partition.startswith("WS#") else partition


def _a_second(handoffs: float) -> str:
    return "any" if handoffs == float("inf") else f"{handoffs:,.0f}"
