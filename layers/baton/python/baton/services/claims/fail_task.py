"""Fails or rejects a task. A failed task is tried again with backoff while attempts are left; otherwise it ends, and
goes back to an agent that can act on it (docs/spec/protocol.md §5)."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from baton.domain import times
from baton.domain.guardrails.guardrails import checked, checked_reason
from baton.domain.handoffs.workflow import Checkpoint
from baton.domain.tasks import commands
from baton.domain.tasks.calls import WorkerCall
from baton.domain.tasks.task import Task
from baton.ports.deps import Deps
from baton.ports.details import TaskDetails
from baton.ports.handoffs import HandoffInputs
from baton.ports.writes import Put, Write
from baton.steps.claims.check_envelope import sender
from baton.steps.claims.end_claim import ClaimOutcome, EndClaimRequest, end_claim
from baton.steps.handoffs.follow_up import FollowUp, roll_back


@dataclass(frozen=True, slots=True, kw_only=True)
class FailedWork:
    """The report of a worker that couldn't do its task."""

    failure: dict[str, Any]  # ``{type, description, blockers, partial_progress}``
    retryable: bool = False
    rollback_request: dict[str, Any] | None = None  # ``{target_agent, reason, questions}``
    envelope: dict[str, Any] | None = None  # the message's other statements about the task and the claim
    extra_writes: tuple[Write, ...] = ()  # committed with it


def fail_task(deps: Deps, call: WorkerCall, work: FailedWork) -> TaskDetails:
    """Fails the task, or makes it ready again if the failure is retryable and attempts are left. An agent that is
    switched off may fail its task, but not name the agent that continues: raises ``InactiveAgent``. Raises
    ``InvalidInput`` if the envelope isn't true. Also raises ``GuardrailRefused``, ``StaleClaim`` and ``Unknown``."""
    by, payload = call.by, _payload(work.failure, work.rollback_request)
    request = EndClaimRequest(
        call=call, command_name=commands.Fail.name, payload=payload, extra_writes=work.extra_writes, while_off=True
    )

    def decide(inputs: HandoffInputs, now: datetime) -> ClaimOutcome:
        task = _task(inputs)
        base = _base_record(deps, request, inputs, now, checked(work.failure, inputs.settings.guardrails, "failure"))
        base["source"] = sender(deps, by.workspace, inputs, work.envelope or {}, "failed")
        checkpoint = _partial_progress(deps, request, task, base, now)
        base["checkpoint_id"] = checkpoint.id if checkpoint else None
        is_over = not work.retryable or task.attempt >= task.max_attempts
        back = _rolled_back(deps, request, inputs, base, now) if is_over else FollowUp()
        record = {**base, **({"rollback": back.outcome} if back.outcome else {})}
        command = commands.Fail(
            by=by,
            claim_id=call.claim_id,
            failure=record,
            retryable=work.retryable,
            failure_id=base["failure_id"],
            checkpoint_id=checkpoint.id if checkpoint else None,
            rollback=_initiated(back),
            successor=_successor(task, back),
        )
        extras = (*([Put(checkpoint)] if checkpoint else []), *back.extras)
        return ClaimOutcome(
            command=command,
            failure=record,
            computed={name: value for name, value in record.items() if name not in payload},
            children=back.children,
            extras=extras,
        )

    return end_claim(deps, request, decide)


def reject_task(
    deps: Deps, call: WorkerCall, reason: str, rollback_request: dict[str, Any] | None = None
) -> TaskDetails:
    """Rejects the task: the agent can't or won't do it. Raises ``StaleClaim``, ``Unknown``, and ``GuardrailRefused``
    for the rollback request."""
    by = call.by
    payload = _payload({"type": "capability", "description": reason}, rollback_request)
    request = EndClaimRequest(call=call, command_name=commands.Reject.name, payload=payload)

    def decide(inputs: HandoffInputs, now: datetime) -> ClaimOutcome:
        task = _task(inputs)
        kept_reason = checked_reason(reason, inputs.settings.guardrails)
        base = _base_record(deps, request, inputs, now, {"type": "capability", "description": kept_reason})
        back = _rolled_back(deps, request, inputs, base, now)
        record = {**base, **({"rollback": back.outcome} if back.outcome else {})}
        command = commands.Reject(
            by=by,
            claim_id=call.claim_id,
            reason=base["failure"]["description"],
            failure=record,
            failure_id=base["failure_id"],
            rollback=_initiated(back),
            successor=_successor(task, back),
        )
        return ClaimOutcome(command=command, failure=record, children=back.children, extras=back.extras)

    return end_claim(deps, request, decide)


def _payload(failure: dict[str, Any], rollback_request: dict[str, Any] | None) -> dict[str, Any]:
    return {"failure": failure, **({"rollback_request": rollback_request} if rollback_request else {})}


def _base_record(
    deps: Deps, request: EndClaimRequest, inputs: HandoffInputs, now: datetime, failure: dict[str, Any]
) -> dict[str, Any]:
    """The record of the failure. ``failure``: after the guardrails."""
    task, rules = _task(inputs), inputs.settings.guardrails
    rollback_request = request.payload.get("rollback_request")
    return {
        "failure_id": deps.ids.new("fail", now),
        "handoff_id": task.handoff_id,
        "timestamp": times.rfc3339(now),
        "source": {"agent": task.claim.agent if task.claim else request.call.by.id},
        "failure": failure,
        **({"rollback_request": checked(rollback_request, rules, "rollback_request")} if rollback_request else {}),
        "checkpoint_id": None,
    }


def _partial_progress(
    deps: Deps, request: EndClaimRequest, task: Task, base: dict[str, Any], now: datetime
) -> Checkpoint | None:
    """A checkpoint with the partial progress, so that the next worker doesn't begin anew."""
    progress = base["failure"].get("partial_progress") or {}
    if not any(progress.values()) or task.claim is None:
        return None
    return Checkpoint(
        id=deps.ids.new("chk", now),
        workflow_id=task.workflow_id,
        task_id=task.id,
        step_name=f"partial_{task.claim.agent}",
        state={"partial_progress": progress},
        at=now,
        by=request.call.by.key,
        agent=task.claim.agent,
    )


def _rolled_back(
    deps: Deps, request: EndClaimRequest, inputs: HandoffInputs, failure: dict[str, Any], now: datetime
) -> FollowUp:
    return roll_back(deps, request.call.by, inputs.parent, failure, now) if inputs.parent else FollowUp()


def _initiated(back: FollowUp) -> dict[str, Any] | None:
    """The rollback's entry in the trail, if there is a new handoff."""
    return {name: back.outcome[name] for name in ("target_agent", "handoff_id", "task_id")} if back.child else None


def _successor(task: Task, back: FollowUp) -> str | None:
    """The rollback continues a branch that a task waits for."""
    return back.child.change.task.id if back.child and task.join_parent is not None else None


def _task(inputs: HandoffInputs) -> Task:
    if inputs.parent is None:
        raise ValueError("no task was read")
    return inputs.parent.task
