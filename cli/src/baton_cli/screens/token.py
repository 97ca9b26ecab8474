"""The screen of a new token."""

from __future__ import annotations

from typing import Any

from baton_cli.screen import Screen
from baton_cli.screens import plain


def created(screen: Screen, token: dict[str, Any]) -> None:
    """Draws the token's secret alone on a line, for copying."""
    plain.fields(screen, {name: value for name, value in token.items() if name != "token"})
    screen.line()
    screen.line("The token is shown once. Its owner stores it with: baton init")
    screen.unwrapped(token["token"])
