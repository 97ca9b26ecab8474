"""Webhook subscriptions: signing events, and delivering them in process or over HTTP."""

from __future__ import annotations

import hashlib
import heapq
import hmac
import json
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from http.client import HTTPConnection, HTTPException, HTTPSConnection
from typing import Any
from urllib.parse import urlsplit

Event = dict[str, Any]
Deliver = Callable[[bytes, dict[str, str]], int]

ATTEMPTS = 8
TIMEOUT_SECONDS = 10.0


@dataclass
class Subscription:
    """Where events go. A `host` is sent as the Host header, while the connection goes to this machine."""

    id: str
    verification_token: str
    target: str | Deliver
    host: str | None
    database_id: str | None
    bot_id: str
    integration_id: str

    def signed(self, event: Event, attempt: int = 1) -> tuple[bytes, dict[str, str]]:
        own = {"subscription_id": self.id, "integration_id": self.integration_id, "attempt_number": attempt}
        body = json.dumps(event | own).encode()
        digest = hmac.new(self.verification_token.encode(), body, hashlib.sha256).hexdigest()
        return body, {"Content-Type": "application/json", "X-Notion-Signature": f"sha256={digest}"}

    def handshake(self) -> tuple[bytes, dict[str, str]]:
        body = json.dumps({"verification_token": self.verification_token}).encode()
        return body, {"Content-Type": "application/json"}


class Postman:
    """Delivers to a callable at once, and to a URL from a thread, with up to 8 attempts further and further apart."""

    def __init__(self, retry_seconds: float = 0.5) -> None:
        self.retry_seconds = retry_seconds
        self._waiting: list[tuple[float, int, int, Subscription, Event | None]] = []
        self._number = 0
        self._changed = threading.Condition()
        self._thread: threading.Thread | None = None
        self._stopped = False

    def send(self, subscription: Subscription, event: Event | None) -> int | None:
        """The answer's status, or None when it is sent later. No event: the handshake."""
        if callable(subscription.target):
            body, headers = subscription.signed(event) if event else subscription.handshake()
            return subscription.target(body, headers)
        self._enqueue(0.0, 1, subscription, event)
        return None

    def stop(self) -> None:
        """End the thread after what it is sending now; what still waits is dropped."""
        with self._changed:
            self._stopped = True
            thread, self._thread = self._thread, None
            self._waiting.clear()
            self._changed.notify_all()
        if thread:
            thread.join(TIMEOUT_SECONDS)
        self._stopped = False

    def _enqueue(self, delay: float, attempt: int, subscription: Subscription, event: Event | None) -> None:
        with self._changed:
            self._number += 1
            heapq.heappush(self._waiting, (time.monotonic() + delay, self._number, attempt, subscription, event))
            if self._thread is None and not self._stopped:
                self._thread = threading.Thread(target=self._work, name="fake-notion-webhooks", daemon=True)
                self._thread.start()
            self._changed.notify_all()

    def _work(self) -> None:
        while (due := self._next()) is not None:
            attempt, subscription, event = due
            body, headers = subscription.signed(event, attempt) if event else subscription.handshake()
            if not _post(subscription, body, headers) and attempt < ATTEMPTS:
                self._enqueue(self.retry_seconds * 2 ** (attempt - 1), attempt + 1, subscription, event)

    def _next(self) -> tuple[int, Subscription, Event | None] | None:
        with self._changed:
            while not self._stopped:
                wait = self._waiting[0][0] - time.monotonic() if self._waiting else None
                if wait is not None and wait <= 0:
                    _, _, attempt, subscription, event = heapq.heappop(self._waiting)
                    return attempt, subscription, event
                self._changed.wait(wait)
        return None


def _post(subscription: Subscription, body: bytes, headers: dict[str, str]) -> bool:
    """Whether it was taken (any 2xx)."""
    target = urlsplit(str(subscription.target))
    connector = HTTPSConnection if target.scheme == "https" else HTTPConnection
    host = "127.0.0.1" if subscription.host else (target.hostname or "127.0.0.1")
    if subscription.host:
        headers = headers | {"Host": subscription.host}
    path = (target.path or "/") + (f"?{target.query}" if target.query else "")
    try:
        connection = connector(host, target.port, timeout=TIMEOUT_SECONDS)
        try:
            connection.request("POST", path, body, headers)
            return 200 <= connection.getresponse().status < 300
        finally:
            connection.close()
    except (OSError, HTTPException):
        return False
