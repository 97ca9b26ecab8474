"""What a script wants of an answer: the ids alone, or what an expression picks."""

from __future__ import annotations

import json
from typing import Any

from baton_cli.failures import Misused

# What names a thing, the nearest first.
_NAMES = ("id", "checkpoint_id", "conversation_id", "handoff_id", "task_id", "slug", "work_type", "name")


def names(document: Any) -> list[str]:
    """The id of each item, or of the one thing that was answered; empty if it has none."""
    if isinstance(document, dict) and isinstance(document.get("items"), list):
        return [name for each in document["items"] for name in names(each)]
    if not isinstance(document, dict):
        return []
    found = next((document[each] for each in _NAMES if document.get(each)), None)
    if found is not None:
        return [str(found)]
    return next((found for each in ("handoff", "task") if (found := names(document.get(each)))), [])


def checked(expression: str) -> str:
    """The expression, if it is one of JMESPath (jmespath.org). Raises ``Misused``."""
    import jmespath

    try:
        jmespath.compile(expression)
    except jmespath.exceptions.JMESPathError as exc:
        what, why = f"--query {expression} isn't JMESPath", str(exc).splitlines()[0]
        raise Misused(what, why, "it is as items[].id; jmespath.org tells it") from exc
    return expression


def picked(document: Any, expression: str) -> str:
    """What it picks: a text as it is, several a line each, anything else as JSON."""
    import jmespath

    found = jmespath.search(expression, document)
    several = found if isinstance(found, list) and all(isinstance(each, str) for each in found) else [found]
    return "\n".join(each if isinstance(each, str) else json.dumps(each, ensure_ascii=False) for each in several)
