"""What Baton asks of DynamoDB: calls, and the capacity that they consume, indexes included.

Around any client: the fake's, or the local engine's. Write units are what it answers to ReturnConsumedCapacity; both
answer as documented, and a contract test holds them to each other. No engine tells what a refused write costs, and the
local one not what a read does, so those are computed here by the same rules (support/fakes/fake_dynamo/capacity.py).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from botocore.exceptions import ClientError

from support.fakes.fake_dynamo.capacity import IN_A_TRANSACTION, read_units, write_charges
from support.fakes.fake_dynamo.sizes import item_bytes

Item = dict[str, Any]
KEY = ("pk", "sk")
WRITES = frozenset({"put", "update", "batch write", "transact"})


@dataclass(frozen=True)
class Call:
    """``indexes``: the write units of each; ``written``: name and bytes of the items that it puts; ``found``: how many
    items it read."""

    operation: str
    read_units: float = 0
    write_units: float = 0
    indexes: tuple[tuple[str, float], ...] = ()
    written: tuple[tuple[str, int], ...] = ()
    members: int = 1
    found: int = 0

    @property
    def is_write(self) -> bool:
        return self.operation in WRITES


@dataclass(frozen=True)
class Usage:
    """``write_units`` without those of the indexes."""

    calls: tuple[Call, ...]
    notices: int = 0

    @property
    def reads(self) -> int:
        return sum(not call.is_write for call in self.calls)

    @property
    def writes(self) -> int:
        return sum(call.is_write for call in self.calls)

    @property
    def read_units(self) -> float:
        return sum(call.read_units for call in self.calls)

    @property
    def write_units(self) -> float:
        return sum(call.write_units for call in self.calls)

    @property
    def index_units(self) -> float:
        return sum(units for call in self.calls for _, units in call.indexes)

    def units_of(self, index: str) -> float:
        """Its write units."""
        return sum(units for call in self.calls for name, units in call.indexes if name == index)

    @property
    def found(self) -> int:
        return sum(call.found for call in self.calls)

    @property
    def all_write_units(self) -> float:
        return self.write_units + self.index_units


class Meter:
    """Around a client, at the one door that the store has."""

    def __init__(self, client: Any) -> None:
        self._client = client
        self._calls: list[Call] = []

    def taken(self, notices: int = 0) -> Usage:
        """Everything since the last time."""
        calls, self._calls = tuple(self._calls), []
        return Usage(calls, notices)

    def get_item(self, **request: Any) -> Any:
        answer = self._client.get_item(**request)
        self._read("get", [answer["Item"]] if "Item" in answer else [], request)
        return answer

    def batch_get_item(self, **request: Any) -> Any:
        answer = self._client.batch_get_item(**request)
        ((_, asked),) = request["RequestItems"].items()
        found = [item for items in answer["Responses"].values() for item in items]
        left = sum(len(each["Keys"]) for each in (answer.get("UnprocessedKeys") or {}).values())
        self._read("batch get", found, asked, missing=len(asked["Keys"]) - len(found) - left)
        return answer

    def query(self, **request: Any) -> Any:
        answer = self._client.query(**request)
        operation = f"query {request['IndexName']}" if "IndexName" in request else "query"
        units = read_units([sum(map(item_bytes, answer["Items"]))], is_consistent=request.get("ConsistentRead", False))
        self._calls.append(Call(operation, units, found=len(answer["Items"])))
        return answer

    def put_item(self, **request: Any) -> Any:
        return self._written("put", self._client.put_item, request, [request["Item"]])

    def update_item(self, **request: Any) -> Any:
        return self._written("update", self._client.update_item, request, [request["Key"]])

    def batch_write_item(self, **request: Any) -> Any:
        ((_, members),) = request["RequestItems"].items()
        inner = [each for member in members for each in member.values()]
        written = [each.get("Item") or each["Key"] for each in inner]
        return self._written("batch write", self._client.batch_write_item, request, written)

    def transact_write_items(self, **request: Any) -> Any:
        members = [inner for each in request["TransactItems"] for inner in each.values()]
        written = [each.get("Item") or each["Key"] for each in members]
        return self._written("transact", self._client.transact_write_items, request, written)

    def _read(self, operation: str, found: list[Item], request: Item, missing: int | None = None) -> None:
        """``missing``: how many keys had no item."""
        sizes = [*map(item_bytes, found), *[0] * (1 - len(found) if missing is None else missing)]
        units = read_units(sizes, is_consistent=request.get("ConsistentRead", False))
        self._calls.append(Call(operation, units, found=len(found)))

    def _written(self, operation: str, call: Callable[..., Any], request: Item, written: Sequence[Item]) -> Any:
        """``written``: the items that it puts, and the keys of the others."""
        puts = tuple((name_of(each), item_bytes(each)) for each in written if len(each) > len(KEY))
        try:
            answer = call(**request, ReturnConsumedCapacity="INDEXES")
        except ClientError as exc:
            if _is_refused(exc):
                units = self._refused(operation, request, written)
                self._calls.append(Call(operation, 0, units, (), (), len(written)))
            raise
        told = answer["ConsumedCapacity"]
        consumed = told if isinstance(told, list) else [told]
        indexes = tuple(_index_units(consumed))
        total = sum(each["CapacityUnits"] for each in consumed)
        units = total - sum(units for _, units in indexes)
        self._calls.append(Call(operation, 0, units, indexes, puts, len(written)))
        return answer

    def _refused(self, operation: str, request: Item, written: Sequence[Item]) -> float:
        """What a write costs that met other items than it wanted: as they are now, which nobody else changes here."""
        members = [inner for each in request.get("TransactItems", ()) for inner in each.values()] or [request]
        times = IN_A_TRANSACTION if operation == "transact" else 1
        units = 0
        for member, wire in zip(members, written, strict=True):
            key = {name: wire[name] for name in KEY}
            there = self._client.get_item(TableName=member["TableName"], Key=key, ConsistentRead=True).get("Item")
            units += sum(charge.units for charge in write_charges(key["pk"]["S"], there, there, times))
        return units


def name_of(item: Item) -> str:
    """What kind of item it is: its own name if it has a fixed one, else its partition's."""
    begin = str(item["sk"]["S"]).split("#", maxsplit=1)[0]
    partition = str(item["pk"]["S"]).split("#")
    return begin if begin.isupper() or len(partition) < 3 else partition[2]


def _is_refused(exc: ClientError) -> bool:
    """A condition was false."""
    codes = [reason.get("Code") for reason in exc.response.get("CancellationReasons", ())]
    return "ConditionalCheckFailed" in codes or exc.response["Error"]["Code"] == "ConditionalCheckFailedException"


def _index_units(consumed: list[Item]) -> Iterator[tuple[str, float]]:
    for each in consumed:
        for name, index in each.get("GlobalSecondaryIndexes", {}).items():
            yield name, index["CapacityUnits"]
