"""A person's terminal, for the approvals queue."""

from __future__ import annotations

import os
import select
import sys
import termios
from collections.abc import Iterator
from contextlib import contextmanager

import click

from baton_cli.approval_decisions import ShownApproval
from baton_cli.command_context import CommandContext
from baton_cli.output import complain
from baton_cli.question_decisions import ShownQuestion
from baton_cli.screens.message import Cut
from baton_client.errors import Misused

ESCAPE = b"\x1b"
# A key that is held down repeats faster than this; a person doesn't press one so fast.
REPEAT_SECONDS = 0.08


class ApprovalTerminal:
    """Within ``key_mode()`` a key is read as it is pressed. Keys that were pressed before a task was shown are dropped:
    they were meant for the task before. An interrupt still interrupts."""

    def __init__(self, app: CommandContext) -> None:
        self._out, self._file = app.out, sys.stdin.fileno()

    @contextmanager
    def key_mode(self) -> Iterator[ApprovalTerminal]:
        self._usual = termios.tcgetattr(self._file)
        self._single()
        try:
            yield self
        finally:
            termios.tcsetattr(self._file, termios.TCSADRAIN, self._usual)

    def _single(self) -> None:
        """Sets the terminal to single keys, without echo."""
        modes = termios.tcgetattr(self._file)
        modes[3] &= ~(termios.ICANON | termios.ECHO)
        modes[6] = [*modes[6]]
        modes[6][termios.VMIN], modes[6][termios.VTIME] = 1, 0
        termios.tcsetattr(self._file, termios.TCSADRAIN, modes)

    def key(self) -> str:
        """Returns the key that was pressed, and ``q`` at the end of the input. Empty for an arrow and the like, and for
        a key that is held down or pasted: it would decide on tasks that nobody has seen."""
        pressed = os.read(self._file, 1)
        if pressed == ESCAPE and self._goes_on(0):
            os.read(self._file, 16)
            return ""
        if pressed and self._goes_on(REPEAT_SECONDS):
            while self._goes_on(2 * REPEAT_SECONDS):
                os.read(self._file, 1_024)
            return ""
        return pressed.decode("utf-8", "replace") or "q"

    def _goes_on(self, seconds: float) -> bool:
        return bool(select.select([self._file], [], [], seconds)[0])

    @contextmanager
    def _usual_mode(self) -> Iterator[None]:
        """As the terminal was before: for a line, an editor or a pager."""
        termios.tcsetattr(self._file, termios.TCSADRAIN, self._usual)
        try:
            yield
        finally:
            self._single()

    def line(self, question: str) -> str:
        with self._usual_mode():
            answer: str = click.prompt(question, default="", show_default=False, err=True)
        return answer.strip()

    def edited(self, text: str) -> str | None:
        with self._usual_mode():
            try:
                return click.edit(text, extension=".json")
            except click.ClickException as failure:
                raise Misused("there is no editor", failure.message) from failure

    def show(self, shown: ShownApproval | ShownQuestion, *, is_whole: bool) -> int:
        cut = Cut(is_whole=is_whole)
        drawn = self._out.drawn(lambda screen: shown.draw(screen, cut))
        termios.tcflush(self._file, termios.TCIFLUSH)
        if is_whole:
            with self._usual_mode():
                self._out.paged(drawn)
        else:
            self._out.write(drawn)
        return cut.hidden

    def say(self, text: str) -> None:
        complain(text)
