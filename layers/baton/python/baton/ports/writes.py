"""What a commit writes: each write says how, its value says what."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Protocol

from baton.domain import errors
from baton.domain.escalations.direction import Direction
from baton.domain.handoffs.workflow import (
    BackgroundJob,
)
from baton.domain.idempotency import IdempotencyKey, SavedResponse
from baton.domain.runs.transcript import Usage
from baton.domain.tasks.change import Change
from baton.domain.tasks.task import Claim

# The most items in one transaction.
MAX_ITEMS = 100


class Versioned(Protocol):
    @property
    def version(self) -> int: ...


@dataclass(frozen=True, slots=True)
class Save:
    """The next version of a value; version 1 is its first. Raises ``Conflict`` if it isn't the next."""

    value: Versioned


@dataclass(frozen=True, slots=True)
class Insert:
    """A new value. Raises ``taken`` if there is one under its key already."""

    value: object
    taken: Callable[[], errors.BatonError] | None = None  # None: ``Conflict``


@dataclass(frozen=True, slots=True)
class Put:
    """A value, whatever there was. Never refused."""

    value: object


@dataclass(frozen=True, slots=True)
class Replace:
    """The next value after ``seen``. Raises ``Conflict`` if the present one isn't ``seen``."""

    value: object
    seen: object  # None: there is none yet


@dataclass(frozen=True, slots=True)
class Add:
    """Counts ``number`` more. Raises ``Conflict``, or the counter's own error, if the count would be above ``most``."""

    counter: object
    number: int
    most: int


@dataclass(frozen=True, slots=True)
class UnderClaim:
    """The claim is the task's current one. The task's version stays unless the claim is extended."""

    task_id: str
    claim_id: str
    kept_bytes: int = 0  # added to the bytes counted on the claim
    # The claim as it is extended by the verb that names it. Its lease isn't shortened: that is a conflict.
    extended: Claim | None = None


@dataclass(frozen=True, slots=True)
class NotCancelled:
    """The task isn't cancelled, so that no new task begins below a cancelled one."""

    task_id: str


@dataclass(frozen=True, slots=True)
class VersionUnchanged:
    """The task is in this version."""

    task_id: str
    version: int


@dataclass(frozen=True, slots=True)
class Require:
    """Writes nothing. Raises ``Conflict`` if the fact doesn't hold, so that the use case decides again."""

    fact: UnderClaim | NotCancelled | VersionUnchanged


@dataclass(frozen=True, slots=True)
class SaveResponse:
    """Saves the response under an idempotency key. Raises ``KeyTaken`` unless the key is new, or its saved response is
    expired at the time of ``idempotency_key``."""

    idempotency_key: IdempotencyKey
    answer: dict[str, Any]
    forget_at: datetime | None = None  # may be forgotten from then on; None: as ``idempotency_key`` says


@dataclass(frozen=True, slots=True)
class OpenEscalation:
    """A new escalation in a direction. Raises ``Conflict`` if the direction isn't as read."""

    direction: Direction  # as read; what it says to be closed is kept
    task_id: str
    at: datetime
    forget: tuple[str, ...] = ()  # the entries that are outside of every window
    ends_review: bool = False  # also ends the direction's open review


@dataclass(frozen=True, slots=True)
class CloseEscalation:
    """An escalation whose page is closed in the tracker: it counts as closed though its task goes on. Never refused;
    may be written any number of times. A task's end isn't written: whoever decides reads it from the task."""

    source: str
    target: str
    task_id: str


@dataclass(frozen=True, slots=True)
class OpenReview:
    """The first refusal in a direction opens a review. Raises ``Conflict`` if the direction isn't as read."""

    direction: Direction  # as read; what it says to be closed is kept
    review_id: str


@dataclass(frozen=True, slots=True)
class EndReview:
    """The direction has no open review any more: the next request above the cap opens another one. Raises ``Conflict``
    if the direction isn't as read."""

    direction: Direction  # as read; what it says to be closed is kept


@dataclass(frozen=True, slots=True)
class MakePageDue:
    """Makes a task's page due for a look, as the page has changed. Not refused while a sender holds it. ``reports``:
    the tracker's reports about the change (``page_changes.reports_of``). With some of them it raises ``NoRoom`` if the
    page has ``MAX_REPORTS`` already."""

    task_id: str
    at: datetime
    reports: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class KeepReports:
    """Keeps the tracker's reports about a change that is no reason for a look. Raises ``NoRoom`` for a page that has
    ``MAX_REPORTS`` already, or isn't there."""

    task_id: str
    reports: frozenset[str]


@dataclass(frozen=True, slots=True)
class AddUsage:
    """Adds usage to a task and to its workflow, for a run that can count no more. Never refused."""

    workflow_id: str
    task_id: str
    usage: Usage


@dataclass(frozen=True, slots=True)
class FinishJob:
    """Deletes a finished background job. A job that isn't the one that was read stays. Never refused. Runs by itself
    after the rest of the write: if it is lost, the job stays due and runs once more."""

    job: BackgroundJob


# What is written beside changes of tasks, or without any.
WriteBeside = (
    Save
    | Insert
    | Put
    | Replace
    | Add
    | Require
    | SaveResponse
    | OpenEscalation
    | OpenReview
    | EndReview
    | CloseEscalation
    | MakePageDue
    | KeepReports
    | AddUsage
    | FinishJob
)
Write = Change | WriteBeside


class CommitStore(Protocol):
    """The one way in which use cases write."""

    def commit(self, workspace: str, *writes: Write) -> None:
        """Commits all writes or none, in one transaction of at most ``MAX_ITEMS`` items, each written once. Raises
        ``ValueError`` beyond that, and ``TooLarge``, which names the field, for an item larger than the store allows.
        A ``Change`` of a task raises ``Conflict`` if the task's version isn't that of ``change.before`` (or if the id
        exists, for a new task). Each other write adds its own conditions. A claim that a change begins is listed by
        ``held`` for its agent until its end. Raises ``SlotTaken`` if another claim holds the claim's ``slot``. A
        success is applied exactly once, repeated and unclear attempts included."""

    def saved_response(self, idempotency_key: IdempotencyKey) -> SavedResponse | None:
        """Returns the response saved by ``SaveResponse``, or with a token."""
