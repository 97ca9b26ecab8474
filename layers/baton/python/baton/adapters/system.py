"""The machine's clock and randomness."""

from __future__ import annotations

import os
import time
from datetime import UTC, datetime

from baton.domain import times
from baton.domain.access.token import SECRET_BYTES
from baton.domain.ids import RANDOM_BYTES, sortable_id
from baton.ports.system import Clock, Ids


class SystemClock:
    def now(self) -> datetime:
        return times.whole_ms(datetime.now(UTC))

    def monotonic(self) -> float:
        return time.monotonic()

    def sleep(self, seconds: float) -> None:
        time.sleep(seconds)


class RandomIds:
    def new(self, prefix: str, at: datetime) -> str:
        return sortable_id(prefix, at, os.urandom(RANDOM_BYTES))

    def secret(self) -> str:
        return os.urandom(SECRET_BYTES).hex()


_clock: type[Clock] = SystemClock
_ids: type[Ids] = RandomIds
