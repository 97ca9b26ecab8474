"""A worker delegates parts of its task, and the task waits for their results (docs/spec/lifecycle.md §1)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from baton.domain.errors import InvalidInput
from baton.domain.guardrails.guardrails import checked
from baton.domain.handoffs.draft import HandoffDraft, lineage_under
from baton.domain.handoffs.handoff import merged_context, must_be_ahead, requires_of
from baton.domain.tasks.commands import WaitFor
from baton.domain.tasks.task import Kind, Policy
from baton.ports import HandoffQuery
from baton.steps.agents.resolve_agents import active_agent, must_be_able, slugs_among
from baton.steps.claims.end_claim import ClaimOutcome, EndClaimRequest, end_claim
from baton.steps.handoffs.make_handoff import Planned, handoffs_counted, make_handoffs, wait_for

if TYPE_CHECKING:
    from datetime import datetime

    from baton.domain.access.principal import Principal
    from baton.domain.idempotency import IdempotencyKey
    from baton.ports import Deps, HandoffInputs, TaskDetails

Message = dict[str, Any]


def delegate_task(
    deps: Deps,
    by: Principal,
    task_id: str,
    claim_id: str,
    branches: list[Message],
    policy: Policy,
    quorum: int | None,
    body_hash: str,
    idempotency_key: IdempotencyKey | None = None,
) -> TaskDetails:
    """Ends the claim, and makes the task wait until its branches have ended, as ``policy`` says. ``branches``: 1 to 10
    messages, each with its own ``call_id``. Raises the errors of ``create_handoff``. A tripped loop guard leaves the
    task as it was."""
    if policy is Policy.QUORUM and not 1 <= (quorum or 0) <= len(branches):
        raise InvalidInput("join.quorum", f"must be from 1 to {len(branches)}, the number of branches")
    if len({each["call_id"] for each in branches}) < len(branches):
        raise InvalidInput("branches", "must each have a call_id of their own")
    request = EndClaimRequest(
        by=by,
        task_id=task_id,
        claim_id=claim_id,
        verb=WaitFor.name,
        body_hash=body_hash,
        idempotency_key=idempotency_key,
    )

    def decide(inputs: HandoffInputs, now: datetime) -> ClaimOutcome:
        drafts = [_draft(deps, by, each, number, inputs) for number, each in enumerate(branches)]
        children = make_handoffs(deps, by, drafts, inputs.settings, now, idempotency_key)
        wait = wait_for(_claimed(inputs).task, children, policy, quorum, inputs.settings, now)
        command = WaitFor(by=by, claim_id=claim_id, wait=wait)
        extras = handoffs_counted(drafts[0][0], inputs.settings, len(drafts))
        return ClaimOutcome(verb=command, children=children, extras=tuple(extras))

    names = [each["target"].get("agent") for each in branches]
    return end_claim(deps, request, decide, HandoffQuery(agents=slugs_among(*names)))


def _draft(deps: Deps, by: Principal, branch: Message, number: int, inputs: HandoffInputs) -> Planned:
    parent = _claimed(inputs)
    task, body = parent.task, parent.body or {}
    source = task.claim.agent if task.claim else by.id
    field = f"branches.{number}"
    content = checked(branch, inputs.settings.guardrails, field)
    call_id = content["call_id"]
    content = {name: value for name, value in content.items() if name != "call_id"}
    must_be_ahead(content, deps.clock.now(), field)
    name = content["target"].get("agent")
    agent = active_agent(deps, by.workspace, inputs.agents, name, f"{field}.target.agent") if name is not None else None
    requires = requires_of(content)
    must_be_able(deps, by.workspace, agent, requires, source)
    message = {
        **content,
        "source": {"agent": source},
        "metadata": {"priority": str(task.priority), **(content.get("metadata") or {})},
    }
    if context := merged_context(body.get("context"), content.get("context")):
        message["context"] = context
    draft = HandoffDraft(
        kind=Kind.DELEGATION,
        source=source,
        target=agent.slug if agent else None,
        message=message,
        lineage=lineage_under(task, body),
        requires=requires,
        join_parent=task.id,
        call_id=call_id,
    )
    return draft, agent, None


def _claimed(inputs: HandoffInputs) -> TaskDetails:
    if inputs.parent is None:
        raise ValueError("no task was read")
    return inputs.parent
