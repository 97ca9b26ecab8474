"""The synchronisation of a task with its tracker page: what the page shows, what it has to show, and its sender.

Three rules keep the page unique. Only the sender that holds the lease sends, and the lease ends a minute after the
sender's time budget: by then every request of a dead sender has taken effect or never will. A sender that isn't the
first searches for the page before it creates one. After a request with an unclear outcome no page is created until the
lag of the tracker's search index is over, when a search is sure to find the page of that request (invariant 11;
docs/decisions/010-the-tracker-outbox.md).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum
from typing import Any

from baton.domain import times
from baton.domain.settings.tracker_settings import TrackerSettings, folded
from baton.domain.tasks.task import Task

# How long a request can still take effect after its sender stopped waiting for it.
UNCLEAR_SECONDS = 60
# The longest lag of the tracker's search index: a page that is older and isn't found was never created.
INDEX_SECONDS = 180
FIRST_PAUSE_SECONDS = 5
LAST_PAUSE_SECONDS = 900
# A page whose task has changed in this time is looked at in every round of sync-tracker, as a notice may have been
# lost. Later looks are as far apart as nothing has happened before them, at most this long.
FRESH_SECONDS = 3_600
LAST_LOOK_SECONDS = 10_800
MAX_MESSAGE = 500


class Sync(StrEnum):
    """The outcome of the latest attempt to write the page."""

    OK = "ok"
    PENDING = "pending"
    DENIED = "denied"  # access is refused; tried again
    ERROR = "error"  # the tracker refuses this request; tried again
    DEAD = "dead"  # given up until a human's retry or the task's next change


@dataclass(frozen=True, slots=True)
class PageRef:
    id: str
    url: str


@dataclass(frozen=True, slots=True, kw_only=True)
class PageSync:
    """A task's synchronisation with its tracker page."""

    workspace: str
    task_id: str
    # The event's number up to which the page has to show the task, as far as a sender knew; 0 before the first one. The
    # task itself says what is newer: its changes don't write this value.
    wanted: int
    shown: int = 0  # the event's number up to which it does
    looks: int = 0  # reports that somebody changed the page
    looked: int = 0  # the reports among them that were handled
    reports: frozenset[str] = frozenset()  # their authors and columns, without the handled ones
    our_id: str = ""  # the tracker's id of Baton's own connection, once a look has shown it
    page: PageRef | None = None
    page_status: str | None = None  # the page's status when it was last written or read
    shown_state: str | None = None  # the task's state when the page was last written
    is_settled: bool = False  # the page shows the task's end, and nothing more is written to it
    status: Sync = Sync.PENDING
    message: str = ""
    # The sender and the end of its lease. A clean end clears both. An unclear one clears the sender only: no other may
    # begin before ``held_until``.
    sender: str | None = None
    held_until: datetime | None = None
    attempts: int = 0
    failures: int = 0
    unclear: bool = False  # the latest request may have taken effect
    happened_by: datetime | None = None  # when an unclear request has taken effect, if it ever does
    due_at: datetime | None = None  # when there is something to send; None if none is known of
    look_at: datetime | None = None  # when to look whether the task has changed; None once its end is shown
    since: datetime
    version: int = 1

    @property
    def is_first(self) -> bool:
        """True if no earlier sender tried to create the page."""
        return self.attempts <= 1

    @property
    def is_behind(self) -> bool:
        return self.wanted > self.shown or self.looks > self.looked

    def made_not_before(self, now: datetime) -> datetime:
        """Returns the earliest time to create a page that a search didn't find: now, or after an unclear request when a
        search would find its page."""
        return max(now, self.happened_by + times.seconds(INDEX_SECONDS)) if self.happened_by else now

    def is_held(self, now: datetime) -> bool:
        return self.held_until is not None and self.held_until > now

    def is_overtaken(self, task: Task) -> bool:
        """True if no sender has known of the task's latest event."""
        return task.meta.seq > self.wanted

    def is_due(self, task: Task, now: datetime) -> bool:
        """True if a sender may begin now, and has something to send or follows a sender that died."""
        is_wanted = self.due_at is not None and self.due_at <= now
        return not self.is_held(now) and (is_wanted or self.is_overtaken(task) or self.sender is not None)

    def needs_a_look(self, task: Task, settings: TrackerSettings) -> bool:
        """True if the page has to be read first: a change of it was reported, the latest request didn't succeed, or the
        page lacks the task's end or its new state. A status that others have set may have been replaced since by
        others, also if it says by chance what the new state does."""
        is_in_doubt = self.unclear or self.status is not Sync.OK
        wanted = folded(settings.status_for(task.state))
        is_lacking = wanted != folded(self.page_status) or wanted != folded(
            settings.statuses.get(self.shown_state or "")
        )
        is_new = str(task.state) != self.shown_state and is_lacking
        is_ours_to_write = (task.is_ended or is_new) and not self.is_settled
        return self.looks > self.looked or is_in_doubt or is_ours_to_write

    def wanting(self, task: Task) -> PageSync:
        """Returns the synchronisation that has to show the task as it is."""
        return replace(self, wanted=max(self.wanted, task.meta.seq))

    def put_back(self, task: Task, now: datetime) -> PageSync | None:
        """Returns the synchronisation with the time at which it is due, for a notice that can't be handled now: at once
        if the task has changed since the latest sender read it, else when that sender's lease is over, as it may have
        died. None if that is known already."""
        if self.is_overtaken(task):
            return replace(self.wanting(task), due_at=now)
        return replace(self, due_at=self.held_until) if self.sender and self.due_at is None else None

    def rested(self, task: Task, now: datetime) -> PageSync | None:
        """Returns the synchronisation to be looked at later, as there was nothing to send; None while the task is
        fresh."""
        idle = now - task.meta.updated_at
        if idle < times.seconds(FRESH_SECONDS) or self.is_held(now):
            return None
        return replace(self, look_at=now + min(idle, times.seconds(LAST_LOOK_SECONDS)))

    def held(self, sender: str, now: datetime, budget_seconds: float) -> PageSync:
        """Returns the synchronisation leased to ``sender``, which sends nothing after its time budget. If another
        sender held the lease, the outcome of that sender's requests is unclear."""
        until = now + times.seconds(budget_seconds + UNCLEAR_SECONDS)
        return replace(
            self,
            sender=sender,
            held_until=until,
            due_at=None if self.due_at is None else until,
            attempts=self.attempts + 1,
            unclear=self.unclear or self.sender is not None,
            happened_by=self.happened_by if self.sender is None else self.held_until,
        )

    def without_reports(self, handled: frozenset[str], our_id: str = "") -> PageSync:
        """Returns the synchronisation after a look. ``handled``: the ``reports`` that were known before it."""
        return replace(self, reports=self.reports - handled, our_id=our_id or self.our_id)

    def sent(self, task: Task, looked: int, page_status: str | None, now: datetime, *, note: str) -> PageSync:
        """Returns the synchronisation after a successful write. ``note``: what the page had to be written without."""
        after = replace(self.wanting(task), shown=max(self.shown, task.meta.seq), looked=max(self.looked, looked))
        return replace(
            after,
            look_at=None if task.is_ended else self.look_at,
            page_status=page_status,
            shown_state=str(task.state),
            is_settled=self.is_settled or task.is_ended,
            status=Sync.OK,
            message=note[:MAX_MESSAGE],
            failures=0,
            unclear=False,
            happened_by=None,
            **_released(now if after.is_behind else None),
        )

    def reopened(self) -> PageSync:
        """Returns the synchronisation of a page that was closed before its import, and is open while its task is: its
        task's end is still to be written."""
        return replace(self, is_settled=False)

    def put_off(self, until: datetime, status: Sync, message: str) -> PageSync:
        """Returns the synchronisation to be tried again at ``until``: the trouble is the tracker's, so no failure of
        the page counts."""
        return replace(self, status=status, message=message[:MAX_MESSAGE], **_released(until))

    def failed(self, now: datetime, status: Sync, message: str, *, unclear: bool) -> PageSync:
        """Returns the synchronisation after a failure of this page: tried again after a growing pause, so that it
        doesn't stay ahead of other pages; after an unclear failure not before the request has taken effect."""
        pause = min(FIRST_PAUSE_SECONDS * 4 ** min(self.failures, 8), LAST_PAUSE_SECONDS)
        until = now + times.seconds(max(pause, UNCLEAR_SECONDS) if unclear else pause)
        after = replace(
            self, status=status, message=message[:MAX_MESSAGE], failures=self.failures + 1, **_released(until)
        )
        if not unclear:
            return after
        return replace(after, unclear=True, happened_by=now + times.seconds(UNCLEAR_SECONDS), held_until=until)

    def died(self, task: Task, message: str) -> PageSync:
        """Returns the synchronisation given up: another attempt can't succeed while the task is as it is. ``message``
        tells a human why."""
        look_at = None if task.is_ended else self.look_at
        return replace(self, look_at=look_at, status=Sync.DEAD, message=message[:MAX_MESSAGE], **_released(None))

    def revived(self, now: datetime) -> PageSync:
        return replace(self, status=Sync.PENDING, failures=0, due_at=now)


def opened(task: Task, sender: str | None, budget_seconds: float) -> PageSync:
    """Returns the synchronisation of a new task. ``sender``: the process that creates the task and writes the page at
    once, if any."""
    at = task.created_at
    sync = PageSync(workspace=task.workspace, task_id=task.id, wanted=0, since=at, look_at=at)
    return sync.wanting(task).held(sender, at, budget_seconds) if sender else sync


def adopted(task: Task, page: PageRef, page_status: str | None, *, is_closed: bool) -> PageSync:
    """Returns the synchronisation of a task that was imported from a page. ``is_closed``: the page was closed before
    the import."""
    return PageSync(
        workspace=task.workspace,
        task_id=task.id,
        wanted=task.meta.seq,
        shown=task.meta.seq,
        page=page,
        page_status=page_status,
        shown_state=str(task.state),
        is_settled=is_closed,
        status=Sync.OK,
        since=task.created_at,
        look_at=task.created_at,
    )


def _released(due_at: datetime | None) -> dict[str, Any]:
    return {"sender": None, "held_until": None, "due_at": due_at}


@dataclass(frozen=True, slots=True)
class PageLink:
    """Reserves a page for one task."""

    page_id: str
    task_id: str
