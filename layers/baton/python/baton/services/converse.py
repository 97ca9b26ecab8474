"""Conversations with agents (docs/spec/tools.md §2): a message begins a task, or continues with the agent that holds
the conversation, and its participants read the messages."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from baton.domain.draft import Draft, Lineage
from baton.domain.errors import ClaimRequired, Conflict, ConversationBusy, InvalidInput, LoopTripped, Unknown
from baton.domain.events import from_snapshot, snapshot
from baton.domain.guardrails import OFF, checked
from baton.domain.handoff import budget_of
from baton.domain.history import MAX_EARLIER_TASKS, WHOLE, Conversation, Seen, conversation_in
from baton.domain.places import places_in
from baton.domain.principal import ACT_AS
from baton.domain.principal import Kind as Who
from baton.domain.prompt import ask_in
from baton.domain.task import Kind
from baton.domain.tool import RESERVED, History
from baton.domain.transcript import Entry, EntryKind
from baton.ports import Dossier, EntryKept, Followed, Remember, RootsCounted, Unchanged, Wanted
from baton.services.change_task import commit_and_ring, row_of
from baton.services.create_handoff import Asked, create_handoff
from baton.services.find_conversation import find_conversation, root_body
from baton.services.make_handoff import counted, make, stopped
from baton.services.reading import Rights
from baton.services.reading_along import Reader, Said, Shelf
from baton.services.remembered_refusals import must_not_be_refused
from baton.services.retrying import decided_once, recalled
from baton.services.who_takes_it import named

if TYPE_CHECKING:
    from baton.domain.agent import Agent
    from baton.domain.idempotency import Once
    from baton.domain.principal import Principal
    from baton.domain.task import Task
    from baton.ports import Baton, Extra, Facts
    from baton.services.find_conversation import Found
    from baton.services.make_handoff import New

__all__ = ["MAX_TEXT", "Opening", "Said", "asked_in", "going_on", "read_messages", "say", "start_conversation"]

MAX_TEXT = 100_000
REASON = "A user's message"
# Open tasks of the conversation that wait for approval; the transaction checks each.
MAX_PASSED_OVER = 50
# The field of the request for a field of the handoff's record.
_REQUEST_FIELDS = {"target.agent": "agent", "input.message": "message"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Opening:
    """The first message of a conversation."""

    agent: str  # a slug, name or alias
    message: str
    context: dict[str, Any]  # the part of it that the agent's prompt shows
    budget: dict[str, Any] | None = None  # of the whole conversation, as with a handoff


def start_conversation(baton: Baton, by: Principal, opening: Opening, once: Once | None = None) -> Dossier:
    """Returns the root task. Raises ``ScopeNeeded``, and the errors of ``create_handoff``."""
    by.must_be_let_converse()
    for key in opening.context:
        if key.startswith(RESERVED):
            raise InvalidInput(f"context.{key[:64]}", "must not begin with _: such keys are Baton's own")
    conversation = Conversation(opening.message)
    request = Asked(
        message={
            "source": {"agent": by.key if ACT_AS in by.scopes else by.id},
            "target": {"agent": opening.agent, "reason": REASON},
            "rollback": {"on_failure": None},  # the caller reads the conversation, and sees that it failed
            **({"context": opening.context} if opening.context else {}),
            **({"budget": opening.budget} if opening.budget else {}),
            **conversation.plain(),
        },
        told=lambda new: (asked_in(new, by.key),),
    )
    try:
        return create_handoff(baton, by, request, once)
    except InvalidInput as refusal:
        refusal.rename(_REQUEST_FIELDS)
        raise


def say(baton: Baton, by: Principal, conversation_id: str, text: str, once: Once | None = None) -> Dossier:
    """Returns the task that answers the message. It is a handoff like any other: it counts in its workflow, agents and
    services have the same limit per hour as for new workflows, and an agent that holds claims can't send one. Raises
    ``ConversationBusy`` while the last task isn't ended, ``Unknown`` for a workflow that no user's message began,
    ``ClaimRequired``, ``LoopTripped``, ``TargetInactive``, ``GuardrailRefused`` and ``ScopeNeeded``."""
    by.must_be_let_converse()
    workspace = by.workspace

    def replay(saved: dict[str, Any]) -> Dossier:
        must_not_be_refused(saved)
        task = from_snapshot(saved)
        return Dossier(task=task, mirror=row_of(baton, task))

    def attempt() -> Dossier:
        saved = recalled(baton, once)
        if saved is not None:
            return replay(saved)
        found = find_conversation(baton, workspace, conversation_id)
        if heard(baton, by, found) != found.tasks:
            raise Unknown("conversation")
        holder = found.holder
        inputs = baton.store.handoff_facts(workspace, _wanted(by, holder))
        _must_be_a_conversation(baton, found, inputs)
        if found.thread.is_torn:
            raise Conflict("conversation")
        if by.kind is Who.AGENT and baton.store.held(workspace, by.id):
            raise ClaimRequired(by.id)
        if not holder.is_ended:
            raise ConversationBusy(conversation_id, holder.id, str(holder.state))
        return _continue(baton, by, found, inputs, text, once)

    return decided_once(baton, once, replay, attempt)


def _wanted(by: Principal, holder: Task) -> Wanted:
    agent = holder.agent or ""
    return Wanted(
        agents=frozenset({agent}),
        parent_id=holder.id,
        workflow_id=holder.workflow_id,
        roots=None if by.is_human else (_speaker(by), agent),
    )


def _speaker(by: Principal) -> str:
    return by.id if by.kind is Who.AGENT else by.key


def _must_be_a_conversation(baton: Baton, found: Found, inputs: Facts) -> None:
    """Raises ``Unknown`` for a workflow that began with a handoff: it takes no messages."""
    body = found.root_body
    if body is None and inputs.parent is not None and found.root.id == inputs.parent.task.id:
        body = inputs.parent.body
    if body is None:
        body = baton.store.bodies(found.root.workspace, [found.root.id]).get(found.root.id)
    if conversation_in(body) is None:
        raise Unknown("conversation")


def _continue(baton: Baton, by: Principal, found: Found, inputs: Facts, text: str, once: Once | None) -> Dossier:
    workspace, now = by.workspace, baton.clock.now()
    message = checked({"message": text}, inputs.settings.guardrails, "")["message"]
    agent = named(baton, workspace, inputs.agents, found.holder.agent or "", "agent")
    draft = _draft(found, inputs, _speaker(by), agent, message)
    handoffs = inputs.handoffs if inputs.handoffs is not None else len(found.tasks)
    extras: list[Extra] = []
    try:
        if inputs.roots is not None:
            extras.append(RootsCounted(inputs.roots.one_more(now, inputs.settings)))
        draft.check(inputs.settings, handoffs, now)
    except LoopTripped as trip:
        raise stopped(baton, by, draft, trip, now, once, extras) from trip
    new = make(baton, by, draft, agent, inputs.settings, now)
    extras += [*going_on(found, new, by.key), *counted(draft, inputs.settings, start=handoffs)]
    if once:
        extras.append(Remember(once, snapshot(new.change.task)))
    commit_and_ring(baton, new.change, [*new.along, *extras])
    if new.mirror:
        baton.tracker_bell.ring(workspace, new.change.task.id)
    return new.dossier


def _draft(found: Found, inputs: Facts, source: str, agent: Agent, text: str) -> Draft:
    """The next message's draft: the holder's context and earlier tasks, and the budget of the conversation."""
    holder, body = found.holder, (inputs.parent.body if inputs.parent else None) or {}
    before = conversation_in(body) or Conversation(ask_in(body))
    earlier = (*before.earlier, Seen(holder.id, WHOLE))[-MAX_EARLIER_TASKS:]
    message = {
        "source": {"agent": source},
        "target": {"agent": agent.slug, "reason": REASON},
        "rollback": {"on_failure": None},
        **({"context": body["context"]} if body.get("context") else {}),
        **Conversation(text, History.FULL, earlier, before.source, before.instructions).plain(),
    }
    lineage = Lineage(workflow_id=holder.workflow_id, master_task_id=found.root.id, budget=budget_of(body))
    return Draft(kind=Kind.TRANSFER, source=source, target=agent.slug, message=message, lineage=lineage)


def going_on(found: Found, new: New, asked_by: str) -> list[Extra]:
    """The extra writes for ``new`` as the conversation's next task: they fail if another task has continued it, or if
    an open task in it was changed (an approval, say) meanwhile."""
    thread = found.thread
    unchanged = [Unchanged(task.id, task.version) for task in thread.passed_over[-MAX_PASSED_OVER:]]
    return [Followed(thread.holder.id, new.change.task.id, thread.followed_by), *unchanged, asked_in(new, asked_by)]


def heard(baton: Baton, by: Principal, found: Found) -> tuple[Task, ...]:
    """The tasks whose messages the caller may read: all of them if it takes part in the conversation itself. A caller
    that works on a separate part of it, or takes part in a workflow that is no conversation, reads its own tasks.
    Raises ``Unknown``."""
    rights = Rights(baton, by)
    if rights.reads_all or (
        rights.may_read_any(task for task in found.tasks if task.id in found.thread.walked)
        and conversation_in(root_body(baton, found)) is not None
    ):
        return found.tasks
    own = tuple(task for task in found.tasks if rights.may_read(task))
    if not own:
        raise Unknown("conversation")
    return own


def _readable_tasks(baton: Baton, by: Principal, conversation_id: str) -> list[Task]:
    """Returns what ``heard`` does, by the conversation's id. A caller that reads all needs no search for the holder."""
    if not Rights(baton, by).reads_all:
        return list(heard(baton, by, find_conversation(baton, by.workspace, conversation_id)))
    ids = [each.task_id for each in baton.store.workflow(by.workspace, conversation_id)]
    found = baton.store.tasks(by.workspace, ids) if ids else {}
    if not found:
        raise Unknown("conversation")
    return [found[each] for each in sorted(found)]


def read_messages(
    baton: Baton, by: Principal, conversation_id: str, limit: int, cursor: str | None
) -> tuple[tuple[Said, ...], str]:
    """Returns messages and the next read cursor. Messages are ordered task by task, by creation; those of a task's
    branches come before the task's own messages about them. The cursor holds how far each task was read, so that a late
    message isn't skipped. May return fewer than ``limit``. Raises ``Unknown``, and ``InvalidInput`` for an invalid
    cursor."""
    workspace = by.workspace
    tasks = _readable_tasks(baton, by, conversation_id)
    is_open = baton.store.settings(workspace).guardrails.secrets == OFF
    shelf = Shelf(baton, workspace, conversation_id)
    before = shelf.told_by(cursor)
    reader = Reader(baton, places_in(before), tasks, is_open=is_open)
    read = tuple(reader.read(limit))
    after = reader.places.told(tasks, baton.clock.now())
    return read, cursor if cursor is not None and after == before else shelf.kept(after)


def asked_in(new: New, by: str) -> Extra:
    """The user's message after the guardrails. ``by``: the principal key of its author."""
    task, blocks = new.change.task, ({"text": new.body["input"]["message"]},)
    return EntryKept(task.id, Entry(first=1, kind=EntryKind.ASK, agent=by, at=task.created_at, blocks=blocks))
