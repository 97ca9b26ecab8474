"""The part of an answer that a script asks for: the ids alone, or what an expression picks."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from baton_client import numbers
from baton_client.errors import Misused

# The fields that name a thing, the most specific first.
_NAMES = ("id", "checkpoint_id", "conversation_id", "handoff_id", "task_id", "slug", "work_type", "name")


def names(document: Any) -> list[str]:
    """Returns the id of each item of a list, or the id of a single thing; an empty list if the answer has none."""
    if isinstance(document, dict) and isinstance(document.get("items"), list):
        return [name for each in document["items"] for name in names(each)]
    if not isinstance(document, dict):
        return []
    found = next((document[each] for each in _NAMES if document.get(each)), None)
    if found is not None:
        return [str(found)]
    return next((found for each in ("handoff", "task") if (found := names(document.get(each)))), [])


def checked(expression: str) -> str:
    """Returns the expression. Raises ``Misused`` if it isn't JMESPath (jmespath.org), or calls a function that doesn't
    exist or takes another number of arguments: it is known before anything is sent."""
    import jmespath

    what, step = f"--query {expression} isn't JMESPath", "it is as items[].id; jmespath.org tells it"
    try:
        parsed = jmespath.compile(expression).parsed
    except jmespath.exceptions.JMESPathError as exc:
        raise Misused(what, str(exc).split("\n")[0], step) from exc
    if wrong := next(filter(None, map(_wrong_call, _calls(parsed))), ""):
        raise Misused(what, wrong, step)
    return expression


def _calls(node: Any) -> Iterator[Any]:
    """Yields the calls of functions of a parsed expression."""
    if isinstance(node, dict):
        if node["type"] == "function_expression":
            yield node
        yield from (found for each in node["children"] for found in _calls(each))


def _wrong_call(call: Any) -> str:
    import jmespath

    known, given = jmespath.functions.Functions.FUNCTION_TABLE.get(call["value"]), len(call["children"])
    if known is None:
        return f"there is no function {call['value']}()"
    taken = known["signature"]
    if given == len(taken) or (given > len(taken) > 0 and taken[-1].get("variadic")):
        return ""
    return f"{call['value']}() takes {len(taken)} arguments, and has {given}"


def picked(document: Any, expression: str, *, ensure_ascii: bool = False) -> str:
    """Returns the text that the expression picks: a text unchanged, a list of texts as lines, anything else as JSON.
    Raises ``Misused`` for an expression that doesn't fit the document, such as a sum of texts."""
    import jmespath

    # Its functions know the types of their arguments by their names.
    jmespath.functions.TYPES_MAP["Number"] = "number"
    jmespath.functions.REVERSE_TYPES_MAP["number"] = ("float", "int", "Number")
    try:
        found = jmespath.search(expression, document)
        several = found if isinstance(found, list) and all(isinstance(each, str) for each in found) else [found]
        texts = [each if isinstance(each, str) else numbers.dumps(each, ensure_ascii=ensure_ascii) for each in several]
    except (jmespath.exceptions.JMESPathError, TypeError, ValueError) as exc:  # some functions check nothing
        raise Misused(f"--query {expression} doesn't fit the answer", str(exc).split("\n")[0]) from exc
    return "\n".join(texts)
