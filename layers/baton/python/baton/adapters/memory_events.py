"""The part of the memory store that is about telling the outside, and the twin of the bus."""

from __future__ import annotations

from copy import deepcopy
from typing import TYPE_CHECKING

from baton.adapters.memory_registry import MemoryRegistry
from baton.domain.published import tellings
from baton.ports import Delivery, Unsent

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from datetime import datetime

    from baton.domain.change import Change
    from baton.domain.published import Notice, Telling
    from baton.domain.task import Task

_PAGE = 50


class MemoryEvents(MemoryRegistry):
    _tasks: dict[tuple[str, str], Task]

    def __init__(self) -> None:
        super().__init__()
        self._unsent: dict[tuple[str, str, int], tuple[datetime, Telling]] = {}

    def unsent(self, until: datetime) -> Iterator[Sequence[Unsent]]:
        with self._lock:
            due = sorted((at, key) for key, (at, _) in self._unsent.items() if at <= until)
        for start in range(0, len(due), _PAGE):
            with self._lock:
                page = [key for _, key in due[start : start + _PAGE] if key in self._unsent]
                waiting = [self._waiting(key) for key in page]
            yield waiting

    def heads(self, wanted: Sequence[tuple[str, str]]) -> dict[tuple[str, str], Task]:
        with self._lock:
            return {key: self._tasks[key] for key in wanted if key in self._tasks}

    def mark_sent(self, workspace: str, task_id: str, seq: int) -> None:
        with self._lock:
            self._unsent.pop((workspace, task_id, seq), None)

    def put_off(self, workspace: str, task_id: str, seq: int, until: datetime) -> None:
        with self._lock:
            key = workspace, task_id, seq
            if key in self._unsent:
                self._unsent[key] = until, self._unsent[key][1]

    def _waiting(self, key: tuple[str, str, int]) -> Unsent:
        telling = deepcopy(self._unsent[key][1])
        return Unsent(*key, telling.event.at, telling)

    def _owe(self, change: Change) -> None:
        """The outside is to be told of the change's events."""
        for telling in tellings(change):
            key = telling.workspace, telling.task_id, telling.event.seq
            self._unsent[key] = telling.event.at, deepcopy(telling)


class MemoryBus:
    """Keeps what it took for a test to look at. ``is_away``: nothing gets through; ``refuses``: ids of those that it
    won't take."""

    def __init__(self) -> None:
        self.took: list[Notice] = []
        self.is_away = False
        self.refuses: set[str] = set()

    def publish(self, notices: Sequence[Notice]) -> Delivery:
        if self.is_away:
            return Delivery()
        refused = {notice.id: "Refused" for notice in notices if notice.id in self.refuses}
        taken = [notice for notice in notices if notice.id not in refused]
        self.took += taken
        return Delivery(frozenset(notice.id for notice in taken), refused)
