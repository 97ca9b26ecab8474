"""What Baton asks of DynamoDB: calls, and the capacity that they consume, indexes included.

Write units are what the local engine answers to ReturnConsumedCapacity. They were tried, and are as documented: twice
the size in KB in a transaction, 2 for a condition check, 1 for an index's entry that comes or goes and 2 for one whose
key changes. Its read units aren't, so those are computed here from the size of what came back: one unit for 4 KB, half
of that from an index.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

Item = dict[str, Any]
WRITE_UNIT, READ_UNIT = 1_024, 4_096


@dataclass(frozen=True)
class Call:
    """``written``: name and bytes of the items that it puts."""

    operation: str
    read_units: float = 0
    write_units: float = 0
    index_units: float = 0
    written: tuple[tuple[str, int], ...] = ()
    members: int = 1

    @property
    def is_write(self) -> bool:
        return self.operation in {"update", "transact"}


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
        return sum(call.index_units for call in self.calls)

    @property
    def all_write_units(self) -> float:
        return self.write_units + self.index_units


class Meter:
    """Around a client of the local engine, at the one door that the store has."""

    def __init__(self, client: Any) -> None:
        self._client = client
        self._calls: list[Call] = []

    def taken(self, notices: int = 0) -> Usage:
        """Everything since the last time."""
        calls, self._calls = tuple(self._calls), []
        return Usage(calls, notices)

    def get_item(self, **request: Any) -> Any:
        answer = self._client.get_item(**request)
        self._calls.append(Call("get", _units(size(answer.get("Item", {})), READ_UNIT)))
        return answer

    def batch_get_item(self, **request: Any) -> Any:
        answer = self._client.batch_get_item(**request)
        found = [item for items in answer["Responses"].values() for item in items]
        asked = sum(len(table["Keys"]) for table in request["RequestItems"].values())
        units = sum(_units(size(item), READ_UNIT) for item in found) + asked - len(found)
        self._calls.append(Call("batch get", units))
        return answer

    def query(self, **request: Any) -> Any:
        answer = self._client.query(**request)
        units = _units(sum(map(size, answer["Items"])), READ_UNIT)
        operation = f"query {request['IndexName']}" if "IndexName" in request else "query"
        self._calls.append(Call(operation, units if request.get("ConsistentRead") else units / 2))
        return answer

    def update_item(self, **request: Any) -> Any:
        answer = self._client.update_item(**request, ReturnConsumedCapacity="INDEXES")
        self._calls.append(_written("update", [answer["ConsumedCapacity"]]))
        return answer

    def transact_write_items(self, **request: Any) -> Any:
        answer = self._client.transact_write_items(**request, ReturnConsumedCapacity="INDEXES")
        members = [inner for each in request["TransactItems"] for inner in each.values()]
        puts = tuple((name_of(each["Item"]), size(each["Item"])) for each in members if "Item" in each)
        self._calls.append(_written("transact", answer["ConsumedCapacity"], puts, len(members)))
        return answer


def name_of(item: Item) -> str:
    """What kind of item it is: its own name if it has a fixed one, else its partition's."""
    begin = str(item["sk"]["S"]).split("#", maxsplit=1)[0]
    return begin if begin.isupper() else str(item["pk"]["S"]).split("#")[2]


def size(item: Item) -> int:
    """Bytes, by the documented rules."""
    return sum(len(name.encode()) + _value_size(value) for name, value in item.items())


def _value_size(value: Item) -> int:
    ((kind, inner),) = value.items()
    match kind:
        case "S":
            return len(inner.encode())
        case "N":
            return (len(str(inner).strip("-").replace(".", "").strip("0")) + 1) // 2 + 1
        case "M":
            return 3 + size(inner) + len(inner)
        case "L":
            return 3 + sum(_value_size(each) + 1 for each in inner)
        case "SS" | "NS":
            return sum(len(str(each).encode()) for each in inner)
        case _:
            return 1


def _units(size_bytes: int, unit: int) -> float:
    return max(1, -(-size_bytes // unit))


def _written(operation: str, consumed: list[Item], puts: tuple[tuple[str, int], ...] = (), members: int = 1) -> Call:
    index_units = sum(_index_units(consumed))
    total = sum(each["CapacityUnits"] for each in consumed)
    return Call(operation, 0, total - index_units, index_units, puts, members)


def _index_units(consumed: list[Item]) -> Iterator[float]:
    for each in consumed:
        for index in each.get("GlobalSecondaryIndexes", {}).values():
            yield index["CapacityUnits"]
