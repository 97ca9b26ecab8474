"""What DynamoDB refuses with a ValidationException before it looks at any item."""

from __future__ import annotations

import re
from collections import Counter
from functools import cache
from itertools import combinations
from typing import TYPE_CHECKING, Any

from support.fakes.fake_dynamo.sizes import (
    MAX_BATCH_BYTES,
    MAX_ITEM_BYTES,
    MAX_TRANSACTION_BYTES,
    item_bytes,
    text_bytes,
)

if TYPE_CHECKING:
    from collections.abc import Collection

Item = dict[str, Any]

_CONDITION = {
    "TableName",
    "ConditionExpression",
    "ExpressionAttributeNames",
    "ExpressionAttributeValues",
    "ReturnValuesOnConditionCheckFailure",
}
# Each of Baton's calls, with the parameters that it may have.
CALLS = {
    "get_item": {"TableName", "Key", "ConsistentRead"},
    "batch_get_item": {"RequestItems"},
    "query": {
        "TableName",
        "IndexName",
        "KeyConditionExpression",
        "ExpressionAttributeNames",
        "ExpressionAttributeValues",
        "ConsistentRead",
        "ScanIndexForward",
        "Limit",
        "ExclusiveStartKey",
    },
    "put_item": {"Item", "ReturnValues", "ReturnConsumedCapacity", *_CONDITION},
    "update_item": {"Key", "UpdateExpression", "ReturnValues", "ReturnConsumedCapacity", *_CONDITION},
    "batch_write_item": {"RequestItems", "ReturnConsumedCapacity"},
    "transact_write_items": {"TransactItems", "ClientRequestToken", "ReturnConsumedCapacity"},
}
_MEMBERS = {
    "Put": {"Item", *_CONDITION},
    "Update": {"Key", "UpdateExpression", *_CONDITION},
    "Delete": {"Key", *_CONDITION},
    "ConditionCheck": {"Key", *_CONDITION},
}
_BATCH_MEMBERS = {"PutRequest": "Item", "DeleteRequest": "Key"}
KEYS = {None: ("pk", "sk"), "queue": ("queue_pk", "queue_sk"), "wake": ("wake_pk", "wake_sk")}
MAX_ITEMS = 100
MAX_BATCH_WRITES = 25
MAX_EXPRESSION_BYTES = 4_096
MAX_OPERATORS = 300
MAX_NESTING = 32
MAX_DIGITS = 38
EXPRESSIONS = ("KeyConditionExpression", "ConditionExpression", "UpdateExpression", "FilterExpression")
_WORDS = {"SET", "REMOVE", "ADD", "DELETE", "AND", "OR", "NOT", "BETWEEN", "IN"}
_FUNCTIONS = {"attribute_exists", "attribute_not_exists", "begins_with", "contains", "size", "if_not_exists"}
_PLACEHOLDER = re.compile(r"[#:][A-Za-z0-9_]+")
_OPERATOR = re.compile(r"<=|>=|<>|[=<>+\-]|\b(?:AND|OR|NOT|BETWEEN|IN|[a-z_]+(?=\())")
_BARE_WORD = re.compile(r"(?<![#:\w])[A-Za-z_]\w*")
_PATH = r"#\w+(?:\.#\w+)*"
_KEY_CONDITION = re.compile(r"(#\w+) = (:\w+)(?: AND (#\w+) (?:(=|<|<=|>|>=) (:\w+)|BETWEEN (:\w+) AND (:\w+)))?")


class Unlawful(AssertionError):
    """DynamoDB would answer with a ValidationException."""


def check(operation: str, request: Item) -> None:
    """Raises ``Unlawful``."""
    _must(operation in CALLS, "{} isn't one of Baton's calls", operation)
    if operation == "query":
        _check_query(request)
        return
    _check_parameters(operation, request, CALLS[operation])
    if operation == "batch_get_item":
        for asked in request["RequestItems"].values():
            names = [(key["pk"]["S"], key["sk"]["S"]) for key in asked["Keys"]]
            _must(0 < len(names) <= MAX_ITEMS, "{} keys at once", len(names))
            _must(len(set(names)) == len(names), "a key twice in one batch")
            _must(asked.get("ConsistentRead") is True, "a reading that may be old")
            for key in asked["Keys"]:
                _check_key(key)
    elif operation == "transact_write_items":
        _check_transaction(request)
    elif operation == "batch_write_item":
        _check_batch_write(request)
    else:
        _check_one(request)
        if operation == "put_item":
            check_item(request["Item"])
            _must(request.get("ReturnValues", "NONE") in ("NONE", "ALL_OLD"), "a put that shows what it made")


def check_item(item: Item) -> int:
    """Checks an item as it is put, or as an update makes it. Returns its size in bytes. Raises ``Unlawful``."""
    _check_keys(item)
    _check_values(item.values())
    size = item_bytes(item)
    _must(size <= MAX_ITEM_BYTES, "an item of {} bytes", size)
    return size


def _check_parameters(what: str, request: Item, known: set[str]) -> None:
    if not request.keys() <= known:
        raise Unlawful(f"{what} with {sorted(request.keys() - known)}")


def _check_transaction(request: Item) -> None:
    writes = [(kind, inner) for each in request["TransactItems"] for kind, inner in each.items()]
    _must(0 < len(writes) <= MAX_ITEMS, "{} items in one transaction", len(writes))
    _must(1 <= len(request["ClientRequestToken"]) <= 36, "a token of a wrong length")
    keys = Counter((key["pk"]["S"], key["sk"]["S"]) for _, w in writes for key in [w.get("Key") or w["Item"]])
    _must(max(keys.values()) == 1, "two operations on one item: {}", keys)
    put_bytes = 0
    for kind, write in writes:
        _must(kind in _MEMBERS, "{} in a transaction", kind)
        _check_parameters(kind, write, _MEMBERS[kind])
        _must(kind != "ConditionCheck" or "ConditionExpression" in write, "a check without a condition")
        _check_one(write)
        put_bytes += check_item(write["Item"]) if kind == "Put" else 0
    _must(put_bytes <= MAX_TRANSACTION_BYTES, "more than 4 MB")


def _check_batch_write(request: Item) -> None:
    """Of one table, as Baton has no other."""
    ((_, members),) = request["RequestItems"].items()
    _must(0 < len(members) <= MAX_BATCH_WRITES, "{} items in one batch", len(members))
    keys, put_bytes = [], 0
    for member in members:
        ((kind, inner),) = member.items()
        _must(kind in _BATCH_MEMBERS, "{} in a batch", kind)
        _must(set(inner) == {_BATCH_MEMBERS[kind]}, "a condition in a batch: {}", inner)
        written = inner[_BATCH_MEMBERS[kind]]
        if kind == "PutRequest":
            put_bytes += check_item(written)
        else:
            _check_key(written)
        keys.append((written["pk"]["S"], written["sk"]["S"]))
    _must(len(set(keys)) == len(keys), "two operations on one item: {}", keys)
    _must(put_bytes <= MAX_BATCH_BYTES, "more than 16 MB")


def _check_one(request: Item) -> None:
    names, values = request.get("ExpressionAttributeNames"), request.get("ExpressionAttributeValues")
    texts = tuple((name, request[name]) for name in EXPRESSIONS if name in request)
    _check_expressions(texts, *(None if given is None else tuple(given) for given in (names, values)))
    if "UpdateExpression" in request:
        _check_update(request)
    if "Key" in request:
        _check_key(request["Key"])
    _check_values((values or {}).values())


@cache
def _check_expressions(
    texts: tuple[tuple[str, str], ...], names: Collection[str] | None, values: Collection[str] | None
) -> None:
    """``names``, ``values``: the placeholders that the request explains, None if it has no such field. The same few
    requests come again and again: each is looked at once."""
    used = frozenset[str]().union(*(_placeholders(name, text) for name, text in texts))
    for field, mark, given in (("ExpressionAttributeNames", "#", names), ("ExpressionAttributeValues", ":", values)):
        _must(given is None or len(given) > 0, "{} is empty", field)
        if (there := set(given or ())) != (wanted := {each for each in used if each[0] == mark}):
            raise Unlawful(f"{field}: not used {sorted(there - wanted)}, not given {sorted(wanted - there)}")


@cache
def _placeholders(kind: str, text: str) -> frozenset[str]:
    """Returns the placeholders of an expression that keeps to the rules."""
    _must(0 < len(text.encode()) <= MAX_EXPRESSION_BYTES, "{} of {} bytes", kind, len(text))
    _must(len(_OPERATOR.findall(text)) <= MAX_OPERATORS, "{} with more than {} operators", kind, MAX_OPERATORS)
    bare = set(_BARE_WORD.findall(text)) - _WORDS - _FUNCTIONS
    _must(not bare, "{}: {} without a placeholder", kind, sorted(bare))
    return frozenset(_PLACEHOLDER.findall(text))


def _check_query(request: Item) -> None:
    index, names, values = (
        request.get("IndexName"),
        request.get("ExpressionAttributeNames", {}),
        request.get("ExpressionAttributeValues", {}),
    )
    text, is_consistent = request["KeyConditionExpression"], request.get("ConsistentRead")
    equals, low, high = _form_of_query(
        text, index, tuple(names.items()), tuple(values), tuple(request), is_consistent=is_consistent
    )
    if not values[equals].get("S"):
        raise Unlawful("an empty partition key")
    if low is not None and values[low]["S"] > values[high]["S"]:
        raise Unlawful(f"nothing is between {values}")
    if request.get("Limit", 1) < 1:
        raise Unlawful("a limit below 1")
    start = request.get("ExclusiveStartKey")
    if start is not None and set(start) != {"pk", "sk", *KEYS[index]}:
        raise Unlawful(f"{start} is no place of {index}")
    _check_values(values.values())


@cache
def _form_of_query(
    text: str,
    index: str | None,
    names: tuple[tuple[str, str], ...],
    values: tuple[str, ...],
    parameters: tuple[str, ...],
    *,
    is_consistent: bool | None,
) -> tuple[Any, ...]:
    """All that is the same for other values: it is looked at once. Returns the names of the values of the partition's
    key and, if it is a range, of its limits."""
    _check_parameters("query", dict.fromkeys(parameters), CALLS["query"])
    placeholders = tuple(name for name, _ in names)
    _check_expressions((("KeyConditionExpression", text),), placeholders, values)
    match = _KEY_CONDITION.fullmatch(text)
    _must(match is not None, "{} isn't a key condition", text)
    assert match is not None
    partition, equals, sort, _, _, low, high = match.groups()
    pk, sk = KEYS[index]
    meant = dict(names)
    _must(meant[partition] == pk and (sort is None or meant[sort] == sk), "{} aren't the keys of {}", meant, index)
    _must(index is None or not is_consistent, "a consistent reading of an index")
    _must(index is not None or is_consistent is True, "a reading that may be old")
    return equals, low, high


def _check_update(request: Item) -> None:
    names, values = request["ExpressionAttributeNames"], request.get("ExpressionAttributeValues", {})
    actions = _actions(request["UpdateExpression"])
    for verb, _, given in actions:
        kinds = {kind for name in given for kind in values[name]}
        _must(verb != "ADD" or kinds <= {"N", "NS", "SS"}, "ADD of {}", kinds)
        _must(verb != "DELETE" or kinds <= {"NS", "SS"}, "DELETE of {}", kinds)
    _check_paths(tuple(tuple(names[name] for name in path) for _, path, _ in actions))


@cache
def _actions(expression: str) -> list[tuple[str, list[str], list[str]]]:
    """Each action of an update: its verb, the names on its path, and its values."""
    clauses = re.split(r"\b(SET|REMOVE|ADD|DELETE)\b", expression)
    _must(clauses[0].strip() == "", "something before the first clause")
    verbs = clauses[1::2]
    _must(len(set(verbs)) == len(verbs), "a clause twice: {}", verbs)
    found = []
    for verb, clause in zip(verbs, clauses[2::2], strict=True):
        for action in re.split(r",(?![^(]*\))", clause):
            match = re.match(rf"\s*({_PATH})", action)
            _must(match is not None, "{} {!r} writes nothing", verb, action.strip())
            assert match is not None
            found.append((verb, match[1].split("."), re.findall(r":\w+", action)))
    return found


@cache
def _check_paths(paths: tuple[tuple[str, ...], ...]) -> None:
    _must(not {path[0] for path in paths} & {"pk", "sk"}, "a key is rewritten")
    for one, other in combinations(paths, 2):
        shorter = min(len(one), len(other))
        _must(one[:shorter] != other[:shorter], "paths overlap: {} and {}", one, other)


def _check_key(key: Item) -> None:
    _must(key.keys() == {"pk", "sk"}, "the key {}", key)
    _check_keys(key)


def _check_keys(item: Item) -> None:
    for pk, sk in KEYS.values():
        if pk in item or sk in item:
            _check_key_value(item, pk, 2_048)
            _check_key_value(item, sk, 1_024)


def _check_key_value(item: Item, name: str, most_bytes: int) -> None:
    text = item[name].get("S", "") if name in item else ""
    if not text or (len(text) > most_bytes // 4 and text_bytes(text) > most_bytes):
        raise Unlawful(f"{name} is {item.get(name)}")


def _check_values(values: Collection[Item], depth: int = 1) -> None:
    _must(depth <= MAX_NESTING or not values, "nested too deeply")
    for value in values:
        if "S" not in value:
            ((kind, inner),) = value.items()
            _check_value(kind, inner, depth)


def _check_value(kind: str, inner: Any, depth: int) -> None:
    if kind in {"SS", "NS", "BS"}:
        _must(len(inner) > 0, "an empty set")
        _must(len(set(inner)) == len(inner), "a set with an element twice")
    elif kind == "N":
        digits = inner.lstrip("-").replace(".", "").strip("0")
        _must(len(digits) <= MAX_DIGITS, "{} has too many digits", inner)
    elif kind == "M":
        _check_values(inner.values(), depth + 1)
    elif kind == "L":
        _check_values(inner, depth + 1)


def _must(holds: bool, otherwise: str, *what: object) -> None:
    """Raises ``Unlawful`` unless ``holds``. ``otherwise``: the message, with a place for each ``what``, as formatting
    it for each check would take most of the time."""
    if not holds:
        raise Unlawful(otherwise.format(*what))
