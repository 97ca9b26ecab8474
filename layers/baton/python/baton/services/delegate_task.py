"""A worker delegates parts of its task, and the task waits for their results (docs/spec/lifecycle.md §1)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from baton.domain.draft import Draft, under
from baton.domain.errors import InvalidInput
from baton.domain.guardrails import checked
from baton.domain.handoff import merged, must_be_ahead, requires_of
from baton.domain.task import Kind, Policy
from baton.domain.verbs import WaitFor
from baton.ports import Wanted
from baton.services.end_claim import Ending, Word, end_claim
from baton.services.make_handoff import Planned, counted, make_all, wait_for
from baton.services.who_takes_it import must_be_able, named, slugs_among

if TYPE_CHECKING:
    from datetime import datetime

    from baton.domain.idempotency import Once
    from baton.domain.principal import Principal
    from baton.ports import Baton, Dossier, Facts

Message = dict[str, Any]


def delegate_task(
    baton: Baton,
    by: Principal,
    task_id: str,
    claim_id: str,
    branches: list[Message],
    policy: Policy,
    quorum: int | None,
    body_hash: str,
    once: Once | None = None,
) -> Dossier:
    """Ends the claim, and makes the task wait until its branches have ended, as ``policy`` says. ``branches``: 1 to 10
    messages, each with its own ``call_id``. Raises the errors of ``create_handoff``. A tripped loop guard leaves the
    task as it was."""
    if policy is Policy.QUORUM and not 1 <= (quorum or 0) <= len(branches):
        raise InvalidInput("join.quorum", f"must be from 1 to {len(branches)}, the number of branches")
    if len({each["call_id"] for each in branches}) < len(branches):
        raise InvalidInput("branches", "must each have a call_id of their own")
    request = Word(by=by, task_id=task_id, claim_id=claim_id, verb=WaitFor.name, body_hash=body_hash, once=once)

    def decide(inputs: Facts, now: datetime) -> Ending:
        drafts = [_draft(baton, by, each, number, inputs) for number, each in enumerate(branches)]
        children = make_all(baton, by, drafts, inputs.settings, now, once)
        wait = wait_for(_claimed(inputs).task, children, policy, quorum, inputs.settings, now)
        command = WaitFor(by=by, claim_id=claim_id, wait=wait)
        extras = counted(drafts[0][0], inputs.settings, len(drafts))
        return Ending(verb=command, children=children, extras=tuple(extras))

    names = [each["target"].get("agent") for each in branches]
    return end_claim(baton, request, decide, Wanted(agents=slugs_among(*names)))


def _draft(baton: Baton, by: Principal, branch: Message, number: int, inputs: Facts) -> Planned:
    parent = _claimed(inputs)
    task, body = parent.task, parent.body or {}
    source = task.claim.agent if task.claim else by.id
    field = f"branches.{number}"
    content = checked(branch, inputs.settings.guardrails, field)
    call_id = content["call_id"]
    content = {name: value for name, value in content.items() if name != "call_id"}
    must_be_ahead(content, baton.clock.now(), field)
    name = content["target"].get("agent")
    agent = named(baton, by.workspace, inputs.agents, name, f"{field}.target.agent") if name is not None else None
    requires = requires_of(content)
    must_be_able(baton, by.workspace, agent, requires, source)
    message = {
        **content,
        "source": {"agent": source},
        "metadata": {"priority": str(task.priority), **(content.get("metadata") or {})},
    }
    if context := merged(body.get("context"), content.get("context")):
        message["context"] = context
    draft = Draft(
        kind=Kind.DELEGATION,
        source=source,
        target=agent.slug if agent else None,
        message=message,
        lineage=under(task, body),
        requires=requires,
        join_parent=task.id,
        call_id=call_id,
    )
    return draft, agent, None


def _claimed(inputs: Facts) -> Dossier:
    if inputs.parent is None:
        raise ValueError("no task was read")
    return inputs.parent
