"""The part of an answer that a script asks for: the ids alone, or what an expression picks."""

from __future__ import annotations

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
    """Returns the expression. Raises ``Misused`` if it isn't JMESPath (jmespath.org)."""
    import jmespath

    try:
        jmespath.compile(expression)
    except jmespath.exceptions.JMESPathError as exc:
        what, why = f"--query {expression} isn't JMESPath", str(exc).split("\n")[0]
        raise Misused(what, why, "it is as items[].id; jmespath.org tells it") from exc
    return expression


def picked(document: Any, expression: str) -> str:
    """Returns what the expression picks: a text as it is, a list of texts as lines, anything else as JSON."""
    import jmespath

    # Its functions know the types of their arguments by their names.
    jmespath.functions.TYPES_MAP["Number"] = "number"
    jmespath.functions.REVERSE_TYPES_MAP["number"] = ("float", "int", "Number")
    found = jmespath.search(expression, document)
    several = found if isinstance(found, list) and all(isinstance(each, str) for each in found) else [found]
    return "\n".join(each if isinstance(each, str) else numbers.dumps(each, ensure_ascii=False) for each in several)
