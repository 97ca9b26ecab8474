"""Completes a task: the worker reports its output and which acceptance criteria are met (docs/spec/protocol.md §4)."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import Any

from baton.domain import times
from baton.domain.access.principal import Principal
from baton.domain.guardrails.guardrails import checked
from baton.domain.tasks import commands
from baton.domain.tasks.calls import WorkerCall
from baton.ports.deps import Deps
from baton.ports.details import TaskDetails
from baton.ports.handoffs import HandoffInputs
from baton.ports.writes import Write
from baton.steps.claims.check_envelope import sender
from baton.steps.claims.end_claim import ClaimOutcome, EndClaimRequest, end_claim
from baton.steps.handoffs.follow_up import FollowUp, continue_with


@dataclass(frozen=True, slots=True, kw_only=True)
class CompletedWork:
    """The report of a worker that has done its task."""

    output: Any
    completion: dict[str, Any] | None = None  # deliverables, verification, notes, results, continuation
    envelope: dict[str, Any] | None = None  # the message's other statements about the task and the claim
    extra_writes: tuple[Write, ...] = ()  # committed with it


def complete_task(deps: Deps, call: WorkerCall, work: CompletedWork) -> TaskDetails:
    """Completes the task, with its output and the completion message. Raises ``InvalidInput`` if the envelope isn't
    true. Also raises ``CriteriaUnreported``, ``GuardrailRefused``, ``StaleClaim`` and ``Unknown``."""
    payload = {"output": work.output, "completion": work.completion or {}}
    request = EndClaimRequest(
        call=call, command_name=commands.Complete.name, payload=payload, extra_writes=work.extra_writes
    )

    return end_claim(deps, request, partial(_completed, deps, request, work.envelope or {}))


def _completed(
    deps: Deps, request: EndClaimRequest, envelope: dict[str, Any], inputs: HandoffInputs, now: datetime
) -> ClaimOutcome:
    task, handoff = inputs.held.task, inputs.held.message
    rules = inputs.settings.guardrails
    output = checked({"output": request.payload["output"]}, rules, "")["output"]
    completion = checked(request.payload["completion"], rules, "")
    reports = tuple((each["criterion"], each["met"]) for each in _reports(completion))
    status = "success" if all(met for _, met in reports) else "partial"
    source = sender(deps, request.call.by.workspace, inputs, envelope, status)
    completion_id = deps.ids.new("comp", now)
    command = commands.Complete(
        by=request.call.by,
        claim_id=request.call.claim_id,
        has_output=output is not None,
        completion_id=completion_id,
        criteria=handoff.expectations.criteria,
        reports=reports,
    )
    record = {
        **completion,
        "completion_id": completion_id,
        "handoff_id": task.handoff_id,
        "timestamp": times.rfc3339(now),
        "status": status,
        "source": source,
    }
    next_ = _next(deps, request.call.by, inputs, record, now)
    if next_.outcome:
        record["continuation"] = {**completion["continuation"], **next_.outcome}
    return ClaimOutcome(command=command, output=output, completion=record, children=next_.children, extras=next_.extras)


def _next(deps: Deps, by: Principal, inputs: HandoffInputs, completion: dict[str, Any], now: datetime) -> FollowUp:
    suggestion = completion.get("continuation") or {}
    if not suggestion.get("suggested_next") or inputs.parent is None:
        return FollowUp()
    return continue_with(deps, by, inputs.parent, completion, now)


def _reports(completion: dict[str, Any]) -> list[dict[str, Any]]:
    return (completion.get("verification") or {}).get("acceptance_criteria_met") or []
