"""An agent that Baton runs calls a handoff tool (docs/spec/tools.md §4). In a transfer its task ends and another one
continues; in a delegation it waits for the branches. Each is one transaction, with the messages for readers of the
conversation."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from baton.domain import errors
from baton.domain.agents.agent import Agent
from baton.domain.agents.tool import Tool
from baton.domain.guardrails.guardrails import checked
from baton.domain.handoffs import handoff_message
from baton.domain.handoffs.handoff import must_fit
from baton.domain.handoffs.handoff_draft import HandoffDraft, lineage_under
from baton.domain.memory.taken_along import asked_anew
from baton.domain.runs.prompt import context_after
from baton.domain.runs.run_profile import RunProfile
from baton.domain.runs.transcript import MessageType, TaskEntry, TranscriptEntry, TranscriptMessage
from baton.domain.tasks import commands, trail
from baton.domain.tasks.calls import WorkerCall
from baton.domain.tasks.task import MAX_BRANCHES, JoinRule, Kind, Policy, Task
from baton.ports.details import TaskDetails
from baton.ports.handoffs import HandoffInputs, HandoffQuery
from baton.ports.writes import Insert
from baton.steps.agents import resolve_agents
from baton.steps.claims.end_claim import ClaimOutcome, EndClaimRequest, end_claim
from baton.steps.handoffs.begin_handoff import PlannedHandoff, begin_children, transfer_output, wait_for
from baton.steps.memory.snapshots import with_snapshot
from baton.steps.runs.run_context import RunContext

MAX_CALLS = MAX_BRANCHES


@dataclass(frozen=True, slots=True)
class HandoffCall:
    """A model's call of a handoff tool, with arguments that match the tool's schema."""

    call_id: str
    tool: Tool
    variables: dict[str, Any]


@dataclass(frozen=True, slots=True)
class HandoffSource:
    """The run that hands off."""

    run: RunContext
    turns: int  # the turns of its transcript that a target may see

    def call(self, *call_ids: str) -> WorkerCall:
        return self.run.work.call(hashlib.sha256(trail.canonical_json(call_ids).encode()).hexdigest())

    def insert(self, entry: TranscriptEntry) -> Insert:
        return Insert(TaskEntry(self.run.task.id, entry, self.run.fence))


def transfer_by(
    handing: HandoffSource, call: HandoffCall, entry: Callable[[HandoffCall, Task, Agent], TranscriptEntry]
) -> TaskDetails:
    """Transfers the conversation to the tool's target. ``entry`` makes the transcript's entry from the call as it was
    permitted (with its secrets masked if the workspace says so), the new task and its agent. Raises ``TargetInactive``,
    ``LoopTripped`` and other ``InvalidInput``, which leave the task as it was, and ``StaleClaim``."""
    deps, by, worker_call = handing.run.deps, handing.run.work.by, handing.call(call.call_id)

    def decide(inputs: HandoffInputs, now: datetime) -> ClaimOutcome:
        planned, agent, permitted = _planned(handing, call, inputs, Kind.TRANSFER)
        begun = begin_children(deps, worker_call, [planned], inputs, now)
        task = begun.only.task
        command = commands.Transfer(by=by, claim_id=handing.run.work.claim_id, successor=task.id, target=agent.slug)
        extra = handing.insert(entry(permitted, task, agent))
        return ClaimOutcome(
            command=command,
            output=transfer_output(begun.only),
            children=begun.handoffs,
            extras=(extra, *begun.extras),
        )

    return end_claim(
        deps, EndClaimRequest(call=worker_call, command_name=commands.Transfer.name), decide, _wanted([call])
    )


def delegate_by(
    handing: HandoffSource,
    calls: Sequence[HandoffCall],
    profile: RunProfile,
    entry: Callable[[Sequence[tuple[HandoffCall, Task, Agent]]], TranscriptEntry],
) -> TaskDetails:
    """Makes the task wait for its branches, one per call, each under its call's id. Raises the errors of
    ``transfer_by``. All branches begin, or none."""
    worker_call = handing.call(*(call.call_id for call in calls))

    def decide(inputs: HandoffInputs, now: datetime) -> ClaimOutcome:
        planned = [_planned(handing, call, inputs, Kind.DELEGATION) for call in calls]
        begun = begin_children(handing.run.deps, worker_call, [each for each, _, _ in planned], inputs, now)
        quorum = min(profile.quorum or 1, len(calls)) if profile.join is Policy.QUORUM else None
        wait = wait_for(_task(inputs), begun.handoffs, JoinRule(profile.join, quorum), inputs.settings, now)
        pairs = zip(planned, begun.handoffs, strict=True)
        transcript_entry = entry([(call, child.task, agent) for (_, agent, call), child in pairs])
        return ClaimOutcome(
            command=commands.WaitFor(by=handing.run.work.by, claim_id=handing.run.work.claim_id, wait=wait),
            children=begun.handoffs,
            extras=(handing.insert(transcript_entry), *begun.extras),
        )

    return end_claim(
        handing.run.deps, EndClaimRequest(call=worker_call, command_name=commands.WaitFor.name), decide, _wanted(calls)
    )


def transfer_message(call: HandoffCall, task: Task, agent: Agent) -> TranscriptMessage:
    """The message about a transfer, for readers of the conversation."""
    data = {
        "new_task_id": task.id,
        "tool_name": call.tool.name,
        "target_agent": agent.slug,
        "target_agent_name": agent.name,
        "variables": call.variables,
    }
    return TranscriptMessage(MessageType.HANDOFF, routed_text(agent), data)


def delegation_message(call: HandoffCall, task: Task, agent: Agent) -> TranscriptMessage:
    """The message about a delegation, for readers of the conversation."""
    data = {**transfer_message(call, task, agent).data, "call_id": call.call_id}
    return TranscriptMessage(MessageType.SUBTASK, f"Asked {agent.name}", data)


def routed_text(agent: Agent) -> str:
    return f"Routed to {agent.name}"


def _wanted(calls: Sequence[HandoffCall]) -> HandoffQuery:
    return HandoffQuery(agents=frozenset(call.tool.target_agent for call in calls))


def _task(inputs: HandoffInputs) -> Task:
    """``end_claim`` has checked that there is one, and that it is claimed."""
    if inputs.parent is None:
        raise ValueError("no task was read")
    return inputs.parent.task


def _planned(
    handing: HandoffSource, call: HandoffCall, inputs: HandoffInputs, kind: Kind
) -> tuple[PlannedHandoff, Agent, HandoffCall]:
    task, tool = _task(inputs), call.tool
    record = inputs.parent.message if inputs.parent else handoff_message.HandoffMessage()
    source = task.claim.agent if task.claim else task.target_agent or handing.run.work.by.id
    agent = resolve_agents.active_agent(
        handing.run.deps, task.workspace, inputs.agents, tool.target_agent, "target_agent"
    )
    # Read with the task in this very attempt: a change during the model's reply counts.
    if suspension := tool.suspended_by(agent):
        raise errors.ToolSuspended(tool.name, suspension.reason)
    variables = checked(call.variables, inputs.settings.guardrails, "arguments")
    is_transfer = kind is Kind.TRANSFER
    context = context_after(record.context.json, source, tool, variables)
    must_fit("context", context)
    message = handoff_message.HandoffMessage(
        source=handoff_message.SourcePart({"agent": source}),
        target=handoff_message.TargetPart({"agent": agent.slug, "reason": f"Routed by the tool {tool.name}"}),
        summary=task.title,
        context=handoff_message.ContextPart(context),
        expectations=_expected(record, is_transfer=is_transfer),
        # A failed transfer is visible in the conversation, or reported to the waiting task: no approval is waited for.
        rollback=handoff_message.RollbackPart({"on_failure": None}) if is_transfer else handoff_message.RollbackPart(),
        metadata=handoff_message.MetadataPart({"priority": str(task.priority)}),
        more=asked_anew(record.more),
    )
    message = with_snapshot(handing.run.deps, task.workspace, message)
    conversation = handing.run.conversation.handed_on(
        tool.history, task.id, handing.turns, source, tool.handoff_instructions
    )
    draft = HandoffDraft(
        kind=kind,
        source=source,
        target=agent.slug,
        message=conversation.put_into(message),
        lineage=lineage_under(task, record),
        join_parent=task.join_parent if is_transfer else task.id,
        call_id=task.call_id if is_transfer else call.call_id,
    )
    return PlannedHandoff(draft, agent, tool.standing), agent, replace(call, variables=variables)


def _expected(record: handoff_message.HandoffMessage, *, is_transfer: bool) -> handoff_message.ExpectationsPart:
    """The successor of a transfer inherits the expectations; a branch only their times."""
    inherited = record.expectations if is_transfer else record.expectations.times
    return inherited if inherited.fields else handoff_message.ExpectationsPart()
