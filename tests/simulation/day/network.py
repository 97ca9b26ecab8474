"""The network between the programs of the day and Baton's routes: it loses, cuts, delays, doubles and forges. Its
choices come from a seed."""

from __future__ import annotations

import json
import random
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from baton_client.core import AGENT, Answer, Request, answer_of
from simulation.day.hub import Hub
from support.gateway import Gateway, event_of, route_of, sent
from support.http_server import Received, Sent
from support.worlds.faulty_server import PAGES, Shares

URL = "https://baton.invalid"  # nothing is sent there


@dataclass
class Network:
    """``made``: each claim that Baton has made, with the time. ``told``: those that an answer has brought to a program.
    ``late``: those that a request made which its program had given up, with their tasks. ``tasks``: of each intention,
    the tasks. ``wrong``: answers that Baton never may give."""

    hub: Hub
    gateway: Gateway
    chance: random.Random
    shares: Shares
    faults: Counter[str] = field(default_factory=Counter)
    requests: int = 0
    made: dict[str, float] = field(default_factory=dict)
    told: set[str] = field(default_factory=set)
    late: dict[str, str] = field(default_factory=dict)
    tasks: dict[int, set[str]] = field(default_factory=dict)
    wrong: list[str] = field(default_factory=list)

    def exchange(self, token: str, request: Request[Any], seconds: float) -> Answer:
        """Returns the answer, as the client's wire returns it."""
        begun_at, headers = self.hub.now, request.headers_for(token, AGENT)
        received = Received(
            request.method,
            request.path,
            {name.lower(): value for name, value in headers.items()},
            request.content or b"",
        )
        self.hub.sleep(self.chance.uniform(0.002, 0.08))
        answer = self._answered(request, received, seconds)
        if answer.status:
            self.told.update(claim_id for claim_id, _ in _claims_in(answer.json))
        return answer._replace(took=self.hub.now - begun_at, url=URL)

    def _answered(self, request: Request[Any], received: Received, seconds: float) -> Answer:
        shares, dice = self.shares, self.chance.random()
        self.requests += 1
        if dice < shares.foreign:
            return self._foreign(request, received)
        if dice < shares.foreign + shares.lost:
            return self._lost(received, seconds)
        if dice < shares.foreign + shares.lost + shares.doubled:
            self._happened("doubled")
            self._later(received, self.chance.uniform(0, 5))
        return _read(request, self._served(received))

    def _foreign(self, request: Request[Any], received: Received) -> Answer:
        status, headers, body = self.chance.choice(PAGES)
        is_after = self.chance.random() < 0.5
        self._happened(f"foreign {status} {'after' if is_after else 'before'} the effect")
        if is_after:
            self._served(received)
        return answer_of(request, URL, status, headers, body)

    def _lost(self, received: Received, seconds: float) -> Answer:
        kind = self.chance.choice(("reset", "reset after", "truncated", "silent", "silent after", "late"))
        self._happened(f"lost: {kind}")
        if kind in {"reset after", "truncated", "silent after"}:
            self._served(received)
        if kind == "late":
            self._later(received, seconds + self.chance.uniform(0, 60), is_late=True)
        if kind in {"silent", "silent after", "late"}:
            self.hub.sleep(seconds)
            return Answer(why="it didn't answer in time")
        return Answer(why="the answer was cut short" if kind == "truncated" else "Connection reset by peer")

    def _later(self, received: Received, seconds: float, *, is_late: bool = False) -> None:
        def arrive() -> None:
            self.hub.sleep(seconds)
            self._served(received, is_late=is_late)

        self.hub.spawn(f"late {received.path}", arrive)

    def _served(self, received: Received, *, is_late: bool = False) -> Sent:
        route = route_of(received.method, received.path.partition("?")[0])
        answer = sent(self.gateway.handle(route, event_of(received)))
        found: Any = json.loads(answer.content) if answer.content else None
        if answer.status >= 500:
            self.wrong.append(f"{received.method} {received.path}: {answer.content!r}")
        for claim_id, task_id in _claims_in(found):
            if claim_id not in self.made and is_late:
                self.late[claim_id] = task_id
            self.made.setdefault(claim_id, self.hub.now)
        if received.path == "/handoffs" and answer.status == 201:
            number = received.body["context"]["variables"]["number"]
            self.tasks.setdefault(number, set()).add(found["task"]["id"])
        return answer

    def _happened(self, what: str) -> None:
        self.faults[what] += 1


def _read(request: Request[Any], answer: Sent) -> Answer:
    headers = {name.lower(): value for name, value in answer.headers}
    return answer_of(request, URL, answer.status, headers, answer.content)


def _claims_in(found: Any) -> Iterator[tuple[str, str]]:
    """Yields the claims that an answer of the API, or of the door for MCP, brings, each with its task."""
    if not isinstance(found, dict):
        return
    result = found.get("result")
    data = result.get("structuredContent") or {} if isinstance(result, dict) else found
    for each in (data, data.get("next_claim")):
        match each:
            case {"claim_id": str(claim_id), "lease_seconds": int(), "task_id": str(task_id)}:
                yield claim_id, task_id
            case {"claim_id": str(claim_id), "lease_seconds": int(), "task": {"id": str(task_id)}}:
                yield claim_id, task_id


@dataclass
class Wires:
    """In the place of the client's ``Wires``."""

    network: Network
    token: str

    def send(self, request: Request[Any], seconds: float) -> Answer:
        return self.network.exchange(self.token, request, seconds)

    def close(self) -> None: ...
