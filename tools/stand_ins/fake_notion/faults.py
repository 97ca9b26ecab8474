"""Ways in which a call goes wrong, chosen by a test or by `POST /control/fault`."""

from __future__ import annotations

import threading
from dataclasses import dataclass
from typing import Literal

from tools.stand_ins.fake_notion.errors import CODES, NotionError, Reply

Kind = Literal["error", "lost", "refused", "slow", "drip"]


class Refused(Exception):
    """No connection was made."""


class ReplyLost(Exception):
    """The request was sent and no reply came; whether it had its effect, the caller can't know."""


@dataclass(frozen=True)
class Fault:
    """`applied`: the request has its effect all the same. `seconds` is for slow and drip."""

    status: int = 500
    retry_after: int | None = None
    code: str | None = None
    kind: Kind = "error"
    applied: bool = False
    seconds: float = 0.0

    @classmethod
    def timeout_before(cls) -> Fault:
        return cls(kind="lost")

    @classmethod
    def timeout_after(cls) -> Fault:
        return cls(kind="lost", applied=True)

    @classmethod
    def refused(cls) -> Fault:
        return cls(kind="refused")

    @classmethod
    def slow(cls, seconds: float) -> Fault:
        return cls(kind="slow", applied=True, seconds=seconds)

    @classmethod
    def drip(cls, seconds: float) -> Fault:
        return cls(kind="drip", applied=True, seconds=seconds)

    def spoil(self, reply: Reply | None) -> Reply:
        """The answer in place of `reply` (None: the request wasn't carried out).

        Raises Refused, ReplyLost.
        """
        if self.kind == "refused":
            raise Refused("connection refused")
        if self.kind == "lost":
            raise ReplyLost("no reply")
        if reply and self.kind == "slow":
            return Reply(reply.status, reply.headers, reply.body, delay=self.seconds)
        if reply and self.kind == "drip":
            return Reply(reply.status, reply.headers, reply.body, drip=self.seconds)
        headers = {} if self.retry_after is None else {"Retry-After": str(self.retry_after)}
        code = self.code or CODES.get(self.status, "internal_server_error")
        return NotionError(self.status, f"A fault made on purpose: {code}.", code, headers).reply()


class ScriptedFault:
    """The next `count` calls (of a method and of paths that begin so, if given) go wrong; later ones don't."""

    def __init__(self, fault: Fault, count: int = 1, method: str | None = None, path: str = "/") -> None:
        self._fault, self._left, self._method, self._path = fault, count, method, path
        self._lock = threading.Lock()

    def __call__(self, method: str, path: str) -> Fault | None:
        with self._lock:
            if self._left <= 0 or not path.startswith(self._path) or self._method not in (None, method):
                return None
            self._left -= 1
            return self._fault
