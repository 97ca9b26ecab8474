"""Conversations with agents (docs/spec/tools.md §2): a message begins a task, or continues with the agent that holds
the conversation, and its participants read the messages."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from baton.domain import errors
from baton.domain.access.principal import ACT_AS, Principal
from baton.domain.access.principal import PrincipalKind as Who
from baton.domain.access.rights import Deed
from baton.domain.agents.agent import Agent
from baton.domain.agents.tool import RESERVED, History
from baton.domain.conversations.conversation_thread import NextTask
from baton.domain.conversations.read_cursor import parse_read_cursor
from baton.domain.guardrails.guardrails import OFF, checked
from baton.domain.handoffs import handoff_message
from baton.domain.handoffs.handoff_draft import HandoffDraft, Lineage
from baton.domain.idempotency import IdempotencyKey
from baton.domain.memory.taken_along import SNAPSHOT, asked_anew
from baton.domain.runs import history
from baton.domain.runs.prompt import USERS_MESSAGE, ask_in
from baton.domain.runs.transcript import EntryKind, TaskEntry, Transcript, TranscriptEntry
from baton.domain.tasks import trail
from baton.domain.tasks.calls import Seen
from baton.domain.tasks.task import Kind, Task
from baton.domain.tasks.transitions import agent_as_seen
from baton.ports.deps import Deps
from baton.ports.details import TaskDetails
from baton.ports.handoffs import HandoffInputs, HandoffQuery
from baton.ports.writes import Insert, Replace, Require, VersionUnchanged, Write
from baton.services.handoffs.create_handoff import CreateHandoff, create_handoff
from baton.steps import idempotency
from baton.steps.access.read_rights import ReadRights
from baton.steps.agents import resolve_agents
from baton.steps.claims.held_claims import holds_claims
from baton.steps.conversations.conversation_reader import ConversationReader, CursorStore, ReadMessage, ended_transcript
from baton.steps.conversations.find_conversation import FoundConversation, find_conversation, root_record
from baton.steps.handoffs.begin_handoff import (
    NewHandoff,
    PlannedHandoff,
    Terms,
    begin_handoffs,
    begun_or_refused,
    commit_handoff,
)
from baton.steps.memory.snapshots import with_snapshot
from baton.steps.questions.handoff_rules import as_known_to
from baton.steps.tasks.change_task import page_sync_of

__all__ = [
    "MAX_TEXT",
    "Opening",
    "ReadMessage",
    "SaidMessage",
    "as_said_now",
    "asked_in",
    "going_on",
    "read_messages",
    "say",
    "start_conversation",
]

MAX_TEXT = 100_000
# Open tasks of the conversation that wait for approval; the transaction checks each.
MAX_PASSED_OVER = 50
# The field of the request for a field of the handoff's record.
_REQUEST_FIELDS = {"target.agent": "agent", "input.message": "message"}


@dataclass(frozen=True, slots=True)
class SaidMessage:
    """A message for a conversation. ``after``: the read cursor of its author; None claims to have read nothing.
    ``agent_version``: of the agent, if the author has looked at it since a service or a member changed it."""

    text: str
    after: str | None = None
    agent_version: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Opening:
    """The first message of a conversation."""

    agent: str  # a slug, name or alias
    message: str
    context: dict[str, Any]  # the part of it that the agent's prompt shows
    budget: dict[str, Any] | None = None  # of the whole conversation, as with a handoff
    memory: Mapping[str, Any] = field(default_factory=dict)  # what it asks for, as with a handoff


def start_conversation(
    deps: Deps, by: Principal, opening: Opening, idempotency_key: IdempotencyKey | None = None
) -> TaskDetails:
    """Returns the root task. Raises ``ScopeNeeded``, and the errors of ``create_handoff``."""
    by.must_have(Deed.CONVERSE)
    by.must_be_let_converse()
    for key in opening.context:
        if key.startswith(RESERVED):
            raise errors.InvalidInput(f"context.{key[:64]}", "must not begin with _: such keys are Baton's own")
    message = handoff_message.HandoffMessage(
        source=handoff_message.SourcePart({"agent": by.key if ACT_AS in by.scopes else by.id}),
        target=handoff_message.TargetPart({"agent": opening.agent, "reason": USERS_MESSAGE}),
        context=handoff_message.ContextPart(opening.context or None),
        rollback=handoff_message.RollbackPart(
            {"on_failure": None}
        ),  # the caller reads the conversation, and sees that it failed
        budget=handoff_message.BudgetPart(opening.budget or None),
        more=opening.memory,
    )
    request = CreateHandoff(
        message=history.Conversation(opening.message).put_into(message),
        extra_writes=lambda new: (asked_in(new, by.key),),
    )
    try:
        return create_handoff(deps, by, request, idempotency_key)
    except errors.InvalidInput as refusal:
        refusal.rename(_REQUEST_FIELDS)
        raise


def say(
    deps: Deps, by: Principal, conversation_id: str, said: SaidMessage, idempotency_key: IdempotencyKey | None = None
) -> TaskDetails:
    """Returns the task that answers the message. It is a handoff like any other: it counts in its workflow, agents and
    services have the same limit per hour as for new workflows, and an agent that holds claims can't send one. Raises
    ``ConversationBusy`` while the last task isn't ended, ``Unknown`` for a workflow that no user's message began,
    ``ClaimRequired``, ``LoopTripped``, ``TargetInactive``, ``GuardrailRefused`` and ``ScopeNeeded``.

    Raises:
        ConversationMoved: the author hasn't read all messages of the task that holds the conversation.
        AgentChanged: the author may approve, and hasn't seen how a service or a member has changed the agent since.
    """
    by.must_have(Deed.CONVERSE)
    by.must_be_let_converse()
    workspace = by.workspace

    def replay(saved: dict[str, Any]) -> TaskDetails:
        task = trail.from_snapshot(saved)
        return TaskDetails(task=task, page_sync=page_sync_of(deps, task))

    def decide() -> TaskDetails:
        found = find_conversation(deps, workspace, conversation_id)
        if heard(deps, by, found) != found.tasks:
            raise errors.Unknown("conversation")
        holder = found.holder
        inputs = deps.store.handoffs.handoff_inputs(workspace, _wanted(by, holder))
        _must_be_a_conversation(deps, found, inputs)
        if by.kind is Who.AGENT and holds_claims(deps, workspace, by.id):
            raise errors.ClaimRequired(by.id)
        if not holder.is_ended:
            raise errors.ConversationBusy(conversation_id, holder.id, str(holder.state))
        if said.after is not None:
            _must_have_read(deps, holder, said.after)
        return _continue(deps, by, found, inputs, _Request(said, idempotency_key))

    return idempotency.run_once(deps, idempotency_key, decide, replay)


def _wanted(by: Principal, holder: Task) -> HandoffQuery:
    agent = holder.agent or ""
    return HandoffQuery(
        agents=frozenset({agent}),
        parent_id=holder.id,
        workflow_id=holder.workflow_id,
        roots=None if by.is_human else (_speaker(by), agent),
    )


def _speaker(by: Principal) -> str:
    return by.id if by.kind is Who.AGENT else by.key


def _must_be_a_conversation(deps: Deps, found: FoundConversation, inputs: HandoffInputs) -> None:
    """Raises ``Unknown`` for a workflow that began with a handoff: it takes no messages."""
    record = found.root_record
    if record is None and inputs.parent is not None and found.root.id == inputs.parent.task.id:
        record = inputs.parent.message if inputs.parent.body is not None else None
    if history.conversation_in(record or root_record(deps, found)) is None:
        raise errors.Unknown("conversation")


def _must_have_read(deps: Deps, holder: Task, after: str) -> None:
    """Raises ``ConversationMoved`` unless the messages of the holder, which has ended, were read to the end. Another
    task can hold the conversation only with such messages of its own."""
    cursor = CursorStore(deps, holder.workspace, holder.workflow_id).told_by(after)
    if parse_read_cursor(cursor).of(holder) is not None:
        raise errors.ConversationMoved(holder.workflow_id, holder.agent)


def _must_have_seen(deps: Deps, by: Principal, holder: Task, agent: Agent, agent_version: int | None) -> int | None:
    """Returns the agent's version that the person knows from the conversation. The message of a person who may approve
    is their approval. It is compared with the approval of the holder, like a retry. Open work was approved for no
    agent: the agent must be as it was when the work came."""
    if not by.may_do(Deed.APPROVE):
        return None
    known = as_known_to(deps, by, holder)
    if holder.target_agent is None:
        approved_as = agent.service_version if agent.is_as_in(holder.shown_as) else 0
        known = known.changed(approved_as=approved_as, came_as=None)
    seen = Seen(digest=holder.digest, agent_version=agent_version)
    about = {"conversation_id": holder.workflow_id}
    agent_as_seen(known, seen, agent, (), about)
    return known.shown_as


@dataclass(frozen=True, slots=True)
class _Request:
    """A request to send a message."""

    said: SaidMessage
    idempotency_key: IdempotencyKey | None


def _continue(
    deps: Deps, by: Principal, found: FoundConversation, inputs: HandoffInputs, request: _Request
) -> TaskDetails:
    workspace, now, idempotency_key = by.workspace, deps.clock.now(), request.idempotency_key
    message = checked({"message": request.said.text}, inputs.settings.guardrails, "")["message"]
    agent = resolve_agents.active_agent(deps, workspace, inputs.agents, found.holder.agent or "", "agent")
    came_as = _must_have_seen(deps, by, found.holder, agent, request.said.agent_version)
    terms = Terms(
        settings=inputs.settings,
        now=now,
        handoffs=inputs.handoffs if inputs.handoffs is not None else len(found.tasks),
        roots=inputs.roots,
    )
    draft = _with_snapshot(deps, workspace, _draft(deps, found, inputs, _speaker(by), message))
    begun = begin_handoffs(deps, by, [PlannedHandoff(draft, agent, came_as=came_as)], terms)
    begun = begun_or_refused(deps, by, begun, idempotency_key)
    saved = idempotency.save_response(idempotency_key, trail.snapshot(begun.only.task))
    return commit_handoff(deps, begun, *going_on(found, begun.only, by.key), *saved)


def as_said_now(deps: Deps, found: FoundConversation, draft: HandoffDraft) -> HandoffDraft:
    """A message that was held back, as it would be said now: to the agent that has the conversation, with all that was
    said since. If nothing else has changed, it keeps its snapshot of the memory: a claim brings the changes since then.
    Raises ``ConversationBusy`` while the last task isn't ended."""
    holder, held_back = found.holder, history.conversation_in(draft.message)
    if not holder.is_ended or holder.agent is None or held_back is None:
        raise errors.ConversationBusy(holder.workflow_id, holder.id, str(holder.state))
    inputs = deps.store.handoffs.handoff_inputs(holder.workspace, HandoffQuery(parent_id=holder.id))
    said = _draft(deps, found, inputs, draft.source, held_back.message)
    said = _with_snapshot(deps, holder.workspace, said)
    is_same = _without_snapshot(said.message) == _without_snapshot(draft.message)
    return replace(said, message=draft.message) if is_same else said


def _without_snapshot(message: handoff_message.HandoffMessage) -> dict[str, Any]:
    return {**message.plain(), SNAPSHOT: None}


def _draft(deps: Deps, found: FoundConversation, inputs: HandoffInputs, source: str, text: str) -> HandoffDraft:
    """The next message's draft: the holder's context and earlier tasks, and the budget of the conversation. It asks of
    the memory what the holder's had asked. The holder has ended, and gets no further turn."""
    holder, record = found.holder, inputs.parent.message if inputs.parent else handoff_message.HandoffMessage()
    before = history.conversation_in(record) or history.Conversation(ask_in(record))
    turns = Transcript(ended_transcript(deps, holder)).last_turn
    last = history.EarlierTask(holder.id, turns, agent=holder.agent)
    earlier = (*before.earlier, last)[-history.MAX_EARLIER_TASKS :]
    message = handoff_message.HandoffMessage(
        source=handoff_message.SourcePart({"agent": source}),
        target=handoff_message.TargetPart({"agent": holder.agent, "reason": USERS_MESSAGE}),
        context=handoff_message.ContextPart(record.context.json or None),
        rollback=handoff_message.RollbackPart({"on_failure": None}),
        more=asked_anew(record.more),
    )
    conversation = history.Conversation(text, History.FULL, earlier, before.source, before.instructions)
    return HandoffDraft(
        kind=Kind.TRANSFER,
        source=source,
        target=holder.agent,
        message=conversation.put_into(message),
        lineage=Lineage(
            workflow_id=holder.workflow_id,
            master_task_id=found.root.id,
            budget=record.budget.limits,
            speakers=holder.authors,
        ),
    )


def _with_snapshot(deps: Deps, workspace: str, draft: HandoffDraft) -> HandoffDraft:
    return replace(draft, message=with_snapshot(deps, workspace, draft.message))


def going_on(found: FoundConversation, new: NewHandoff, asked_by: str) -> list[Write]:
    """The writes for ``new`` as the conversation's next task: they fail if another task has continued it, or if
    an open task in it was changed (an approval, say) meanwhile. Raises ``Conflict`` if the conversation was read while
    it was continued: its holder may be another task."""
    thread = found.thread
    if thread.is_torn:
        raise errors.Conflict("conversation")
    followed = NextTask(thread.holder.id, thread.followed_by) if thread.followed_by else None
    unchanged = [
        Require(VersionUnchanged(task.id, task.meta.version)) for task in thread.passed_over[-MAX_PASSED_OVER:]
    ]
    return [
        Replace(NextTask(thread.holder.id, new.change.task.id), followed),
        *unchanged,
        asked_in(new, asked_by),
    ]


def heard(deps: Deps, by: Principal, found: FoundConversation) -> tuple[Task, ...]:
    """The tasks whose messages the caller may read: all of them if it takes part in the conversation itself. A caller
    that works on a separate part of it, or takes part in a workflow that is no conversation, reads its own tasks.
    Raises ``Unknown``."""
    rights = ReadRights(deps, by)
    if rights.reads_all or (
        rights.may_read_any(task for task in found.tasks if task.id in found.thread.walked)
        and history.conversation_in(root_record(deps, found)) is not None
    ):
        return found.tasks
    own = tuple(task for task in found.tasks if rights.may_read(task))
    if not own:
        raise errors.Unknown("conversation")
    return own


def _readable_tasks(deps: Deps, by: Principal, conversation_id: str) -> list[Task]:
    """Returns what ``heard`` does, by the conversation's id. A caller that reads all needs no search for the holder."""
    if not ReadRights(deps, by).reads_all:
        return list(heard(deps, by, find_conversation(deps, by.workspace, conversation_id)))
    ids = [each.task_id for each in deps.store.workflows.members(by.workspace, conversation_id)]
    found = deps.store.tasks.many(by.workspace, ids) if ids else {}
    if not found:
        raise errors.Unknown("conversation")
    return [found[each] for each in sorted(found)]


def read_messages(
    deps: Deps, by: Principal, conversation_id: str, limit: int, cursor: str | None
) -> tuple[tuple[ReadMessage, ...], str]:
    """Returns messages and the next read cursor. Messages are ordered task by task, by creation; those of a task's
    branches come before the task's own messages about them. The cursor holds how far each task was read, so that a late
    message isn't skipped. May return fewer than ``limit``. Raises ``Unknown``, and ``InvalidInput`` for an invalid
    cursor."""
    workspace = by.workspace
    tasks = _readable_tasks(deps, by, conversation_id)
    is_open = deps.store.settings.of(workspace).guardrails.secrets == OFF
    shelf = CursorStore(deps, workspace, conversation_id)
    before = shelf.told_by(cursor)
    reader = ConversationReader(deps, parse_read_cursor(before), tasks, is_open=is_open)
    read = tuple(reader.read(limit))
    after = reader.read_cursor.encoded(tasks, deps.clock.now())
    return read, cursor if cursor is not None and after == before else shelf.kept(after)


def asked_in(new: NewHandoff, by: str) -> Write:
    """The user's message after the guardrails. ``by``: the principal key of its author."""
    task, blocks = new.change.task, ({"text": new.message.input.fields["message"]},)
    return Insert(
        TaskEntry(task.id, TranscriptEntry(first=1, kind=EntryKind.ASK, agent=by, at=task.created_at, blocks=blocks))
    )
