"""Warnings about the names in an action: a person could take one for another (docs/spec/questions.md §1). Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from baton.domain import errors, hidden
from baton.domain.look_alikes import look, mixes_alphabets

MAX_WARNINGS = 20


class WarningKind(StrEnum):
    LOOKS_LIKE = "looks_like"  # another name, or plain ASCII text
    MIXED_ALPHABETS = "mixed_alphabets"  # a word has letters of several alphabets that look alike


@dataclass(frozen=True, slots=True, kw_only=True)
class NameWarning:
    """``at``: a JSON Pointer to the name: ``/tool``, or ``/arguments/…`` for a key. ``like``: the name that it looks
    like."""

    at: str
    name: str
    kind: WarningKind
    like: str | None = None


def check_tool_name(tool: str) -> None:
    """Raises ``InvalidInput`` for a name with space around it, line breaks, or other characters that show nothing: such
    a name would be a tool of its own, and look like another one."""
    if tool != tool.strip() or not tool.isprintable() or hidden.HIDDEN.search(tool):
        message = "must be printable characters, without space before or after them, and without hidden characters"
        raise errors.InvalidInput("tool", message)


def name_warnings(tool: str, arguments: Any, known_tools: Iterable[str]) -> tuple[NameWarning, ...]:
    """Returns the warnings about the tool's name and the keys of its arguments at any depth, at most ``MAX_WARNINGS``.
    ``known_tools``: tools that people have approved before, tools of the workspace, and tools of its rules."""
    others = {look(each): each for each in sorted(known_tools) if each != tool}
    found = [*_about("/tool", tool, others), *_in(arguments, "/arguments")]
    return tuple(found[:MAX_WARNINGS])


def _in(value: Any, at: str) -> Iterator[NameWarning]:
    if isinstance(value, Mapping):
        looks: dict[str, str] = {}
        for name, inner in value.items():
            pointer = f"{at}/{name.replace('~', '~0').replace('/', '~1')}"
            yield from _about(pointer, name, looks)
            looks[look(name)] = name
            yield from _in(inner, pointer)
    elif isinstance(value, list | tuple):
        for number, inner in enumerate(value):
            yield from _in(inner, f"{at}/{number}")


def _about(at: str, name: str, others: Mapping[str, str]) -> Iterator[NameWarning]:
    """``others``: names by their look."""
    looks = look(name)
    if like := others.get(looks) or (looks if looks.isascii() and not name.isascii() else None):
        yield NameWarning(at=at, name=name, kind=WarningKind.LOOKS_LIKE, like=like)
    elif mixes_alphabets(name):
        yield NameWarning(at=at, name=name, kind=WarningKind.MIXED_ALPHABETS)
