"""The failure message (docs/spec/protocol.md §5): who says what went wrong, and around it what Baton makes of it."""

from __future__ import annotations

from typing import Any


def failure_in(record: dict[str, Any]) -> dict[str, Any]:
    """What went wrong, as it was told. Where nobody sent a message (a deadline passed), it stands alone."""
    told: dict[str, Any] = record.get("failure", record)
    return told
