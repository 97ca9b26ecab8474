"""A worker delegates parts of its task, and the task waits for their results (docs/spec/lifecycle.md §1)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from baton.domain import errors
from baton.domain.access.principal import Principal
from baton.domain.guardrails.guardrails import checked
from baton.domain.handoffs import handoff_message
from baton.domain.handoffs.handoff_draft import HandoffDraft, lineage_under
from baton.domain.tasks import commands
from baton.domain.tasks.calls import WorkerCall
from baton.domain.tasks.task import JoinRule, Kind, Policy
from baton.ports.deps import Deps
from baton.ports.details import TaskDetails
from baton.ports.handoffs import HandoffInputs, HandoffQuery
from baton.steps.agents import resolve_agents
from baton.steps.claims.end_claim import ClaimOutcome, EndClaimRequest, end_claim
from baton.steps.handoffs.begin_handoff import PlannedHandoff, begin_handoffs, begun_or_refused, terms_under, wait_for
from baton.steps.memory.snapshots import with_snapshot


@dataclass(frozen=True, slots=True)
class BranchMessage:
    """One branch of a delegation."""

    call_id: str  # the caller's name for it
    message: handoff_message.HandoffMessage

    def plain(self) -> dict[str, Any]:
        return {"call_id": self.call_id, **self.message.plain()}


def branch_from(plain: Mapping[str, Any]) -> BranchMessage:
    """The inverse of ``plain``."""
    return BranchMessage(
        plain["call_id"],
        handoff_message.message_from({name: value for name, value in plain.items() if name != "call_id"}),
    )


def delegate_task(deps: Deps, call: WorkerCall, branches: Sequence[BranchMessage], join: JoinRule) -> TaskDetails:
    """Ends the claim, and makes the task wait until its branches have ended, as ``join`` says. ``branches``: 1 to 10,
    each with its own ``call_id``. Raises the errors of ``create_handoff``. A tripped loop guard leaves the task as it
    was."""
    if join.policy is Policy.QUORUM and not 1 <= (join.quorum or 0) <= len(branches):
        raise errors.InvalidInput("join.quorum", f"must be from 1 to {len(branches)}, the number of branches")
    if len({each.call_id for each in branches}) < len(branches):
        raise errors.InvalidInput("branches", "must each have a call_id of their own")
    by, call = call.by, call.saving_refusals()
    request = EndClaimRequest(call=call, command_name=commands.WaitFor.name)

    def decide(inputs: HandoffInputs, now: datetime) -> ClaimOutcome:
        planned = [_planned(deps, by, each, number, inputs) for number, each in enumerate(branches)]
        terms = terms_under(deps, inputs.held.task, inputs, now)
        begun = begun_or_refused(deps, by, begin_handoffs(deps, by, planned, terms), call.idempotency_key)
        wait = wait_for(inputs.held.task, begun.handoffs, join, inputs.settings, now)
        command = commands.WaitFor(by=by, claim_id=call.claim_id, wait=wait)
        return ClaimOutcome(command=command, children=begun.handoffs, extras=begun.extras)

    names = [each.message.target.agent for each in branches]
    return end_claim(deps, request, decide, HandoffQuery(agents=resolve_agents.slugs_among(*names)))


def _planned(deps: Deps, by: Principal, branch: BranchMessage, number: int, inputs: HandoffInputs) -> PlannedHandoff:
    task, record = inputs.held.task, inputs.held.message
    source = task.claim.agent if task.claim else by.id
    field = f"branches.{number}"
    content = branch_from(checked(branch.plain(), inputs.settings.guardrails, field))
    message = content.message
    message.must_be_ahead(deps.clock.now(), field)
    name = message.target.agent
    agent = (
        resolve_agents.active_agent(deps, by.workspace, inputs.agents, name, f"{field}.target.agent")
        if name is not None
        else None
    )
    resolve_agents.must_be_able(deps, by.workspace, agent, message.requires, source)
    completed = replace(
        message,
        source=handoff_message.SourcePart({"agent": source}),
        metadata=message.metadata.with_default_priority(task.priority),
    )
    completed = with_snapshot(deps, by.workspace, completed, field)
    draft = HandoffDraft(
        kind=Kind.DELEGATION,
        source=source,
        target=agent.slug if agent else None,
        message=completed.with_context(record.context.merged_with(message.context)),
        lineage=lineage_under(task, record),
        requires=message.requires,
        join_parent=task.id,
        call_id=content.call_id,
    )
    return PlannedHandoff(draft, agent)
