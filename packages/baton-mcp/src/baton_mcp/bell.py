"""The bell of the channel: it says when to look, in place of asking each few seconds. What it says is a hint, which may
be lost, doubled, late or wrong. The client listens (``baton_client.bell``), to each topic in a thread."""

from __future__ import annotations

from dataclasses import dataclass, field
from http import HTTPStatus

import anyio
import anyio.to_thread

from baton_client.bells import Bells
from baton_client.core import Listen

# While all is heard, a look comes so many times as seldom: some news isn't rung for.
SELDOMER = 18
# Lists lag: a look that follows a ring is made once more so much later.
SETTLE_SECONDS = 2.0
SHORTEST_PAUSE_SECONDS = 1.0
LISTEN_SECONDS = 10.0  # at most so late it is known that a bell is open
AWAY_PAUSE_SECONDS = 5.0  # before a bell that is away is listened for again
MOST_DUES = 100


@dataclass(slots=True)
class Bell:
    bells: Bells
    topics: tuple[str, ...]
    _open: set[str] = field(default_factory=set)
    _dues: set[float] = field(default_factory=set)
    _changed: anyio.Event = field(default_factory=anyio.Event)

    async def wait(self, every_seconds: float, due_seconds: float | None = None) -> None:
        """Returns when it is time to look: once something is due, or else after ``every_seconds``, much seldomer while
        all topics are heard. ``due_seconds``: in how many seconds something is due, if that is known."""
        begun_at = anyio.current_time()
        due_at = begun_at + (float("inf") if due_seconds is None else due_seconds)
        while (left := self._next_at(begun_at, every_seconds, due_at) - anyio.current_time()) > 0:
            with anyio.move_on_after(left):
                await self._changed.wait()
        self._dues = {each for each in self._dues if each > anyio.current_time()}

    async def run(self) -> None:
        """Listens. Never ends."""
        try:
            async with anyio.create_task_group() as tasks:
                for topic in self.topics:
                    tasks.start_soon(self._listen, topic)
        finally:
            self.bells.close()

    def _next_at(self, begun_at: float, every_seconds: float, due_at: float) -> float:
        if len(self._open) < len(self.topics):
            return begun_at + every_seconds
        earliest = begun_at + min(every_seconds, SHORTEST_PAUSE_SECONDS)
        return min(max(min({due_at, *self._dues}), earliest), begun_at + SELDOMER * every_seconds)

    def _note(self, moment: float) -> None:
        self._dues = set(sorted({*self._dues, moment})[:MOST_DUES])
        self._tell()

    def _tell(self) -> None:
        self._changed.set()
        self._changed = anyio.Event()

    async def _listen(self, topic: str) -> None:
        step = Listen(topic, LISTEN_SECONDS)
        while True:
            answer = await anyio.to_thread.run_sync(self.bells.wait, step, abandon_on_cancel=True)
            if answer.status:
                self._open.add(topic)
                for each in (0.0, SETTLE_SECONDS) if answer.status == HTTPStatus.OK else ():
                    self._note(anyio.current_time() + each)
                continue
            self._open.discard(topic)
            self._tell()
            await anyio.sleep(AWAY_PAUSE_SECONDS)
