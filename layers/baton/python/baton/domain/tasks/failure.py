"""The failure record (docs/spec/protocol.md §5): the worker's failure message, and what Baton adds to it."""

from __future__ import annotations

from typing import Any


def failure_in(record: dict[str, Any]) -> dict[str, Any]:
    """Returns the failure itself. Without a worker's message (a deadline passed) the record is the failure."""
    failure: dict[str, Any] = record.get("failure", record)
    return failure
