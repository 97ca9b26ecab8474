"""A person's terminal, for the approvals queue."""

from __future__ import annotations

import os
import select
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import click

from baton_cli.approval_decisions import ShownApproval
from baton_cli.command_context import CommandContext
from baton_cli.failures import Misused
from baton_cli.output import complain
from baton_cli.question_decisions import ShownQuestion

if TYPE_CHECKING:
    from baton_cli.screen import Screen
    from baton_cli.screens.message import Cut

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
        import termios

        self._usual = termios.tcgetattr(self._file)
        self._single()
        try:
            yield self
        finally:
            termios.tcsetattr(self._file, termios.TCSADRAIN, self._usual)

    def _single(self) -> None:
        """Sets the terminal to single keys, without echo."""
        import termios

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

    def line(self, question: str) -> str:
        import termios

        termios.tcsetattr(self._file, termios.TCSADRAIN, self._usual)
        try:
            answer: str = click.prompt(question, default="", show_default=False, err=True)
        finally:
            self._single()
        return answer.strip()

    def edited(self, text: str) -> str | None:
        import termios

        termios.tcsetattr(self._file, termios.TCSADRAIN, self._usual)
        try:
            return click.edit(text, extension=".json")
        except click.ClickException as failure:
            raise Misused("there is no editor", failure.message) from failure
        finally:
            self._single()

    def show(self, shown: ShownApproval, *, is_whole: bool) -> int:
        from baton_cli.screens import approval

        return self._shown(lambda screen, cut: approval.looked_at(screen, shown, cut), is_whole=is_whole)

    def show_question(self, shown: ShownQuestion, *, is_whole: bool) -> int:
        from baton_cli.screens import question

        draw = question.looked_at
        return self._shown(lambda screen, cut: draw(screen, shown.question, cut, shown.place), is_whole=is_whole)

    def _shown(self, draw: Callable[[Screen, Cut], None], *, is_whole: bool) -> int:
        import termios

        from baton_cli.screens.message import Cut

        cut = Cut(is_whole=is_whole)
        drawn = self._out.drawn(lambda screen: draw(screen, cut))
        termios.tcflush(self._file, termios.TCIFLUSH)
        if is_whole:
            self._paged(drawn)
        else:
            self._out.write(drawn)
        return cut.hidden

    def _paged(self, text: str) -> None:
        import termios

        termios.tcsetattr(self._file, termios.TCSADRAIN, self._usual)
        try:
            self._out.paged(text)
        finally:
            self._single()

    def say(self, text: str) -> None:
        complain(text)
