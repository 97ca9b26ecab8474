"""The tracker's settings as requests have them."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, StringConstraints

from baton.domain.settings.tracker_settings import MAX_DATABASE, MAX_RIGHTS, MAX_WORD, MAX_WORDS
from rest import models

Word = Annotated[str, StringConstraints(min_length=1, max_length=MAX_WORD)]
Words = Annotated[tuple[Word, ...], models.few(MAX_WORDS)]
UserId = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9_-]{1,64}$")]
TrackerRights = Annotated[
    dict[UserId, Literal["reader", "member", "approver"]],
    Field(max_length=MAX_RIGHTS, json_schema_extra={"additionalProperties": False}),
]


class PropertyNames(models.Part):
    """The names of the database's properties. The title's is found by its type."""

    status: Word = ""
    priority: Word = ""
    due: Word = ""
    client: Word = ""
    project: Word = ""
    task_id: Word = ""


class StatusWords(models.Part):
    """The status on the page for each state."""

    needs: Word = ""
    delegated: Word = ""
    next: Word = ""
    claimed: Word = ""
    waiting: Word = ""
    done: Word = ""
    failed: Word = ""
    rejected: Word = ""
    cancelled: Word = ""


class PriorityWords(models.Part):
    """The priority on the page for each priority."""

    P0: Word = ""
    P1: Word = ""
    P2: Word = ""


class TrackerRequest(models.Part):
    """Fields left out keep their value. ``database``: the id or URL of a Notion database or data source.
    ``closed_statuses``, ``cancelled_statuses``: the statuses that end a task when a person sets them. ``rights``: the
    right of each person who acts in Notion, by their id there; a person without one is an `approver`. The map replaces
    the earlier one."""

    database: Annotated[str, StringConstraints(min_length=1, max_length=MAX_DATABASE)] = ""
    properties: PropertyNames = PropertyNames()
    statuses: StatusWords = StatusWords()
    priorities: PriorityWords = PriorityWords()
    closed_statuses: Words = ()
    cancelled_statuses: Words = ()
    rights: TrackerRights = {}  # noqa: RUF012 - pydantic copies
