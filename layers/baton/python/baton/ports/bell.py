"""The bell: its listeners in the store, the connections, and the looks of later."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from enum import Enum
from typing import Any, Protocol

from baton.domain.bell.listener import Listener, Ticket, Topic
from baton.domain.tasks.task import Task


class BellStore(Protocol):
    """Listeners and tickets. Read from indexes, which lag, unless it says otherwise. A listener is forgotten after two
    hours whatever happens."""

    def add_listener(self, listener: Listener) -> None:
        """Saves it. One write. Raises ``Busy``."""

    def listener(self, connection_id: str) -> Listener | None:
        """Returns it; None if it never listened, or no longer does. One read, which doesn't lag."""

    def remove_listener(self, connection_id: str) -> None:
        """Takes it out. Does nothing if it isn't there. One write. Raises ``Busy``."""

    def listening(self, topic: Topic, limit: int, after: str = "") -> list[str]:
        """Returns at most ``limit`` connections that listen to the topic, in the order of their places (``place_of``),
        those after the place ``after``. One read."""

    def listeners(self, connection_ids: Sequence[str]) -> list[Listener]:
        """Returns those of at most 100 that listen. One read, which doesn't lag."""

    def of_workspace(self, workspace: str) -> Iterator[tuple[str, str]]:
        """Yields each of its connections with the id of the token that it was opened with. One read per 500."""

    def count(self, workspace: str, limit: int, by: str | None = None) -> int:
        """Returns how many connections the principal has, or the whole workspace, ``limit`` at most. One read."""

    def add_ticket(self, ticket: Ticket) -> None:
        """Saves a new ticket. One write. Raises ``Busy``."""

    def use_ticket(self, digest: str, connection_id: str, now: datetime) -> Ticket | None:
        """Returns the ticket to exactly one connection of all that show it, before it expires; else None. One write.
        Raises ``Busy``."""

    def changes(self, records: Sequence[Mapping[str, Any]]) -> tuple[list[Task], set[str], set[str]]:
        """Returns what a batch of the table's stream tells: tasks with new events, as each event left them; workspaces
        of which settings, agents or tokens were changed; and those with a change in any list but of tasks. What can't
        be read is left out. No read."""


class Heard(Enum):
    YES = "yes"
    GONE = "gone"  # the connection is over
    UNKNOWN = "unknown"


class Connections(Protocol):
    """The open connections, at API Gateway."""

    def send(self, connection_id: str, message: Mapping[str, Any]) -> Heard:
        """Sends a message. Never raises."""

    def close(self, connection_id: str) -> None:
        """Ends the connection, if it is there. Never raises."""


class Looks(Protocol):
    """Looks at a task that are due later, by a queue. One may be lost, doubled or late: clients look by themselves,
    too."""

    def look(self, workspace: str, task_id: str, seconds: int = 0, number: int = 1) -> None:
        """Has the task looked at after so many seconds, 900 at most. ``number``: how often it will have been rung for
        then. Never raises."""
