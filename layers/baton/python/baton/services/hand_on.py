"""An agent that Baton runs calls a handoff tool (docs/spec/tools.md §4): its task is done and another one goes on, or
it waits for what others make of parts of it. One transaction either way, with all that whoever watches is told."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from baton.domain.draft import Draft, under
from baton.domain.errors import ToolSuspended
from baton.domain.events import canonical_json
from baton.domain.guardrails import checked
from baton.domain.handoff import must_fit
from baton.domain.prompt import context_after
from baton.domain.task import MAX_BRANCHES, Kind, Policy
from baton.domain.transcript import Message, MessageType
from baton.domain.verbs import Transfer, WaitFor
from baton.ports import EntryKept, Wanted
from baton.services.end_claim import Ending, Word, end_claim
from baton.services.make_handoff import counted, make_all, over_to, wait_for
from baton.services.who_takes_it import named

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from datetime import datetime

    from baton.domain.agent import Agent
    from baton.domain.history import Conversation
    from baton.domain.run_profile import RunProfile
    from baton.domain.task import Task
    from baton.domain.tool import Tool
    from baton.domain.transcript import Entry
    from baton.ports import Baton, Dossier, Facts
    from baton.run_ports import Work

MAX_CALLS = MAX_BRANCHES
_TIME = ("deadline", "fail_on_deadline")


@dataclass(frozen=True, slots=True)
class HandoffCall:
    """A model's call of a handoff tool, with arguments that the tool takes."""

    call_id: str
    tool: Tool
    variables: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Handing:
    """Who hands on, and in what: ``turns``: those of its transcript that a target may see."""

    baton: Baton
    work: Work
    conversation: Conversation
    turns: int

    def word(self, verb: str, *call_ids: str) -> Word:
        body_hash = hashlib.sha256(canonical_json(call_ids).encode()).hexdigest()
        work = self.work
        return Word(by=work.by, task_id=work.dossier.task.id, claim_id=work.claim_id, verb=verb, body_hash=body_hash)


def transfer_by(handing: Handing, call: HandoffCall, entry: Callable[[HandoffCall, Task, Agent], Entry]) -> Dossier:
    """The conversation goes over to the tool's target. ``entry``: what is told of the call as it was let through (with
    its secrets masked where the workspace's rules say so), the new task and its agent. Raises
    ``TargetInactive``, ``LoopTripped`` and other ``InvalidInput``: the task is as it was then; ``StaleClaim``."""
    baton, by = handing.baton, handing.work.by

    def decide(facts: Facts, now: datetime) -> Ending:
        draft, agent, let_through = _drafted(handing, call, facts, Kind.TRANSFER)
        (child,) = make_all(baton, by, [(draft, agent, call.tool.standing)], facts.settings, now, None)
        task = child.change.task
        verb = Transfer(by=by, claim_id=handing.work.claim_id, successor=task.id, target=agent.slug)
        told = EntryKept(handing.work.dossier.task.id, entry(let_through, task, agent))
        return Ending(
            verb=verb, output=over_to(child), children=(child,), extras=(told, *counted(draft, facts.settings))
        )

    return end_claim(baton, handing.word(Transfer.name, call.call_id), decide, _wanted([call]))


def delegate_by(
    handing: Handing,
    calls: Sequence[HandoffCall],
    profile: RunProfile,
    entry: Callable[[Sequence[tuple[HandoffCall, Task, Agent]]], Entry],
) -> Dossier:
    """The task waits for what the targets make of it, each under its call's id. Raises as ``transfer_by``; all of them
    begin, or none."""

    def decide(facts: Facts, now: datetime) -> Ending:
        drafts = [_drafted(handing, call, facts, Kind.DELEGATION) for call in calls]
        planned = [(draft, agent, call.tool.standing) for draft, agent, call in drafts]
        children = make_all(handing.baton, handing.work.by, planned, facts.settings, now, None)
        quorum = min(profile.quorum or 1, len(calls)) if profile.join is Policy.QUORUM else None
        wait = wait_for(_task(facts), children, profile.join, quorum, facts.settings, now)
        begun = zip(drafts, children, strict=True)
        told = entry([(call, child.change.task, agent) for (_, agent, call), child in begun])
        return Ending(
            verb=WaitFor(by=handing.work.by, claim_id=handing.work.claim_id, wait=wait),
            children=children,
            extras=(EntryKept(handing.work.dossier.task.id, told), *counted(drafts[0][0], facts.settings, len(drafts))),
        )

    word = handing.word(WaitFor.name, *(call.call_id for call in calls))
    return end_claim(handing.baton, word, decide, _wanted(calls))


def handed_over(call: HandoffCall, task: Task, agent: Agent) -> Message:
    """What whoever watches is told of a transfer."""
    data = {
        "new_task_id": task.id,
        "tool_name": call.tool.name,
        "target_agent": agent.slug,
        "target_agent_name": agent.name,
        "variables": call.variables,
    }
    return Message(MessageType.HANDOFF, routed_to(agent), data)


def asked_of(call: HandoffCall, task: Task, agent: Agent) -> Message:
    """The same of a delegation."""
    data = {**handed_over(call, task, agent).data, "call_id": call.call_id}
    return Message(MessageType.SUBTASK, f"Asked {agent.name}", data)


def routed_to(agent: Agent) -> str:
    return f"Routed to {agent.name}"


def _wanted(calls: Sequence[HandoffCall]) -> Wanted:
    return Wanted(agents=frozenset(call.tool.target_agent for call in calls))


def _task(facts: Facts) -> Task:
    """``end_claim`` has looked: there is one, claimed."""
    if facts.parent is None:
        raise ValueError("no task was read")
    return facts.parent.task


def _drafted(handing: Handing, call: HandoffCall, facts: Facts, kind: Kind) -> tuple[Draft, Agent, HandoffCall]:
    task, body, tool = _task(facts), (facts.parent.body if facts.parent else None) or {}, call.tool
    source = task.claim.agent if task.claim else task.target_agent or handing.work.by.id
    agent = named(handing.baton, task.workspace, facts.agents, tool.target_agent, "target_agent")
    # Read with the task, in this very attempt: what changed while the model thought counts.
    if suspension := tool.suspended_by(agent):
        raise ToolSuspended(tool.name, suspension.reason)
    variables = checked(call.variables, facts.settings.guardrails, "arguments")
    is_transfer = kind is Kind.TRANSFER
    context = context_after(body.get("context"), source, tool, variables)
    must_fit("context", context)
    message = {
        "source": {"agent": source},
        "target": {"agent": agent.slug, "reason": f"Routed by the tool {tool.name}"},
        "summary": task.title,
        "context": context,
        "metadata": {"priority": str(task.priority)},
        **handing.conversation.handed_on(
            tool.history, task.id, handing.turns, source, tool.handoff_instructions
        ).plain(),
        **_expected(body, is_transfer=is_transfer),
        # Whoever watches sees that it failed, or the waiting task is told: nobody's approval is waited for.
        **({"rollback": {"on_failure": None}} if is_transfer else {}),
    }
    draft = Draft(
        kind=kind,
        source=source,
        target=agent.slug,
        message=message,
        lineage=under(task, body),
        join_parent=task.join_parent if is_transfer else task.id,
        call_id=task.call_id if is_transfer else call.call_id,
    )
    return draft, agent, replace(call, variables=variables)


def _expected(body: dict[str, Any], *, is_transfer: bool) -> dict[str, Any]:
    """Who goes on has the same expectations; of a part, only the time that there is."""
    expected = body.get("expectations") or {}
    kept = expected if is_transfer else {name: expected[name] for name in _TIME if name in expected}
    return {"expectations": kept} if kept else {}
