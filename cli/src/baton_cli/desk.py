"""A person's terminal, for the approvals queue."""

from __future__ import annotations

import os
import select
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import click

from baton_cli.app import App
from baton_cli.output import complain

if TYPE_CHECKING:
    from baton_cli.screen import Screen

ESCAPE = b"\x1b"


class TerminalDesk:
    """Within ``sitting()`` a key is read as it is pressed, and none is lost that was pressed before it was asked for.
    An interrupt stays one."""

    def __init__(self, app: App) -> None:
        self._out, self._file = app.out, sys.stdin.fileno()

    @contextmanager
    def sitting(self) -> Iterator[TerminalDesk]:
        import termios

        self._usual = termios.tcgetattr(self._file)
        self._single()
        try:
            yield self
        finally:
            termios.tcsetattr(self._file, termios.TCSADRAIN, self._usual)

    def _single(self) -> None:
        """Keys without waiting for the end of the line, and not shown."""
        import termios

        modes = termios.tcgetattr(self._file)
        modes[3] &= ~(termios.ICANON | termios.ECHO)
        modes[6] = [*modes[6]]
        modes[6][termios.VMIN], modes[6][termios.VTIME] = 1, 0
        termios.tcsetattr(self._file, termios.TCSADRAIN, modes)

    def key(self) -> str:
        """An arrow or the like is ``?``; the end of the input is the wish to leave."""
        pressed = os.read(self._file, 1)
        if pressed == ESCAPE and select.select([self._file], [], [], 0)[0]:
            os.read(self._file, 16)
            return "?"
        return pressed.decode("utf-8", "replace") or "q"

    def line(self, question: str) -> str:
        import termios

        termios.tcsetattr(self._file, termios.TCSADRAIN, self._usual)
        try:
            answer: str = click.prompt(question, default="", show_default=False, err=True)
        finally:
            self._single()
        return answer.strip()

    def show(self, item: dict[str, Any], handoff: dict[str, Any] | None, place: str) -> None:
        def draw(screen: Screen) -> None:
            from baton_cli.screens import approval

            approval.looked_at(screen, item, handoff, place)

        self._out.draw(draw)

    def say(self, text: str) -> None:
        complain(text)
