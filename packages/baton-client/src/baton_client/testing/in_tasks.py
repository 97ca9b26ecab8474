"""``AsyncBaton`` on a Baton in this process."""

from __future__ import annotations

import asyncio
from typing import TypeVar

from baton_client.asynchronous import AsyncBaton
from baton_client.core import Flow
from baton_client.testing.in_process import InWorld

T = TypeVar("T")


class InTasks(InWorld, AsyncBaton):
    async def _played(self, flow: Flow[T]) -> T:
        turns = self._turns(flow, lambda: len(asyncio.all_tasks()) > 1 or self._process.has_other_threads())
        await asyncio.sleep(0)  # as for a request, which other tasks don't wait for
        try:
            while True:  # noqa: ASYNC110 - no event tells whose turn it is
                await asyncio.sleep(next(turns))
        except StopIteration as ended:
            return ended.value  # type: ignore[no-any-return]
