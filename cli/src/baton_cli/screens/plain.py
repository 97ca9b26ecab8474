"""The screen of any answer: a table of its items, its fields, or a sentence."""

from __future__ import annotations

import string
from collections.abc import Iterator
from typing import Any

from baton_cli import times
from baton_cli.screen import Screen
from baton_cli.state_words import said
from baton_cli.text import one_line
from baton_client import numbers


def table(screen: Screen, columns: str, items: list[dict[str, Any]]) -> None:
    """``columns``: ``field:Header`` with dots for what is nested, and a space between them."""
    if not items:
        screen.line("none", "dim")
        return
    pairs = [each.partition(":") for each in columns.split()]
    headers = [header.replace("_", " ") for _, _, header in pairs]
    screen.table(headers, ([cell(screen, name, found(item, name)) for name, _, _ in pairs] for item in items))


def fields(screen: Screen, answer: dict[str, Any]) -> None:
    """Everything that has a value, one line each. Only names of the answer itself format a value: an agent may choose
    nested names."""
    screen.pairs((label, cell(screen, "" if "." in label else label, value)) for label, value in _flat("", answer))


def sentence(screen: Screen, pattern: str, answer: dict[str, Any]) -> None:
    """A sentence that names a command is one line: the command is copied."""
    draw = screen.unwrapped if "baton " in pattern else screen.line
    draw(one_line(_Sentence().format(pattern, **answer)))


def found(item: Any, name: str) -> Any:
    for each in name.split("."):
        item = item.get(each) if isinstance(item, dict) else None
    return item


def cell(screen: Screen, name: str, value: Any) -> str:
    """``name`` tells what a value is: ``*_at`` a time, ``*_seconds`` a length."""
    if value is None or value in ([], {}):
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, str) and (name == "at" or name.endswith(("_at", "_until"))):
        return screen.when(value)
    if isinstance(value, float | int) and name.endswith("_seconds"):
        return times.length(value)
    if isinstance(value, list) and all(isinstance(each, str | int) for each in value):
        return ", ".join(map(str, value))
    return numbers.dumps(value, ensure_ascii=False) if isinstance(value, dict | list) else str(value)


def _flat(prefix: str, answer: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    for name, value in answer.items():
        if isinstance(value, dict) and value:
            yield from _flat(f"{prefix}{name}.", value)
        else:
            yield f"{prefix}{name}", value


class _Sentence(string.Formatter):
    """Formats a sentence. A field that is missing or null becomes a dash."""

    def get_field(self, field_name: str, args: Any, kwargs: Any) -> Any:  # noqa: ARG002 - as it is called
        value = found(kwargs, field_name)
        if value is not None and field_name.rpartition(".")[2] == "state":
            value = said(str(value))
        return "-" if value is None else value, field_name
