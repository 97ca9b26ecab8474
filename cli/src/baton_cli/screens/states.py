"""A state's mark, words and colour. Each mark is one column wide in every terminal."""

from __future__ import annotations

from baton_cli.screen import Styled

_SHOWN = {
    "needs": ("◌ Needs Approval", "yellow"),
    "delegated": ("○ Pending", "cyan"),
    "next": ("○ Pending", "cyan"),
    "claimed": ("● In Progress", "blue"),
    "waiting": ("◐ Waiting", "blue"),
    "done": ("✓ Completed", "green"),
    "failed": ("⚠ Failed", "red"),
    "rejected": ("⚠ Rejected", "red"),
    "cancelled": ("✗ Cancelled", "dim"),
}
ENDED = {"done", "failed", "rejected", "cancelled"}


def shown(state: str, *, is_partial: bool = False) -> Styled:
    text, style = _SHOWN.get(state, (state, ""))
    return Styled(f"{text} (partial)" if is_partial else text, style)


def passed(value: object) -> Styled:
    """Of a check: passing, failing, or not reported."""
    if value is None:
        return Styled("- not reported", "dim")
    return Styled("✓ Passing", "green") if value else Styled("✗ Failing", "red")
