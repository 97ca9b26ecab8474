"""An agent that Baton runs calls a handoff tool (docs/spec/tools.md §4). In a transfer its task ends and another one
continues; in a delegation it waits for the branches. Each is one transaction, with the messages for readers of the
conversation."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from baton.domain import errors
from baton.domain.agents.agent import Agent
from baton.domain.agents.tool import Tool
from baton.domain.canonical_json import canonical_json, digest_of
from baton.domain.guardrails.guardrails import Guardrails, checked
from baton.domain.handoffs import handoff_message
from baton.domain.handoffs.handoff import must_fit
from baton.domain.handoffs.handoff_draft import HandoffDraft, lineage_under
from baton.domain.memory.taken_along import asked_anew
from baton.domain.runs.history import Conversation
from baton.domain.runs.prompt import ROUTED_BY, context_after
from baton.domain.runs.transcript import Block, MessageType, TranscriptEntry, TranscriptMessage, result
from baton.domain.tasks import commands
from baton.domain.tasks.task import MAX_BRANCHES, JoinRule, Kind, Policy, Task
from baton.ports import runs
from baton.ports.handoffs import HandoffInputs, HandoffQuery
from baton.steps.agents import resolve_agents
from baton.steps.claims.end_claim import ClaimOutcome, EndClaimRequest, end_claim
from baton.steps.handoffs.begin_handoff import (
    PlannedHandoff,
    Terms,
    begin_handoffs,
    begun_or_refused,
    transfer_output,
    wait_for,
)
from baton.steps.memory.snapshots import with_snapshot
from baton.steps.runs.run_context import RunContext
from baton.steps.runs.transcript_writer import TranscriptWriter

MAX_CALLS = MAX_BRANCHES


MASKED = "must have nothing that a guardrail masks, as people approved them unmasked: name the secret instead"


@dataclass(frozen=True, slots=True)
class HandoffCall:
    """A model's call of a handoff tool, with arguments that match the tool's schema."""

    call_id: str
    tool: Tool
    variables: dict[str, Any]
    is_changed: bool = False  # people have approved it with these arguments in place of the model's
    is_approved: bool = False

    @property
    def note(self) -> str:
        """What the model is told of a change."""
        if not self.is_changed:
            return ""
        return f"People changed the arguments, and approved the call with these: {canonical_json(self.variables)}"


def transfer_by(
    writer: TranscriptWriter, reply: TranscriptEntry, call: HandoffCall, results: Mapping[str, Block]
) -> runs.RunExit:
    """Transfers the conversation to the tool's target. ``results``: of the reply's other calls; they are kept in the
    same transaction. Raises ``TargetInactive``, ``LoopTripped`` and other ``InvalidInput``, which leave the task as it
    was, and ``StaleClaim``."""
    run, by, claim_id = writer.run, writer.run.work.by, writer.run.work.claim_id

    def decide(inputs: HandoffInputs, now: datetime) -> ClaimOutcome:
        planned, agent, permitted = _planned(run, call, inputs, Kind.TRANSFER, seen_turns(call, reply))
        begun = begun_or_refused(run.deps, by, begin_handoffs(run.deps, by, [planned], _terms(inputs, now)), None)
        new = begun.only
        told = transfer_message(permitted, new.task, agent)
        said = ". ".join(filter(None, (told.text, permitted.note)))
        answered = {**results, call.call_id: result(call.call_id, said)}
        entry = writer.insert(writer.results(reply, reply.in_order(answered), told))
        command = commands.Transfer(by=by, claim_id=claim_id, successor=new.task.id, target=agent.slug)
        extras = (entry, *begun.extras)
        return ClaimOutcome(command=command, output=transfer_output(new), children=begun.handoffs, extras=extras)

    end_claim(run.deps, _request(run, [call], commands.Transfer), decide, _query(run, [call]))
    return runs.RunExit.HANDED_ON


def delegate_by(
    writer: TranscriptWriter, reply: TranscriptEntry, calls: Sequence[HandoffCall], results: Mapping[str, Block]
) -> runs.RunExit:
    """Makes the task wait for its branches, one per call, each under its call's id. ``results`` and what is raised: as
    in ``transfer_by``. All branches begin, or none."""
    run, by, claim_id = writer.run, writer.run.work.by, writer.run.work.claim_id

    def decide(inputs: HandoffInputs, now: datetime) -> ClaimOutcome:
        branches = [_planned(run, call, inputs, Kind.DELEGATION, seen_turns(call, reply)) for call in calls]
        planned = [each for each, _, _ in branches]
        begun = begun_or_refused(run.deps, by, begin_handoffs(run.deps, by, planned, _terms(inputs, now)), None)
        quorum = min(run.profile.quorum or 1, len(calls)) if run.profile.join is Policy.QUORUM else None
        join = JoinRule(run.profile.join, quorum)
        wait = wait_for(inputs.held.task, begun.handoffs, join, inputs.settings, now)
        pairs = zip(branches, begun.handoffs, strict=True)
        told = [delegation_message(call, child.task, agent) for (_, agent, call), child in pairs]
        entry = writer.insert(writer.results(reply, reply.in_order(results), *told))
        command = commands.WaitFor(by=by, claim_id=claim_id, wait=wait)
        return ClaimOutcome(command=command, children=begun.handoffs, extras=(entry, *begun.extras))

    end_claim(run.deps, _request(run, calls, commands.WaitFor), decide, _query(run, calls))
    return runs.RunExit.WAITS


def transfer_message(call: HandoffCall, task: Task, agent: Agent) -> TranscriptMessage:
    """The message about a transfer, for readers of the conversation."""
    told = {"new_task_id": task.id, "tool_name": call.tool.name, "variables": call.variables}
    target = {"target_agent": agent.slug, "target_agent_name": agent.name}
    return TranscriptMessage(MessageType.HANDOFF, f"Routed to {agent.name}", {**told, **target})


def delegation_message(call: HandoffCall, task: Task, agent: Agent) -> TranscriptMessage:
    """The message about a delegation, for readers of the conversation."""
    data = {**transfer_message(call, task, agent).data, "call_id": call.call_id}
    data |= {"note": call.note} if call.note else {}
    return TranscriptMessage(MessageType.SUBTASK, f"Asked {agent.name}", data)


def _request(run: RunContext, calls: Sequence[HandoffCall], command: type[commands.WorkerCommand]) -> EndClaimRequest:
    call = run.work.call(digest_of([call.call_id for call in calls]))
    return EndClaimRequest(call=call, command_name=command.name)


def _query(run: RunContext, calls: Sequence[HandoffCall]) -> HandoffQuery:
    targets = frozenset(call.tool.target_agent for call in calls)
    return HandoffQuery(agents=targets, workflow_id=run.task.workflow_id)


def _terms(inputs: HandoffInputs, now: datetime) -> Terms:
    return Terms(settings=inputs.settings, now=now, handoffs=inputs.handoffs, asked_directly=False)


def _planned(
    run: RunContext, call: HandoffCall, inputs: HandoffInputs, kind: Kind, turns: int
) -> tuple[PlannedHandoff, Agent, HandoffCall]:
    """Returns the handoff with its agent, and the call as it is permitted: with its secrets masked, if the workspace
    says so. ``turns``: those of the transcript that the target may see."""
    task, record, tool = inputs.held.task, inputs.held.message, call.tool
    source = task.claim.agent if task.claim else task.target_agent or run.work.by.id
    agent = resolve_agents.active_agent(run.deps, task.workspace, inputs.agents, tool.target_agent, "target_agent")
    # Read with the task in this very attempt: a change during the model's reply counts.
    if suspension := tool.suspended_by(agent):
        raise errors.ToolSuspended(tool.name, suspension.reason)
    variables = permitted_arguments(call, inputs.settings.guardrails)
    context = context_after(record.context.json, source, tool, variables)
    must_fit("context", context)
    is_transfer = kind is Kind.TRANSFER
    message = handoff_message.HandoffMessage(
        source=handoff_message.SourcePart({"agent": source}),
        target=handoff_message.TargetPart({"agent": agent.slug, "reason": f"{ROUTED_BY} {tool.name}"}),
        summary=task.title,
        context=handoff_message.ContextPart(context),
        expectations=_expected(record, tool),
        # A failed transfer is visible in the conversation, or reported to the waiting task: no approval is waited for.
        rollback=handoff_message.RollbackPart({"on_failure": None} if is_transfer else None),
        metadata=handoff_message.MetadataPart({"priority": str(task.priority)}),
        more=asked_anew(record.more),
    )
    conversation = _conversation(run, call, source, turns)
    draft = HandoffDraft(
        kind=kind,
        source=source,
        target=agent.slug,
        message=conversation.put_into(with_snapshot(run.deps, task.workspace, message)),
        lineage=lineage_under(task, record),
        join_parent=task.join_parent if is_transfer else task.id,
        call_id=task.call_id if is_transfer else call.call_id,
    )
    return PlannedHandoff(draft, agent, tool.standing), agent, replace(call, variables=variables)


def permitted_arguments(call: HandoffCall, guardrails: Guardrails) -> dict[str, Any]:
    """Returns the arguments with which the call is made, with their secrets masked if the workspace says so. Raises
    ``GuardrailRefused``, and ``InvalidInput`` if that would change arguments that people have approved."""
    permitted: dict[str, Any] = checked(call.variables, guardrails, "arguments")
    if call.is_approved and permitted != call.variables:
        raise errors.InvalidInput("arguments", MASKED)
    return permitted


def seen_turns(call: HandoffCall, reply: TranscriptEntry) -> int:
    """Returns the last turn that the target may see. A branch sees the messages before this reply: its calls have no
    results yet."""
    return reply.turn if call.tool.is_transfer else reply.turn - 1


def handed_on(run: RunContext, call: HandoffCall, reply: TranscriptEntry) -> dict[str, Any]:
    """Returns what the target of the call gets besides the arguments, for the people who approve the call."""
    conversation = _conversation(run, call, run.work.agent.slug, seen_turns(call, reply))
    texts = {
        "message": conversation.message,
        "summary": run.task.title,
        "context": run.record.context.json,
        "expectations": _expected(run.record, call.tool).fields,
        "instructions": conversation.instructions,
        "memory": asked_anew(run.record.more),
    }
    return {
        "target_agent": call.tool.target_agent,
        "conversation_id": run.task.workflow_id,
        "history": str(conversation.history),
        "earlier": [each.plain() for each in conversation.earlier],
        **{name: value for name, value in texts.items() if value},
    }


def _conversation(run: RunContext, call: HandoffCall, source: str, turns: int) -> Conversation:
    tool = call.tool
    return run.conversation.handed_on(tool.history, run.task.id, turns, source, tool.handoff_instructions)


def _expected(record: handoff_message.HandoffMessage, tool: Tool) -> handoff_message.ExpectationsPart:
    """The successor of a transfer inherits the expectations; a branch only their times."""
    inherited = record.expectations if tool.is_transfer else record.expectations.times
    return inherited if inherited.fields else handoff_message.ExpectationsPart()
