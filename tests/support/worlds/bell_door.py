"""The bell's door: events of API Gateway's, and the connections that they open."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from typing import Any

from baton.domain.access.metering import Meter
from baton.domain.access.principal import Principal, PrincipalKind
from baton.domain.access.token import Token
from baton.ports.deps import Deps
from baton.services.access.issue_token import TokenRequest, issue_token
from baton.services.bell.listen import make_ticket
from listen import handler
from support.fakes.store import InMemoryStore
from support.values.tokens import bearer, give_token, token_of
from support.worlds.bell_room import HUMAN, BellRoom
from support.worlds.world import WORKSPACE

ORIGIN = "https://baton.example"
WORK = "work:auditor"


@dataclass
class Door:
    room: BellRoom
    opened: int = 0
    meter: Meter | None = None  # another process has a meter of its own

    @property
    def deps(self) -> Deps:
        deps = self.room.world.deps
        return deps if self.meter is None else replace(deps, meter=self.meter)

    def in_another_process(self) -> Door:
        """The same room, as a process sees it that has counted nothing."""
        return Door(self.room, self.opened, Meter())

    def open(self, listen: str | None = WORK, headers: dict[str, str] | None = None) -> dict[str, Any]:
        self.opened += 1
        connection_id = f"door{self.opened}="
        query = {} if listen is None else {"listen": listen}
        answer = self.event("$connect", connection_id, headers=headers or {}, queryStringParameters=query or None)
        if answer["statusCode"] == 200:
            self.room.connections.open.add(connection_id)
        return answer

    def event(self, route: str, connection_id: str, **more: Any) -> dict[str, Any]:
        about = {"routeKey": route, "connectionId": connection_id, "requestId": "r1"}
        return handler.answered(self.deps, lambda: self.room.connections, {"requestContext": about, **more})

    def look(self, connection_id: str) -> int:
        status: int = self.event("$default", connection_id)["statusCode"]
        return status

    def token(self, by: Principal) -> dict[str, str]:
        store = self.room.world.store
        assert isinstance(store, InMemoryStore)
        give_token(store.dynamo, by)
        return {"Authorization": bearer(by)}

    def issued(self, subject: str, kind: PrincipalKind = PrincipalKind.AGENT) -> tuple[dict[str, str], Token]:
        token, text = issue_token(self.room.world.deps, HUMAN, TokenRequest(kind=kind, subject=subject))
        return {"Authorization": f"Bearer {text}"}, token

    def ticket(self, by: Principal) -> str:
        self.token(by)
        return make_ticket(self.room.world.deps, token_of(by).principal)[1]

    @property
    def listeners(self) -> int:
        return self.room.world.store.bell.count(WORKSPACE, 100)


def offered(ticket: str) -> dict[str, str]:
    return {"Origin": ORIGIN, "Sec-WebSocket-Protocol": f"baton, baton.ticket.{ticket}"}


def code_of(answer: dict[str, Any]) -> tuple[int, str]:
    return answer["statusCode"], json.loads(answer["body"])["code"]
