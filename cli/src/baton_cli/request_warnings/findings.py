"""A warning about a request: its kind, its place, and the earlier value."""

from __future__ import annotations

from dataclasses import dataclass

# Kinds in the order of display. Hidden and misleading texts come first.
KINDS = (
    "hidden",
    "alphabets",
    "lookalike",
    "gap",
    "uninspected",
    "uncompared",
    "first",
    "unlike",
    "address",
    "account",
    "path",
    "command",
    "amount",
    "mismatch",
    "value",
    "added",
    "removed",
)


@dataclass(frozen=True, slots=True)
class Finding:
    """``at``: the full path of the place; ``now`` and ``before``: the new and the earlier value, shortened."""

    kind: str
    at: str
    now: str = ""
    before: str = ""


def in_order(found: list[Finding]) -> list[Finding]:
    """Returns each finding once, by its kind."""
    return sorted(dict.fromkeys(found), key=lambda each: KINDS.index(each.kind))
