"""A world with a bell: connections that hear, the table's stream, and the queue of its looks."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from baton.domain.access.principal import ACT_AS, Principal, PrincipalKind
from baton.domain.access.token import Token
from baton.domain.bell.listener import topic_of
from baton.domain.times import parse_rfc3339
from baton.ports.bell import Heard
from baton.services.access.issue_token import TokenRequest, issue_token
from baton.services.bell.listen import begin_listening
from baton.services.bell.ring import Bell, BellReport
from support.fakes.fake_dynamo import FakeDynamo
from support.published import Stream, bell_records
from support.worlds.world import WORKSPACE, World

HUMAN = Principal(WORKSPACE, PrincipalKind.HUMAN, "alice", frozenset({ACT_AS}))


class FakeConnections:
    """``open``: the connections. ``heard``: what each was sent. ``silent``: where nothing is known to have arrived."""

    def __init__(self) -> None:
        self.open: set[str] = set()
        self.silent: set[str] = set()
        self.heard: list[tuple[str, dict[str, Any]]] = []

    def send(self, connection_id: str, message: Mapping[str, Any]) -> Heard:
        if connection_id in self.silent:
            return Heard.UNKNOWN
        if connection_id not in self.open:
            return Heard.GONE
        self.heard.append((connection_id, dict(message)))
        return Heard.YES

    def close(self, connection_id: str) -> None:
        self.open.discard(connection_id)


@dataclass
class BellRoom:
    """Nothing is rung before ``ring``."""

    world: World = field(default_factory=lambda: World().settle())
    connections: FakeConnections = field(default_factory=FakeConnections)
    dynamo: FakeDynamo | None = None  # of a world whose store isn't in memory alone

    def __post_init__(self) -> None:
        table = self.dynamo or getattr(self.world.store, "dynamo", None)
        assert table is not None
        self.stream = Stream(table)
        self.tokens: dict[str, Token] = {}
        self._numbers = 0

    def token(self, subject: str, kind: PrincipalKind = PrincipalKind.AGENT, **more: Any) -> Token:
        request = TokenRequest(kind=kind, subject=subject, **more)
        token, _ = issue_token(self.world.deps, HUMAN, request)
        return token

    def listen(self, topic: str, token: Token | None = None) -> str:
        """Returns the new connection. Without a token, one of the agent that the topic names, or else of a human."""
        agent = topic.partition(":")[2] if topic.startswith(("work:", "inbox:")) else ""
        token = token or (self.token(agent) if agent else self.token("alice", PrincipalKind.HUMAN))
        self._numbers += 1
        connection_id = f"conn{self._numbers:04d}="
        begin_listening(self.world.deps, token.principal, topic_of(token.workspace, topic), connection_id)
        self.connections.open.add(connection_id)
        return connection_id

    def ring(self) -> BellReport:
        """The stream brings all that it has, in one batch."""
        bell = self.bell()
        bell.changed(bell_records(self.stream.waiting))
        self.stream.waiting.clear()
        return bell.report

    def bell(self) -> Bell:
        return Bell(self.world.deps, self.connections, BellReport())

    def look(self) -> bool:
        """Time passes until the first look that was asked for, which is made. False if there is none."""
        asked = self.world.looks.asked
        if not asked:
            return False
        first = min(asked, key=lambda each: each[2])
        asked.remove(first)
        workspace, task_id, seconds, number = first
        asked[:] = [(*each[:2], each[2] - seconds, each[3]) for each in asked]
        self.world.clock.advance(seconds)
        self.bell().look(workspace, task_id, number)
        return True

    def rings(self, topic: str | None = None) -> list[tuple[str, float | None]]:
        """Takes what was heard: each connection with the seconds from now until it is due."""
        now, found = self.world.clock.now(), list[tuple[str, float | None]]()
        kept = []
        for connection_id, message in self.connections.heard:
            if topic is not None and message.get("ring") != topic:
                kept.append((connection_id, message))
                continue
            due = message.get("due_at")
            found.append((connection_id, None if due is None else (parse_rfc3339(due) - now).total_seconds()))
        self.connections.heard = kept
        return found
