"""The answer to a claim (docs/spec/lifecycle.md §8)."""

from __future__ import annotations

from typing import Any, Literal

from typing_extensions import TypedDict

from baton.domain import times
from baton.domain.access.principal import Principal
from baton.domain.handoffs.workflow import Checkpoint, RunState
from baton.domain.memory.snapshot import ClaimMemory
from baton.domain.memory.taken_along import SNAPSHOT
from baton.domain.tasks.task import Claim
from baton.ports.deps import Deps
from baton.ports.details import TaskDetails
from baton.steps.claims.take_task import Claimed
from rest.claims.memory_views import ClaimMemoryView, claim_memory_view
from rest.shape import ViewShape
from rest.tasks import outcome_views
from rest.tasks import views as task_views


class BroughtResult(TypedDict):
    """The result of a branch's last task. ``left_out``: the fields that were too large for this answer; the task itself
    shows them."""

    call_id: str
    task_id: str
    handoff_id: str
    agent: str | None
    state: task_views.StateName
    output: Any
    completion: outcome_views.CompletionView | None
    failure: outcome_views.FailureView | None
    left_out: list[str]


class CheckpointState(TypedDict):
    """A saved state to continue from. ``by``: the principal that saved it."""

    checkpoint_id: str
    step_name: str
    state: dict[str, Any]
    at: str
    by: str


class SavedRunState(TypedDict):
    """``by``, ``agent``, ``fence``: of the claim that saved it."""

    by: str
    agent: str
    fence: int
    at: str


class RunStateView(SavedRunState):
    """The saved state of a framework's run. ``state`` and ``signature`` are null unless the claimer is the agent and
    the principal that saved it."""

    state: str | None
    signature: str | None


class ClaimAnswer(TypedDict):
    """All that a worker needs. ``claim_id`` is shown here and nowhere else. After a wait there are the branches'
    ``results``, or the value posted to the ``callback`` with its ``interaction_id``; null if none came in time.
    ``claimed_by``: the principal that claimed. ``checkpoint``: the latest one; for a retry without one, the latest of
    the retried handoff. ``run_state``: the saved state of a framework's run; null if none was saved. ``memory``: null
    unless the handoff has a snapshot, or the request asked for ``auto_memories``. ``withheld``: the fields of which an
    agent that claims by approvals lacks a part, as no person approved it for that agent: other agents' attempts left it
    on open work, or others posted it to the ``memory`` after the task was made."""

    task: task_views.TaskView
    body: dict[str, Any]
    claim_id: str
    fence: int
    claimed_by: str
    expires_at: str
    lease_seconds: int
    recoveries: list[task_views.RecoveryView]
    results: list[BroughtResult]
    callback: Any
    interaction_id: str | None
    answers: list[dict[str, Any]]
    checkpoint: CheckpointState | None
    run_state: RunStateView | None
    memory: ClaimMemoryView | None
    withheld: list[str]


class Beat(TypedDict):
    fence: int
    expires_at: str
    state: Literal["claimed"]


_CHECKPOINT = ViewShape(CheckpointState, Checkpoint, "checkpoint_id")


def claim_answer(deps: Deps, by: Principal, claimed: Claimed) -> ClaimAnswer:
    details, saved, claim = claimed.details, claimed.details.checkpoint, claimed.details.task.claim
    if claim is None:
        raise ValueError("a claim's answer needs a claimed task")
    resume_payload = details.resume_payload or {}
    return {
        "task": task_views.task_view(deps, by, details),
        "body": _body(details.body or {}, claimed.memory),
        "claim_id": claimed.claim_id,
        "fence": claim.fence,
        "claimed_by": claim.principal,
        "expires_at": times.rfc3339(claim.expires_at),
        "lease_seconds": claim.lease_seconds,
        "recoveries": task_views.recovery_views(details.recoveries),
        "results": resume_payload.get("results", []),
        "callback": resume_payload.get("callback"),
        "interaction_id": resume_payload.get("interaction_id"),
        "answers": resume_payload.get("answers", []),
        "checkpoint": checkpoint_state(saved) if saved else _earlier(details) if details.task.retry_of else None,
        "run_state": None if details.run_state is None else _run_state(details.run_state, claim),
        "memory": None if claimed.memory is None else claim_memory_view(claimed.memory),
        "withheld": list(claimed.withheld),
    }


def _body(body: dict[str, Any], memory: ClaimMemory | None) -> dict[str, Any]:
    """Returns the body. Its snapshot says what ``memory`` does: here too no worker gets what was taken back since."""
    known = None if memory is None else memory.known
    return {**body, SNAPSHOT: known.plain()} if known is not None and SNAPSHOT in body else body


def _earlier(details: TaskDetails) -> CheckpointState | None:
    """The checkpoint that a retry came with."""
    retries = (details.body or {}).get("retries") or {}
    earlier = retries.get("checkpoint")
    shown: Any = None if earlier is None else {"checkpoint_id": retries["checkpoint_id"], **earlier}
    found: CheckpointState | None = shown
    return found


def checkpoint_state(checkpoint: Checkpoint) -> CheckpointState:
    return _CHECKPOINT(checkpoint, checkpoint_id=checkpoint.id)


def saved_run_state(saved: RunState) -> SavedRunState:
    return {"by": saved.by, "agent": saved.agent, "fence": saved.fence, "at": times.rfc3339(saved.at)}


def _run_state(saved: RunState, claim: Claim) -> RunStateView:
    is_own = saved.is_of(claim)
    content = (saved.state, saved.signature) if is_own else (None, None)
    return {**saved_run_state(saved), "state": content[0], "signature": content[1]}


def beat(claim: Claim) -> Beat:
    return {"fence": claim.fence, "expires_at": times.rfc3339(claim.expires_at), "state": "claimed"}
