"""All ports together."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from baton.domain.access.metering import Meter
from baton.domain.access.polls import NO_RESERVE, Room
from baton.domain.lru_cache import LruCache
from baton.domain.memory.poster_use import PosterUse

# Each function imports this module, and none needs the ports' classes: they are a twentieth of a cold import.
if TYPE_CHECKING:
    from baton.ports.bell import Looks
    from baton.ports.queues import DispatchQueue
    from baton.ports.search import Search
    from baton.ports.store import Store
    from baton.ports.system import CallbackKey, Clock, Ids
    from baton.ports.tracker import Secrets, TrackerQueue, Trackers

# In the address of a function with a URL of its own, in place of the URL's id: the function is made before its URL.
URL_ID = "{id}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Deps:
    """All ports, wired once per process by ``bootstrap``."""

    store: Store
    search: Search
    dispatch_queue: DispatchQueue
    clock: Clock
    ids: Ids
    trackers: Trackers
    tracker_queue: TrackerQueue
    secrets: Secrets
    callback_key: CallbackKey
    looks: Looks
    public_url: str
    log: Callable[..., None] = field(repr=False)
    bell_url: str = ""  # where connections that listen come to; empty without a bell
    release: str = ""  # another one may show the same thing in another form
    room: Room = NO_RESERVE  # of this function, for long polls
    meter: Meter = field(default_factory=Meter, repr=False)
    posters: LruCache[tuple[str, str], PosterUse] = field(default_factory=LruCache, repr=False)

    @property
    def learns_its_url(self) -> bool:
        """True if only a request says where this process answers."""
        return URL_ID in self.public_url

    def at(self, url_id: str) -> Deps:
        """Returns the same ports, for a request to the URL with this id."""
        return replace(self, public_url=self.public_url.replace(URL_ID, url_id))

    def at_one_version(self) -> Deps:
        """Returns the same ports for one request, in which agents and settings are those of one version."""
        return replace(self, store=self.store.at_one_version())

    def task_url(self, task_id: str) -> str:
        return f"{self.public_url}/tasks/{task_id}"
