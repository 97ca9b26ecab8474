"""The worker's log, on standard error: a line for people on a terminal, elsewhere one JSON document per line."""

from __future__ import annotations

import json
import sys
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from threading import Lock
from typing import TextIO

from baton_cli.output import is_terminal
from baton_cli.text import one_line

_LOCK = Lock()
MOST = 300


@dataclass(frozen=True, slots=True)
class Log:
    stream: TextIO | None = field(default_factory=lambda: sys.stderr)
    ids: dict[str, str] = field(default_factory=dict)

    def about(self, **ids: str) -> Log:
        return Log(self.stream, {**self.ids, **ids})

    def __call__(self, action: str, message: str = "") -> None:
        at, said = datetime.now(UTC), one_line(message)[:MOST]
        if is_terminal(self.stream):
            line = " ".join(filter(None, [f"{at.astimezone():%H:%M:%S}", *self.ids.values(), action, said]))
        else:
            line = json.dumps(
                {"at": at.isoformat(timespec="milliseconds"), **self.ids, "action": action, "message": said}
            )
        with _LOCK, suppress(OSError, ValueError):  # the work goes on without its log
            if self.stream is not None:
                self.stream.write(line + "\n")
                self.stream.flush()
