"""The console and its API over HTTP, in this process and in real time, for a browser."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from io import BufferedIOBase
from typing import Any

from baton.adapters.lexical_search import LexicalSearch
from baton.adapters.system import SystemClock
from baton.domain.access.principal import Principal
from baton.services.events.publish_events import publish_fresh
from console import handler as console
from support.fakes.ports import FakeBus
from support.gateway import Gateway, event_of, route_of, sent
from support.http_server import Answer, Received, served
from support.values.tokens import bearer
from support.worlds.http_agents import HttpAgents
from support.worlds.world import World

BROKEN_OFF = b'HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 1000\r\n\r\n{"items": ['


@dataclass
class ConsoleServer:
    """``is_away``: while it is set nothing is answered, as if the network were down. ``breaks_off``: the API's answers
    end in their middle. ``answered``: every request so far, with its status."""

    gateway: Gateway
    agents: HttpAgents
    url: str = ""
    is_away: bool = False
    breaks_off: bool = False
    answered: list[tuple[str, int]] = field(default_factory=list)

    def token(self, by: Principal) -> str:
        self.gateway.admit(by)
        return bearer(by).removeprefix("Bearer ")

    def publish(self) -> None:
        """The table's stream brings what has happened, so that it is counted and on record."""
        deps = self.gateway.deps
        pages = deps.store.outbox.pending_tasks(deps.clock.now())
        publish_fresh(deps, FakeBus(), [event for page in pages for each in page for event in each.events])

    def answer(self, request: Received) -> Answer:
        if self.is_away:
            return None
        if self.breaks_off and "/console/" not in request.path:
            return _break_off
        answer = _answered(self.gateway, event_of(request))
        self.answered.append((f"{request.method} {request.path}", answer["statusCode"]))
        return sent(answer)


@contextmanager
def serving(approval: str = "manual", world: World | None = None, *, bell_url: str = "") -> Iterator[ConsoleServer]:
    """Yields the console's server, with a workspace that has agents."""
    world, clock = world or World(), SystemClock()
    deps = replace(world.deps, clock=clock, search=LexicalSearch(world.store, clock), bell_url=bell_url)
    gateway = Gateway(deps)
    home = ConsoleServer(gateway, HttpAgents(gateway).hire(approval))
    logging.getLogger("service_undefined").setLevel(logging.CRITICAL)
    with served(home.answer) as url:
        home.url = f"{url}/console/"
        yield home


def _break_off(wire: BufferedIOBase) -> None:
    wire.write(BROKEN_OFF)


def _answered(gateway: Gateway, event: dict[str, Any]) -> dict[str, Any]:
    if console.is_for_console(event):
        return console.lambda_handler(event, None)
    return gateway.handle(route_of(event["requestContext"]["http"]["method"], event["rawPath"]), event)
