"""A worker transfers its task: another agent continues, under the same expectations (docs/spec/lifecycle.md §1)."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime

from baton.domain.access.principal import Principal
from baton.domain.agents.tool import History
from baton.domain.handoffs import handoff_message
from baton.domain.handoffs.handoff_draft import HandoffDraft, lineage_under
from baton.domain.runs import history
from baton.domain.runs.transcript import Transcript
from baton.domain.tasks import commands
from baton.domain.tasks.calls import WorkerCall
from baton.domain.tasks.task import Kind
from baton.ports.deps import Deps
from baton.ports.details import TaskDetails
from baton.ports.handoffs import HandoffInputs, HandoffQuery
from baton.steps.agents import resolve_agents
from baton.steps.claims.end_claim import ClaimOutcome, EndClaimRequest, end_claim
from baton.steps.guardrails.apply_guardrails import checked_message
from baton.steps.handoffs.begin_handoff import (
    PlannedHandoff,
    begin_handoffs,
    begun_or_refused,
    terms_under,
    transfer_output,
)
from baton.steps.memory.snapshots import with_snapshot


def transfer_task(deps: Deps, call: WorkerCall, transfer: handoff_message.HandoffMessage) -> TaskDetails:
    """Ends the task as done; its child takes its place in a branch. ``transfer``: ``{target, summary, results, context,
    metadata}``. Raises the errors of ``create_handoff``. A tripped loop guard leaves the task as it was."""
    by, call = call.by, call.saving_refusals()
    request = EndClaimRequest(call=call, command_name=commands.Transfer.name, payload={"transfer": transfer.plain()})

    def decide(inputs: HandoffInputs, now: datetime) -> ClaimOutcome:
        planned = [_planned(deps, by, transfer, inputs)]
        terms = terms_under(deps, inputs.held.task, inputs, now)
        begun = begun_or_refused(deps, by, begin_handoffs(deps, by, planned, terms), call.idempotency_key)
        task = begun.only.task
        command = commands.Transfer(by=by, claim_id=call.claim_id, successor=task.id, target=task.target_agent)
        return ClaimOutcome(
            command=command, output=transfer_output(begun.only), children=begun.handoffs, extras=begun.extras
        )

    query = HandoffQuery(agents=resolve_agents.slugs_among(transfer.target.agent))
    return end_claim(deps, request, decide, query)


def _planned(
    deps: Deps, by: Principal, transfer: handoff_message.HandoffMessage, inputs: HandoffInputs
) -> PlannedHandoff:
    if inputs.parent is None or inputs.parent.task.claim is None:
        raise ValueError("no claimed task was read")
    task, record = inputs.parent.task, inputs.parent.message
    content = checked_message(transfer, inputs.settings.guardrails)
    source, name = inputs.parent.task.claim.agent, content.target.agent
    agent = (
        resolve_agents.active_agent(deps, by.workspace, inputs.agents, name, "target.agent")
        if name is not None
        else None
    )
    message = replace(
        content,
        source=handoff_message.SourcePart({"agent": source}),
        expectations=handoff_message.ExpectationsPart(record.expectations.fields),
        metadata=content.metadata.with_default_priority(task.priority),
    )
    requires = message.requires
    resolve_agents.must_be_able(deps, by.workspace, agent, requires, source)
    message = with_snapshot(deps, by.workspace, message)
    message = message.with_context(record.context.merged_with(content.context))
    if conversation := history.conversation_in(record):
        # The receiver gets no turn that a run of an earlier claim would add.
        transcript = Transcript(deps.store.runs.take_transcript(task.workspace, task.id, task.fence))
        handed_on = conversation.handed_on(History.FULL, task.id, transcript.last_turn, source, "")
        message = handed_on.put_into(message)
    draft = HandoffDraft(
        kind=Kind.TRANSFER,
        source=source,
        target=agent.slug if agent else None,
        message=message,
        lineage=lineage_under(task, record),
        requires=requires,
        join_parent=task.join_parent,
        call_id=task.call_id,
    )
    return PlannedHandoff(draft, agent)
