"""Which seeds are played today."""

from __future__ import annotations

import os
from datetime import UTC, datetime


def first_seed() -> int:
    """``SEED``, or else the day's: every run of a day plays the same, and every day others."""
    return int(os.environ.get("SEED") or datetime.now(UTC).date().toordinal() * 10_000)
