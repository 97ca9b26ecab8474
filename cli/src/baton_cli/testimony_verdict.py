"""Whether an exported file is what was exported: a Testimony Record by its own chain, then line by line with the
trails; a task's trail by its hashes, then entry by entry with the trail."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from itertools import zip_longest
from pathlib import Path
from typing import Any

from baton_cli import trail_hashes
from baton_cli.client import Client
from baton_cli.failures import Misused
from baton_cli.testimony import Chain, Entry, record

TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z")
MISSING = "a line is missing: the record ends with its integrity"


def of_file(client: Client, path: str) -> dict[str, Any]:
    """Returns ``intact``, the number of ``entries``, and for a changed record the line it is ``broken_at``, the
    ``entry`` there, and the ``problem``. Raises ``Misused`` for a file that can't be read, and as ``record`` does."""
    if (trail := _trail_in(path)) is not None:
        count, problem = len(trail), _compared_trail(client, trail)
    else:
        count, scope, problem = _chained(path)
        if problem is None and scope is not None:
            problem = _compared(client, path, scope)
    if problem is None:
        return {"intact": True, "entries": count, "broken_at": None, "entry": None, "problem": None}
    line, entry, why = problem
    return {"intact": False, "entries": count, "broken_at": line, "entry": entry, "problem": why}


Problem = tuple[int, str | None, str]


def _trail_in(path: str) -> list[Entry] | None:
    """Returns a trail's entries; None for a file of lines. A trail is one document over several lines."""
    if next(iter(_entries(path)), {}) is not None:
        return None
    try:
        events = json.loads(Path(path).read_text(encoding="utf-8"))["events"]
    except (ValueError, KeyError, TypeError, RecursionError):
        return None
    is_trail = isinstance(events, list) and events and all(isinstance(each, dict) for each in events)
    return events if is_trail else None


def _compared_trail(client: Client, trail: list[Entry]) -> Problem | None:
    broken = trail_hashes.broken_at(trail)
    if broken is not None:
        return broken[0], None, broken[1]
    task_id = trail[0].get("data", {}).get("changes", {}).get("id")
    told = trail_hashes.entries_of(client, str(task_id))
    for number, (entry, expected) in enumerate(zip(trail, told, strict=False), 1):
        if entry != expected:
            return number, None, "the trail tells it otherwise"
    return None


def _chained(path: str) -> tuple[int, Entry | None, Problem | None]:
    """Returns the number of lines, the scope, and the first line that isn't chained to those before it. Needs nothing
    but the file."""
    chain, scope, last, number = Chain(), None, None, 0
    for number, entry in enumerate(_entries(path), 1):
        if last == "integrity":
            return number, None, (number, _name(entry), "it was added after the record's end")
        if entry is None or entry.get("x-baton-chain") != chain.link(entry):
            return number, None, (number, _name(entry), "it isn't what was written, or one before it is missing")
        last, scope = entry.get("type"), entry if entry.get("type") == "scope" else scope
    if last != "integrity" or scope is None:
        return number, None, (number + 1, None, MISSING)
    return number, scope, None


def _compared(client: Client, path: str, scope: Entry) -> Problem | None:
    """Returns the first line that the trails don't tell so."""
    since, until = str(scope.get("x-baton-since")), str(scope.get("at"))
    if not TIME.fullmatch(since) or not TIME.fullmatch(until):
        return 1, _name(scope), "the scope names no span of time"
    told = record(client, since, until)
    for number, (entry, expected) in enumerate(zip_longest(_entries(path), told), 1):
        if entry != expected:
            why = (
                "the trails don't tell it" if expected is None else f"the trails tell {_name(expected)} here, otherwise"
            )
            return number, _name(entry), why
    return None


def _entries(path: str) -> Iterator[Entry | None]:
    """Yields each line's entry, None for one that is none."""
    try:
        with Path(path).open(encoding="utf-8") as file:
            for line in file:
                yield _entry(line)
    except (OSError, UnicodeDecodeError) as exc:
        raise Misused(f"{path} can't be read", str(exc), "a task's id, or a file of baton export testimony") from exc


def _entry(line: str) -> Entry | None:
    try:
        found = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None


def _name(entry: Entry | None) -> str | None:
    return None if entry is None else str(entry.get("id"))
