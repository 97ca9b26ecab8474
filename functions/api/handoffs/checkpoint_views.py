"""Checkpoints as JSON."""

from __future__ import annotations

from typing import Any

from typing_extensions import TypedDict

from baton.domain.handoffs.workflow import Checkpoint
from rest import pages
from rest.shape import ViewShape
from rest.tasks import views as task_views


class SavedCheckpoint(TypedDict):
    checkpoint_id: str
    step_name: str
    task: task_views.ChangedTask


class CheckpointView(TypedDict):
    """A saved state to continue from. ``by``: the principal that saved it."""

    checkpoint_id: str
    workflow_id: str
    task_id: str
    step_name: str
    state: dict[str, Any]
    at: str
    by: str


CheckpointPage = pages.of("CheckpointPage", CheckpointView)
_CHECKPOINT = ViewShape(CheckpointView, Checkpoint, "checkpoint_id")


def checkpoint_view(checkpoint: Checkpoint) -> CheckpointView:
    return _CHECKPOINT(checkpoint, checkpoint_id=checkpoint.id)
