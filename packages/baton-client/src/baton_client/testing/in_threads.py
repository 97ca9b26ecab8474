"""``Baton`` on a Baton in this process."""

from __future__ import annotations

import time
from typing import TypeVar

from baton_client.core import Flow
from baton_client.synchronous import Baton
from baton_client.testing.in_process import InWorld

T = TypeVar("T")


class InThreads(InWorld, Baton):
    def _played(self, flow: Flow[T]) -> T:
        turns = self._turns(flow, self._process.has_other_threads)
        try:
            while True:
                time.sleep(next(turns))
        except StopIteration as ended:
            return ended.value  # type: ignore[no-any-return]
