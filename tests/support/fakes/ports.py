"""Fakes of Baton's ports to the outside, in memory. Each keeps what it was given, for a test to look at."""

from __future__ import annotations

from collections.abc import Sequence

from baton.domain.errors import Busy
from baton.domain.events.bus_events import BusEvent
from baton.domain.settings.tracker_settings import TrackerSettings
from baton.ports.events import PublishResult
from baton.ports.tracker import Tracker


class FakeDispatchQueue:
    """Keeps its notices for a test to look at or deliver."""

    def __init__(self) -> None:
        self.notices: list[tuple[str, str, str, int]] = []

    def notify(self, workspace: str, agent: str, task_id: str, delay_seconds: int = 0) -> None:
        self.notices.append((workspace, agent, task_id, delay_seconds))


class FakeDeadLetters:
    """``is_away``: every call fails."""

    def __init__(self) -> None:
        self.letters: list[tuple[str, str]] = []
        self.is_away = False

    def give_up(self, body: str, reason: str) -> None:
        if self.is_away:
            raise Busy
        self.letters.append((body, reason))


class FakeVisibility:
    """``hidden``: handles of messages, and for how many seconds."""

    def __init__(self) -> None:
        self.hidden: list[tuple[str, int]] = []

    def hide(self, receipt_handle: str, seconds: int) -> None:
        self.hidden.append((receipt_handle, seconds))


class FakeCallbackKey:
    """A constant key."""

    def get(self) -> bytes:
        return b"callbacks of a deployment that isn't one"


class FakeTrackerQueue:
    """Keeps its notices for a test to look at or deliver."""

    def __init__(self) -> None:
        self.notices: list[tuple[str, str | None, int]] = []

    def notify(self, workspace: str, task_id: str | None = None, delay_seconds: int = 0) -> None:
        self.notices.append((workspace, task_id, delay_seconds))


class FakeLooks:
    """``asked``: (workspace, task, seconds, number)."""

    def __init__(self) -> None:
        self.asked: list[tuple[str, str, int, int]] = []

    def look(self, workspace: str, task_id: str, seconds: int = 0, number: int = 1) -> None:
        self.asked.append((workspace, task_id, seconds, number))


class NoTrackers:
    """Fails a test that asks for a tracker where no workspace has one."""

    name = "Notion"

    def of(self, workspace: str, settings: TrackerSettings, budget_seconds: float) -> Tracker:
        raise ValueError(workspace)


class FakeSecrets:
    def __init__(self) -> None:
        self.tokens: dict[str, str] = {}

    def put(self, workspace: str, token: str) -> None:
        self.tokens[workspace] = token

    def get(self, workspace: str, *, afresh: bool = False) -> str | None:
        return self.tokens.get(workspace)


class FakeBus:
    """Keeps the events that it was sent. ``is_away``: every call fails. ``refuses``: the ids of events that it doesn't
    take. ``is_heard``: somebody listens."""

    def __init__(self) -> None:
        self.took: list[BusEvent] = []
        self.is_away = False
        self.refuses: set[str] = set()
        self.is_heard = True

    def publish(self, notices: Sequence[BusEvent]) -> PublishResult:
        if not self.is_heard:
            return PublishResult(frozenset(notice.id for notice in notices), is_sent=False)
        if self.is_away:
            return PublishResult()
        refused = {notice.id: "Refused" for notice in notices if notice.id in self.refuses}
        taken = [notice for notice in notices if notice.id not in refused]
        self.took += taken
        return PublishResult(frozenset(notice.id for notice in taken), refused)
