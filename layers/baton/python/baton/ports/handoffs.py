"""The store of handoffs and their workflows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from baton.domain import errors
from baton.domain.agents.agent import Agent
from baton.domain.agents.route import Route
from baton.domain.handoffs.workflow import (
    RootHandoffs,
    WorkflowMember,
)
from baton.domain.idempotency import IdempotencyKey, SavedResponse
from baton.domain.settings.settings import Settings
from baton.ports.details import TaskDetails
from baton.ports.paging import Page


@dataclass(frozen=True, slots=True, kw_only=True)
class HandoffQuery:
    """Names the items that a new handoff is decided on, as far as they are known before the read."""

    agents: frozenset[str] = frozenset()
    work_type: str | None = None
    idempotency_key: IdempotencyKey | None = None
    parent_id: str | None = None  # the task that the handoff belongs to
    workflow_id: str | None = None
    roots: tuple[str, str] | None = None  # the direction of a root handoff: source and target slug


@dataclass(frozen=True, slots=True, kw_only=True)
class HandoffInputs:
    """The items that a new handoff is decided on."""

    settings: Settings
    agents: Mapping[str, Agent]
    route: Route | None = None
    saved_response: SavedResponse | None = None
    parent: TaskDetails | None = None  # the task that the handoff belongs to, with its body
    handoffs: int | None = None  # of the workflow so far; None if they were never counted
    roots: RootHandoffs | None = None  # the direction's root handoffs of the last hour

    @property
    def held(self) -> TaskDetails:
        """The parent, for a decision that can't be without one. Raises ``Unknown``."""
        if self.parent is None:
            raise errors.Unknown("task")
        return self.parent


class HandoffStore(Protocol):
    def handoff_inputs(self, workspace: str, wanted: HandoffQuery) -> HandoffInputs:
        """Returns the items that ``wanted`` names, in one read, without those that don't exist. A direction without
        root handoffs gets an empty count, at version 0."""


class WorkflowStore(Protocol):
    """What surrounds the tasks of a workflow."""

    def members(self, workspace: str, workflow_id: str) -> tuple[WorkflowMember, ...]:
        """Returns every task of a workflow, in the order of their ids."""

    def retry_of(self, workspace: str, task_id: str) -> str | None:
        """Returns the id of the latest retry of the task."""

    def checkpoints(self, workspace: str, workflow_id: str, limit: int, cursor: str | None) -> Page:
        """Returns the workflow's checkpoints, newest first. ``cursor``: any checkpoint id; the
        checkpoints before it."""


class InboxStore(Protocol):
    def inbox(self, workspace: str, agent: str, limit: int, cursor: str | None) -> Page:
        """Returns the items that the agent hasn't acknowledged, oldest first. Lags: an item is missing for milliseconds
        after its task's end. A page may be shorter than ``limit``."""

    def acknowledge(self, workspace: str, agent: str, ids: Sequence[str]) -> tuple[str, ...]:
        """Removes at most 100 items from the inbox. Returns the ids that it doesn't show: of nothing, of what was
        removed before, or of what ended within the lag. Safe to repeat. Raises ``Busy``; a part may be removed then."""
