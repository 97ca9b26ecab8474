"""Values that people type, turned into those that the API takes."""

from __future__ import annotations

import re
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from baton_cli import times
from baton_client import numbers
from baton_client.errors import Misused

_UNITS = {"s": 1, "m": 60, "h": 3_600, "d": 86_400, "w": 604_800}


def text(said: str) -> str:
    """Returns the text itself, a file's for ``@FILE``, or standard input's for ``-``: without the line end that closes
    it, as a shell's ``$(…)``. Raises ``Misused``."""
    try:
        if said == "-":
            if sys.stdin is None:
                raise Misused("standard input can't be read", "it is closed", "--help shows what an option takes")
            return sys.stdin.read().rstrip("\r\n")
        return Path(said[1:]).read_text(encoding="utf-8").rstrip("\r\n") if said.startswith("@") else said
    except (OSError, UnicodeDecodeError) as exc:
        raise Misused(f"{said} can't be read", str(exc)) from exc


def document(said: str) -> Any:
    """Returns the JSON that was typed, or is in a file. Raises ``Misused``."""
    try:
        return numbers.loads(text(said))
    except ValueError as exc:
        raise Misused(
            "the body isn't JSON", str(exc), "put it in single quotes, or in a file: --data @body.json"
        ) from exc


def time(said: str, *, now: datetime, is_past: bool) -> str:
    """Returns a time as the API takes it, of ``2h`` (ago, or from now) or RFC 3339. A time without an offset is this
    machine's local time, by the rule of RFC 5545: where the clocks are put forward, it counts by the offset before
    that, and a time that comes twice is the first one. Raises ``Misused``."""
    try:
        if found := re.fullmatch(r"([0-9]{1,6})([smhdw])", said):
            distance = timedelta(seconds=int(found[1]) * _UNITS[found[2]])
            return _rfc3339(now - distance if is_past else now + distance)
        at = times.parsed(said)
        return _rfc3339(at if at.tzinfo else datetime.fromtimestamp(at.timestamp(), UTC))
    except (ValueError, OverflowError, OSError) as exc:  # of another form, or too far away
        raise Misused(f"{said} is no time", "it is as 2h, 3d or 2026-11-23T09:00:00Z") from exc


def _rfc3339(at: datetime) -> str:
    return at.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
