"""What the process itself has: time, ids, a secret."""

from __future__ import annotations

from datetime import datetime
from typing import Protocol


class Clock(Protocol):
    def now(self) -> datetime:
        """Returns the time: aware, UTC, whole milliseconds. May be wrong by minutes: versions and fences decide, not
        clocks."""

    def sleep(self, seconds: float) -> None:
        """Only for jittered retries and long polls."""


class Ids(Protocol):
    def new(self, prefix: str, at: datetime) -> str:
        """Returns a new sortable id (``deps.domain.ids``)."""

    def secret(self) -> str:
        """Returns 64 hexadecimal characters from the operating system's random source."""


class CallbackKey(Protocol):
    def get(self) -> bytes:
        """Returns the deployment's secret, from which the addresses of callbacks are derived. Raises ``Busy``."""
