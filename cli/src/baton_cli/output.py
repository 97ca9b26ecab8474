"""The output of a command: on a terminal a screen for people, elsewhere one JSON document."""

from __future__ import annotations

import codecs
import contextlib
import os
import shutil
import sys
from collections.abc import Callable
from datetime import datetime
from typing import TYPE_CHECKING, Any

from baton_cli import times
from baton_cli.failures import Failure
from baton_cli.text import json_text, visible
from baton_client import numbers
from baton_client.errors import Misused

if TYPE_CHECKING:
    from baton_cli.screen import Screen

SHORT_CHARACTERS = 200  # of a text that is repeated on standard error
# Variables of the shells that agents use: nobody is there to answer a question.
_AGENTS = ("CLAUDECODE", "CURSOR_AGENT", "CODEX_SANDBOX", "AGENT", "AI_AGENT")


class ReaderGone(Exception):
    """The reader of standard output has closed it."""


class OutputLost(Failure):
    """Standard output can't be written, of a command that has changed nothing."""


class Output:
    """``wants``: "json", "text" or "name", as the flags say, or empty. ``query``: the expression that picks of the
    document. ``noted`` is called with each answer, and whether all of it is printed. ``has_changed``: the command has
    changed something, so that no failure of its output may end it: its exit code is that of its answer."""

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
        self.has_changed: Callable[[], bool] = lambda: False
        self._answer: Any = None
        self._is_lost = False
        self.has_said = False  # a remark was written

    def show(self, document: Any, draw: Callable[[Screen], None]) -> None:
        """Prints the document as JSON, or draws its screen."""
        self._answer = document
        self._noted(document, not self._query and self._wants != "name")
        if self.is_json:
            self.document(document)
            return
        try:
            drawn = self.drawn(draw)
        except Exception as exc:
            if not self.has_changed():
                raise
            complain(f"error: {type(exc).__name__}: {exc}\n  why: this is a bug of the command's; its answer as JSON:")
            self._json(document)
        else:
            self.write(drawn)

    def document(self, document: Any, *, indent: int | None = 2) -> None:
        self._answer = document
        if self._query or self._wants == "name":
            self._pick(document)
        else:
            self._json(document, indent)

    def _json(self, document: Any, indent: int | None = 2) -> None:
        self.write(json_text(numbers.dumps(document, ensure_ascii=not _is_unicode(sys.stdout), indent=indent)) + "\n")

    def _pick(self, document: Any) -> None:
        from baton_cli import answer_query

        if self._query:
            try:
                picked = answer_query.picked(document, self._query, ensure_ascii=not _is_unicode(sys.stdout))
            except Misused as misuse:
                if not self.has_changed():
                    raise
                complain(f"error: {misuse.what}\n  why: {misuse.why}; the whole answer:")
                self._json(document)
            else:
                self.write(f"{visible(picked)}\n")
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
        """Writes to standard output. Raises ``ReaderGone`` and ``OutputLost``, unless the command has changed
        something."""
        if sys.stdout is None:
            self._lose(text, "it is closed", ReaderGone())
            return
        encoding = sys.stdout.encoding or "utf-8"
        try:
            sys.stdout.write(text.encode(encoding, "backslashreplace").decode(encoding))
            sys.stdout.flush()
        except BrokenPipeError as exc:
            self._lose(text, "its reader has closed it", ReaderGone(), exc)
        except OSError as exc:
            why = exc.strerror or str(exc)
            lost = OutputLost("standard output can't be written", why, "free its disk, or send it elsewhere")
            self._lose(text, why, lost, exc)

    def _lose(self, text: str, why: str, failure: Exception, cause: Exception | None = None) -> None:
        """Says once, on standard error, what a script needs of a lost answer. Raises the failure of a command that has
        changed nothing."""
        from baton_cli.answer_query import names

        if not self.has_changed():
            raise failure from cause
        if not self._is_lost:
            found = " ".join(names(self._answer)) or (text.strip() if len(text) <= SHORT_CHARACTERS else "")
            done = f"it was done{f': {found}' if found else ''}"
            complain(f"error: standard output can't be written\n  why: {why}\n  next: don't repeat the command, {done}")
        self._is_lost = True

    def say(self, text: str) -> None:
        """Writes a remark to standard error, if that is a terminal."""
        self.has_said = True
        if is_terminal(sys.stderr):
            complain(text)


def complain(text: str) -> None:
    """Writes a line to standard error, if that is open."""
    if sys.stderr is not None:
        with contextlib.suppress(OSError, ValueError):
            print(visible(text), file=sys.stderr, flush=True)


def _is_unicode(stream: Any) -> bool:
    """True if each character can be written. Of another encoding's characters JSON has its own escapes."""
    encoding = getattr(stream, "encoding", None) or "utf-8"
    return codecs.lookup(encoding).name.startswith("utf")


def is_terminal(stream: Any) -> bool:
    return stream is not None and not stream.closed and bool(stream.isatty())


def may_ask() -> bool:
    """Returns True if a person is there to answer a question."""
    return is_terminal(sys.stdin) and is_terminal(sys.stderr) and not any(os.environ.get(each) for each in _AGENTS)
