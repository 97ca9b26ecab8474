"""The end of a claim as JSON, with the claim that follows it."""

from __future__ import annotations

from typing import NotRequired

from typing_extensions import TypedDict

from rest.claims import views as claim_views
from rest.tasks import views as task_views


class WithNext(TypedDict):
    """``next_claim``: only if it was asked for; null if there is no work, if the claim is refused, or if a repeat's
    claim is over."""

    next_claim: NotRequired[claim_views.ClaimAnswer | None]


class CompletedAndNext(task_views.CompletedTask, WithNext):
    """The task, the record of its completion, and the worker's next claim."""


class FailedAndNext(task_views.FailedTask, WithNext):
    """The task, the follow-up of its failure, and the worker's next claim. ``checkpoint_id``: of the partial progress,
    if there was any; ``rollback``: null while it is retried, or if no agent is to be told."""
