"""The output of a command: on a terminal a screen for people, elsewhere one JSON document."""

from __future__ import annotations

import contextlib
import os
import shutil
import sys
from collections.abc import Callable
from datetime import datetime
from typing import TYPE_CHECKING, Any

from baton_cli import times
from baton_cli.text import json_text, visible
from baton_client import numbers

if TYPE_CHECKING:
    from baton_cli.screen import Screen

# Variables of the shells that agents use: nobody is there to answer a question.
_AGENTS = ("CLAUDECODE", "CURSOR_AGENT", "CODEX_SANDBOX", "AGENT", "AI_AGENT")


class ReaderGone(Exception):
    """The reader of standard output has closed it."""


class Output:
    """``wants``: "json", "text" or "name", as the flags say, or empty. ``query``: the expression that picks of the
    document. ``noted`` is called with each answer, and whether all of it is printed."""

    def __init__(
        self,
        wants: str = "",
        *,
        query: str = "",
        utc: bool = False,
        clock: Callable[[], datetime] = times.now,
        noted: Callable[[Any, bool], None] = lambda _answer, _is_whole: None,
    ) -> None:
        self.is_terminal = is_terminal(sys.stdout)
        self.is_json = wants in {"json", "name"} or bool(query) or (wants != "text" and not self.is_terminal)
        self.utc, self._clock, self._noted = utc, clock, noted
        self._wants, self._query = wants, query
        self.has_said = False  # a remark was written

    def show(self, document: Any, draw: Callable[[Screen], None]) -> None:
        """Prints the document as JSON, or draws its screen."""
        self._noted(document, not self._query and self._wants != "name")
        if self.is_json:
            self.document(document)
        else:
            self.draw(draw)

    def document(self, document: Any, *, indent: int | None = 2) -> None:
        if self._query or self._wants == "name":
            self._pick(document)
            return
        self.write(json_text(numbers.dumps(document, ensure_ascii=False, indent=indent)) + "\n")

    def _pick(self, document: Any) -> None:
        from baton_cli import answer_query

        if self._query:
            self.write(f"{visible(answer_query.picked(document, self._query))}\n")
        elif found := answer_query.names(document):
            self.write("".join(f"{visible(each)}\n" for each in found))
        else:
            complain("the answer has no id: --json shows it, --query picks of it")

    def draw(self, draw: Callable[[Screen], None]) -> None:
        self.write(self.drawn(draw))

    def drawn(self, draw: Callable[[Screen], None]) -> str:
        """Returns the screen as text, with colours on a terminal that has them."""
        from baton_cli.screen import Screen

        screen = Screen(self._clock(), utc=self.utc, is_terminal=self.is_terminal)
        draw(screen)
        return screen.text()

    def paged(self, text: str) -> None:
        """Writes a screen; one that is longer than the terminal in $PAGER."""
        if not self.is_terminal or text.count("\n") < shutil.get_terminal_size().lines:
            self.write(text)
            return
        import click

        click.echo_via_pager(text, color=True)

    def write(self, text: str) -> None:
        if sys.stdout is None:
            raise ReaderGone
        try:
            sys.stdout.write(text)
            sys.stdout.flush()
        except BrokenPipeError as exc:
            raise ReaderGone from exc
        except UnicodeEncodeError:
            encoding = sys.stdout.encoding or "ascii"
            sys.stdout.write(text.encode(encoding, "backslashreplace").decode(encoding))

    def say(self, text: str) -> None:
        """Writes a remark to standard error, if that is a terminal."""
        self.has_said = True
        if is_terminal(sys.stderr):
            complain(text)


def complain(text: str) -> None:
    """Writes a line to standard error, if that is open."""
    if sys.stderr is not None:
        with contextlib.suppress(BrokenPipeError, ValueError):
            print(visible(text), file=sys.stderr, flush=True)


def is_terminal(stream: Any) -> bool:
    return stream is not None and not stream.closed and bool(stream.isatty())


def may_ask() -> bool:
    """Returns True if a person is there to answer a question."""
    return is_terminal(sys.stdin) and is_terminal(sys.stderr) and not any(os.environ.get(each) for each in _AGENTS)
