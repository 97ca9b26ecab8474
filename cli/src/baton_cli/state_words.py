"""States, as sentences say them."""

from __future__ import annotations

_SAID = {"needs": "waiting for approval", "next": "approved for its worker"}


def said(state: str) -> str:
    """``task_1 is …``: the API's word where that is one of English."""
    return _SAID.get(state, state)
