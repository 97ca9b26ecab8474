"""All ports together."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from baton.domain.access.metering import Meter
from baton.domain.access.token import Token
from baton.domain.recent import Recent

# Each function imports this module, and none needs the ports' classes: they are a twentieth of a cold import.
if TYPE_CHECKING:
    from baton.ports.queues import DispatchQueue
    from baton.ports.store import Store
    from baton.ports.system import CallbackKey, Clock, Ids
    from baton.ports.tracker import Secrets, TrackerQueue, Trackers


@dataclass(frozen=True, slots=True, kw_only=True)
class Deps:
    """All ports, wired once per process by ``bootstrap``."""

    store: Store
    dispatch_queue: DispatchQueue
    clock: Clock
    ids: Ids
    trackers: Trackers
    tracker_queue: TrackerQueue
    secrets: Secrets
    callback_key: CallbackKey
    public_url: str
    log: Callable[..., None] = field(repr=False)
    meter: Meter = field(default_factory=Meter, repr=False)
    known_tokens: Recent[str, Token] = field(default_factory=Recent, repr=False)

    def task_url(self, task_id: str) -> str:
        return f"{self.public_url}/tasks/{task_id}"
