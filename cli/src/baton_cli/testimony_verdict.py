"""Whether an exported file is what was exported: a Testimony Record by its own chain, then line by line with the
trails; a task's trail by its hashes, then entry by entry with the trail."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import islice, zip_longest
from pathlib import Path
from typing import Any

from baton_cli import trail_hashes
from baton_cli.testimony import START, Entry, link, record
from baton_client import numbers
from baton_client.caller import Caller
from baton_client.errors import Misused

TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z")
Problem = tuple[int, str | None, str]


def of_file(client: Caller, path: str) -> dict[str, Any]:
    """Returns ``intact``, the number of ``entries``, and for a changed record the line it is ``broken_at``, the
    ``entry`` there, and the ``problem``. Raises ``Misused`` for a file that can't be read, and as ``record`` does."""
    trail = _trail_in(path)
    count, found = _of_record(client, path) if trail is None else (len(trail), _of_trail(client, trail))
    line, entry, why = found or (None, None, None)
    return {"intact": found is None, "entries": count, "broken_at": line, "entry": entry, "problem": why}


def _trail_in(path: str) -> list[Entry] | None:
    """Returns a trail's entries; None for a file of lines. A trail is one document over several lines."""
    if next(_entries(path), {}) is not None:
        return None
    events = (_object(Path(path).read_text(encoding="utf-8")) or {}).get("events")
    is_trail = isinstance(events, list) and events and all(isinstance(each, dict) for each in events)
    return events if is_trail else None


def _of_trail(client: Caller, trail: list[Entry]) -> Problem | None:
    """Returns the first entry that isn't chained to those before it, or that the trail doesn't tell so."""
    if (broken := trail_hashes.broken_at(trail)) is not None:
        return broken[0], None, broken[1]
    task_id = trail[0].get("data", {}).get("changes", {}).get("id")
    return _otherwise(trail, islice(trail_hashes.entries_of(client, str(task_id)), len(trail)))


def _of_record(client: Caller, path: str) -> tuple[int, Problem | None]:
    """Returns the number of lines, and the first one that isn't chained to those before it, for which nothing but the
    file is needed; or that the trails don't tell so."""
    last, scope, number = START, None, 0
    for number, entry in enumerate(_entries(path), 1):
        if entry is None or entry.get("x-baton-chain") != link(last, entry):
            return number, (number, _name(entry), "it isn't what was written, or one before it is missing")
        last, scope = entry["x-baton-chain"], entry if entry.get("type") == "scope" else scope
    if scope is None:
        return number, (number + 1, None, "a line is missing: the record ends with its scope and its integrity")
    since, until = str(scope.get("x-baton-since")), str(scope.get("at"))
    if not TIME.fullmatch(since) or not TIME.fullmatch(until):
        return number, (1, _name(scope), "the scope names no span of time")
    return number, _otherwise(_entries(path), record(client, since, until))


def _otherwise(entries: Iterable[Entry | None], told: Iterable[Entry]) -> Problem | None:
    """Returns the first entry that the trails don't tell so."""
    for number, (entry, expected) in enumerate(zip_longest(entries, told), 1):
        if entry != expected:
            return number, _name(entry), "the trails tell it otherwise"
    return None


def _entries(path: str) -> Iterator[Entry | None]:
    """Yields each line's entry, None for one that is none."""
    try:
        with Path(path).open(encoding="utf-8") as file:
            yield from map(_object, file)
    except (OSError, UnicodeDecodeError) as exc:
        raise Misused(f"{path} can't be read", str(exc), "a task's id, or a file of baton export testimony") from exc


def _object(text: str) -> Entry | None:
    try:
        found = numbers.loads(text)
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None


def _name(entry: Entry | None) -> str | None:
    return str(entry["id"]) if entry and "id" in entry else None
