"""Whether an answer is Baton's, or comes from the network between: a proxy, a portal, a firewall, AWS itself.

The rule: an answer is Baton's if it is a problem document with a ``code``, or has the status, the content type and the
shape that ``docs/openapi.json`` declares for the operation. Any other answer is none: nobody knows whether the request
took effect."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any, cast

Answers = Mapping[int, str | None]


def why_foreign(method: str, path: str, status: int, headers: Mapping[str, str], found: Any) -> str:
    """Returns why an answer isn't Baton's, in a few words; nothing if it is. ``found``: its decoded content."""
    kind = headers.get("content-type", "").partition(";")[0].strip().lower()
    if status >= 400:
        return "" if _is_problem(status, found) else f"{status} without a code of Baton's ({_told(kind, found)})"
    if not 200 <= status < 400:
        return f"status {status}"
    declared = answers_of(method, path.partition("?")[0])
    if declared is not None and status not in declared:
        return f"status {status}, which Baton doesn't send here"
    shape = None if declared is None else declared[status]
    if declared is None or shape == "":
        is_fit = found is None or (_is_json(kind) and not isinstance(found, str))
    elif shape is None:
        is_fit = found is None or status == 303
    elif kind == "text/plain":
        is_fit = "text" in shape.split()
    else:
        is_fit = _is_json(kind) and shape != "text" and _has_shape(shape.partition(" ")[0], found)
    return "" if is_fit else f"{status} in another shape ({_told(kind, found)})"


def _is_problem(status: int, found: Any) -> bool:
    if not isinstance(found, dict):
        return False
    problem = cast("dict[str, Any]", found)
    if problem.get("jsonrpc") == "2.0":  # the door of the Model Context Protocol
        return isinstance(problem.get("error"), dict)
    return isinstance(problem.get("code"), str) and problem.get("status") == status


def _is_json(kind: str) -> bool:
    return kind == "application/json" or kind.endswith("+json")


def _has_shape(shape: str, found: Any) -> bool:
    """True if at least half of the names are there: a Baton of another release has some more or fewer. Every Baton's
    list has its items."""
    from baton_client.answer_shapes import NAMES

    names = NAMES[shape].split()
    if not isinstance(found, dict) or ("items" in names and not isinstance(found.get("items"), list)):
        return False
    return 2 * sum(name in found for name in names) >= len(names)


def _told(kind: str, found: Any) -> str:
    if found is None:
        return "without a body"
    return f"type {kind}" if kind else "without a content type"


def answers_of(method: str, path: str) -> Answers | None:
    """Returns the declared answers of an operation by their status; None for one that this release doesn't know."""
    parts = path.strip("/").split("/")
    fits = [each for each in _operations().get((method, len(parts)), ()) if _fits(each[0], parts)]
    return min(fits, key=lambda each: sum(map(_is_variable, each[0])))[1] if fits else None


@cache
def _operations() -> dict[tuple[str, int], list[tuple[list[str], Answers]]]:
    from baton_client.answer_shapes import OPERATIONS  # takes a moment to load

    found: dict[tuple[str, int], list[tuple[list[str], Answers]]] = {}
    for operation, answers in OPERATIONS.items():
        method, _, path = operation.partition(" ")
        parts = path.strip("/").split("/")
        found.setdefault((method, len(parts)), []).append((parts, answers))
    return found


def _fits(pattern: list[str], parts: list[str]) -> bool:
    return all(_is_variable(one) or one == other for one, other in zip(pattern, parts, strict=True))


def _is_variable(part: str) -> bool:
    return part.startswith("{")
