"""The requests of workers under a claim (docs/spec/protocol.md §4 to §6, docs/spec/lifecycle.md §1)."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import ConfigDict, Field

from api.handoffs import requests
from baton.domain.handoffs import handoff_message
from baton.domain.tasks.task import MAX_BRANCHES, Policy
from baton.services.claims.delegate_task import BranchMessage, branch_from
from rest import models

# One report for each criterion of each deliverable that a handoff may have.
MAX_REPORTS = requests.MAX_LIST * requests.MAX_CRITERIA


class OpenPiece(requests.Piece):
    """Other fields are allowed too."""

    model_config = ConfigDict(extra="allow")


class Heartbeat(models.Body):
    """``lease_seconds``: from now; left out, the claim's own length."""

    claim_id: models.Id
    lease_seconds: models.LeaseSeconds | None = None


class Release(models.Body):
    """``not_before``: nobody gets the task before then; at most 7 days ahead."""

    claim_id: models.Id
    reason: models.Reason | None = None
    not_before: models.Instant | None = None


class Delivered(OpenPiece):
    type: requests.Name
    description: requests.Text = requests.LEFT_OUT
    files_created: requests.Texts = requests.LEFT_OUT
    files_modified: requests.Texts = requests.LEFT_OUT
    tests_created: requests.Texts = requests.LEFT_OUT


class Report(requests.Piece):
    """``criterion``: by its exact text. ``met``: false for any of them makes the completion a partial one."""

    criterion: requests.Criterion
    met: bool
    evidence: requests.Text = requests.LEFT_OUT


class Verification(OpenPiece):
    tests_passing: bool = requests.LEFT_OUT
    type_check_passing: bool = requests.LEFT_OUT
    lint_passing: bool = requests.LEFT_OUT
    acceptance_criteria_met: Annotated[tuple[Report, ...], models.few(MAX_REPORTS)] = requests.LEFT_OUT


class ContextForNext(requests.Context):
    model_config = ConfigDict(extra="allow")


class Continuation(requests.Piece):
    """``suggested_next``: an agent that gets a handoff of its own, for a human to approve. An unknown one is recorded,
    and refuses nothing."""

    suggested_next: requests.Name
    reason: requests.Line = requests.LEFT_OUT
    context_for_next: ContextForNext = requests.LEFT_OUT


class Enveloped(requests.Piece):
    """A message with its envelope (docs/spec/protocol.md §4), which has to agree with the task and the claim."""

    handoff_id: models.Id = requests.LEFT_OUT
    source: requests.Source = requests.LEFT_OUT
    timestamp: requests.Ignored = None

    def envelope(self) -> dict[str, Any]:
        """Returns the fields that are checked against the task and the claim."""
        return {name: value for name, value in self.given().items() if name in {"handoff_id", "source", "status"}}


class Ending(Enveloped):
    """``claim_next``: the answer's ``next_claim`` is the next task for the same worker, claimed for as long."""

    claim_id: models.Id
    claim_next: bool = False


class CompletionRequest(Ending):
    """Every acceptance criterion of the handoff has to be among ``verification.acceptance_criteria_met``. ``status``:
    ``partial`` with an unmet one, else ``success``. ``handoff_id`` and ``source``: those of the task and the claim."""

    completion_id: requests.Ignored = None
    status: Literal["success", "partial"] = requests.LEFT_OUT
    output: Any = None
    deliverables: Annotated[tuple[Delivered, ...], models.few(requests.MAX_LIST)] = requests.LEFT_OUT
    verification: Verification = requests.LEFT_OUT
    notes: requests.Texts = requests.LEFT_OUT
    results: Annotated[tuple[requests.Result, ...], models.few(requests.MAX_LIST)] = requests.LEFT_OUT
    continuation: Continuation = requests.LEFT_OUT

    def message(self) -> dict[str, Any]:
        return models.without(models.plain(self), {*Ending.model_fields, "output", "status"})


class Blocker(requests.Piece):
    type: requests.Name = requests.LEFT_OUT
    description: requests.Text = requests.LEFT_OUT
    required_to_proceed: bool = requests.LEFT_OUT


class PartialProgress(requests.Piece):
    """``output``: what there is so far."""

    completed: requests.Texts = requests.LEFT_OUT
    incomplete: requests.Texts = requests.LEFT_OUT
    output: Any = requests.LEFT_OUT


class FailureRequest(requests.Piece):
    """``partial_progress`` is saved as a checkpoint for the next worker."""

    type: Literal["blocker", "error", "timeout", "validation", "capability"]
    description: requests.Line
    blockers: Annotated[tuple[Blocker, ...], models.few(requests.MAX_LIST)] = requests.LEFT_OUT
    partial_progress: PartialProgress = requests.LEFT_OUT


class RollbackRequest(requests.Piece):
    """``target_agent``: left out, the agent that the handoff names for a failure."""

    target_agent: requests.Name = requests.LEFT_OUT
    reason: requests.Line = requests.LEFT_OUT
    questions: requests.Texts = requests.LEFT_OUT


class MayRollBack(requests.Piece):
    rollback_request: RollbackRequest = requests.LEFT_OUT

    def asked_back(self) -> dict[str, Any] | None:
        return self.rollback_request.given() if "rollback_request" in self.model_fields_set else None


class FailureReport(MayRollBack, Ending):
    """``retryable``: retried with backoff while attempts remain. ``handoff_id`` and ``source``: those of the task and
    the claim."""

    failure_id: requests.Ignored = None
    checkpoint_id: requests.Ignored = None
    status: Literal["failed"] = requests.LEFT_OUT
    failure: FailureRequest
    retryable: bool = False


class Rejection(MayRollBack):
    claim_id: models.Id
    reason: requests.Line


class TransferRequest(requests.WithMemory):
    """The new task keeps this task's expectations."""

    claim_id: models.Id
    target: requests.Target
    summary: requests.Line = requests.LEFT_OUT
    results: Annotated[tuple[requests.Result, ...], models.few(requests.MAX_LIST)] = requests.LEFT_OUT
    context: requests.Context = requests.LEFT_OUT
    metadata: requests.TaskMetadata = requests.LEFT_OUT

    def message(self) -> handoff_message.HandoffMessage:
        return handoff_message.message_from(models.without(models.plain(self), {"claim_id"}))


class BranchRequest(requests.WithMemory):
    """``call_id``: the caller's own name for the branch; left out, ``call_1``, ``call_2`` … by its position."""

    call_id: models.Id = requests.LEFT_OUT
    target: requests.Target
    summary: requests.Line = requests.LEFT_OUT
    context: requests.Context = requests.LEFT_OUT
    expectations: requests.Expectations = requests.LEFT_OUT
    rollback: requests.Rollback = requests.LEFT_OUT
    metadata: requests.TaskMetadata = requests.LEFT_OUT


class Join(models.Body):
    """When the task continues: once all branches have ended, once one is done, or once ``quorum`` are. It always
    continues when all have ended."""

    policy: Policy = Policy.ALL
    quorum: Annotated[int, Field(ge=1, le=MAX_BRANCHES)] | None = None


class DelegationRequest(requests.Piece):
    claim_id: models.Id
    branches: Annotated[tuple[BranchRequest, ...], models.few(MAX_BRANCHES, 1)]
    join: Join = Join()

    def messages(self) -> list[BranchMessage]:
        """Returns the branches, each with its ``call_id``."""
        return [
            branch_from({"call_id": f"call_{number}", **each.given()}) for number, each in enumerate(self.branches, 1)
        ]


class CallbackWait(models.Body):
    """``interaction_id``: the caller's own name for the interaction. ``until``: at most 30 days ahead, by default 7."""

    claim_id: models.Id
    interaction_id: requests.Name
    until: models.Instant | None = None


class NoteRequest(models.Body):
    claim_id: models.Id
    text: requests.Text


class CheckpointRequest(models.Body):
    claim_id: models.Id
    step_name: requests.Name
    state: dict[str, Any]


class RunStateRequest(models.Body):
    """``state``: opaque to Baton. ``signature``: HMAC-SHA256 of the state, task, agent and fence, by a key that Baton
    doesn't have."""

    claim_id: models.Id
    state: Annotated[str, Field(min_length=1)]
    signature: Annotated[str, Field(pattern="^[0-9a-f]{64}$")]
