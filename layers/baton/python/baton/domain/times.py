"""Times: aware, in UTC, in whole milliseconds, so that every store and reader agrees on them."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
MILLISECOND = timedelta(milliseconds=1)
# Stricter than Python's parser, which also takes numbers of seconds, weeks and days without an hour.
_RFC3339 = re.compile(
    r"[0-9]{4}-[0-9]{2}-[0-9]{2}[Tt][0-9]{2}:[0-9]{2}:[0-9]{2}(?:\.[0-9]{1,9})?(?:[Zz]|[+-][0-9]{2}:[0-9]{2})"
)


def to_ms(at: datetime) -> int:
    """Returns milliseconds since the epoch, rounded down."""
    return (at - EPOCH) // MILLISECOND


def from_ms(ms: int) -> datetime:
    """The inverse of ``to_ms``. Raises ``ValueError`` outside the years 1 to 9999."""
    try:
        return EPOCH + ms * MILLISECOND
    except OverflowError as exc:
        raise ValueError(f"{ms} ms is no year from 1 to 9999") from exc


def whole_ms(at: datetime) -> datetime:
    """Returns the time in UTC, rounded down to a millisecond. Raises ``ValueError`` if UTC has no such year."""
    try:
        utc = at.astimezone(UTC)
    except OverflowError as exc:
        raise ValueError(f"{at} has no year from 1 to 9999 in UTC") from exc
    return utc.replace(microsecond=utc.microsecond // 1_000 * 1_000)


def rfc3339(at: datetime) -> str:
    """Returns ``2026-01-31T12:00:00.000Z`` (docs/spec/lifecycle.md §8)."""
    return at.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def parse_rfc3339(text: str) -> datetime:
    """Returns the time. Raises ``ValueError`` unless ``text`` is an RFC 3339 time with an offset."""
    if not _RFC3339.fullmatch(text):
        raise ValueError(text)
    # A leap second is the next minute's first one: no clock of Baton's has 61 seconds.
    is_leap = text[16:19] == ":60"
    at = datetime.fromisoformat(f"{text[:16]}:59{text[19:]}".upper() if is_leap else text.upper())
    return whole_ms(at + timedelta(seconds=1) if is_leap else at)


def seconds(count: float) -> timedelta:
    return timedelta(seconds=count)
