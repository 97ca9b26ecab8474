"""A status line for a person while a command waits for the API. It is cleared once there is something to show."""

from __future__ import annotations

import contextlib
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

from baton_cli.output import Output, is_terminal

QUIET_SECONDS = 1.0
_PAUSE_SECONDS = 1.0  # a longer pause between two requests ends the row
_CLEARED = "\r\x1b[2K"


class WaitingLine:
    """The line appears after ``quiet_seconds`` of requests in a row, unless the command has said itself what it waits
    for. For one thread."""

    def __init__(self, out: Output, quiet_seconds: float = QUIET_SECONDS) -> None:
        self._out, self._quiet_seconds = out, quiet_seconds
        self._begun_at = self._ended_at = time.monotonic()
        self._answers = 0

    @contextmanager
    def for_answer(self) -> Iterator[None]:
        """A context around one request."""
        if self._out.has_said or not is_terminal(sys.stderr):
            yield
            return
        line = _Line(self._text(), self._quiet_seconds - self._waited())
        try:
            yield
        finally:
            line.end()
            self._answers += 1
            self._ended_at = time.monotonic()

    def _waited(self) -> float:
        """Returns the seconds since the first of the requests in a row."""
        now = time.monotonic()
        if now - self._ended_at > _PAUSE_SECONDS:
            self._begun_at, self._answers = now, 0
        return now - self._begun_at

    def _text(self) -> str:
        so_far = f", {self._answers} answers so far" if self._answers > 1 else ""
        return f"waiting for the API{so_far} …"


class _Line:
    """A line that another thread shows after a while, unless it was ended before."""

    def __init__(self, text: str, after_seconds: float) -> None:
        self._text, self._is_shown = text, False
        self._timer = threading.Timer(max(0.0, after_seconds), self._show)
        self._timer.daemon = True
        self._timer.start()

    def end(self) -> None:
        self._timer.cancel()
        self._timer.join()
        if self._is_shown:
            _print(_CLEARED)

    def _show(self) -> None:
        self._is_shown = True
        _print(self._text)


def _print(text: str) -> None:
    with contextlib.suppress(OSError, ValueError):
        sys.stderr.write(text)
        sys.stderr.flush()
