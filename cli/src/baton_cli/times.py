"""Times as people read them. The API's are RFC 3339 in UTC."""

from __future__ import annotations

from datetime import UTC, datetime


def parsed(text: str) -> datetime:
    return datetime.fromisoformat(text)


def now() -> datetime:
    return datetime.now(UTC)


def whole(text: str) -> str:
    """Returns the time in full, to the second."""
    return parsed(text).astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def age(text: str, at: datetime) -> str:
    """Returns ``5m`` or ``3d``: how long ago it was at ``at``; ``in 5m`` if it is still to come."""
    seconds = (at - parsed(text)).total_seconds()
    return _short(seconds) if seconds > -1 else f"in {_short(_rounded(-seconds))}"


def _rounded(seconds: float) -> float:
    """Returns the time left, up to a minute longer: a person who asked for 90 days sees 90 days a moment later."""
    return seconds + min(59, seconds / 60)


def _short(seconds: float) -> str:
    whole = max(0, int(seconds))
    for size, unit in ((86_400, "d"), (3_600, "h"), (60, "m")):
        if whole >= size:
            return f"{whole // size}{unit}"
    return f"{whole}s"


def length(seconds: float) -> str:
    """Returns ``45 s``, ``28 min``, ``2 h 5 min`` or ``3 d 4 h``, rounded down."""
    minutes, rest = divmod(max(0, int(seconds)), 60)
    hours, days = minutes // 60, minutes // 1_440
    if days:
        return f"{days} d {hours % 24} h"
    if hours:
        return f"{hours} h {minutes % 60} min"
    return f"{minutes} min" if minutes else f"{rest} s"
