"""The states of a task as words of a sentence."""

from __future__ import annotations

_SAID = {"needs": "waiting for approval", "next": "approved for its worker"}


def said(state: str) -> str:
    """Returns the word that follows ``task_1 is``: the API's own where that is English."""
    return _SAID.get(state, state)
