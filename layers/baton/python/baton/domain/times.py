"""Instants as Baton keeps them: aware, UTC, whole milliseconds, so that every store and reader agrees on them."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
MILLISECOND = timedelta(milliseconds=1)
# Python reads more than that: numbers of seconds, weeks, days without an hour.
_RFC3339 = re.compile(
    r"[0-9]{4}-[0-9]{2}-[0-9]{2}[Tt][0-9]{2}:[0-9]{2}:[0-9]{2}(?:\.[0-9]{1,9})?(?:[Zz]|[+-][0-9]{2}:[0-9]{2})"
)


def to_ms(at: datetime) -> int:
    """Milliseconds since the epoch, rounded down."""
    return (at - EPOCH) // MILLISECOND


def from_ms(ms: int) -> datetime:
    """Raises ``ValueError`` outside of the years 1 to 9999."""
    try:
        return EPOCH + ms * MILLISECOND
    except OverflowError as exc:
        raise ValueError(f"{ms} ms is no year from 1 to 9999") from exc


def whole_ms(at: datetime) -> datetime:
    """The same instant in UTC without its microseconds. Raises ``ValueError`` if UTC has no such year."""
    return from_ms(to_ms(at))


def rfc3339(at: datetime) -> str:
    """``2026-01-31T12:00:00.000Z`` (docs/spec/lifecycle.md §8)."""
    return at.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def parse_rfc3339(text: str) -> datetime:
    """Raises ``ValueError`` for anything that isn't a time with an offset as RFC 3339 writes it."""
    if not _RFC3339.fullmatch(text):
        raise ValueError(text)
    return whole_ms(datetime.fromisoformat(text.upper()))


def seconds(count: float) -> timedelta:
    return timedelta(seconds=count)
