"""A worker transfers its task: another agent continues, under the same expectations (docs/spec/lifecycle.md §1)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from baton.domain.agents.tool import History
from baton.domain.guardrails.guardrails import checked
from baton.domain.handoffs.draft import HandoffDraft, lineage_under
from baton.domain.handoffs.handoff import merged_context, requires_of
from baton.domain.runs.history import WHOLE, conversation_in
from baton.domain.tasks.commands import Transfer
from baton.domain.tasks.task import Kind
from baton.ports import HandoffQuery
from baton.steps.agents.resolve_agents import active_agent, must_be_able, slugs_among
from baton.steps.claims.end_claim import ClaimOutcome, EndClaimRequest, end_claim
from baton.steps.handoffs.make_handoff import Planned, handoffs_counted, make_handoffs, transfer_output

if TYPE_CHECKING:
    from datetime import datetime

    from baton.domain.access.principal import Principal
    from baton.domain.idempotency import IdempotencyKey
    from baton.ports import Deps, HandoffInputs, TaskDetails

Message = dict[str, Any]


def transfer_task(
    deps: Deps,
    by: Principal,
    task_id: str,
    claim_id: str,
    transfer: Message,
    body_hash: str,
    idempotency_key: IdempotencyKey | None = None,
) -> TaskDetails:
    """Ends the task as done; its child takes its place in a branch. ``transfer``: ``{target, summary, results, context,
    metadata}``. Raises the errors of ``create_handoff``. A tripped loop guard leaves the task as it was."""
    request = EndClaimRequest(
        by=by,
        task_id=task_id,
        claim_id=claim_id,
        verb=Transfer.name,
        body_hash=body_hash,
        idempotency_key=idempotency_key,
        payload={"transfer": transfer},
    )

    def decide(inputs: HandoffInputs, now: datetime) -> ClaimOutcome:
        planned = _draft(deps, by, transfer, inputs)
        (child,) = make_handoffs(deps, by, [planned], inputs.settings, now, idempotency_key)
        task = child.change.task
        command = Transfer(by=by, claim_id=claim_id, successor=task.id, target=task.target_agent)
        extras = tuple(handoffs_counted(planned[0], inputs.settings))
        return ClaimOutcome(verb=command, output=transfer_output(child), children=(child,), extras=extras)

    query = HandoffQuery(agents=slugs_among(transfer["target"].get("agent")))
    return end_claim(deps, request, decide, query)


def _draft(deps: Deps, by: Principal, transfer: Message, inputs: HandoffInputs) -> Planned:
    if inputs.parent is None or inputs.parent.task.claim is None:
        raise ValueError("no claimed task was read")
    task, body = inputs.parent.task, inputs.parent.body or {}
    content = checked(transfer, inputs.settings.guardrails, "")
    source, name = inputs.parent.task.claim.agent, content["target"].get("agent")
    agent = active_agent(deps, by.workspace, inputs.agents, name, "target.agent") if name is not None else None
    message = {
        **content,
        "source": {"agent": source},
        "expectations": body.get("expectations") or {},
        "metadata": {"priority": str(task.priority), **(content.get("metadata") or {})},
    }
    requires = requires_of(message)
    must_be_able(deps, by.workspace, agent, requires, source)
    if context := merged_context(body.get("context"), content.get("context")):
        message["context"] = context
    if conversation := conversation_in(body):
        message |= conversation.handed_on(History.FULL, task.id, WHOLE, source, "").plain()
    draft = HandoffDraft(
        kind=Kind.TRANSFER,
        source=source,
        target=agent.slug if agent else None,
        message=message,
        lineage=lineage_under(task, body),
        requires=requires,
        join_parent=task.join_parent,
        call_id=task.call_id,
    )
    return draft, agent, None
