"""Requests by threads: it plays flows, and repeats requests where that is safe. For any number of threads."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, nullcontext
from copy import copy
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeVar

from baton_client import core
from baton_client.core import AGENT, TIMEOUT_SECONDS, Answer, Flow, Listen, Patience, Pause, Request, Send
from baton_client.profiles import Profile
from baton_client.wire import Wires

if TYPE_CHECKING:
    from baton_client.polls import Again, LongPoll

T = TypeVar("T")


class Caller:
    """``sleep``: for the pauses. ``say`` gets a sentence before each. ``during`` is entered while a request waits for
    its answer. ``listen``: waits by the bell, if there is one. ``changed`` is called once a request that may change
    something has succeeded."""

    def __init__(
        self,
        profile: Profile,
        patience: Patience | None = None,
        *,
        sleep: Callable[[float], None] | None = None,
        say: Callable[[str], None] = lambda _said: None,
        during: Callable[[], AbstractContextManager[None]] = nullcontext,
        listen: Callable[[Listen], Answer] = lambda _step: Answer(),
        changed: Callable[[], None] = lambda: None,
    ) -> None:
        self.profile, self.wires = profile, Wires(profile.url, profile.token, AGENT)
        self._patience, self._sleep = patience or Patience(), sleep or time.sleep
        self._say, self._during, self._listen, self._changed = say, during, listen, changed

    def lasting(self, seconds: float) -> Caller:
        """Returns a caller with the same connections that waits out an outage for so many seconds."""
        other = copy(self)
        other._patience = self._patience.lasting(seconds)
        return other

    @cached_property
    def _polls(self) -> LongPoll:
        from baton_client.polls import LongPoll

        return LongPoll(self._patience)

    @cached_property
    def _again(self) -> Again:
        from baton_client.polls import Again

        return Again()

    def played(self, flow: Flow[T]) -> T:
        answer: Answer | None = None
        try:
            while True:
                answer = self._done(flow.send(answer))  # type: ignore[arg-type] # the first is None
        except StopIteration as ended:
            return ended.value  # type: ignore[no-any-return]

    def request(
        self, method: str, path: str, body: Any = None, *, key: str | None = None, timeout: float = TIMEOUT_SECONDS
    ) -> Answer:
        """Sends a request once, and returns the answer, whatever its status. Raises ``NoAnswer`` if none came within
        ``timeout`` seconds."""
        answer = self._done(Send(Request(method, path, body, key), timeout))
        return answer if answer.status else core.body_of(answer)

    def call(self, request: Request[T], *, repeatable: bool = False, timeout: float = TIMEOUT_SECONDS) -> T:
        """Returns the answer's body. A request that is safe, has a key or is ``repeatable`` is sent again if no answer
        came, or one that says so. Raises ``Refused``, ``NoAnswer`` and ``Unreadable``."""
        asked = replace(request, repeatable=True) if repeatable else request
        return self.played(core.call(asked, self._patience, timeout))

    def answered(self, request: Request[Any], *, timeout: float = TIMEOUT_SECONDS) -> Answer:
        """Returns the answer, whatever its status, as ``call`` does."""
        return self.played(core.exchange(request, self._patience, timeout))

    def wait(self, request: Request[T], look: Request[T], seconds: float, left: float | None = None) -> T:
        """Returns the answer's body of a request that waits for ``seconds``, as ``call`` does. Where too many wait,
        that of ``look``, which doesn't wait. ``left``: for how long an outage is waited out. For one thread."""
        return self.played(self._polls.wait(replace(request, repeatable=True), look, seconds, left))[0]

    def get(self, path: str, query: Mapping[str, Any] | None = None, *, timeout: float = TIMEOUT_SECONDS) -> Any:
        return self.call(Request[Any]("GET", core.with_query(path, query or {})), timeout=timeout)

    def again(self, path: str, *, is_fresh: bool = False) -> Any:
        """Returns the body of a GET that is sent again and again (``Again``)."""
        return self.played(self._again.get(Request[Any]("GET", path), self._patience, is_fresh=is_fresh))

    def pages(self, path: str, query: Mapping[str, Any]) -> Iterator[Any]:
        """Yields a listing's pages, as they are asked for."""
        cursor: str | None = ""
        while cursor is not None:
            page = self.get(path, {**query, **({"cursor": cursor} if cursor else {})})
            yield page
            cursor = page.get("next_cursor")

    def close(self) -> None:
        """Closes the connections that nobody uses."""
        self.wires.close()

    def _done(self, step: Send | Pause | Listen) -> Answer:
        match step:
            case Send(request, seconds):
                with self._during():
                    answer = self.wires.send(request, seconds)
                if request.method != "GET" and 200 <= answer.status < 300:
                    self._changed()
                return answer
            case Pause(seconds, why):
                if why:
                    self._say(f"{why}: again in {seconds:.0f} s …")
                self._sleep(seconds)
                return Answer(took=seconds)
            case Listen():
                return self._listen(step)
