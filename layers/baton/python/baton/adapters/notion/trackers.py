"""The port ``Trackers``: the state that all tracker sessions of a process share."""

from __future__ import annotations

import time
from collections.abc import Callable

import httpx

from baton.adapters.deadline import Deadline
from baton.adapters.notion.connection import Connection
from baton.adapters.notion.database_schema import Schemas
from baton.adapters.notion.people import People
from baton.adapters.notion.tracker import NotionTracker
from baton.adapters.notion.transport import SessionTransport
from baton.domain.settings.tracker_settings import TrackerSettings
from baton.ports.system import Clock
from baton.ports.tracker import Secrets, Trackers

_KEEP_OPEN_SECONDS = 20.0


class NotionTrackers:
    """Opens tracker sessions. ``transport`` reaches Notion; without it, one pool of connections is made. It holds
    nothing of a workspace: the token goes with each request."""

    name = "Notion"

    def __init__(
        self,
        secrets: Secrets,
        base_url: str = "https://api.notion.com",
        *,
        clock: Clock,
        transport: httpx.BaseTransport | None = None,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        self._secrets, self._base_url, self._clock, self._monotonic = secrets, base_url, clock, monotonic
        self._transport = transport
        self._schemas, self._people = Schemas(clock), People()

    def of(self, workspace: str, settings: TrackerSettings, budget_seconds: float) -> NotionTracker:
        if self._transport is None:  # only when it is needed: it loads the certificates
            self._transport = httpx.HTTPTransport(limits=httpx.Limits(keepalive_expiry=_KEEP_OPEN_SECONDS))
        transport = SessionTransport(self._transport, Deadline(budget_seconds, self._monotonic))
        notion = Connection(workspace, self._secrets, self._base_url, transport, self._clock)
        return NotionTracker(workspace, settings, notion, self._schemas, self._people)


_trackers: type[Trackers] = NotionTrackers
