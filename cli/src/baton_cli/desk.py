"""A person's terminal, for the approvals queue."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from baton_cli.app import App
from baton_cli.output import complain

if TYPE_CHECKING:
    from baton_cli.screen import Screen


class TerminalDesk:
    def __init__(self, app: App) -> None:
        self._out = app.out

    def key(self) -> str:
        return click.getchar()

    def line(self, question: str) -> str:
        answer: str = click.prompt(question, default="", show_default=False, err=True)
        return answer.strip()

    def show(self, item: dict[str, Any], handoff: dict[str, Any] | None, place: str) -> None:
        def draw(screen: Screen) -> None:
            from baton_cli.screens import approval

            approval.looked_at(screen, item, handoff, place)

        self._out.draw(draw)

    def say(self, text: str) -> None:
        complain(text)
