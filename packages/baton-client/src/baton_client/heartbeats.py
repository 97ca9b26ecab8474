"""The heartbeats of a claim, in a thread of their own: whatever the program does meanwhile, computing or blocking its
event loop, they go on."""

from __future__ import annotations

from collections.abc import Callable
from threading import Event, Lock, Thread

from baton_client.core import Answer
from baton_client.lease import Lease, ends_claim, now


class Signal:
    """Something that happens once. For any number of threads; a callback runs in the thread in which it happens."""

    def __init__(self) -> None:
        self._happened, self._lock = Event(), Lock()
        self._callbacks: list[Callable[[], object]] = []

    @property
    def is_set(self) -> bool:
        return self._happened.is_set()

    def set(self) -> None:
        with self._lock:
            callbacks, self._callbacks = self._callbacks, []
            self._happened.set()
        for each in callbacks:
            each()

    def wait(self, seconds: float | None = None) -> bool:
        return self._happened.wait(seconds)

    def call(self, callback: Callable[[], object]) -> None:
        """Has it called once this happens; at once, if it has."""
        with self._lock:
            if not self._happened.is_set():
                self._callbacks.append(callback)
                return
        callback()


class Heartbeats:
    """Beats from its construction on, until ``stop``, or until the claim is lost: refused by Baton, or unanswered for a
    whole lease. ``send``: one heartbeat, in at most so many seconds. ``lost``: set with that."""

    def __init__(self, send: Callable[[float], Answer], lease: Lease, lost: Signal, name: str) -> None:
        self._send, self._lease, self._lost = send, lease, lost
        self._stopped, self._name = Event(), name
        self.why = ""
        self._begin()

    def stop(self) -> None:
        self._stopped.set()

    def _begin(self) -> None:
        Thread(target=self._run, name=f"heartbeats {self._name}", daemon=True).start()

    def _run(self) -> None:
        while not self.why and not self._stopped.wait(max(0.0, self._lease.next_at - now())):
            self._beat()
        if self.why:
            self._lost.set()

    def _beat(self) -> None:
        sent_at = now()
        if self._lease.misses and self._lease.is_over(sent_at):
            self.why = "no heartbeat was answered for a whole lease"
            return
        answer = self._send(min(self._lease.answer_seconds, max(1.0, self._lease.held_until - sent_at)))
        if 200 <= answer.status < 300:
            self._lease = self._lease.renewed(sent_at)
        elif ends_claim(answer):
            self.why = "" if self._stopped.is_set() else f"{answer.status} {answer.code}".strip()
        else:
            self._lease = self._lease.missed(now(), answer.retry_after, answer.foreign)
