"""Which of the tasks that wait ask for the very same, and in what those differ that only look alike."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator
from typing import Any

from baton_cli import times
from baton_cli.text import one_line

Item = dict[str, Any]
MOST_NAMED = 4
LONGEST_VALUE = 60
# What may differ between tasks of one content: the API's name, and how it is said.
_BESIDE = {"priority": "priority", "kind": "kind", "workflow_id": "workflow", "attempt": "attempt", "flags": "flags"}


def direction(item: Item) -> str:
    return f"{item['source_agent']} → {item['target_agent'] or 'any agent'}"


def look_of(item: Item) -> tuple[str, str]:
    """Direction and title: what a list shows. Whoever asks chooses the title, so nothing is decided by it."""
    return direction(item), one_line(item["title"]).casefold()


def content_of(item: Item) -> str:
    """The digest of what is asked for. A task that has none is like no other."""
    return str(item.get("digest") or item["id"])


def like(item: Item, items: list[Item]) -> list[Item]:
    """Those with the very same content."""
    return [each for each in items if content_of(each) == content_of(item)]


def lookalikes(item: Item, items: list[Item]) -> list[Item]:
    """One of each other content that looks the same in a list."""
    found = {content_of(each): each for each in reversed(items) if look_of(each) == look_of(item)}
    return [each for content, each in found.items() if content != content_of(item)]


def grouped(items: list[Item]) -> list[Item]:
    """The most urgent look first; within it one content after the other; within that as they came."""
    looks, contents = dict[tuple[str, str], int](), dict[str, int]()
    for number, item in enumerate(sorted(items, key=_urgency)):
        looks.setdefault(look_of(item), number)
        contents.setdefault(content_of(item), number)
    return sorted(items, key=lambda each: (looks[look_of(each)], contents[content_of(each)], *_urgency(each)))


def _urgency(item: Item) -> tuple[str, str]:
    return item["priority"], item["created_at"]


def apart(items: list[Item]) -> str:
    """In what tasks of one content differ."""
    ages = [times.parsed(each["created_at"]) for each in items]
    named = ["id", f"time ({times.length((max(ages) - min(ages)).total_seconds())} apart)"]
    for name, label in _BESIDE.items():
        values = dict.fromkeys(str(each.get(name) or "none") for each in items)
        if len(values) > 1:
            named.append(f"{label} ({', '.join(values)})" if name in {"priority", "kind", "attempt"} else label)
    return ", ".join(named)


def differences(one: Item, other: Item) -> str:
    """In what two handoffs differ: each place with both values, as far as they are short."""
    first, second = dict(_leaves(one)), dict(_leaves(other))
    places = [place for place in {**first, **second} if first.get(place) != second.get(place)]
    pairs = [(place, first.get(place), second.get(place)) for place in places[:MOST_NAMED]]
    named = [f"{place}: {_short(value, other)} ↔ {_short(other, value)}" for place, value, other in pairs]
    return "; ".join(named) + (f"; and {len(places) - MOST_NAMED} more" if len(places) > MOST_NAMED else "")


def _leaves(handoff: Item) -> Iterator[tuple[str, str]]:
    from baton_cli.screens import message

    yield from message.leaves(message.content(handoff))


def _short(value: str | None, other: str | None) -> str:
    """Where it differs from the other; a letter that another one may look like is named."""
    if value is None:
        return "nothing"
    at = next((at for at, (one, two) in enumerate(zip(value, other or "", strict=False)) if one != two), 0)
    start = max(0, at - LONGEST_VALUE // 2) if len(value) > LONGEST_VALUE else 0
    end = len(value) if len(value) <= LONGEST_VALUE else start + LONGEST_VALUE - 1
    odd = value[at : at + 1] if other else ""
    named = "" if odd.isascii() else f" (U+{ord(odd):04X} {unicodedata.name(odd, 'without a name')})"
    return f"{'…' if start else ''}{value[start:end]}{'…' if end < len(value) else ''}{named}"
