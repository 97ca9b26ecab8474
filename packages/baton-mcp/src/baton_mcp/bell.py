"""The bell: connections over which Baton says when to look, in place of asking each few seconds. What it says is a
hint, which may be lost, doubled, late or wrong."""

from __future__ import annotations

import json
import logging
import random
import sys
from dataclasses import dataclass, field
from datetime import UTC, datetime
from http import HTTPStatus
from typing import Any
from urllib.parse import quote, urlsplit

import anyio
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import InvalidStatus

from baton_client.core import Request
from baton_client.errors import NoAnswer
from baton_client.profiles import is_seen_on_its_way
from baton_mcp.mcp_connection import Api
from baton_mcp.profile import ServerProfile

# While all is heard, a look comes so many times as seldom: some news isn't rung for.
SELDOMER = 18
# Lists lag: a look that follows a ring is made once more so much later.
SETTLE_SECONDS = 2.0
SHORTEST_PAUSE_SECONDS = 1.0
ANSWER_SECONDS = 10.0
LOOK_SECONDS = 540.0
LONGEST_PAUSE_SECONDS = 60.0
NO_BELL_PAUSE_SECONDS = 300.0
SOUND_SECONDS = 60.0
MOST_DUES = 100
MAX_BYTES = 4096
LOOK = json.dumps({"action": "look"})
# What a further try would be answered with as well.
_REFUSALS = {400, 401, 403, 404, 422}


class NoBell(Exception):
    """There is no bell, and none is to be expected soon; the message says why."""


@dataclass(slots=True)
class Bell:
    """Listens to the topics, each over a connection of its own. That there is no bell, or that it can't be used, is
    said on standard error, once. ``answer_seconds``: so long the bell has for its answer."""

    api: Api
    profile: ServerProfile
    topics: tuple[str, ...]
    answer_seconds: float = ANSWER_SECONDS
    _open: set[str] = field(default_factory=set)
    _dues: set[float] = field(default_factory=set)
    _changed: anyio.Event = field(default_factory=anyio.Event)
    _has_complained: bool = False

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
        logging.getLogger("websockets").addHandler(logging.NullHandler())
        async with anyio.create_task_group() as tasks:
            for topic in self.topics:
                tasks.start_soon(self._listen_for_ever, topic)

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

    async def _listen_for_ever(self, topic: str) -> None:
        failures = 0
        while True:
            begun_at, pause = anyio.current_time(), 0.0
            try:
                await self._listen(topic)
            except NoBell as exc:
                why, pause = str(exc), NO_BELL_PAUSE_SECONDS
            except Exception as exc:  # noqa: BLE001 - whatever it is, the bell is only a hint: others are asked
                why = f"the bell doesn't answer ({type(exc).__name__})"
            self._open.discard(topic)
            self._tell()
            failures = 0 if anyio.current_time() - begun_at > SOUND_SECONDS else failures + 1
            if failures:
                self._complain(why)
            pause = pause or min(2.0**failures, LONGEST_PAUSE_SECONDS)
            await anyio.sleep(pause * random.uniform(0.5, 1.0))  # noqa: S311

    async def _listen(self, topic: str) -> None:
        """Raises whatever ends the connection."""
        url, look_seconds = await self._found()
        parts = urlsplit(url)
        is_here = (parts.hostname or "").endswith(".localhost")
        here: dict[str, Any] = {"host": "127.0.0.1", "port": parts.port or 80, "proxy": None} if is_here else {}
        try:
            wire = await connect(
                f"{url}?listen={quote(topic, safe=':')}",
                additional_headers={"Authorization": f"Bearer {self.profile.token}"},
                compression=None,
                open_timeout=self.answer_seconds,
                close_timeout=1,
                ping_interval=None,
                max_size=MAX_BYTES,
                **here,
            )
        except InvalidStatus as exc:
            if exc.response.status_code in _REFUSALS:
                raise NoBell(f"the bell refuses ({exc.response.status_code})") from exc
            raise
        try:
            await self._attend(wire, topic, look_seconds)
        finally:
            with anyio.CancelScope(shield=True):  # also at the session's end, for as long as close_timeout says
                await wire.close()

    async def _found(self) -> tuple[str, float]:
        """Returns the bell's address, and how often to look. Raises ``NoBell`` and ``NoAnswer``."""
        answer = await self.api.send(Request("GET", "/bell"), self.answer_seconds)
        if answer.status == 0 or answer.status == HTTPStatus.TOO_MANY_REQUESTS or answer.status >= 500:
            raise NoAnswer(f"the API answers {answer.status}")
        match answer.object if answer.status == HTTPStatus.OK else None:
            case {"url": str(url), **more}:
                if is_seen_on_its_way(url.replace("ws", "http", 1)):
                    raise NoBell("the bell isn't encrypted")
                said = more.get("look_seconds")
                return url, float(said) if isinstance(said, int) and 1 <= said <= LOOK_SECONDS else LOOK_SECONDS
        raise NoBell("there is no bell here")

    async def _attend(self, wire: ClientConnection, topic: str, look_seconds: float) -> None:
        at, is_asked = anyio.current_time(), False
        while True:
            if at <= anyio.current_time():
                if is_asked:
                    raise TimeoutError
                await wire.send(LOOK)
                is_asked, at = True, anyio.current_time() + self.answer_seconds
            with anyio.move_on_after(at - anyio.current_time()):
                if self._heard(topic, await wire.recv()):
                    is_asked, at = False, anyio.current_time() + look_seconds * random.uniform(0.9, 1.0)  # noqa: S311

    def _heard(self, topic: str, said: str | bytes) -> bool:
        """Notes what a message says. Returns True for the answer to a look. One that can't be read says nothing."""
        try:
            message = json.loads(said)
        except (ValueError, RecursionError):
            return False
        match message:
            case {"ring": str(rung), **more} if rung == topic:
                self._note_around(_seconds_to(more.get("due_at")))
            case {"looked": str(looked)} if looked == topic:
                if topic not in self._open:
                    self._open.add(topic)
                    self._note_around(0.0)
                return True
        return False

    def _note_around(self, seconds: float) -> None:
        for each in (0.0, SETTLE_SECONDS):
            self._note(anyio.current_time() + seconds + each)

    def _complain(self, why: str) -> None:
        if not self._has_complained:
            self._has_complained = True
            print(f"baton-mcp: {why}: looking each few seconds meanwhile", file=sys.stderr, flush=True)


def _seconds_to(due_at: Any) -> float:
    """Returns 0 for a time that is past or can't be read."""
    try:
        return max(0.0, (datetime.fromisoformat(due_at).astimezone(UTC) - datetime.now(UTC)).total_seconds())
    except (ValueError, TypeError, OverflowError):
        return 0.0
