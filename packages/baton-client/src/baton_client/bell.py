"""The bell: a connection over which Baton says when to look, in place of asking again and again. What it says is a
hint, which may be lost, doubled, late or wrong: whoever waits by it looks by a usual request, and asks again and again
where there is no bell."""

from __future__ import annotations

import contextlib
import json
import random
import socket
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from enum import Enum
from http import HTTPStatus
from threading import Condition, Event, Thread
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, urlsplit

from baton_client.core import AGENT, Request
from baton_client.errors import NoAnswer
from baton_client.profiles import Profile, is_seen_on_its_way
from baton_client.wire import LOOPBACK, Wires

if TYPE_CHECKING:
    from websockets.sync.client import ClientConnection

# What was due before that isn't what a look should find.
STALE_SECONDS = 2.0
# The most seconds between two looks of a connection: API Gateway ends one that is silent for ten minutes.
LOOK_SECONDS = 540.0
MAX_BYTES = 4096
MAX_DUES = 100
LOOK = json.dumps({"action": "look"})
# What a further try would be answered with as well.
_REFUSALS = {400, 401, 403, 404, 422}


@dataclass(frozen=True, slots=True)
class BellTimes:
    """In seconds. ``patience``: so long a caller waits to learn whether there is a bell. ``answer``: so long the bell
    has for its answer; without one the connection is dead. ``settle``: between the first two looks, as Baton's indexes
    lag. ``linger``: if nobody has waited for so long, the connection ends, so that others are rung; longer than a long
    poll. ``retry``: the pause after a connection was lost, which doubles with each failure up to ``longest_retry``; a
    connection that lasted ``sound`` seconds begins anew. ``no_bell``: the pause where there is none. ``shortest`` and
    ``longest``: between two looks in vain that follow each other, doubling."""

    patience: float = 2.0
    answer: float = 10.0
    settle: float = 2.0
    linger: float = 30.0
    retry: float = 1.0
    longest_retry: float = 60.0
    sound: float = 60.0
    no_bell: float = 300.0
    shortest: float = 0.05
    longest: float = 1.0


class BellState(Enum):
    """``TRYING``: it isn't known yet whether there is a bell. ``AWAY``: there is none, or it doesn't answer."""

    TRYING = "trying"
    OPEN = "open"
    AWAY = "away"


class NoBell(Exception):
    """There is no bell, and none is to be expected soon; the message says why. ``retry_after`` in seconds: not before
    then, if Baton named a time."""

    def __init__(self, why: str, retry_after: float = 0.0) -> None:
        super().__init__(why)
        self.retry_after = retry_after


class Bell:
    """Listens to one topic in a thread of its own, from the first ``wait`` on. ``say`` gets one sentence, once, if
    there is no bell or it can't be used. A context: its end closes the connection."""

    def __init__(
        self, profile: Profile, topic: str, say: Callable[[str], None], times: BellTimes | None = None
    ) -> None:
        self._profile, self._topic, self._say, self._times = profile, topic, say, times or BellTimes()
        self._pause = 0.0  # between two looks
        self.was_due = False  # something, and not only the seconds were over, when the last wait ended
        self._changed, self._over = Condition(), Event()
        self._thread: Thread | None = None
        self._connection: ClientConnection | None = None
        self._state, self._known_by = BellState.TRYING, 0.0
        self._dues: list[float] = []  # when to look, by this machine's monotonic clock, the next one first
        self._woken_at = self._left_at = 0.0
        self._waiting = Event()  # somebody waits
        self._has_complained = False
        self._ahead_seconds = 0.0  # of this machine's clock, Baton's

    def __enter__(self) -> Bell:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def is_away(self) -> bool:
        """True while whoever waits has to ask again and again."""
        return self._state is BellState.AWAY

    def wait(self, seconds: float | None = None) -> bool:
        """Returns True when it is time to look: something is due, or the seconds are over. Returns False without a
        bell, or once it was lost: then ask as if there were none, at once. Not for two threads at once."""
        self._begin()
        try:
            with self._changed:
                return self._waited(None if seconds is None else time.monotonic() + seconds)
        finally:
            self._waiting.clear()
            self._left_at = time.monotonic()

    def expect(self, due_at: str, within: float = float("inf")) -> None:
        """Notes what an empty answer said of the next task's time, if it did. What has been due for long is none that a
        look would find, and of what is due in ``within`` seconds or more the bell tells as many as it takes."""
        with contextlib.suppress(ValueError, OverflowError):
            moment = self._moment(due_at)
            if -STALE_SECONDS < moment - time.monotonic() < within:
                self._note(moment)

    def stop(self) -> None:
        """Ends the wait, and all further ones at once."""
        self._over.set()
        self._waiting.set()
        with self._changed:
            self._changed.notify_all()

    def close(self) -> None:
        self.stop()
        if (connection := self._connection) is not None:
            connection.close()

    # The thread that waits

    def _begin(self) -> None:
        if self._state is BellState.TRYING:
            self._known_by = time.monotonic() + self._times.patience
        self._waiting.set()
        if self._thread is None:
            self._thread = Thread(target=self._run, name=f"bell {self._topic}", daemon=True)
            self._thread.start()

    def _waited(self, until: float | None) -> bool:
        now = time.monotonic()
        is_again = now - self._woken_at < 5 * self._times.longest
        self._pause = max(self._times.shortest, min(2 * self._pause, self._times.longest) if is_again else 0.0)
        while self._may_wait(now):
            due = max(self._dues[0], self._woken_at + self._pause) if self._dues else None
            ends = [each for each in (due, until) if each is not None]
            if self._state is BellState.TRYING:
                ends = [self._known_by, *([] if until is None else [until])]
            if ends and min(ends) <= now:
                break
            self._changed.wait(min(ends) - now if ends else None)
            now = time.monotonic()
        else:
            return False
        left = [each for each in self._dues if each > now]
        self.was_due, self._dues = len(left) < len(self._dues), left
        self._woken_at = now
        return True

    def _may_wait(self, now: float) -> bool:
        is_unknown = self._state is BellState.TRYING and now < self._known_by
        return (self._state is BellState.OPEN or is_unknown) and not self._over.is_set()

    def _note(self, moment: float) -> None:
        with self._changed:
            self._dues = sorted({*self._dues, moment})[:MAX_DUES]
            self._changed.notify_all()

    # The thread that listens

    def _run(self) -> None:
        failures = 0
        while not self._over.is_set():
            if not self._is_wanted:
                self._waiting.wait()
            begun_at, pause, earliest = time.monotonic(), 0.0, 0.0
            try:
                self._listen()
                continue
            except NoBell as exc:
                why, pause, earliest = str(exc), exc.retry_after or self._times.no_bell, exc.retry_after
            except Exception as exc:  # noqa: BLE001 - whatever it is, the bell is only a hint: others are asked
                why = f"the bell doesn't answer ({type(exc).__name__})"
            failures = 0 if time.monotonic() - begun_at > self._times.sound else failures + 1
            if failures and not self._over.is_set():
                self._complain(why)
            self._become(BellState.AWAY)
            pause = pause or min(self._times.retry * 2.0**failures, self._times.longest_retry)
            self._over.wait(earliest + pause * random.uniform(0.5, 1.0))  # noqa: S311

    def _listen(self) -> None:
        """Returns once nobody waits any more. Raises whatever ends the connection before."""
        from websockets.exceptions import InvalidStatus

        url, look_seconds = self._found()
        try:
            with self._connected(url) as self._connection:
                self._attend(self._connection, look_seconds)
        except InvalidStatus as exc:
            if (status := exc.response.status_code) in _REFUSALS:
                raise NoBell(f"the bell refuses ({status})") from exc
            if retry_after := _seconds(exc.response.headers.get("Retry-After", "")):
                raise NoBell(f"the bell refuses for {retry_after:.0f} s ({status})", retry_after) from exc
            raise
        finally:
            self._connection = None

    def _found(self) -> tuple[str, float]:
        """Returns the address of the topic, and how often to look. Sets the clock right. Raises ``NoBell`` and
        ``NoAnswer``."""
        wires, sent_at = Wires(self._profile.url, self._profile.token, AGENT), time.time()
        try:
            reply = wires.send(Request("GET", "/bell"), self._times.answer)
        finally:
            wires.close()
        if reply.status == 0:
            raise NoAnswer("the API doesn't answer", reply.why)
        self._ahead_seconds = ahead_seconds(reply.headers.get("date", ""), sent_at, time.time())
        match reply.json if reply.status == HTTPStatus.OK else None:
            case {"url": str(url), **more}:
                if is_seen_on_its_way(url.replace("ws", "http", 1)):
                    raise NoBell("the bell isn't encrypted")
                said = more.get("look_seconds")
                seconds = float(said) if isinstance(said, int) and 1 <= said <= LOOK_SECONDS else LOOK_SECONDS
                return f"{url}?listen={quote(self._topic, safe=':')}", seconds
            case _:
                pass
        if reply.status >= HTTPStatus.INTERNAL_SERVER_ERROR or reply.status == HTTPStatus.TOO_MANY_REQUESTS:
            raise NoAnswer(f"the API answers {reply.status}")
        raise NoBell("there is no bell here")

    def _connected(self, url: str) -> ClientConnection:
        import logging

        from websockets.sync.client import connect

        logging.getLogger("websockets").addHandler(logging.NullHandler())
        parts = urlsplit(url)
        # Not every resolver knows *.localhost, which is this machine.
        is_here = (parts.hostname or "").endswith(".localhost")
        here: dict[str, Any] = {"address": (LOOPBACK, parts.port or 80), "proxy": None} if is_here else {}
        found: ClientConnection = connect(  # pyright: ignore[reportUnknownVariableType]
            url,
            additional_headers={"Authorization": f"Bearer {self._profile.token}"},
            user_agent_header=AGENT,
            compression=None,
            open_timeout=self._times.answer,
            close_timeout=1,
            ping_interval=None,
            max_size=MAX_BYTES,
            **here,
        )
        return found  # pyright: ignore[reportUnknownVariableType]

    def _attend(self, connection: ClientConnection, look_seconds: float) -> None:
        """Looks now, a little later, and then each ``look_seconds``; between hears what is rung. The bell is open with
        the first answer. Returns once nobody waits any more."""
        _keep_alive(connection.socket)
        pauses, at, is_asked = [self._times.settle], time.monotonic(), False
        while self._is_wanted:
            left = at - time.monotonic()
            if left <= 0:
                if is_asked:
                    raise TimeoutError
                connection.send(LOOK)
                is_asked, left = True, self._times.answer
                at = time.monotonic() + left
            with contextlib.suppress(TimeoutError):
                if self._hear(connection.recv(timeout=min(left, self._times.linger))):
                    self._become(BellState.OPEN)
                    pause = pauses.pop() if pauses else look_seconds * random.uniform(0.9, 1.0)  # noqa: S311
                    is_asked, at = False, time.monotonic() + pause
        self._become(BellState.TRYING)

    @property
    def _is_wanted(self) -> bool:
        is_waited_for = self._waiting.is_set() or time.monotonic() - self._left_at < self._times.linger
        return is_waited_for and not self._over.is_set()

    def _hear(self, said: str | bytes) -> bool:
        """Reads a message. Returns True for the answer to a look. An unreadable message is ignored. Raises ``NoBell``
        for the message that this connection or its token exceeds its rate."""
        try:
            message = json.loads(said)
        except (ValueError, RecursionError):
            return False
        match message:
            case {"ring": self._topic, **more}:
                self._note(self._moment_or_now(more.get("due_at")))
                if self._topic == "lists":  # which lag
                    self._note(time.monotonic() + self._times.settle)
            case {"looked": self._topic, **more}:
                # Of an agent's work the bell itself has looked; of other topics the caller has to.
                if "due_at" in more or not self._topic.startswith("work:"):
                    self._note(self._moment_or_now(more.get("due_at")))
                return True
            case {"refused": str(), **more}:
                retry_after = _seconds(str(more.get("retry_after_seconds", ""))) or self._times.longest_retry
                raise NoBell(f"the bell refuses for {retry_after:.0f} s", retry_after)
            case _:
                pass
        return False

    def _moment_or_now(self, due_at: Any) -> float:
        try:
            return self._moment(due_at)
        except (ValueError, TypeError, OverflowError):
            return time.monotonic()

    def _moment(self, due_at: str) -> float:
        """Returns a time of Baton's clock by this machine's monotonic one. Raises ``ValueError``, ``TypeError`` and
        ``OverflowError``."""
        at = datetime.fromisoformat(due_at).astimezone(UTC).timestamp()
        return time.monotonic() + at - (time.time() + self._ahead_seconds)

    def _become(self, state: BellState) -> None:
        with self._changed:
            self._state = state
            self._changed.notify_all()

    def _complain(self, why: str) -> None:
        if not self._has_complained:
            self._has_complained = True
            self._say(f"{why}: asking again and again meanwhile")


def _seconds(text: str) -> float:
    """Returns a pause as Baton names it; 0 for anything else. An hour at most."""
    return min(float(text), 3_600.0) if text.isdecimal() and len(text) < 10 else 0.0


def ahead_seconds(date: str, sent_at: float, received_at: float) -> float:
    """Returns by how much the clock of who answered is ahead of this machine's, as far as a ``Date`` tells, which has
    whole seconds: 0 for clocks that may well be the same."""
    try:
        at = parsedate_to_datetime(date).timestamp()
    except (ValueError, TypeError):
        return 0.0
    return min(max(0.0, at - received_at), at + 1 - sent_at)


def _keep_alive(wire: socket.socket) -> None:
    """Has the system notice a connection that is dead, and routers keep one that is silent, without a message."""
    with contextlib.suppress(OSError, AttributeError):
        wire.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
        wire.setsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPIDLE, 60)
