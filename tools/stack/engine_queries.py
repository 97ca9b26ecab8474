"""Queries of the local engine, over what they can find. The engine judges every item of a partition, and reads the
condition anew for each: 10,000 entries of a blackboard take it a second. The table that it stands for goes to the first
key of the range and reads on from there.

What a query can't find is taken away before the engine's own query runs, which then decides all that it decided before:
what is refused, what fits into a page, what is shown. A request of another form than Baton's reaches it untouched.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from operator import itemgetter
from types import FunctionType
from typing import Any

# Under which the engine keeps, in a table, the keys of each index's partitions.
MEMBERS = "_index_members"

Data = Mapping[str, Any]
# Of the partition's key and the sort key.
Names = tuple[str | None, str | None]
# The sort key, and what leads to the item.
Place = tuple[tuple[str, ...], Any]

_CONDITION = re.compile(
    r"#pk = (?P<pk>:\w+)"
    r"(?: AND #sk (?:(?P<than>[<>]=?) (?P<limit>:\w+)|BETWEEN (?P<first>:\w+) AND (?P<last>:\w+)))?"
)
_COMPARED: dict[str, Callable[[str, str], bool]] = {
    "<": str.__lt__,
    "<=": str.__le__,
    ">": str.__gt__,
    ">=": str.__ge__,
}


def install(engine: Any) -> None:
    """``engine``: the module of the local engine that serves DynamoDB."""
    whole = engine._query

    def query(request: Data) -> Any:
        name = engine._normalize_table_name(request.get("TableName"))
        table = engine._tables.get(name)
        narrow = narrowed(table, request, engine._index_members) if table else None
        if narrow is None:
            return whole(request)
        judged = ParsedOnce(engine._evaluate_condition, engine._tokenize, engine._ExprEval)
        names = {**vars(engine), "_tables": {name: narrow}, "_evaluate_condition": judged}
        return FunctionType(whole.__code__, names)(request)

    engine._query = query


class ParsedOnce:
    """The engine's way to judge an item by a condition: the first item is judged by it, which refuses a wrong
    condition, and each other one by what the condition was found to be."""

    def __init__(
        self, judged: Callable[..., bool], parsed: Callable[[str], Any], evaluation: Callable[..., Any]
    ) -> None:
        self._judged, self._parsed, self._evaluation = judged, parsed, evaluation
        self._known: dict[str, Any] = {}

    def __call__(
        self, condition: str, item: Data, values: Data, names: Data, slot: str = "ConditionExpression"
    ) -> bool:
        if condition not in self._known:
            fits = self._judged(condition, item, values, names, slot=slot)
            self._known[condition] = self._parsed(condition)
            return fits
        try:
            return bool(self._evaluation(self._known[condition], item, values, names).evaluate())
        except (AttributeError, LookupError, TypeError, ValueError):  # it has a sentence for each
            return self._judged(condition, item, values, names, slot=slot)


def narrowed(table: Data, request: Data, members_of: Callable[[Data], Data]) -> dict[str, Any] | None:
    """Returns the table with no other items than the request can find in one page; None if it isn't understood.
    ``members_of``: the keys of each index's partitions, of a table."""
    index = request.get("IndexName")
    hash_name, range_name = _key_names(table, index)
    asked = _asked(request, (hash_name, range_name))
    if asked is None:
        return None
    partition, fits = asked
    if index is None:
        bucket = table["items"].get(partition, {})
        found = _first((((key,), key) for key in bucket if fits(key)), request, (range_name,))
        return {**table, "items": {partition: {key: bucket[key] for _, key in found}}}
    places = _places(table, members_of(table).get(index, {}).get(partition, ()), range_name, fits)
    found = _first(places, request, (range_name, table["pk_name"], table["sk_name"]))
    return {**table, MEMBERS: {index: {partition: [member for _, member in found]}}}


def _asked(request: Data, names: Names) -> tuple[str, Callable[[str], bool]] | None:
    """Returns the partition, and which sort keys fit."""
    condition = _CONDITION.fullmatch(request.get("KeyConditionExpression") or "")
    if condition is None or request.get("ExpressionAttributeNames") not in _named(names):
        return None
    wire = request.get("ExpressionAttributeValues") or {}
    texts = {
        part: wire.get(name, {}).get("S") for part, name in condition.groupdict().items() if name and part != "than"
    }
    if not all(isinstance(text, str) for text in texts.values()):
        return None
    return texts["pk"], _range(condition["than"], texts)


def _named(names: Names) -> tuple[Data, Data]:
    """Returns what a request may call the keys: the names that its condition uses."""
    return {"#pk": names[0], "#sk": names[1]}, {"#pk": names[0]}


def _key_names(table: Data, index: str | None) -> Names:
    if index is None:
        return table["pk_name"], table["sk_name"]
    schemas = {each["IndexName"]: each["KeySchema"] for each in table.get("GlobalSecondaryIndexes", ())}
    kinds = {each["KeyType"]: each["AttributeName"] for each in schemas.get(index, ())}
    return kinds.get("HASH"), kinds.get("RANGE")


def _range(than: str | None, texts: Mapping[str, str]) -> Callable[[str], bool]:
    if than is not None:
        compared, limit = _COMPARED[than], texts["limit"]
        return lambda key: compared(key, limit)
    if "first" in texts:
        first, last = texts["first"], texts["last"]
        return lambda key: first <= key <= last
    return lambda _key: True


def _places(
    table: Data, members: Iterable[tuple[str, str]], range_name: str | None, fits: Callable[[str], bool]
) -> Iterable[Place]:
    items = table["items"]
    for pk, sk in members:
        key = items[pk][sk][range_name]["S"]
        if fits(key):
            yield (key, pk, sk), (pk, sk)


def _first(places: Iterable[Place], request: Data, names: tuple[Any, ...]) -> list[Place]:
    """Returns those that a page may hold, in order: behind its start, and no more than its limit."""
    newest_first = request.get("ScanIndexForward") is False
    ordered = sorted(places, key=itemgetter(0), reverse=newest_first)
    start = request.get("ExclusiveStartKey")
    if start:
        after = tuple(start.get(name, {}).get("S", "") for name in names)
        ordered = [each for each in ordered if (each[0] < after if newest_first else each[0] > after)]
    limit = request.get("Limit")
    return ordered[:limit] if isinstance(limit, int) and limit > 0 else ordered
