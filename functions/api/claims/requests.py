"""The requests of workers under a claim (docs/spec/protocol.md §4 to §6, docs/spec/lifecycle.md §1)."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import ConfigDict, Field

from api.handoffs.requests import (
    LEFT_OUT,
    MAX_CRITERIA,
    MAX_LIST,
    Context,
    Criterion,
    Expectations,
    Ignored,
    Line,
    Name,
    Piece,
    Result,
    Rollback,
    Source,
    Target,
    TaskMetadata,
    Text,
    Texts,
)
from baton.domain.handoffs.handoff_message import HandoffMessage, message_from
from baton.domain.tasks.task import MAX_BRANCHES, Policy
from baton.services.claims.delegate_task import BranchMessage, branch_from
from rest.models import Body, Id, Instant, LeaseSeconds, Reason, few, plain, without

# One report for each criterion of each deliverable that a handoff may have.
MAX_REPORTS = MAX_LIST * MAX_CRITERIA


class OpenPiece(Piece):
    """Other fields are allowed too."""

    model_config = ConfigDict(extra="allow")


class Heartbeat(Body):
    """``lease_seconds``: from now; left out, the claim's own length."""

    claim_id: Id
    lease_seconds: LeaseSeconds | None = None


class Release(Body):
    claim_id: Id
    reason: Reason | None = None


class Delivered(OpenPiece):
    type: Name
    description: Text = LEFT_OUT
    files_created: Texts = LEFT_OUT
    files_modified: Texts = LEFT_OUT
    tests_created: Texts = LEFT_OUT


class Report(Piece):
    """``criterion``: by its exact text. ``met``: false for any of them makes the completion a partial one."""

    criterion: Criterion
    met: bool
    evidence: Text = LEFT_OUT


class Verification(OpenPiece):
    tests_passing: bool = LEFT_OUT
    type_check_passing: bool = LEFT_OUT
    lint_passing: bool = LEFT_OUT
    acceptance_criteria_met: Annotated[tuple[Report, ...], few(MAX_REPORTS)] = LEFT_OUT


class ContextForNext(Context):
    model_config = ConfigDict(extra="allow")


class Continuation(Piece):
    """``suggested_next``: an agent that gets a handoff of its own, for a human to approve. An unknown one is recorded,
    and refuses nothing."""

    suggested_next: Name
    reason: Line = LEFT_OUT
    context_for_next: ContextForNext = LEFT_OUT


class Enveloped(Piece):
    """A message with its envelope (docs/spec/protocol.md §4), which has to agree with the task and the claim."""

    handoff_id: Id = LEFT_OUT
    source: Source = LEFT_OUT
    timestamp: Ignored = None

    def envelope(self) -> dict[str, Any]:
        """Returns the fields that are checked against the task and the claim."""
        return {name: value for name, value in self.given().items() if name in {"handoff_id", "source", "status"}}


class CompletionRequest(Enveloped):
    """Every acceptance criterion of the handoff has to be among ``verification.acceptance_criteria_met``. ``status``:
    ``partial`` with an unmet one, else ``success``. ``handoff_id`` and ``source``: those of the task and the claim."""

    claim_id: Id
    completion_id: Ignored = None
    status: Literal["success", "partial"] = LEFT_OUT
    output: Any = None
    deliverables: Annotated[tuple[Delivered, ...], few(MAX_LIST)] = LEFT_OUT
    verification: Verification = LEFT_OUT
    notes: Texts = LEFT_OUT
    results: Annotated[tuple[Result, ...], few(MAX_LIST)] = LEFT_OUT
    continuation: Continuation = LEFT_OUT

    def message(self) -> dict[str, Any]:
        return without(plain(self), {"claim_id", "output", "handoff_id", "source", "status"})


class Blocker(Piece):
    type: Name = LEFT_OUT
    description: Text = LEFT_OUT
    required_to_proceed: bool = LEFT_OUT


class PartialProgress(Piece):
    completed: Texts = LEFT_OUT
    incomplete: Texts = LEFT_OUT


class FailureRequest(Piece):
    """``partial_progress`` is saved as a checkpoint for the next worker."""

    type: Literal["blocker", "error", "timeout", "validation", "capability"]
    description: Line
    blockers: Annotated[tuple[Blocker, ...], few(MAX_LIST)] = LEFT_OUT
    partial_progress: PartialProgress = LEFT_OUT


class RollbackRequest(Piece):
    """``target_agent``: left out, the agent that the handoff names for a failure."""

    target_agent: Name = LEFT_OUT
    reason: Line = LEFT_OUT
    questions: Texts = LEFT_OUT


class MayRollBack(Piece):
    rollback_request: RollbackRequest = LEFT_OUT

    def asked_back(self) -> dict[str, Any] | None:
        return self.rollback_request.given() if "rollback_request" in self.model_fields_set else None


class FailureReport(MayRollBack, Enveloped):
    """``retryable``: retried with backoff while attempts remain. ``handoff_id`` and ``source``: those of the task and
    the claim."""

    claim_id: Id
    failure_id: Ignored = None
    checkpoint_id: Ignored = None
    status: Literal["failed"] = LEFT_OUT
    failure: FailureRequest
    retryable: bool = False


class Rejection(MayRollBack):
    claim_id: Id
    reason: Line


class TransferRequest(Piece):
    """The new task keeps this task's expectations."""

    claim_id: Id
    target: Target
    summary: Line = LEFT_OUT
    results: Annotated[tuple[Result, ...], few(MAX_LIST)] = LEFT_OUT
    context: Context = LEFT_OUT
    metadata: TaskMetadata = LEFT_OUT

    def message(self) -> HandoffMessage:
        return message_from(without(plain(self), {"claim_id"}))


class BranchRequest(Piece):
    """``call_id``: the caller's own name for the branch; left out, ``call_1``, ``call_2`` … by its position."""

    call_id: Id = LEFT_OUT
    target: Target
    summary: Line = LEFT_OUT
    context: Context = LEFT_OUT
    expectations: Expectations = LEFT_OUT
    rollback: Rollback = LEFT_OUT
    metadata: TaskMetadata = LEFT_OUT


class Join(Body):
    """When the task continues: once all branches have ended, once one is done, or once ``quorum`` are. It always
    continues when all have ended."""

    policy: Policy = Policy.ALL
    quorum: Annotated[int, Field(ge=1, le=MAX_BRANCHES)] | None = None


class DelegationRequest(Piece):
    claim_id: Id
    branches: Annotated[tuple[BranchRequest, ...], few(MAX_BRANCHES, 1)]
    join: Join = Join()

    def messages(self) -> list[BranchMessage]:
        """Returns the branches, each with its ``call_id``."""
        return [
            branch_from({"call_id": f"call_{number}", **each.given()}) for number, each in enumerate(self.branches, 1)
        ]


class CallbackWait(Body):
    """``interaction_id``: the caller's own name for the interaction. ``until``: at most 30 days ahead, by default 7."""

    claim_id: Id
    interaction_id: Name
    until: Instant | None = None


class NoteRequest(Body):
    claim_id: Id
    text: Text


class CheckpointRequest(Body):
    claim_id: Id
    step_name: Name
    state: dict[str, Any]
