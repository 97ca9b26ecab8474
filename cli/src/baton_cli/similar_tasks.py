"""Waiting tasks that are alike: tasks with the same content, and tasks that only look the same in a list."""

from __future__ import annotations

import unicodedata
from typing import Any

from baton_cli import times
from baton_cli.text import one_line

Item = dict[str, Any]
MOST_NAMED = 4
LONGEST_VALUE = 60
# Fields in which tasks of one content may differ: the API's name, and the word for people.
_BESIDE = {"priority": "priority", "kind": "kind", "workflow_id": "workflow", "attempt": "attempt", "flags": "flags"}


def direction(item: Item, word: str = "→") -> str:
    return f"{item['source_agent']} {word} {item['target_agent'] or 'any agent'}"


def look_of(item: Item) -> tuple[str, str]:
    """Returns direction and title, which a list shows. The author chooses the title, so no decision depends on it."""
    return direction(item), one_line(item["title"]).casefold()


def content_of(item: Item) -> str:
    """Returns the digest of the task's content. A task without a digest is like no other."""
    return str(item.get("digest") or item["id"])


def like(item: Item, items: list[Item]) -> list[Item]:
    """Returns the items with the same content as this one, itself included."""
    return [each for each in items if content_of(each) == content_of(item)]


def lookalikes(item: Item, items: list[Item]) -> list[Item]:
    """Returns the items that look the same in a list and have another content: one item of each content."""
    found = {content_of(each): each for each in reversed(items) if look_of(each) == look_of(item)}
    return [each for content, each in found.items() if content != content_of(item)]


def grouped(items: list[Item]) -> list[Item]:
    """Returns the items by their look, the most urgent look first; within it by their content, and within that by
    urgency and age."""
    looks, contents = dict[tuple[str, str], int](), dict[str, int]()
    for number, item in enumerate(sorted(items, key=_urgency)):
        looks.setdefault(look_of(item), number)
        contents.setdefault(content_of(item), number)
    return sorted(items, key=lambda each: (looks[look_of(each)], contents[content_of(each)], *_urgency(each)))


def _urgency(item: Item) -> tuple[str, str]:
    return item["priority"], item["created_at"]


def apart(items: list[Item]) -> str:
    """Returns the fields in which tasks of one content differ, as text."""
    ages = [times.parsed(each["created_at"]) for each in items]
    named = ["id", f"time ({times.length((max(ages) - min(ages)).total_seconds())} apart)"]
    for name, label in _BESIDE.items():
        values = dict.fromkeys(str(each.get(name) or "none") for each in items)
        if len(values) > 1:
            named.append(f"{label} ({', '.join(values)})" if name in {"priority", "kind", "attempt"} else label)
    return ", ".join(named)


def differences(one: Item, other: Item) -> str:
    """Returns the differences of two handoffs as text: each path with both values, shortened."""
    from baton_cli.screens import message

    found = changes(message.content(one), message.content(other))
    return "; ".join(found[:MOST_NAMED]) + (f"; and {len(found) - MOST_NAMED} more" if len(found) > MOST_NAMED else "")


def changes(one: Any, other: Any) -> list[str]:
    """Returns each path of two documents that has another value, with both, shortened to where they differ."""
    from baton_cli.screens import message

    first, second = dict(message.leaves(one)), dict(message.leaves(other))
    places = [place for place in {**first, **second} if first.get(place) != second.get(place)]
    pairs = [(place, first.get(place), second.get(place)) for place in places]
    return [f"{place}: {_short(value, other)} ↔ {_short(other, value)}" for place, value, other in pairs]


def _short(value: str | None, other: str | None) -> str:
    """Returns the part of a value that differs from the other one. A letter that looks like another one is named."""
    if value is None:
        return "nothing"
    at = next((at for at, (one, two) in enumerate(zip(value, other or "", strict=False)) if one != two), 0)
    start = max(0, at - LONGEST_VALUE // 2) if len(value) > LONGEST_VALUE else 0
    end = len(value) if len(value) <= LONGEST_VALUE else start + LONGEST_VALUE - 1
    odd = value[at : at + 1] if other else ""
    named = "" if odd.isascii() else f" (U+{ord(odd):04X} {unicodedata.name(odd, 'without a name')})"
    return f"{'…' if start else ''}{value[start:end]}{'…' if end < len(value) else ''}{named}"
