"""Humans' requests about tasks (docs/spec/lifecycle.md §1)."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field

from api.handoffs.requests import LEFT_OUT, Context, Expectations, Line, Name, Piece, TaskMetadata
from baton.domain.handoffs.handoff_message import HandoffMessage, message_from
from baton.services.handoffs.split_task import MAX_PARTS, MIN_PARTS
from baton.services.tasks.approve_many import MAX_APPROVALS, ApprovalRequest
from rest.models import Body, Id, Instant, Reason, few

Revision = Annotated[int, Field(ge=1, lt=2**53)]


class RevisionSeen(Body):
    """``revision``: the content that the human has read; left out, the current one."""

    revision: Revision | None = None


class Resolution(Body):
    output: Any = None
    reason: Reason | None = None


class Cancellation(Body):
    reason: Reason | None = None


class Deferral(Body):
    """``until``: at most 366 days ahead. ``revision``: the content that the human has read; left out, the current
    one."""

    until: Instant
    revision: Revision | None = None


class Dismissal(Body):
    reason: Line


class PartTarget(Piece):
    """A field that is left out is taken from the whole task."""

    agent: Name | None = None
    reason: Line = LEFT_OUT


class PartRequest(Piece):
    target: PartTarget = LEFT_OUT
    summary: Line
    context: Context = LEFT_OUT
    expectations: Expectations = LEFT_OUT
    metadata: TaskMetadata = LEFT_OUT

    def message(self) -> HandoffMessage:
        return message_from(self.given())


class SplitRequest(Body):
    """``revision``: the content that the human has read; left out, the current one."""

    parts: Annotated[tuple[PartRequest, ...], few(MAX_PARTS, MIN_PARTS)]
    revision: Revision | None = None


class ApprovalItem(Body):
    """``revision``: the content that the human has read; left out, the current one. ``for``: ``dispatch`` to the agent,
    or ``next`` for the worker that claims it by its id."""

    task_id: Id
    revision: Revision | None = None
    purpose: Annotated[Literal["dispatch", "next"], Field(alias="for")] = "dispatch"

    def approval(self) -> ApprovalRequest:
        return ApprovalRequest(self.task_id, self.revision, is_for_next=self.purpose == "next")


class ApprovalsRequest(Body):
    items: Annotated[tuple[ApprovalItem, ...], few(MAX_APPROVALS, 1)]
