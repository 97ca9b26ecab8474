"""Checkpoints: the lines of JSON that a program writes while it works."""

from __future__ import annotations

from typing import Any

from baton_client.mended import read

FIELDS = {"step_name": str, "state": dict}


def parsed(line: bytes | None) -> dict[str, Any] | str:
    """Returns the checkpoint, or what is wrong with the line. ``line``: None if it was too long to be kept."""
    if line is None:
        return "it is longer than 256 KiB"
    try:
        found, _ = read(line)
    except (ValueError, RecursionError):
        return "it isn't JSON"
    if not isinstance(found, dict) or found.keys() != FIELDS.keys():
        return "it isn't an object with step_name and state"
    wrong = [name for name, kind in FIELDS.items() if not isinstance(found[name], kind)]
    return f"{wrong[0]} is of another type" if wrong else found
