"""The store of watches: who looks at lists of tasks, and what the table's stream has told since."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, Protocol

from baton.domain.tasks.watch import Watch


class WatchStore(Protocol):
    """A workspace has one watch of its tasks. Nothing rests on a watch but how soon a list is made anew."""

    def watch(self, workspace: str) -> Watch | None:
        """Returns the watch; None if nobody asked for one in the last day. One read."""

    def ask_for_watch(self, workspace: str, watch: Watch) -> None:
        """Saves when the watch was asked for, and has the stream bring it back. Does nothing if somebody else asked
        lately. One write, tried once. Raises ``Busy``."""

    def of_workspaces(self, workspaces: Sequence[str]) -> dict[str, Watch]:
        """Returns those that there are. One read per hundred."""

    def note_change(self, workspace: str, at: datetime) -> None:
        """Raises ``changes`` of a watch that there is. A write that is repeated may raise it twice. One write. Raises
        ``Busy``."""

    def asked_watches(self, records: Sequence[Mapping[str, Any]]) -> dict[str, datetime]:
        """Returns the watches in a batch of the table's stream: workspace → when it was asked for last. No read."""

    def note_brought(self, workspace: str, asked_at: datetime) -> None:
        """Saves that the stream has brought the watch that was asked for then. Does nothing if it has brought a later
        one. One write. Raises ``Busy``."""
