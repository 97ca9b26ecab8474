"""What the local engine's queries are shown of a table: all that a page can hold, and nothing else."""

from __future__ import annotations

from typing import Any

import pytest

from tools.stack.engine_queries import MEMBERS, ParsedOnce, narrowed

Item = dict[str, Any]
NAMES = {"#pk": "pk", "#sk": "sk"}
PLACES = {"#pk": "queue_pk", "#sk": "queue_sk"}
KEYS = ["a", "b", "b1", "c", "d"]
BETWEEN = "#pk = :pk AND #sk BETWEEN :first AND :last"


def table() -> Item:
    """One partition in no order, another one, and an index in which two items share a sort key."""
    items = {
        "one": {key: wire(pk="one", sk=key, queue_pk="q", queue_sk=key[0]) for key in ["c", "a", "d", "b1", "b"]},
        "two": {"b": wire(pk="two", sk="b")},
    }
    index = {"q": {("one", key): None for key in items["one"]}}
    schema = [{"AttributeName": "queue_pk", "KeyType": "HASH"}, {"AttributeName": "queue_sk", "KeyType": "RANGE"}]
    gsi = {"IndexName": "queue", "KeySchema": schema}
    return {
        "pk_name": "pk",
        "sk_name": "sk",
        "items": items,
        "GlobalSecondaryIndexes": [gsi],
        MEMBERS: {"queue": index},
    }


def wire(**texts: str) -> Item:
    return {name: {"S": text} for name, text in texts.items()}


def asked(condition: str, names: Item = NAMES, more: Item | None = None, /, **values: str) -> Item:
    used = {name: attribute for name, attribute in names.items() if name in condition}
    texts = wire(**{f":{name}": text for name, text in values.items()})
    request = {"KeyConditionExpression": condition, "ExpressionAttributeNames": used}
    return {**request, "ExpressionAttributeValues": texts, **(more or {})}


def shown(request: Item) -> list[str]:
    found = narrowed(table(), request, lambda of: of[MEMBERS])
    assert found is not None
    if "IndexName" in request:
        return [sk for (_, sk) in found[MEMBERS]["queue"].get("q", [])]
    assert list(found["items"]) == [request["ExpressionAttributeValues"][":pk"]["S"]]
    return [sk for bucket in found["items"].values() for sk in bucket]


@pytest.mark.parametrize(
    ("condition", "values", "expected"),
    [
        ("#pk = :pk", {}, KEYS),
        (BETWEEN, {"first": "b", "last": "c"}, ["b", "b1", "c"]),
        (BETWEEN, {"first": "b0", "last": "b~"}, ["b1"]),
        ("#pk = :pk AND #sk > :mark", {"mark": "b"}, ["b1", "c", "d"]),
        ("#pk = :pk AND #sk >= :mark", {"mark": "b"}, ["b", "b1", "c", "d"]),
        ("#pk = :pk AND #sk < :mark", {"mark": "b"}, ["a"]),
        ("#pk = :pk AND #sk <= :mark", {"mark": "b"}, ["a", "b"]),
    ],
)
def test_a_query_is_shown_its_range_in_order(condition: str, values: dict[str, str], expected: list[str]) -> None:
    assert shown(asked(condition, pk="one", **values)) == expected
    backwards = asked(condition, NAMES, {"ScanIndexForward": False}, pk="one", **values)
    assert shown(backwards) == expected[::-1]


def test_a_partition_that_isnt_there_is_empty() -> None:
    assert shown(asked("#pk = :pk", pk="three")) == []
    assert shown(asked("#pk = :pk", PLACES, {"IndexName": "queue"}, pk="three")) == []


def test_a_page_is_shown_no_more_than_its_limit_behind_its_start() -> None:
    assert shown(asked("#pk = :pk", NAMES, {"Limit": 2}, pk="one")) == ["a", "b"]
    after = {"Limit": 2, "ExclusiveStartKey": wire(pk="one", sk="b")}
    assert shown(asked("#pk = :pk", NAMES, after, pk="one")) == ["b1", "c"]
    before = {**after, "ScanIndexForward": False}
    assert shown(asked("#pk = :pk", NAMES, before, pk="one")) == ["a"]


def test_an_indexs_equals_come_in_the_order_of_the_tables_keys() -> None:
    index = {"IndexName": "queue"}
    assert shown(asked("#pk = :pk", PLACES, index, pk="q")) == KEYS
    assert shown(asked(BETWEEN, PLACES, index, pk="q", first="b", last="c")) == ["b", "b1", "c"]
    start = {**index, "Limit": 1, "ExclusiveStartKey": wire(pk="one", sk="b", queue_pk="q", queue_sk="b")}
    assert shown(asked("#pk = :pk", PLACES, start, pk="q")) == ["b1"]


@pytest.mark.parametrize(
    "request_",
    [
        {},
        asked("pk = :pk", pk="one"),
        asked("#pk = :pk AND begins_with(#sk, :mark)", pk="one", mark="b"),
        asked("#pk = :pk AND #sk > :mark", pk="one"),  # has no such value
        asked("#pk = :pk", {"#pk": "sk"}, pk="one"),
        asked("#pk = :pk", PLACES, {"IndexName": "unknown"}, pk="q"),
        {**asked("#pk = :pk"), "ExpressionAttributeValues": {":pk": {"N": "1"}}},
    ],
)
def test_any_other_request_reaches_the_engine_as_it_is(request_: Item) -> None:
    assert narrowed(table(), request_, lambda of: of[MEMBERS]) is None


def test_a_condition_is_parsed_once_and_what_fails_is_judged_by_the_engine() -> None:
    parsed: list[str] = []

    class Evaluation:
        def __init__(self, tokens: str, item: Item, _values: Item, _names: Item) -> None:
            self.tokens, self.item = tokens, item

        def evaluate(self) -> bool:
            return bool(self.item["n"] > 1)

    def judged(_condition: str, item: Item, *_: Item, slot: str) -> bool:
        assert slot == "KeyConditionExpression"
        return bool(item.get("n", 9) > 1)

    def parse(condition: str) -> str:
        parsed.append(condition)
        return condition

    judge = ParsedOnce(judged, parse, Evaluation)
    items: list[Item] = [{"n": 1}, {"n": 2}, {"n": 0}, {}]
    assert [judge("n > 1", each, {}, {}, slot="KeyConditionExpression") for each in items] == [False, True, False, True]
    assert parsed == ["n > 1"]
