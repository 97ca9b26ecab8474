"""Completes a task: the worker reports its output and which acceptance criteria are met (docs/spec/protocol.md §4)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from baton.domain.guardrails import checked
from baton.domain.handoff import criteria_of
from baton.domain.times import rfc3339
from baton.domain.verbs import Complete
from baton.services.end_claim import Ending, Word, end_claim
from baton.services.envelope import sender
from baton.services.follow_up import FollowUp, continuation

if TYPE_CHECKING:
    from datetime import datetime

    from baton.domain.idempotency import Once
    from baton.domain.principal import Principal
    from baton.domain.task import Task
    from baton.ports import Baton, Dossier, Extra, Facts

Message = dict[str, Any]


def complete_task(
    baton: Baton,
    by: Principal,
    task_id: str,
    claim_id: str,
    output: Any,
    body_hash: str,
    once: Once | None = None,
    completion: Message | None = None,
    told: tuple[Extra, ...] = (),
    envelope: Message | None = None,
) -> Dossier:
    """Completes the task, with its output and the completion message. ``completion``: deliverables, verification,
    notes, results, continuation. ``envelope``: the message's other statements about the task and the claim; raises
    ``InvalidInput`` if they aren't true. Also raises ``CriteriaUnreported``, ``GuardrailRefused``, ``StaleClaim`` and
    ``Unknown``. ``body_hash`` tells an exact repeat from a second, different completion. ``told``: extra writes."""
    payload = {"output": output, "completion": completion or {}}
    request = Word(
        by=by,
        task_id=task_id,
        claim_id=claim_id,
        verb=Complete.name,
        body_hash=body_hash,
        once=once,
        said=payload,
        told=told,
    )

    def decide(inputs: Facts, now: datetime) -> Ending:
        return _completed(baton, request, inputs, now, envelope or {})

    return end_claim(baton, request, decide)


def _completed(baton: Baton, request: Word, inputs: Facts, now: datetime, envelope: Message) -> Ending:
    task, body = _known(inputs)
    rules = inputs.settings.guardrails
    output = checked({"output": request.said["output"]}, rules, "")["output"]
    completion = checked(request.said["completion"], rules, "")
    reports = tuple((each["criterion"], each["met"]) for each in _reports(completion))
    status = "success" if all(met for _, met in reports) else "partial"
    source = sender(baton, request.by.workspace, inputs, envelope, status)
    completion_id = baton.ids.new("comp", now)
    command = Complete(
        by=request.by,
        claim_id=request.claim_id,
        has_output=output is not None,
        completion_id=completion_id,
        criteria=criteria_of(body),
        reports=reports,
    )
    next_ = _next(baton, request.by, task, body, completion, completion_id, now)
    record = {
        **completion,
        "completion_id": completion_id,
        "handoff_id": task.handoff_id,
        "timestamp": rfc3339(now),
        "status": status,
        "source": source,
    }
    if next_.outcome:
        record["continuation"] = {**completion["continuation"], **next_.outcome}
    return Ending(verb=command, output=output, completion=record, children=next_.children, extras=next_.extras)


def _next(
    baton: Baton,
    by: Principal,
    task: Task,
    body: Message | None,
    completion: Message,
    completion_id: str,
    now: datetime,
) -> FollowUp:
    suggestion = completion.get("continuation") or {}
    if not suggestion.get("suggested_next") or task.claim is None:
        return FollowUp()
    return continuation(baton, by, task, body, suggestion, task.claim.agent, completion_id, now)


def _reports(completion: Message) -> list[Message]:
    return (completion.get("verification") or {}).get("acceptance_criteria_met") or []


def _known(inputs: Facts) -> tuple[Task, Message | None]:
    """The task and its body: ``end_claim`` has checked that there is one."""
    if inputs.parent is None:
        raise ValueError("no task was read")
    return inputs.parent.task, inputs.parent.body
