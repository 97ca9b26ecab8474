"""The header Retry-After of an HTTP answer (RFC 9110 §10.2.3)."""

from __future__ import annotations

import math
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

MAX_RETRY_AFTER_SECONDS = 86_400.0


def retry_after(value: str, now: datetime) -> float | None:
    """Returns seconds from a number or a date, at most a day; None for anything else."""
    try:
        seconds = float(value)
        return None if math.isnan(seconds) else min(max(0.0, seconds), MAX_RETRY_AFTER_SECONDS)
    except ValueError:
        pass
    try:
        at = parsedate_to_datetime(value)
    except (ValueError, OverflowError):
        return None
    at = at if at.tzinfo else at.replace(tzinfo=UTC)
    return min(max(0.0, (at - now).total_seconds()), MAX_RETRY_AFTER_SECONDS)
