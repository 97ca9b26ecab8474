"""The outages of Baton in the worker's log: the cause after a minute, then once a minute, and the end."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from threading import Lock
from typing import Any

from baton_cli.worker.api_client import Api
from baton_cli.worker.log import Log
from baton_cli.worker.watchdog import now
from baton_client.core import Answer
from baton_client.errors import NoAnswer

REPORT_SECONDS = 60.0


@dataclass(slots=True)
class OutageLog:
    """The outages of one address, for any number of threads. ``began_at``: since when no request has had an answer of
    Baton's that settles it; None if the last one had."""

    log: Log
    clock: Callable[[], float] = now
    began_at: float | None = None
    logged_at: float | None = None
    _lock: Lock = field(default_factory=Lock)

    def missed(self, sent_at: float, cause: str) -> None:
        """Notes a request that was sent at ``sent_at`` and had no such answer."""
        with self._lock:
            at, self.began_at = self.clock(), sent_at if self.began_at is None else self.began_at
            if at < (self.began_at if self.logged_at is None else self.logged_at) + REPORT_SECONDS:
                return
            self.logged_at, seconds = at, at - self.began_at
        self.log("outage", f"for {seconds:.0f} s: {cause}")

    def answered(self) -> None:
        with self._lock:
            seconds = None if self.began_at is None or self.logged_at is None else self.clock() - self.began_at
            self.began_at = self.logged_at = None
        if seconds is not None:
            self.log("outage_over", f"Baton answers again after {seconds:.0f} s")


class LoggedApi:
    """An ``Api`` whose outages are logged."""

    def __init__(self, api: Api, outages: OutageLog) -> None:
        self._api, self._outages = api, outages
        self.close = api.close

    def request(self, method: str, path: str, body: Any = None, **options: Any) -> Answer:
        sent_at = self._outages.clock()
        try:
            answer = self._api.request(method, path, body, **options)
        except NoAnswer as exc:
            self._outages.missed(sent_at, str(exc))
            raise
        if answer.is_settled:
            self._outages.answered()
        else:
            self._outages.missed(sent_at, answer.trouble)
        return answer
