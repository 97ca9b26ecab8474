"""Refusals that a repeat gets again, whatever has changed since."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from baton.domain.errors import refusal_from

if TYPE_CHECKING:
    from baton.domain.errors import BatonError

REFUSED = "refused"


def refusal_response(refusal: BatonError) -> dict[str, Any]:
    """Returns the form in which the refusal is saved, instead of a response."""
    return {REFUSED: {"kind": type(refusal).__name__, "message": refusal.message, "fields": refusal.fields}}


def raise_saved_refusal(first_response: dict[str, Any]) -> None:
    """Raises the refusal that ``refusal_response`` has saved."""
    if REFUSED in first_response:
        raise refusal_from(**first_response[REFUSED])
