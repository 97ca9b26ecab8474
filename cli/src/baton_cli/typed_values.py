"""Values that people type, turned into those that the API takes."""

from __future__ import annotations

import codecs
import re
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, BinaryIO

from baton_cli import times
from baton_client import numbers
from baton_client.errors import Misused

_UNITS = {"s": 1, "m": 60, "h": 3_600, "d": 86_400, "w": 604_800}


def text(said: str) -> str:
    """Returns the text itself, a file's for ``@FILE``, or standard input's for ``-``: without its byte order mark and
    the line end that closes it, as a shell's ``$(…)``. Raises ``Misused``."""
    if said != "-" and not said.startswith("@"):
        return said
    name = "standard input" if said == "-" else said
    try:
        content = _standard_input() if said == "-" else Path(said[1:]).read_bytes()
        found = content if isinstance(content, str) else content.decode("utf-8-sig")
    except UnicodeDecodeError as exc:
        raise Misused(f"{name} can't be read", *_why_not_utf_8(exc.object)) from exc
    except OSError as exc:
        raise Misused(f"{name} can't be read", exc.strerror or str(exc)) from exc
    return found.replace("\r\n", "\n").replace("\r", "\n").rstrip("\n")


def _standard_input() -> bytes | str:
    """Returns the bytes that were piped, whatever encoding the terminal has."""
    if sys.stdin is None:
        raise Misused("standard input can't be read", "it is closed", "--help shows what an option takes")
    pipe: BinaryIO | None = getattr(sys.stdin, "buffer", None)
    return sys.stdin.read() if pipe is None else pipe.read()


def _why_not_utf_8(content: bytes) -> tuple[str, str]:
    """Returns the cause and the next step."""
    is_wide = content.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)) or b"\0" in content
    kind, name = ("it is UTF-16, as PowerShell's > writes it", "UTF-16") if is_wide else ("it isn't UTF-8", "LATIN1")
    return kind, f"save it as UTF-8: iconv -f {name} -t UTF-8 FILE, or in PowerShell: Out-File -Encoding utf8 FILE"


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
        at = _parsed(said)
        return _rfc3339(at if at.tzinfo else datetime.fromtimestamp(at.timestamp(), UTC))
    except (ValueError, OverflowError, OSError) as exc:  # of another form, or too far away
        raise Misused(f"{said} is no time", "it is as 2h, 3d or 2026-11-23T09:00:00Z") from exc


def _parsed(said: str) -> datetime:
    """Returns the time. A leap second is the first of the next minute, as in the API."""
    minute, is_leap = re.subn(r"(?<=:[0-9]{2}:)60(?![0-9])", "59", said, count=1)
    return times.parsed(minute) + timedelta(seconds=is_leap)


def _rfc3339(at: datetime) -> str:
    return at.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
