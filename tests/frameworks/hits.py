"""Where the kills hit: while a worker loads its framework, while it has no work, or between a claim and its end."""

from __future__ import annotations

from collections import Counter
from datetime import datetime
from pathlib import Path
from typing import Any

from support.worlds.tenant import Tenant

LOADING, IDLE = "while it loads", "without a claim"


class Hits:
    """``loaded``: the file where each worker that has its framework notes its process id."""

    def __init__(self, room: Tenant, loaded: Path) -> None:
        self._room, self._loaded = room, loaded
        self._counts = Counter[str]()
        loaded.touch()

    def note(self, pid: int, began_at: datetime, tasks: list[dict[str, Any]]) -> None:
        """Counts the kill of a worker. ``tasks``: those that are claimed by now; leases outlive the workers."""
        self._counts[self._hit(pid, began_at, tasks)] += 1

    def _hit(self, pid: int, began_at: datetime, tasks: list[dict[str, Any]]) -> str:
        if str(pid) not in self._loaded.read_text(encoding="utf-8").split()[-1:]:
            return LOADING
        mine = [each for each in tasks if datetime.fromisoformat(each["claim"]["claimed_at"]) >= began_at]
        if not mine:
            return IDLE
        events = self._room.human.get(f"/tasks/{mine[0]['id']}/events?limit=100")["events"]
        return str(events[-1]["type"])

    def __str__(self) -> str:
        counts = Counter(self._counts)
        loading, idle = counts.pop(LOADING, 0), counts.pop(IDLE, 0)
        after = ", ".join(f"{count} after {name}" for name, count in counts.most_common())
        return f"{loading} {LOADING}, {idle} {IDLE}, {counts.total()} at work ({after})"
