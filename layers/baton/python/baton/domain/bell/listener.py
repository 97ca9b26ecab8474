"""Who listens to the bell: connections, what each listens to, and the tickets that browsers connect by
(docs/decisions/098-a-bell-that-only-hints.md). Pure."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum

from baton.domain import errors, times
from baton.domain.ids import is_id, is_slug

# API Gateway ends a connection after two hours; some time is added, as clocks differ.
LISTENER_SECONDS = 7_500
TICKET_SECONDS = 30
# Within API Gateway's ten minutes without a message, and seldom enough for three cents a month (docs/cost.md).
LOOK_SECONDS = 540
# The most connections of a workspace; a principal's own limit is a setting.
MAX_OF_WORKSPACE = 2_000
# A connection can't be posted to before its handshake is answered: until then it isn't gone.
SETTLES_WITHIN = times.seconds(30)


class TopicKind(StrEnum):
    WORK = "work"  # of an agent: what it could claim
    INBOX = "inbox"  # of an agent: ends of what it handed off
    TASK = "task"  # one task: each of its events
    LISTS = "lists"  # the workspace's lists of tasks


@dataclass(frozen=True, slots=True)
class Topic:
    """What a connection listens to."""

    workspace: str
    kind: TopicKind
    name: str = ""  # the agent's slug, or the task's id; none of lists

    def __str__(self) -> str:
        return f"{self.kind}:{self.name}" if self.name else str(self.kind)


def topic_of(workspace: str, text: str) -> Topic:
    """Reads ``work:<agent>``, ``inbox:<agent>``, ``task:<id>`` or ``lists``. Raises ``InvalidInput``."""
    kind, _, name = text.partition(":")
    is_named = {"work": is_slug, "inbox": is_slug, "task": is_id}.get(kind, lambda _: text == "lists")
    if not is_named(name):
        raise errors.InvalidInput("listen", "must be work:<agent>, inbox:<agent>, task:<id> or lists")
    return Topic(workspace, TopicKind(kind), name)


@dataclass(frozen=True, slots=True, kw_only=True)
class Listener:
    """A connection, and what it listens to."""

    connection_id: str
    topic: Topic
    by: str  # the principal's key
    token_id: str  # what it was opened with: judged anew at each ring
    since: datetime

    def is_settled(self, now: datetime) -> bool:
        """False while its handshake may not have been answered."""
        return now - self.since > SETTLES_WITHIN


def place_of(connection_id: str) -> str:
    """Returns the connection's place among the listeners to its topic: ids of one hour begin alike, places don't."""
    return f"{hashlib.sha256(connection_id.encode()).hexdigest()[:8]}#{connection_id}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Ticket:
    """Opens one connection in the place of the token. Only its digest is stored."""

    digest: str = field(repr=False)
    workspace: str
    token_id: str
    expires_at: datetime
