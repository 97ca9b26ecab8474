"""Capacity units as DynamoDB documents them.

A write costs one unit for each started KB of the larger of the item before and after, twice that in a transaction,
where a checked item costs as much as a written one. A refused write costs what the item that it met does, one unit at
least. An index costs one unit for each started KB of an entry that comes, goes or shows something else, both entries'
for one that moves, and nothing where it shows the same. A read costs one unit for each started 4 KB, one at least, and
half of that if it may be old.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from support.fakes.fake_dynamo.indexes import index_attributes, index_entry
from support.fakes.fake_dynamo.sizes import item_bytes

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

Item = dict[str, Any]
WRITE_UNIT_BYTES, READ_UNIT_BYTES = 1_024, 4_096
IN_A_TRANSACTION = 2


@dataclass(frozen=True)
class Charge:
    """Write units that fall on one partition key: of the table, or of the index that is named."""

    index: str | None
    partition: str
    units: int


def write_charges(partition: str, old: Item | None, new: Item | None, times: int = 1) -> Iterator[Charge]:
    """``old``, ``new``: the item before and after, the same if it was only checked or the write was refused."""
    yield Charge(None, partition, times * max(_kilobytes(old or {}), _kilobytes(new or {})))
    for name in index_attributes():
        yield from _index_charges(name, old, new)


def read_units(sizes: Iterable[int], *, is_consistent: bool = True) -> float:
    """``sizes``: bytes of each item, 0 for a key without one. What a query finds counts as one item."""
    units = sum(max(1, -(-size // READ_UNIT_BYTES)) for size in sizes)
    return units if is_consistent else units / 2


def consumed(table: str, charges: Sequence[Charge]) -> Item:
    """A table's ``ConsumedCapacity`` as it is answered to ``INDEXES``."""
    units = Counter[str | None]()
    for charge in charges:
        units[charge.index] += charge.units
    of_table = units.pop(None, 0)
    answer: Item = {"TableName": table, "CapacityUnits": float(of_table + units.total())}
    answer["Table"] = {"CapacityUnits": float(of_table)}
    if units:
        answer["GlobalSecondaryIndexes"] = {str(name): {"CapacityUnits": float(n)} for name, n in units.items()}
    return answer


def _index_charges(name: str, old: Item | None, new: Item | None) -> Iterator[Charge]:
    before, after = index_entry(name, old), index_entry(name, new)
    if before == after:
        return
    if before and after and before[0] == after[0]:
        yield Charge(name, after[0][0], max(_kilobytes(before[1]), _kilobytes(after[1])))
        return
    for entry in (before, after):
        if entry:
            yield Charge(name, entry[0][0], _kilobytes(entry[1]))


def _kilobytes(item: Item) -> int:
    return max(1, -(-item_bytes(item) // WRITE_UNIT_BYTES))
