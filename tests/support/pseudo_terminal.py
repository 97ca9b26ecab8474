"""A program in a real pseudo-terminal: its screen, and the keys that a test presses."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import select
import struct
import subprocess
import sys
import termios
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

PATIENCE_SECONDS = 30.0
# Interrupts come from the terminal that a session controls. (No preexec_fn: this process has threads.)
TAKING = "import fcntl, os, sys, termios; fcntl.ioctl(0, termios.TIOCSCTTY, 0); os.execv(sys.argv[1], sys.argv[1:])"
ESCAPES = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]|\x1b[=>]|\r")


@dataclass
class PseudoTerminal:
    process: subprocess.Popen[bytes]
    _file: int
    raw: str = ""
    _seen: int = 0

    def sees(self, text: str) -> str:
        """Waits until the text is on the screen, after what was seen before. Returns all up to the text."""
        while (at := self.screen.find(text, self._seen)) < 0:
            if not self._read():
                raise AssertionError(f"it ended without {text!r}:\n{self.screen}")
        seen, self._seen = self.screen[self._seen : at + len(text)], at + len(text)
        return seen

    def press(self, keys: str) -> None:
        os.write(self._file, keys.encode())

    def ends(self) -> int:
        """Returns the exit code once the program has ended."""
        while self._read():
            pass
        return self.process.wait(PATIENCE_SECONDS)

    @property
    def screen(self) -> str:
        """Returns what was written, without colours."""
        return ESCAPES.sub("", self.raw)

    def _read(self) -> bool:
        ready, _, _ = select.select([self._file], [], [], PATIENCE_SECONDS)
        assert ready, f"nothing came for {PATIENCE_SECONDS} s:\n{self.screen}"
        try:
            content = os.read(self._file, 65_536)
        except OSError:  # the other end was closed
            return False
        self.raw += content.decode("utf-8", "replace")
        return bool(content)


@contextmanager
def pseudo_terminal(
    command: Sequence[str], environment: Mapping[str, str], *, columns: int = 100, lines: int = 40
) -> Iterator[PseudoTerminal]:
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", lines, columns, 0, 0))

    options: dict[str, Any] = {"stdin": theirs, "stdout": theirs, "stderr": theirs}
    whole = [sys.executable, "-c", TAKING, *command]
    process = subprocess.Popen(whole, env=dict(environment), start_new_session=True, **options)
    os.close(theirs)
    try:
        yield PseudoTerminal(process, ours)
    finally:
        process.kill()
        process.wait(PATIENCE_SECONDS)
        os.close(ours)
