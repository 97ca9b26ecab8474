"""What DynamoDB refuses and moto lets through: a client that holds every request to the rules."""

from __future__ import annotations

import re
from collections import Counter
from itertools import combinations
from typing import Any

CALLS = {"get_item", "batch_get_item", "query", "update_item", "transact_write_items"}
KEYS = {None: ("pk", "sk"), "queue": ("queue_pk", "queue_sk"), "wake": ("wake_pk", "wake_sk")}
MAX_EXPRESSION_BYTES = 4_096
MAX_OPERATORS = 300
MAX_ITEM_BYTES = 400 * 1_024
MAX_TRANSACTION_BYTES = 4 * 1_024 * 1_024
MAX_NESTING = 32
MAX_DIGITS = 38
EXPRESSIONS = ("KeyConditionExpression", "ConditionExpression", "UpdateExpression", "FilterExpression")
_WORDS = {"SET", "REMOVE", "ADD", "DELETE", "AND", "OR", "NOT", "BETWEEN", "IN"}
_FUNCTIONS = {"attribute_exists", "attribute_not_exists", "begins_with", "contains", "size", "if_not_exists"}
_PLACEHOLDER = re.compile(r"[#:][A-Za-z0-9_]+")
_OPERATOR = re.compile(r"<=|>=|<>|[=<>+\-]|\b(?:AND|OR|NOT|BETWEEN|IN|[a-z_]+(?=\())")
_PATH = r"#\w+(?:\.#\w+)*"
_KEY_CONDITION = re.compile(r"(#\w+) = (:\w+)(?: AND (#\w+) (?:(=|<|<=|>|>=) (:\w+)|BETWEEN (:\w+) AND (:\w+)))?")


class Unlawful(AssertionError):
    """DynamoDB would answer with a ValidationException."""


class LawfulClient:
    """Wraps a client. ``broken``: what was refused, for the end of a test, should anybody have caught the error."""

    def __init__(self, client: Any) -> None:
        self.client = client
        self.broken: list[str] = []
        self.largest_transaction = 0

    def __getattr__(self, operation: str) -> Any:
        call = getattr(self.client, operation)

        def lawful(**request: Any) -> Any:
            try:
                check(operation, request)
            except Unlawful as exc:
                self.broken.append(f"{operation}: {exc}")
                raise
            self.largest_transaction = max(self.largest_transaction, len(request.get("TransactItems", ())))
            return call(**request)

        return lawful


def check(operation: str, request: dict[str, Any]) -> None:
    """Raises ``Unlawful``."""
    _must(operation in CALLS, f"{operation} isn't one of Baton's calls")
    if operation == "batch_get_item":
        for asked in request["RequestItems"].values():
            names = [(key["pk"]["S"], key["sk"]["S"]) for key in asked["Keys"]]
            _must(0 < len(names) <= 100, f"{len(names)} keys at once")
            _must(len(set(names)) == len(names), "a key twice in one batch")
            _must(asked.get("ConsistentRead") is True, "a reading that may be old")
    elif operation == "transact_write_items":
        _check_transaction(request)
    else:
        _check_one(request)


def _check_transaction(request: dict[str, Any]) -> None:
    writes = [(kind, inner) for each in request["TransactItems"] for kind, inner in each.items()]
    _must(0 < len(writes) <= 100, f"{len(writes)} items in one transaction")
    _must(1 <= len(request["ClientRequestToken"]) <= 36, "a token of a wrong length")
    keys = Counter((key["pk"]["S"], key["sk"]["S"]) for _, w in writes for key in [w.get("Key") or w["Item"]])
    _must(max(keys.values()) == 1, f"two operations on one item: {keys.most_common(1)}")
    _must(sum(size(w.get("Item", {})) for _, w in writes) <= MAX_TRANSACTION_BYTES, "more than 4 MB")
    for kind, write in writes:
        _must(kind in {"Put", "Update", "Delete", "ConditionCheck"}, f"{kind} in a transaction")
        _must(kind != "ConditionCheck" or "ConditionExpression" in write, "a check without a condition")
        _check_one(write)


def _check_one(request: dict[str, Any]) -> None:
    _check_placeholders(request)
    for name in EXPRESSIONS:
        if name in request:
            _check_expression(name, request[name])
    if "KeyConditionExpression" in request:
        _check_query(request)
    if "UpdateExpression" in request:
        _check_update(request)
    if "Item" in request:
        _check_item(request["Item"])
    if "Key" in request:
        _must(set(request["Key"]) == {"pk", "sk"}, f"the key {request['Key']}")
        _check_keys(request["Key"])
    for value in request.get("ExpressionAttributeValues", {}).values():
        _check_value(value)


def _check_placeholders(request: dict[str, Any]) -> None:
    used = set(_PLACEHOLDER.findall(" ".join(request.get(name, "") for name in EXPRESSIONS)))
    for field, mark in (("ExpressionAttributeNames", "#"), ("ExpressionAttributeValues", ":")):
        given, wanted = set(request.get(field, ())), {each for each in used if each.startswith(mark)}
        _must(field not in request or given != set(), f"{field} is empty")
        _must(given == wanted, f"{field}: not used {sorted(given - wanted)}, not given {sorted(wanted - given)}")


def _check_expression(kind: str, text: str) -> None:
    _must(0 < len(text.encode()) <= MAX_EXPRESSION_BYTES, f"{kind} of {len(text)} bytes")
    _must(len(_OPERATOR.findall(text)) <= MAX_OPERATORS, f"{kind} with more than {MAX_OPERATORS} operators")
    bare = set(re.findall(r"(?<![#:\w])[A-Za-z_]\w*", text)) - _WORDS - _FUNCTIONS
    _must(not bare, f"{kind}: {sorted(bare)} without a placeholder")


def _check_query(request: dict[str, Any]) -> None:
    index, names, values = (
        request.get("IndexName"),
        request["ExpressionAttributeNames"],
        request["ExpressionAttributeValues"],
    )
    match = _KEY_CONDITION.fullmatch(request["KeyConditionExpression"])
    _must(match is not None, f"{request['KeyConditionExpression']} isn't a key condition")
    assert match is not None
    partition, equals, sort, _, _, low, high = match.groups()
    pk, sk = KEYS[index]
    _must(names[partition] == pk and (sort is None or names[sort] == sk), f"{names} aren't the keys of {index}")
    _must(bool(values[equals].get("S")), "an empty partition key")
    _must(low is None or values[low]["S"] <= values[high]["S"], f"nothing is between {values}")
    _must(index is None or not request.get("ConsistentRead"), "a consistent reading of an index")
    _must(index is not None or request.get("ConsistentRead") is True, "a reading that may be old")
    _must(request.get("Limit", 1) >= 1, "a limit below 1")


def _check_update(request: dict[str, Any]) -> None:
    names, values = request["ExpressionAttributeNames"], request.get("ExpressionAttributeValues", {})
    clauses = re.split(r"\b(SET|REMOVE|ADD|DELETE)\b", request["UpdateExpression"])
    _must(clauses[0].strip() == "", "something before the first clause")
    verbs = clauses[1::2]
    _must(len(set(verbs)) == len(verbs), f"a clause twice: {verbs}")
    paths: list[list[str]] = []
    for verb, clause in zip(verbs, clauses[2::2], strict=True):
        for action in re.split(r",(?![^(]*\))", clause):
            match = re.match(rf"\s*({_PATH})", action)
            _must(match is not None, f"{verb} {action.strip()!r} writes nothing")
            assert match is not None
            paths.append([names[name] for name in match[1].split(".")])
            kinds = {kind for name in re.findall(r":\w+", action) for kind in values[name]}
            _must(verb != "ADD" or kinds <= {"N", "NS", "SS"}, f"ADD of {kinds}")
            _must(verb != "DELETE" or kinds <= {"NS", "SS"}, f"DELETE of {kinds}")
    _must(not {path[0] for path in paths} & {"pk", "sk"}, "a key is rewritten")
    for one, other in combinations(paths, 2):
        shorter = min(len(one), len(other))
        _must(one[:shorter] != other[:shorter], f"paths overlap: {one} and {other}")


def _check_item(item: dict[str, Any]) -> None:
    _check_keys(item)
    _must(size(item) <= MAX_ITEM_BYTES, f"an item of {size(item)} bytes")
    for value in item.values():
        _check_value(value)


def _check_keys(item: dict[str, Any]) -> None:
    for pk, sk in KEYS.values():
        for name, most in ((pk, 2_048), (sk, 1_024)):
            if name in item:
                text = item[name].get("S", "")
                _must(0 < len(text.encode()) <= most, f"{name} is {item[name]}")
        _must((pk in item) == (sk in item), f"{pk} without {sk}, or the other way round")


def _check_value(value: dict[str, Any], depth: int = 1) -> None:
    _must(depth <= MAX_NESTING, "nested too deeply")
    ((kind, inner),) = value.items()
    if kind in {"SS", "NS", "BS"}:
        _must(len(inner) > 0, "an empty set")
        _must(len(set(inner)) == len(inner), "a set with an element twice")
    elif kind == "N":
        digits = inner.lstrip("-").replace(".", "").strip("0")
        _must(len(digits) <= MAX_DIGITS, f"{inner} has too many digits")
    elif kind == "M":
        for each in inner.values():
            _check_value(each, depth + 1)
    elif kind == "L":
        for each in inner:
            _check_value(each, depth + 1)


def size(value: Any) -> int:
    """Bytes that an item in wire form takes, as DynamoDB counts them, roughly."""
    if isinstance(value, dict):
        return sum(len(name.encode()) + size(inner) for name, inner in value.items())
    if isinstance(value, list | set | frozenset):
        return sum(map(size, value))
    return len(value.encode()) if isinstance(value, str) else 1


def _must(holds: bool, otherwise: str) -> None:
    if not holds:
        raise Unlawful(otherwise)
