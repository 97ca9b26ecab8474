"""The client for threads. It may be shared by any number of them."""

# The modules of this package share what its users don't see.
# pyright: reportPrivateUsage=false

from __future__ import annotations

import threading
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from types import TracebackType
from typing import Any, Self, TypeVar

from baton_client.bells import Bells
from baton_client.caller import Caller
from baton_client.claiming import Claimed, Claiming, ClaimOrder
from baton_client.claims import WorkVerbs
from baton_client.core import Flow, Patience, Request
from baton_client.errors import Misused
from baton_client.heartbeats import Heartbeats, Signal
from baton_client.lease import Lease
from baton_client.profiles import Profile, found
from baton_client.run_keys import Keys, keys_from, keys_kept, keys_said
from baton_client.verbs import BatonVerbs, Threads

T = TypeVar("T")
LEASE_SECONDS = 60


class Session(BatonVerbs):
    """What both clients are made from. ``Baton(url, token)``, ``Baton("a profile")``, or ``Baton()`` for what
    BATON_URL and BATON_TOKEN say, or the profile that is the default. ``agent``: in whose name it acts, if neither the
    profile nor BATON_AGENT says. ``run_key``: signs the saved states of runs, in place of BATON_RUN_KEY or the key
    file. ``say`` gets a sentence before each pause. A context: its end closes the connections."""

    def __init__(
        self,
        url: str | None = None,
        token: str | None = None,
        *,
        agent: str | None = None,
        patience: Patience | None = None,
        run_key: str | None = None,
        say: Callable[[str], None] = lambda _said: None,
    ) -> None:
        self.profile: Profile = found(url, token, agent)
        self.url, self.agent = self.profile.url, self.profile.agent
        self.patience = patience or Patience()
        self._run_keys = keys_from(run_key, "run_key") if run_key else keys_said()
        self._say = say
        self._bells = Bells(self.profile, say)
        # Heartbeats have this one's wires also under tasks: no event loop holds them up.
        self._caller = Caller(self.profile, self.patience, say=say, listen=self._bells.wait)

    @property
    def run_keys(self) -> Keys:
        """The keys of saved runs; made once, if none is there. Raises ``Misused``."""
        self._run_keys = self._run_keys or keys_kept()
        return self._run_keys

    def _claiming(self, order: ClaimOrder) -> Claiming:
        if not order.agent:
            raise Misused("whose work?", "neither the profile nor the call names an agent", "name one: agent=…")
        return Claiming(order, self.patience)

    def _heartbeats(self, request: Request[Any], lease: Lease, lost: Signal, name: str) -> Heartbeats:
        return Heartbeats(lambda seconds: self._caller.wires.send(request, seconds), lease, lost, name)


class Work(WorkVerbs, Threads):
    """A context: an exception in it is a failure that may be retried, an interrupt a release. Work that nobody ended is
    a failure, too."""

    def __init__(self, baton: Baton, claimed: Claimed, agent: str) -> None:
        super().__init__(claimed, agent, baton.patience, baton._heartbeats)
        self.baton = baton  # the client that has claimed it

    def _played(self, flow: Flow[T]) -> T:
        return self.baton._played(flow)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, _kind: object, error: BaseException | None, _trace: TracebackType | None) -> None:
        self._played(self._left(error))


class Baton(Session, Threads):
    """The client for threads, which may share one."""

    @contextmanager
    def claim(
        self,
        agent: str | None = None,
        *,
        task: str | None = None,
        wait: float | None = 20.0,
        lease_seconds: int = LEASE_SECONDS,
        worker: str | None = None,
    ) -> Generator[Work | None, None, None]:
        """Claims the agent's next task, or the one that is named. ``wait``: so many seconds for it; None for ever.
        Gives None if there was none."""
        order = ClaimOrder(agent or self.agent, lease_seconds, worker, task)
        claimed = self._played(self._claiming(order).within(wait, by_bell=False))
        if claimed is None:
            yield None
            return
        with Work(self, claimed, order.agent) as work:
            yield work

    def work(
        self,
        agent: str | None = None,
        *,
        concurrency: int = 1,
        idle_seconds: float | None = None,
        lease_seconds: int = LEASE_SECONDS,
        worker: str | None = None,
    ) -> Iterator[Work]:
        """Claims the agent's tasks, one after the other, and with ``concurrency`` the next one while so many at most
        have no end yet. Ends after ``idle_seconds`` without work, if that is said."""
        order = ClaimOrder(agent or self.agent, lease_seconds, worker)
        claiming, places = self._claiming(order), threading.Semaphore(concurrency)
        while True:
            places.acquire()
            claimed = self._played(claiming.within(idle_seconds, by_bell=True))
            if claimed is None:
                return
            work = Work(self, claimed, order.agent)
            work.ended.call(places.release)
            try:
                yield work
            finally:
                if concurrency == 1:
                    self._played(work._left(None))

    def close(self) -> None:
        """Closes the connections that nobody uses."""
        self._bells.close()
        self._caller.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _played(self, flow: Flow[T]) -> T:
        return self._caller.played(flow)
