"""A task's priority, and the words by which requests name it."""

from __future__ import annotations

from enum import StrEnum


class Priority(StrEnum):
    P0 = "P0"
    P1 = "P1"
    P2 = "P2"


PRIORITIES = {
    "🔴 High": Priority.P0,
    "🟡 Medium": Priority.P1,
    "🟢 Low": Priority.P2,
    "high": Priority.P0,
    "medium": Priority.P1,
    "low": Priority.P2,
    "P0": Priority.P0,
    "P1": Priority.P1,
    "P2": Priority.P2,
}
