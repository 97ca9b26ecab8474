"""A task's row in the outbox to the tracker: what its page shows, what it should show, and who is sending it now.

Three things make a page exactly one. Nobody sends without holding the row, and a hold outlasts its sender by a minute,
so that whatever a dead sender had asked for has happened by then. A sender that isn't the first looks for the page
before it makes one. And where one may have been made unheard, nobody makes another before the tracker's index, which
lags, must have shown it (invariant 11; docs/decisions/010-the-tracker-outbox.md).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from baton.domain.times import seconds
from baton.domain.tracker import folded

if TYPE_CHECKING:
    from datetime import datetime

    from baton.domain.task import Task

# How long a request may still take effect after nobody waits for it any more.
UNCLEAR_SECONDS = 60
# How far the tracker's index may lag behind its pages: what is older and isn't found was never made.
INDEX_SECONDS = 180
FIRST_PAUSE_SECONDS = 5
LAST_PAUSE_SECONDS = 900
MAX_MESSAGE = 500


class Sync(StrEnum):
    """``denied``: the tracker doesn't let us; ``error``: it answers, but not to this; both are tried again. ``dead``:
    only a human's retry, or another change of the task, tries again."""

    OK = "ok"
    PENDING = "pending"
    DENIED = "denied"
    ERROR = "error"
    DEAD = "dead"


@dataclass(frozen=True, slots=True)
class PageRef:
    id: str
    url: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Mirror:
    """``wanted`` and ``shown``: the entry of the trail up to which the page should show the task, and does. ``looks``
    and ``looked``: how often somebody has reported a change of the page, and up to which report it was seen to.
    ``sender`` holds the row until ``held_until``; after a clean end nobody holds it, and nobody may before then.
    ``page_status``: the page's status when it was last written or looked at; ``shown_state``: the state that was
    written. ``happened_by``: when whatever an unclear request asked for has happened, if it ever does. ``is_settled``:
    the page tells of the task's end, and nothing more is written to it. ``due_at``: when there is something to send,
    None if there isn't."""

    workspace: str
    task_id: str
    wanted: int
    shown: int = 0
    looks: int = 0
    looked: int = 0
    page: PageRef | None = None
    page_status: str | None = None
    shown_state: str | None = None
    is_settled: bool = False
    status: Sync = Sync.PENDING
    message: str = ""
    sender: str | None = None
    held_until: datetime | None = None
    attempts: int = 0
    failures: int = 0
    unclear: bool = False
    happened_by: datetime | None = None
    due_at: datetime | None = None
    since: datetime
    version: int = 1

    @property
    def is_first(self) -> bool:
        """Nobody has tried to make the page before."""
        return self.attempts <= 1

    @property
    def is_behind(self) -> bool:
        return self.wanted > self.shown or self.looks > self.looked

    def made_not_before(self, now: datetime) -> datetime:
        """When a page may be made that can't be found: now, or once it would be found if it had been made unheard."""
        return max(now, self.happened_by + seconds(INDEX_SECONDS)) if self.happened_by else now

    def is_due(self, now: datetime) -> bool:
        held = self.held_until is not None and self.held_until > now
        return self.due_at is not None and self.due_at <= now and not held

    def needs_a_look(self, task: Task, word: str) -> bool:
        """Whether the page has to be asked for at all: somebody reported a change of it, the last request didn't end
        well, or the task has ended, or its state is a new one that the page tells by another ``word``."""
        is_in_doubt = self.unclear or self.status is not Sync.OK
        is_new = str(task.state) != self.shown_state and folded(word) != folded(self.page_status)
        is_ours_to_write = (task.is_ended or is_new) and not self.is_settled
        return self.looks > self.looked or is_in_doubt or is_ours_to_write

    def held(self, sender: str, now: datetime, budget_seconds: float) -> Mirror:
        """By a sender that will ask for nothing after its budget. One that takes over from another doesn't know what
        became of that one's requests."""
        until = now + seconds(budget_seconds + UNCLEAR_SECONDS)
        return replace(
            self,
            sender=sender,
            held_until=until,
            due_at=until,
            attempts=self.attempts + 1,
            unclear=self.unclear or self.sender is not None,
            happened_by=self.happened_by if self.sender is None else self.held_until,
        )

    def sent(self, task: Task, looked: int, page_status: str | None, now: datetime, *, note: str) -> Mirror:
        """All that there was of the task; ``note`` says what the page had to be made without."""
        after = replace(self, shown=max(self.shown, task.seq), looked=max(self.looked, looked))
        return replace(
            after,
            page_status=page_status,
            shown_state=str(task.state),
            is_settled=self.is_settled or task.is_ended,
            status=Sync.OK,
            message=note[:MAX_MESSAGE],
            failures=0,
            unclear=False,
            happened_by=None,
            **_let_go(now if after.is_behind else None),
        )

    def put_off(self, until: datetime, status: Sync, message: str) -> Mirror:
        """Tried again then: the tracker asked to be left alone, which isn't this page's fault."""
        return replace(self, status=status, message=message[:MAX_MESSAGE], **_let_go(until))

    def failed(self, now: datetime, status: Sync, message: str, *, unclear: bool) -> Mirror:
        """Tried again, later each time, so that a page with a trouble of its own doesn't stay ahead of the others;
        after an unclear end not before whatever was asked for has happened."""
        pause = min(FIRST_PAUSE_SECONDS * 4 ** min(self.failures, 8), LAST_PAUSE_SECONDS)
        until = now + seconds(max(pause, UNCLEAR_SECONDS) if unclear else pause)
        after = replace(
            self, status=status, message=message[:MAX_MESSAGE], failures=self.failures + 1, **_let_go(until)
        )
        if not unclear:
            return after
        return replace(after, unclear=True, happened_by=now + seconds(UNCLEAR_SECONDS), held_until=until)

    def died(self, message: str) -> Mirror:
        """Trying again would change nothing: a human sees why."""
        return replace(self, status=Sync.DEAD, message=message[:MAX_MESSAGE], **_let_go(None))

    def revived(self, now: datetime) -> Mirror:
        return replace(self, status=Sync.PENDING, failures=0, due_at=now)


def opened(task: Task, sender: str | None, budget_seconds: float) -> Mirror:
    """The row of a new task, already held by whoever makes the task and tries at once."""
    row = Mirror(
        workspace=task.workspace, task_id=task.id, wanted=task.seq, since=task.created_at, due_at=task.created_at
    )
    return row.held(sender, task.created_at, budget_seconds) if sender else row


def adopted(task: Task, page: PageRef, page_status: str | None, *, is_closed: bool) -> Mirror:
    """The row of a task that was made of a page, and of one that was closed already."""
    return Mirror(
        workspace=task.workspace,
        task_id=task.id,
        wanted=task.seq,
        shown=task.seq,
        page=page,
        page_status=page_status,
        shown_state=str(task.state),
        is_settled=is_closed,
        status=Sync.OK,
        since=task.created_at,
    )


def _let_go(due_at: datetime | None) -> dict[str, Any]:
    return {"sender": None, "held_until": None, "due_at": due_at}
