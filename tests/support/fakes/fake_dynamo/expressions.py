"""DynamoDB's expressions, as many of them as Baton uses: conditions, updates and ranges of keys."""

from __future__ import annotations

import operator
import re
from decimal import Decimal
from functools import cache
from typing import TYPE_CHECKING, Any, cast

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

Item = dict[str, Any]
Wire = dict[str, Any]
Names = dict[str, str]
Condition = "Callable[[Item | None, Names, Item], bool]"

_COMPARISONS: dict[str, Callable[[Any, Any], bool]] = {
    "=": operator.eq,
    "<>": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
_RANGE = re.compile(r"#\w+ = (:\w+)(?: AND #\w+ (?:(=|<|<=|>|>=) (:\w+)|BETWEEN (:\w+) AND (:\w+)))?")
_TOKEN = re.compile(r"[()]|<=|>=|<>|[=<>]|[#:]\w+(?:\.#\w+)*|\w+")
_VERB = re.compile(r"\b(SET|REMOVE|ADD|DELETE)\b")
_DEFAULT = re.compile(r"if_not_exists\(([^,]+), *([^)]+)\)")
_COMMA = re.compile(r",(?![^(]*\))")
_PLUS = re.compile(r"\+(?![^(]*\))")


class Invalid(Exception):
    """An update that can't be applied to the item that it meets."""


def holds(request: Mapping[str, Any], item: Item | None) -> bool:
    """True if the request's condition is true of the item; None stands for no item."""
    text = request.get("ConditionExpression")
    names, values = request.get("ExpressionAttributeNames", {}), request.get("ExpressionAttributeValues", {})
    return text is None or bool(_condition(text)(item, names, values))


def updated(request: Mapping[str, Any], old: Item | None, key: Wire) -> Item:
    """Returns the item after the request's update."""
    update = _Update(
        old, key, request.get("ExpressionAttributeNames", {}), request.get("ExpressionAttributeValues", {})
    )
    for verb, actions in _clauses(request["UpdateExpression"]):
        for action in actions:
            update.apply(verb, action)
    return update.new


def in_range(expression: str, values: dict[str, str]) -> tuple[str, Callable[[str], bool]]:
    """Returns the partition of a key condition, and a function that tells whether a sort key fits."""
    partition, op, one, low, high = _range(expression)
    if low:
        first, last = values[low], values[high]
        return values[partition], lambda sk: first <= sk <= last
    if op:
        compare, bound = _COMPARISONS[op], values[one]
        return values[partition], lambda sk: compare(sk, bound)
    return values[partition], lambda _sk: True


@cache
def _range(expression: str) -> tuple[Any, ...]:
    match = _RANGE.fullmatch(expression)
    assert match, expression
    return match.groups()


def _number(text: str) -> int | Decimal:
    try:
        return int(text)
    except ValueError:
        return Decimal(text)


def _plain(value: Wire) -> tuple[str, Any]:
    """Returns the type of a value, and the value in a form that can be compared."""
    ((kind, inner),) = value.items()
    if kind == "N":
        return kind, _number(inner)
    return kind, frozenset(inner) if kind == "SS" else inner


def _find(path: str, item: Item | None, names: Names) -> Wire | None:
    at: Any = {"M": item or {}}
    for part in path.split("."):
        at = at.get("M", {}).get(names.get(part, part)) if at else None
    found: Wire | None = at
    return found


@cache
def _condition(text: str) -> Any:
    parser = _Parser(_TOKEN.findall(text))
    condition = parser.either()
    assert not parser.tokens, text
    return condition


class _Parser:
    """Parses conditions. Each part becomes a function of (item, names, values)."""

    def __init__(self, tokens: list[str]) -> None:
        self.tokens = tokens

    def either(self) -> Any:
        return self._several("OR", lambda: self._several("AND", self._one, all), any)

    def _several(self, word: str, part: Callable[[], Any], together: Callable[[Iterable[object]], bool]) -> Any:
        parts = [part()]
        while self.tokens and self.tokens[0] == word:
            self.tokens.pop(0)
            parts.append(part())
        if len(parts) == 1:
            return parts[0]
        return lambda item, names, values: together(each(item, names, values) for each in parts)

    def _one(self) -> Any:
        head = self.tokens.pop(0)
        if head == "NOT":
            inner = self._one()
            return lambda item, names, values: not inner(item, names, values)
        if head == "(":
            inner = self.either()
            assert self.tokens.pop(0) == ")"
            return inner
        if head in ("attribute_exists", "attribute_not_exists"):
            _, path, _ = (self.tokens.pop(0) for _ in range(3))
            is_wanted = head == "attribute_exists"
            return lambda item, names, _values: (_find(path, item, names) is not None) == is_wanted
        if head == "begins_with":
            _, path, value, _ = (self.tokens.pop(0) for _ in range(4))
            return lambda item, names, values: _begins(_find(path, item, names), values[value])
        if head == "size":
            _, path, _ = (self.tokens.pop(0) for _ in range(3))
            head = f"size {path}"
        return _comparison(head, self.tokens.pop(0), self.tokens.pop(0))


def _begins(found: Wire | None, prefix: Wire) -> bool:
    return found is not None and "S" in found and bool(found["S"].startswith(prefix["S"]))


def _comparison(left: str, op: str, right: str) -> Any:
    compare = _COMPARISONS[op]

    def compared(item: Item | None, names: Names, values: Item) -> bool:
        a, b = (_value(each, item, names, values) for each in (left, right))
        if a is None or b is None:
            return op == "<>"
        (kind, first), (other, second) = _plain(a), _plain(b)
        return compare(first, second) if kind == other else op == "<>"

    return compared


def _value(operand: str, item: Item | None, names: Names, values: Item) -> Wire | None:
    if operand[0] == ":":
        return cast(Wire, values[operand])
    found = _find(operand.removeprefix("size "), item, names)
    if found is None or not operand.startswith("size "):
        return found
    ((_, inner),) = found.items()
    return {"N": str(len(inner))}


@cache
def _clauses(text: str) -> list[tuple[str, list[str]]]:
    parts = _VERB.split(text)
    bodies = zip(parts[1::2], parts[2::2], strict=True)
    return [(verb, [each.strip() for each in _COMMA.split(body)]) for verb, body in bodies]


class _Update:
    """Applies the actions of an update. All of them read the old item."""

    def __init__(self, old: Item | None, key: Wire, names: Names, values: Item) -> None:
        self.old, self.names, self.values = old, names, values
        self.new: Item = dict(old or key)

    def apply(self, verb: str, action: str) -> None:
        if verb == "SET":
            path, what = (part.strip() for part in action.split("=", 1))
            terms = [self._operand(term.strip()) for term in _PLUS.split(what)]
            total = terms[0] if len(terms) == 1 else {"N": str(sum(_plain(term)[1] for term in terms))}
            self._put(path, total)
        elif verb == "REMOVE":
            self._put(action, None)
        else:
            path, given = action.split()
            self._put(path, self._combined(verb, path, given))

    def _combined(self, verb: str, path: str, given: str) -> Wire | None:
        kind, more = _plain(self.values[given])
        was = _plain(_find(path, self.old, self.names) or {kind: "0" if kind == "N" else ()})[1]
        if kind == "N":
            return {"N": str(was + more)}
        both = was | more if verb == "ADD" else was - more
        return {"SS": sorted(both)} if both else None

    def _operand(self, text: str) -> Wire:
        if match := _DEFAULT.fullmatch(text):
            found = _find(match[1], self.old, self.names)
            return found if found is not None else self._operand(match[2])
        found = self.values[text] if text[0] == ":" else _find(text, self.old, self.names)
        if found is None:
            raise Invalid(f"there is no {text}")
        return found

    def _put(self, path: str, value: Wire | None) -> None:
        *above, last = (self.names.get(part, part) for part in path.split("."))
        at = self.new
        for part in above:
            if "M" not in at.get(part, {}):
                raise Invalid(f"the path {path} leads nowhere")
            at[part] = {"M": dict(at[part]["M"])}
            at = at[part]["M"]
        if value is None:
            at.pop(last, None)
        else:
            at[last] = value
