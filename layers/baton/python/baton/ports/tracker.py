"""The store of page synchronisations, and the tracker itself."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from baton.domain.settings.tracker_settings import TrackerSettings
from baton.domain.tasks.task import Task
from baton.domain.tracker import page_changes
from baton.domain.tracker.page_fields import PageFields
from baton.domain.tracker.page_sync import PageRef, PageSync
from baton.domain.tracker.tracker_circuit import TrackerCircuit
from baton.domain.tracker.webhook import Webhook
from baton.ports.paging import Page


class TrackerStore(Protocol):
    """The page synchronisations, and the tracker's state."""

    def page_sync(self, workspace: str, task_id: str) -> PageSync | None:
        """Returns a task's page synchronisation."""

    def page_syncs(self, workspace: str, task_ids: Sequence[str]) -> dict[str, PageSync]:
        """Returns the page synchronisations of the tasks that have one, by task id. At most 100, in one read."""

    def page_syncs_due(self, workspace: str, now: datetime) -> Iterator[str]:
        """Yields tasks whose page is known to be due for synchronisation, the longest due first. Lags, and may name a
        task whose synchronisation is held."""

    def open_pages(self, workspace: str, now: datetime) -> Iterator[Sequence[tuple[Task, PageSync]]]:
        """Yields the tasks whose page is due for a look at ``now``, page by page, each with its page synchronisation. A
        page that nobody has to look at any more is left out, though the index lags; so is one that can't be read."""

    def count_waiting_page_syncs(self, workspace: str, limit: int) -> int:
        """Returns how many page synchronisations are waiting, counted up to ``limit``. Lags."""

    def dead_page_syncs(self, workspace: str, limit: int, cursor: str | None) -> Page:
        """Returns page synchronisations that were given up. The index lags, the items don't."""

    def page_holders(self, workspace: str, page_ids: Sequence[str]) -> dict[str, str]:
        """Returns the task id by page id, for the pages that belong to a task. At most 100."""

    def circuit(self, workspace: str) -> TrackerCircuit:
        """Returns the tracker circuit; a closed one, at version 0, if none was saved."""

    def tracker_circuits_due(self, now: datetime) -> Iterator[str]:
        """Yields workspaces whose tracker is due for a check. Lags."""

    def webhook(self, workspace: str) -> Webhook | None:
        """Returns the workspace's webhook, also if it was taken down."""


@dataclass(frozen=True, slots=True)
class WrittenPage:
    """A page as it was written."""

    page: PageRef
    status: str | None  # the page's present status; None if it has none
    without: tuple[str, ...] = ()  # the parts that were left out, in words, with what to do about each
    is_denied: bool = False  # some parts were left out because they aren't shared with us


@dataclass(frozen=True, slots=True)
class TrackerProblem:
    """A problem of a tracker's configuration."""

    about: str  # the property, database or token
    severity: str  # ``error``: tasks can't be mirrored; ``warning``: a part of them is left out
    problem: str
    what_to_do: str


class Tracker(Protocol):
    """One workspace's tracker, for one session: it sends no request after its time budget. Every call may raise
    ``TrackerAway`` (``unclear`` if the request may have taken effect or still may), ``TrackerDenies``, ``PageRefused``
    and ``PageGone``. Unknown or missing properties are no errors: they are left out, and ``WrittenPage`` lists them."""

    def create(self, page_fields: PageFields) -> WrittenPage:
        """Creates a new page, also if the task has one already. Never repeated by itself once the tracker may have
        received it."""

    def find(self, page_fields: PageFields) -> tuple[PageRef, ...]:
        """Returns pages that may have been created for the task, the likeliest first. They may be other tasks'
        pages."""

    def update(self, page_id: str, page_fields: PageFields) -> WrittenPage:
        """Writes the task's state to the page. Idempotent."""

    def comment(self, page_id: str, text: str, *, unless_there: bool) -> None:
        """Adds a comment. ``unless_there``: checks first whether the page has it already."""

    def tasks_named(self, page_id: str) -> frozenset[str]:
        """Returns the ids of the tasks that the page's body names."""

    def reach(self) -> None:
        """Raises ``TrackerTrouble`` if the tracker can't be used for any page."""

    def look(self, page_id: str) -> page_changes.PageSnapshot:
        """Returns the page's present state."""

    def who(self, user_id: str) -> page_changes.Editor:
        """Returns the user. An unknown user is not a person."""

    def changed_since(self, since: datetime) -> Iterator[page_changes.PageSnapshot]:
        """Yields pages of the database that were edited since, the longest ago first, without those in its trash."""

    def created_since(self, since: datetime, title: str) -> Iterator[page_changes.PageSnapshot]:
        """Yields pages of the database that were created since and whose title begins with ``title``, the oldest
        first."""

    def problems(self) -> tuple[TrackerProblem, ...]:
        """Returns every problem of the database as it is configured. Never raises: a tracker that doesn't answer is a
        problem too."""


class Trackers(Protocol):
    @property
    def name(self) -> str:
        """The tracker's name in texts for people."""

    def of(self, workspace: str, settings: TrackerSettings, budget_seconds: float) -> Tracker:
        """Returns the workspace's tracker. Sends no request yet, and never raises."""


class TrackerQueue(Protocol):
    def notify(self, workspace: str, task_id: str | None = None, delay_seconds: int = 0) -> None:
        """Sends a dispatch notice to sync-tracker: a page is to be written or looked at, this task's first. Never
        raises. A notice may be lost, doubled, late or out of order; the sweeper sends it again."""


class Secrets(Protocol):
    """The trackers' tokens, one per workspace."""

    def put(self, workspace: str, token: str) -> None:
        """Replaces the present token. Raises ``Busy``."""

    def get(self, workspace: str, *, afresh: bool = False) -> str | None:
        """Returns the token, which may be a few minutes old unless ``afresh``. Raises ``Busy``."""
