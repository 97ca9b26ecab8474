"""What a bug does to the product's syntax tree.

Each operator works in a place (``places.py``), on the only part of its kind there that mentions all ``words``; where
they don't tell, the last says which: ``1 of 2``. What is ``new`` is written in Python, and ``it`` is what was there.
The best words are what other modules rely on: attributes, functions, keywords and texts, not a function's own names."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from copy import deepcopy
from dataclasses import dataclass
from typing import Any

from simulation.planted.places import Misplaced, Spot, spot_of

_SIGNS: dict[str, ast.cmpop] = {"<": ast.Lt(), "<=": ast.LtE(), ">": ast.Gt(), ">=": ast.GtE(), "!=": ast.NotEq()}
_OPERANDS = {ast.BoolOp: ("values",), ast.BinOp: ("left", "right"), ast.IfExp: ("body", "orelse")}


@dataclass(frozen=True, slots=True)
class Operator:
    """``apply`` changes the place. It raises ``Misplaced`` if what it is about isn't there exactly once."""

    place: str
    apply: Callable[[Spot], None]


def condition(place: str, new: str, *words: str) -> Operator:
    """What an ``if`` or a comprehension asks is ``new``."""
    return _on(place, _is_condition, words, _by(new))


def never(place: str, *words: str) -> Operator:
    return condition(place, "False", *words)


def always(place: str, *words: str) -> Operator:
    return condition(place, "True", *words)


def compare(place: str, sign: str, *words: str) -> Operator:
    """A comparison has another sign."""
    return _on(place, _is_a(ast.Compare), words, lambda spot: setattr(spot.node, "ops", [_SIGNS[sign]]))


def operand(place: str, new: str, *words: str) -> Operator:
    """A part of ``and``, of ``or``, of a sum or of ``x if … else y`` is ``new``."""
    return _on(place, _is_operand, words, _by(new))


def drop_operand(place: str, *words: str) -> Operator:
    """What is left of ``x and y``, of ``x + y`` or of ``x if … else y`` is the other part."""

    def change(spot: Spot) -> None:
        beside = [each.node for each in spot.above.below() if each.parent is spot.parent and _is_operand(each)]
        left = [each for each in beside if each is not spot.node]
        spot.above.put(ast.BoolOp(spot.parent.op, left) if len(left) > 1 else left[0])

    return _on(place, _is_operand, words, change)


def call(place: str, function: str, new: str, *words: str) -> Operator:
    """The call of the function is ``new``."""
    return _on(place, _is_call(function), words, _by(new))


def keep_argument(place: str, function: str, which: int, *words: str) -> Operator:
    """Its argument stands in place of the call: ``x`` for ``min(x, y)``."""
    return _on(place, _is_call(function), words, lambda spot: spot.put(spot.node.args[which]))


def argument(place: str, function: str, which: int | str, new: str, *words: str) -> Operator:
    """The function gets ``new`` as its argument of that place or keyword. Only calls that give it one are meant."""
    return _on(place, _gets(function, which), words, lambda spot: _by(new)(next(_given(spot, which))))


def drop_argument(place: str, function: str, which: int | str, *words: str) -> Operator:
    """The function doesn't get its argument of that place or keyword."""

    def change(spot: Spot) -> None:
        given = next(_given(spot, which))
        (given.above if isinstance(which, str) else given).put()

    return _on(place, _gets(function, which), words, change)


def item(place: str, new: str, *words: str) -> Operator:
    """An item of a list or a tuple, or an entry's value, is ``new``."""
    return _on(place, _is_item, words, _by(new))


def drop_item(place: str, *words: str) -> Operator:
    """The list, the tuple or the dict doesn't have it."""

    def change(spot: Spot) -> None:
        if isinstance(spot.parent, ast.Dict) and spot.index is not None:
            del spot.parent.keys[spot.index]
        spot.put()

    return _on(place, _is_item, words, change)


def value(place: str, new: str, *words: str) -> Operator:
    """What is returned or assigned is ``new``."""
    kinds = (ast.Return, ast.Assign, ast.AnnAssign)
    return _on(place, _is_a(*kinds), words, lambda spot: _by(new)(Spot(spot.node.value, spot, "value")))


def text(place: str, old: str, new: str) -> Operator:
    """``new`` stands in a text, which has ``old`` once. It is a condition or an update for the table."""

    def change(spot: Spot) -> None:
        if spot.node.value.count(old) > 1:
            raise Misplaced(f"more than once there: {old}")
        spot.node.value = spot.node.value.replace(old, new)

    return _on(place, _is_text(old), (), change)


def drop_clause(place: str, word: str) -> Operator:
    """A condition for the table lacks the only one of its clauses that mentions the word."""

    def change(spot: Spot) -> None:
        clauses = spot.node.value.split(" AND ")
        left = [each for each in clauses if word not in each]
        if not left or len(left) < len(clauses) - 1:
            raise Misplaced(f"not in one clause of several: {word}")
        spot.node.value = " AND ".join(left)

    return _on(place, _is_text(word), (), change)


def statement(place: str, new: str, *words: str) -> Operator:
    """Instead of a statement stand others, of which ``it`` alone is the one that was there."""

    def change(spot: Spot) -> None:
        spot.put(*(_With(spot.node).visit(each) for each in ast.parse(new).body))

    return _on(place, _is_statement, words, change)


def drop_statement(place: str, *words: str) -> Operator:
    return statement(place, "pass", *words)


def later(place: str, *words: str) -> Operator:
    """A statement comes after the one that follows it."""

    def change(spot: Spot) -> None:
        body = getattr(spot.parent, spot.field)
        body.insert(body.index(spot.node) + 1, body.pop(spot.index))

    return _on(place, _is_statement, words, change)


def _on(
    place: str, is_meant: Callable[[Spot], bool], words: tuple[str, ...], change: Callable[[Spot], None]
) -> Operator:
    return Operator(place, lambda scope: change(spot_of(scope, is_meant, words)))


def _by(new: str) -> Callable[[Spot], None]:
    return lambda spot: spot.put(_With(spot.node).visit(ast.parse(new, mode="eval").body))


class _With(ast.NodeTransformer):
    """Puts what was there for ``it``."""

    def __init__(self, old: ast.AST) -> None:
        self._old = old

    def visit_Expr(self, node: ast.Expr) -> ast.AST:
        changed: Any = self.generic_visit(node)
        return changed.value if isinstance(changed.value, ast.stmt) else changed

    def visit_Name(self, node: ast.Name) -> ast.AST:
        return deepcopy(self._old) if node.id == "it" else node


def _gets(function: str, which: int | str) -> Callable[[Spot], bool]:
    is_call = _is_call(function)
    return lambda spot: is_call(spot) and any(_given(spot, which))


def _given(called: Spot, which: int | str) -> Iterator[Spot]:
    for spot in called.below():
        is_keyword = spot.field == "value" and spot.parent in called.node.keywords and spot.parent.arg == which
        if is_keyword or (spot.parent is called.node and spot.field == "args" and spot.index == which):
            yield spot


def _is_a(*kinds: type[ast.AST]) -> Callable[[Spot], bool]:
    return lambda spot: isinstance(spot.node, kinds)


def _is_condition(spot: Spot) -> bool:
    return (type(spot.parent), spot.field) in {(ast.If, "test"), (ast.IfExp, "test"), (ast.comprehension, "ifs")}


def _is_operand(spot: Spot) -> bool:
    return spot.field in _OPERANDS.get(type(spot.parent), ())


def _is_item(spot: Spot) -> bool:
    return (type(spot.parent), spot.field) in {(ast.List, "elts"), (ast.Tuple, "elts"), (ast.Dict, "values")}


def _is_statement(spot: Spot) -> bool:
    """True for one that has no others in it."""
    return isinstance(spot.node, ast.stmt) and not hasattr(spot.node, "body") and not isinstance(spot.node, ast.Match)


def _is_call(function: str) -> Callable[[Spot], bool]:
    def is_meant(spot: Spot) -> bool:
        called = getattr(spot.node, "func", None)
        return function in (getattr(called, "id", None), getattr(called, "attr", None))

    return is_meant


def _is_text(part: str) -> Callable[[Spot], bool]:
    """True for one that has the part; not for a docstring."""

    def is_meant(spot: Spot) -> bool:
        text = getattr(spot.node, "value", None)
        return isinstance(text, str) and part in text and not isinstance(spot.parent, ast.Expr)

    return is_meant
