"""A server that loses, cuts, doubles and forges some of the answers of what is behind it, as networks do."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from io import BufferedIOBase
from threading import Lock

from support.http_server import Received, Sent

Answer = Sent | Callable[[BufferedIOBase], None] | None
HTML = {"content-type": "text/html"}
JSON = {"content-type": "application/json"}
# Answers of proxies, portals, firewalls, CDNs and AWS itself.
PAGES = (
    *((status, HTML, b"<html>No</html>") for status in (200, 401, 403, 404, 405, 413, 500, 502, 503, 504, 520)),
    *((status, JSON, b'{"message": "No"}') for status in (403, 404, 429, 500, 503)),
    (200, JSON, b"{}"),
    (204, {}, b""),
    (302, {"location": "https://portal.invalid/"}, b""),
    (429, {**JSON, "retry-after": "3"}, b'{"message": "Too Many Requests"}'),
    (503, {**HTML, "retry-after": "86400"}, b"<html>Maintenance</html>"),
)


@dataclass(frozen=True, slots=True)
class Shares:
    """Of all requests."""

    foreign: float = 0.01
    lost: float = 0.01
    doubled: float = 0.001

    def times(self, factor: float) -> Shares:
        return Shares(self.foreign * factor, self.lost * factor, self.doubled * factor)


@dataclass
class FaultyServer:
    """A server for ``served``. ``serve``: what is behind it, for one thread at a time."""

    serve: Callable[[Received], Sent | None]
    chance: random.Random
    shares: Shares
    faults: Counter[str] = field(default_factory=Counter)
    requests: int = 0
    _lock: Lock = field(default_factory=Lock)

    def answer(self, request: Received) -> Answer:
        with self._lock:
            self.requests += 1
            kind, is_after = self._drawn(), self.chance.random() < 0.5
            if kind:
                self.faults[f"{kind} {'after' if is_after else 'before'} the effect"] += 1
            told = self.serve(request) if is_after or kind in {"", "doubled", "cut"} else None
            if kind == "doubled":
                self.serve(request)
            if kind == "foreign":
                status, headers, body = self.chance.choice(PAGES)
                return Sent(status, headers.items(), body)
        if kind == "cut" and told is not None:
            return lambda file: _cut(file, told)
        return None if kind == "lost" else told

    def _drawn(self) -> str:
        dice, shares = self.chance.random(), self.shares
        if dice < shares.foreign:
            return "foreign"
        if dice < shares.foreign + shares.lost:
            return self.chance.choice(["lost", "cut"])
        return "doubled" if dice < shares.foreign + shares.lost + shares.doubled else ""


def _cut(file: BufferedIOBase, answer: Sent) -> None:
    """Sends an answer without its last byte, or no status of one without content."""
    headers = [*answer.headers, ("Content-Length", str(len(answer.content)))]
    head = "".join(f"{name}: {value}\r\n" for name, value in headers)
    whole = f"HTTP/1.1 {answer.status} Said\r\n{head}\r\n".encode() + answer.content
    file.write(whole[:-1])
