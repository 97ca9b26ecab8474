"""A worker transfers its task: another agent continues, under the same expectations (docs/spec/lifecycle.md §1)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from baton.domain.draft import Draft, under
from baton.domain.guardrails import checked
from baton.domain.handoff import merged, requires_of
from baton.domain.history import WHOLE, conversation_in
from baton.domain.task import Kind
from baton.domain.tool import History
from baton.domain.verbs import Transfer
from baton.ports import Wanted
from baton.services.end_claim import Ending, Word, end_claim
from baton.services.make_handoff import Planned, counted, make_all, over_to
from baton.services.who_takes_it import must_be_able, named, slugs_among

if TYPE_CHECKING:
    from datetime import datetime

    from baton.domain.idempotency import Once
    from baton.domain.principal import Principal
    from baton.ports import Baton, Dossier, Facts

Message = dict[str, Any]


def transfer_task(
    baton: Baton, by: Principal, task_id: str, claim_id: str, asked: Message, body_hash: str, once: Once | None = None
) -> Dossier:
    """Ends the task as done; its child takes its place in a branch. ``asked``: ``{target, summary, results, context,
    metadata}``. Raises the errors of ``create_handoff``. A tripped loop guard leaves the task as it was."""
    request = Word(
        by=by,
        task_id=task_id,
        claim_id=claim_id,
        verb=Transfer.name,
        body_hash=body_hash,
        once=once,
        said={"transfer": asked},
    )

    def decide(inputs: Facts, now: datetime) -> Ending:
        planned = _draft(baton, by, asked, inputs)
        (child,) = make_all(baton, by, [planned], inputs.settings, now, once)
        task = child.change.task
        command = Transfer(by=by, claim_id=claim_id, successor=task.id, target=task.target_agent)
        extras = tuple(counted(planned[0], inputs.settings))
        return Ending(verb=command, output=over_to(child), children=(child,), extras=extras)

    wanted = Wanted(agents=slugs_among(asked["target"].get("agent")))
    return end_claim(baton, request, decide, wanted)


def _draft(baton: Baton, by: Principal, asked: Message, inputs: Facts) -> Planned:
    if inputs.parent is None or inputs.parent.task.claim is None:
        raise ValueError("no claimed task was read")
    task, body = inputs.parent.task, inputs.parent.body or {}
    content = checked(asked, inputs.settings.guardrails, "")
    source, name = inputs.parent.task.claim.agent, content["target"].get("agent")
    agent = named(baton, by.workspace, inputs.agents, name, "target.agent") if name is not None else None
    message = {
        **content,
        "source": {"agent": source},
        "expectations": body.get("expectations") or {},
        "metadata": {"priority": str(task.priority), **(content.get("metadata") or {})},
    }
    requires = requires_of(message)
    must_be_able(baton, by.workspace, agent, requires, source)
    if context := merged(body.get("context"), content.get("context")):
        message["context"] = context
    if conversation := conversation_in(body):
        message |= conversation.handed_on(History.FULL, task.id, WHOLE, source, "").plain()
    draft = Draft(
        kind=Kind.TRANSFER,
        source=source,
        target=agent.slug if agent else None,
        message=message,
        lineage=under(task, body),
        requires=requires,
        join_parent=task.join_parent,
        call_id=task.call_id,
    )
    return draft, agent, None
