"""What a test's clients share: Baton in this process, and its time. A client's step is done in turns."""

from __future__ import annotations

import re
import secrets
import threading
from collections import deque
from collections.abc import Callable, Generator
from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING, Any, TypeVar

from baton_client.core import AGENT, Answer, Flow, Listen, Pause, Request, Send, Step, decoded
from baton_client.errors import Misused
from baton_client.heartbeats import Heartbeats, Signal
from baton_client.lease import LONGEST_HEARTBEAT_SECONDS, Lease
from baton_client.synchronous import Session

if TYPE_CHECKING:
    from baton_testing import Stack

T = TypeVar("T")
# Each turn yields the seconds, real ones, that other threads and tasks get for theirs.
Turns = Generator[float, None, T]
TURN_SECONDS = 0.005
LONGEST_QUIET_SECONDS = 86_400.0
URL = "https://baton.invalid"  # nothing is ever sent there
_TIMEOUT = re.compile(r"(?<=[?&]timeout=)[\d.]+")


class InProcess:
    """``steps``: what is done while something waits. For any number of threads."""

    def __init__(self) -> None:
        try:
            from baton_testing import new_stack
        except ModuleNotFoundError as exc:
            step = "from a checkout of Baton: pip install ./packages/baton-client ./packages/baton-testing"
            raise Misused("there is no Baton to play", "the package baton-testing isn't installed", step) from exc
        self.stack: Stack = new_stack()
        self.run_key = secrets.token_hex(32)  # a test writes no key file
        self.steps: deque[Callable[[], object]] = deque()
        self._lock = threading.RLock()
        self._tokens: dict[tuple[str, str], str] = {}
        self._hearts: list[_Heart] = []
        self._changes, self._quiet_seconds = 0, 0.0
        # A test runner may have some of its own.
        self._bystanders = {each for each in threading.enumerate() if each is not threading.current_thread()}

    def knows(self, kind: str, name: str) -> bool:
        return (kind, name) in self._tokens

    def token(self, kind: str, name: str) -> str:
        with self._lock:
            if not self.knows(kind, name):
                self._tokens[kind, name] = self.stack.token(kind, name)
            return self._tokens[kind, name]

    def has_other_threads(self) -> bool:
        return any(each is not threading.current_thread() for each in {*threading.enumerate()} - self._bystanders)

    def done(self, step: Step, token: str, has_others: Callable[[], bool]) -> Turns[Answer]:
        """``has_others``: whether other threads or tasks may do something meanwhile."""
        match step:
            case Send(request):
                return (yield from self._exchanged(request, token, has_others))
            case Pause(seconds):
                return Answer(took=(yield from self._waited(seconds, "", has_others)))
            case Listen(_, seconds, due_at):
                return Answer(200, took=(yield from self._waited(seconds, due_at, has_others)))

    def answer(self, request: Request[Any], token: str) -> Answer:
        with self._lock:
            headers = request.headers_for(token, AGENT)
            status, found, content = self.stack.answer(request.method, request.path, request.content, headers)
            if request.method != "GET" and 200 <= status < 300 and content and not request.path.endswith("/heartbeat"):
                self._changes, self._quiet_seconds = self._changes + 1, 0.0
        return Answer(status, found, decoded(content), url=URL)

    def pass_time(self, seconds: float) -> None:
        while seconds > 0:
            seconds -= self._step(seconds)

    def heartbeats(self, send: Callable[[float], Answer], lease: Lease, lost: Signal, name: str) -> Heartbeats:
        heart = _Heart(send, lease, lost, name)
        with self._lock:
            self._hearts.append(heart)
        return heart

    def _exchanged(self, request: Request[Any], token: str, has_others: Callable[[], bool]) -> Turns[Answer]:
        """A long poll is looks, and the waits between."""
        asked = _TIMEOUT.search(request.path)
        left, took = float(asked[0]) if asked else 0.0, 0.0
        look = replace(request, path=_TIMEOUT.sub("0", request.path))
        while _says_nothing(answer := self.answer(look, token)) and left > 0:
            waited = yield from self._waited(left, answer.headers.get("baton-due-at", ""), has_others)
            left, took = left - waited, took + waited
        return answer._replace(took=took)

    def _waited(self, seconds: float, due_at: str, has_others: Callable[[], bool]) -> Turns[float]:
        """Returns the seconds after which it is time to look: something has changed, or is due."""
        if due_at:
            seconds = min(seconds, max(0.001, (datetime.fromisoformat(due_at) - self.stack.now).total_seconds()))
        seen, begun_at, waited = self._changes, self.stack.now, 0.0
        if self.steps:
            self.steps.popleft()()
        while waited < seconds and self._changes == seen:
            most = seconds - waited
            if has_others():
                most = min(most, 1.0 + self._quiet_seconds / 1_000)
                yield TURN_SECONDS
            if self._changes == seen:
                self._quiet_seconds += self._step(most)
            waited = (self.stack.now - begun_at).total_seconds()
        if self._quiet_seconds > LONGEST_QUIET_SECONDS:
            why = "a day has passed, and neither the test nor another thread or task has done anything"
            raise Misused("nothing ends this wait", why, "let others do their part before, or in meanwhile(…)")
        return waited

    def _step(self, most: float) -> float:
        """Lets time pass until a heartbeat or something else is due. Returns the seconds."""
        with self._lock:
            self._hearts = [each for each in self._hearts if each.is_beating]
            passed = self.stack.step(min([most, *(each.left for each in self._hearts)]))
            for each in self._hearts:
                each.passed(passed)
        return passed


class _Heart(Heartbeats):
    """Heartbeats without a thread. ``left``: the seconds until the next one."""

    def _begin(self) -> None:
        self._every = self.left = min(self._lease.seconds / 3, LONGEST_HEARTBEAT_SECONDS)

    @property
    def is_beating(self) -> bool:
        return not (self.why or self._stopped.is_set())

    def passed(self, seconds: float) -> None:
        self.left -= seconds
        if self.left <= 0 and self.is_beating:
            self._beat()
            self.left = self._every
            if self.why:
                self._lost.set()


class InWorld(Session):
    """What plays flows in the test's process."""

    def __init__(self, process: InProcess, token: str, agent: str) -> None:
        super().__init__(URL, token, agent=agent, run_key=process.run_key)
        self._process = process

    def _heartbeats(self, request: Request[Any], lease: Lease, lost: Signal, name: str) -> Heartbeats:
        return self._process.heartbeats(lambda _: self._process.answer(request, self.profile.token), lease, lost, name)

    def _turns(self, flow: Flow[T], has_others: Callable[[], bool]) -> Turns[T]:
        answer: Answer | None = None
        try:
            while True:
                step = flow.send(answer)  # type: ignore[arg-type] # the first is None
                answer = yield from self._process.done(step, self.profile.token, has_others)
        except StopIteration as ended:
            return ended.value  # type: ignore[no-any-return]


def _says_nothing(answer: Answer) -> bool:
    body = answer.object or {}
    return answer.status == 204 or bool(body.get("timed_out")) or body.get("events") == []
