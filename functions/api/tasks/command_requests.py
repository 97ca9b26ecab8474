"""Humans' requests about tasks (docs/spec/lifecycle.md §1)."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field, StringConstraints

from api.handoffs import requests
from baton.domain.handoffs import handoff_message
from baton.domain.tasks.calls import Seen
from baton.services.handoffs.split_task import MAX_PARTS, MIN_PARTS
from baton.services.tasks.approve_many import MAX_APPROVALS, ApprovalRequest
from rest import models

Revision = requests.Positive
Digest = Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{64}$")]


class ContentSeen(models.Body):
    """``revision``, ``digest``: of the content that the human has read, from the task; left out, the current one.
    Another one than the task's is refused, and the trail keeps the digest that was sent."""

    revision: Revision | None = None
    digest: Digest | None = None

    @property
    def seen(self) -> Seen:
        return Seen(self.revision, self.digest)


class ApprovalSeen(ContentSeen):
    """``revision``, ``digest``: of the content that the human has read, from the task; left out, the current one.
    ``agent_version``: the target's ``version``, once they have looked at it. Needed beside a ``digest`` if a service
    or a member has changed the agent since the task came. ``agent_versions``: for open work, the versions of the
    agents that rules hold back from it, by slug."""

    agent_version: Revision | None = None
    agent_versions: requests.AgentVersions | None = None

    @property
    def seen(self) -> Seen:
        return Seen(self.revision, self.digest, self.agent_version, self.agent_versions or {})


class ClaimSeen(models.Body):
    """``fence``: of the claim that the human has seen, from the task's ``claim``."""

    fence: Annotated[int, Field(ge=1, lt=2**53)]
    reason: requests.Line


class Resolution(models.Body):
    output: Any = None
    reason: models.Reason | None = None


class Cancellation(models.Body):
    reason: models.Reason | None = None


class Deferral(ContentSeen):
    """``until``: at most 366 days ahead. ``revision``, ``digest``: of the content that the human has read; left out,
    the current one."""

    until: models.Instant


class Dismissal(models.Body):
    reason: requests.Line


class PartTarget(requests.Piece):
    """A field that is left out is taken from the whole task."""

    agent: requests.Name | None = None
    reason: requests.Line = requests.LEFT_OUT


class PartRequest(requests.Piece):
    target: PartTarget = requests.LEFT_OUT
    summary: requests.Line
    context: requests.Context = requests.LEFT_OUT
    expectations: requests.Expectations = requests.LEFT_OUT
    metadata: requests.TaskMetadata = requests.LEFT_OUT

    def message(self) -> handoff_message.HandoffMessage:
        return handoff_message.message_from(self.given())


class SplitRequest(ContentSeen):
    """``revision``, ``digest``: of the content that the human has read; left out, the current one."""

    parts: Annotated[tuple[PartRequest, ...], models.few(MAX_PARTS, MIN_PARTS)]


class ApprovalItem(ApprovalSeen):
    """``revision``, ``digest``, ``agent_version``, ``agent_versions``: as of an approval. ``for``: ``dispatch`` to the
    agent, or ``next`` for the worker that claims it by its id."""

    task_id: models.Id
    purpose: Annotated[Literal["dispatch", "next"], Field(alias="for")] = "dispatch"

    def approval(self) -> ApprovalRequest:
        return ApprovalRequest(self.task_id, self.seen, is_for_next=self.purpose == "next")


class ApprovalsRequest(models.Body):
    items: Annotated[tuple[ApprovalItem, ...], models.few(MAX_APPROVALS, 1)]
