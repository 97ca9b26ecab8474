"""The client for tasks. It may be shared by any number of tasks of one event loop."""

# The modules of this package share what its users don't see.
# pyright: reportPrivateUsage=false

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncGenerator, AsyncIterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from functools import cached_property, partial
from types import TracebackType
from typing import Self, TypeVar

from baton_client.async_wire import AsyncWires
from baton_client.bells import MOST_BELLS
from baton_client.claiming import Claimed, ClaimOrder
from baton_client.claims import WorkVerbs
from baton_client.core import AGENT, Answer, Flow, Listen, Pause, Send
from baton_client.synchronous import LEASE_SECONDS, Session
from baton_client.verbs import Tasks

T = TypeVar("T")


class AsyncWork(WorkVerbs, Tasks):
    """A context: an exception in it is a failure that may be retried, an interrupt or a cancellation a release. Work
    that nobody ended is a failure, too. Its heartbeats are a thread's: what blocks the event loop doesn't stop them."""

    def __init__(self, baton: AsyncBaton, claimed: Claimed, agent: str) -> None:
        super().__init__(claimed, agent, baton.patience, baton._heartbeats)
        self.baton = baton  # the client that has claimed it

    async def _played(self, flow: Flow[T]) -> T:
        return await self.baton._played(flow)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, _kind: object, error: BaseException | None, _trace: TracebackType | None) -> None:
        # Said also if the task is cancelled once more meanwhile.
        await asyncio.shield(asyncio.ensure_future(self._played(self._left(error))))


class AsyncBaton(Session, Tasks):
    """The client for tasks of one event loop, which may share one."""

    @asynccontextmanager
    async def claim(
        self,
        agent: str | None = None,
        *,
        task: str | None = None,
        wait: float | None = 20.0,
        lease_seconds: int = LEASE_SECONDS,
        worker: str | None = None,
    ) -> AsyncGenerator[AsyncWork | None, None]:
        """See ``Baton.claim``."""
        order = ClaimOrder(agent or self.agent, lease_seconds, worker, task)
        claimed = await self._played(self._claiming(order).within(wait, by_bell=False))
        if claimed is None:
            yield None
            return
        async with AsyncWork(self, claimed, order.agent) as work:
            yield work

    async def work(
        self,
        agent: str | None = None,
        *,
        concurrency: int = 1,
        idle_seconds: float | None = None,
        lease_seconds: int = LEASE_SECONDS,
        worker: str | None = None,
    ) -> AsyncIterator[AsyncWork]:
        """See ``Baton.work``."""
        order = ClaimOrder(agent or self.agent, lease_seconds, worker)
        claiming, places = self._claiming(order), asyncio.Semaphore(concurrency)
        loop = asyncio.get_running_loop()
        while True:
            await places.acquire()
            claimed = await self._played(claiming.within(idle_seconds, by_bell=True))
            if claimed is None:
                return
            work = AsyncWork(self, claimed, order.agent)
            work.ended.call(partial(_release, loop, places))
            try:
                yield work
            finally:
                if concurrency == 1:
                    await self._played(work._left(None))

    async def close(self) -> None:
        """Closes the connections."""
        self._bells.close()
        self._caller.close()
        if "_async_wires" in vars(self):
            await self._async_wires.close()
        if "_threads" in vars(self):
            self._threads.shutdown(wait=False)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    @cached_property
    def _async_wires(self) -> AsyncWires:
        return AsyncWires(self.url, self.profile.token, AGENT)

    @cached_property
    def _threads(self) -> ThreadPoolExecutor:
        return ThreadPoolExecutor(MOST_BELLS, "bells")

    async def _played(self, flow: Flow[T]) -> T:
        answer: Answer | None = None
        try:
            while True:
                step = flow.send(answer)  # type: ignore[arg-type]
                answer = await self._done(step)
        except StopIteration as ended:
            return ended.value  # type: ignore[no-any-return]

    async def _done(self, step: Send | Pause | Listen) -> Answer:
        match step:
            case Send(request, seconds):
                return await self._async_wires.send(request, seconds)
            case Pause(seconds, why):
                if why:
                    self._say(f"{why}: again in {seconds:.0f} s …")
                await asyncio.sleep(seconds)
                return Answer(took=seconds)
            case Listen(topic):
                try:
                    return await asyncio.get_running_loop().run_in_executor(self._threads, self._bells.wait, step)
                except asyncio.CancelledError:
                    self._bells.stop(topic)
                    raise


def _release(loop: asyncio.AbstractEventLoop, places: asyncio.Semaphore) -> None:
    with contextlib.suppress(RuntimeError):  # the loop is closed: nobody waits for a place any more
        loop.call_soon_threadsafe(places.release)
