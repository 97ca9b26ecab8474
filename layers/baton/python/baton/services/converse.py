"""Somebody talks to agents (spec/tools.md §2): a message begins a task or goes on with the agent that holds the
conversation, and whoever watches reads along."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from baton.domain.agent import Runtime
from baton.domain.draft import Draft, Lineage
from baton.domain.errors import ClaimRequired, Conflict, ConversationBusy, InvalidInput, LoopTripped, Unknown
from baton.domain.events import canonical_json, from_snapshot, snapshot
from baton.domain.guardrails import OFF, checked
from baton.domain.handoff import budget_of
from baton.domain.history import MAX_EARLIER_TASKS, WHOLE, Conversation, Seen, conversation_in
from baton.domain.places import places_in
from baton.domain.principal import ACT_AS
from baton.domain.principal import Kind as Who
from baton.domain.prompt import ask_in
from baton.domain.task import Kind, State
from baton.domain.times import rfc3339
from baton.domain.tool import RESERVED, History
from baton.domain.transcript import Entry, EntryKind, Message, MessageType, masked
from baton.ports import Dossier, EntryKept, Followed, Remember, RootsCounted, Unchanged, Wanted
from baton.services.change_task import commit_and_ring, row_of
from baton.services.create_handoff import Asked, create_handoff
from baton.services.find_conversation import find_conversation
from baton.services.make_handoff import counted, make, stopped
from baton.services.remembered_refusals import must_not_be_refused
from baton.services.retrying import decided_once, recalled
from baton.services.who_takes_it import named

if TYPE_CHECKING:
    from collections.abc import Iterator

    from baton.domain.agent import Agent
    from baton.domain.idempotency import Once
    from baton.domain.principal import Principal
    from baton.domain.task import Task
    from baton.ports import Baton, Extra, Facts
    from baton.services.find_conversation import Found
    from baton.services.make_handoff import New

MAX_TEXT = 100_000
REASON = "A user's message"
# Of one reading, well under what a function may answer with.
MAX_READ_BYTES = 3_000_000
# Open tasks beside it that nobody has approved; one transaction asks of each.
MAX_PASSED_OVER = 50
# What the request calls what the handoff's record calls otherwise.
_ASKED_AS = {"target.agent": "agent", "input.message": "message"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Opening:
    """``agent``: a slug, name or alias; ``context``: what its prompt shows of it; ``budget``: of the whole
    conversation, as with a handoff."""

    agent: str
    message: str
    context: dict[str, Any]
    budget: dict[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class Said:
    """One message, by ``number`` within its task."""

    task: Task
    number: int
    agent: str
    at: str
    message: Message

    @property
    def size(self) -> int:
        """In bytes, about."""
        return len(canonical_json([self.message.text, self.message.data]).encode())


def start_conversation(baton: Baton, by: Principal, opening: Opening, once: Once | None = None) -> Dossier:
    """The root task. Raises ``ScopeNeeded``, and what ``create_handoff`` does."""
    by.must_be_let_converse()
    for key in opening.context:
        if key.startswith(RESERVED):
            raise InvalidInput(f"context.{key[:64]}", "must not begin with _: such keys are Baton's own")
    conversation = Conversation(opening.message)
    asked = Asked(
        message={
            "source": {"agent": by.key if ACT_AS in by.scopes else by.id},
            "target": {"agent": opening.agent, "reason": REASON},
            "rollback": {"on_failure": None},  # whoever asked reads along, and sees that it failed
            **({"context": opening.context} if opening.context else {}),
            **({"budget": opening.budget} if opening.budget else {}),
            **conversation.plain(),
        },
        told=lambda new: (asked_in(new, by.key),),
    )
    try:
        return create_handoff(baton, by, asked, once)
    except InvalidInput as refusal:
        refusal.rename(_ASKED_AS)
        raise


def say(baton: Baton, by: Principal, conversation_id: str, text: str, once: Once | None = None) -> Dossier:
    """The task that answers. A handoff like any other: it counts in its workflow, agents and services say as much an
    hour as they may begin workflows, and an agent that holds claims says nothing beside them. Raises
    ``ConversationBusy`` while the last one isn't ended, ``Unknown`` for what no user's message began,
    ``ClaimRequired``, ``LoopTripped``, ``TargetInactive``, ``GuardrailRefused``, ``ScopeNeeded``."""
    by.must_be_let_converse()
    workspace = by.workspace

    def again(first_answer: dict[str, Any]) -> Dossier:
        must_not_be_refused(first_answer)
        task = from_snapshot(first_answer)
        return Dossier(task=task, mirror=row_of(baton, task))

    def attempt() -> Dossier:
        first_answer = recalled(baton, once)
        if first_answer is not None:
            return again(first_answer)
        found = find_conversation(baton, workspace, conversation_id)
        holder = found.holder
        facts = baton.store.handoff_facts(workspace, _wanted(by, holder))
        _must_be_a_conversations(baton, found, facts)
        if found.thread.is_torn:
            raise Conflict("conversation")
        if by.kind is Who.AGENT and baton.store.held(workspace, by.id):
            raise ClaimRequired(by.id)
        if not holder.is_ended:
            raise ConversationBusy(conversation_id, holder.id, str(holder.state))
        return _gone_on(baton, by, found, facts, text, once)

    return decided_once(baton, once, again, attempt)


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


def _must_be_a_conversations(baton: Baton, found: Found, facts: Facts) -> None:
    """Raises ``Unknown``: what was handed off isn't talked into."""
    body = found.root_body
    if body is None and facts.parent is not None and found.root.id == facts.parent.task.id:
        body = facts.parent.body
    if body is None:
        body = baton.store.bodies(found.root.workspace, [found.root.id]).get(found.root.id)
    if conversation_in(body) is None:
        raise Unknown("conversation")


def _gone_on(baton: Baton, by: Principal, found: Found, facts: Facts, text: str, once: Once | None) -> Dossier:
    workspace, now = by.workspace, baton.clock.now()
    said = checked({"message": text}, facts.settings.guardrails, "")["message"]
    agent = named(baton, workspace, facts.agents, found.holder.agent or "", "agent")
    draft = _drafted(found, facts, _speaker(by), agent, said)
    handoffs = facts.handoffs if facts.handoffs is not None else len(found.tasks)
    extras: list[Extra] = []
    try:
        if facts.roots is not None:
            extras.append(RootsCounted(facts.roots.one_more(now, facts.settings)))
        draft.check(facts.settings, handoffs, now)
    except LoopTripped as trip:
        raise stopped(baton, by, draft, trip, now, once, extras) from trip
    new = make(baton, by, draft, agent, facts.settings, now)
    extras += [*going_on(found, new, by.key), *counted(draft, facts.settings, start=handoffs)]
    if once:
        extras.append(Remember(once, snapshot(new.change.task)))
    commit_and_ring(baton, new.change, [*new.along, *extras])
    if new.mirror:
        baton.tracker_bell.ring(workspace, new.change.task.id)
    return new.dossier


def _drafted(found: Found, facts: Facts, source: str, agent: Agent, said: str) -> Draft:
    """Beside whoever holds it: with all that it was told, and no more than it may spend."""
    holder, body = found.holder, (facts.parent.body if facts.parent else None) or {}
    before = conversation_in(body) or Conversation(ask_in(body))
    earlier = (*before.earlier, Seen(holder.id, WHOLE))[-MAX_EARLIER_TASKS:]
    message = {
        "source": {"agent": source},
        "target": {"agent": agent.slug, "reason": REASON},
        "rollback": {"on_failure": None},
        **({"context": body["context"]} if body.get("context") else {}),
        **Conversation(said, History.FULL, earlier, before.source, before.instructions).plain(),
    }
    lineage = Lineage(workflow_id=holder.workflow_id, master_task_id=found.root.id, budget=budget_of(body))
    return Draft(kind=Kind.TRANSFER, source=source, target=agent.slug, message=message, lineage=lineage)


def going_on(found: Found, new: New, asked_by: str) -> list[Extra]:
    """With ``new`` it goes on, if nobody else has gone on with it and nothing was approved meanwhile that would."""
    thread = found.thread
    still = [Unchanged(task.id, task.version) for task in thread.passed_over[-MAX_PASSED_OVER:]]
    return [Followed(thread.holder.id, new.change.task.id, thread.followed_by), *still, asked_in(new, asked_by)]


def read_messages(
    baton: Baton, workspace: str, conversation_id: str, limit: int, cursor: str | None
) -> tuple[tuple[Said, ...], str]:
    """Task by task in the order of their creation, and where to go on: a cursor says how far each task was read, so
    that none that is written late is skipped. May be fewer than ``limit``. Raises ``InvalidInput`` for a cursor that
    isn't one."""
    tasks = find_conversation(baton, workspace, conversation_id).tasks
    is_open = baton.store.settings(workspace).guardrails.secrets == OFF
    places = places_in(cursor)
    found: list[Said] = []
    left = MAX_READ_BYTES
    for task in tasks:
        number = places.of(task)
        if number is None:
            continue
        if len(found) >= limit:
            break
        for each in _said_in(baton, task, number, is_open=is_open):
            left -= each.size
            if len(found) >= limit or (left < 0 and found):
                return tuple(found), places.told(tasks, baton.clock.now())
            found.append(each)
            places.read_to(task, each.number)
        if task.is_ended:  # as it was before its messages were read: none comes after that
            places.close(task)
    return tuple(found), places.told(tasks, baton.clock.now())


def _said_in(baton: Baton, task: Task, after: int, *, is_open: bool) -> Iterator[Said]:
    """``is_open``: secrets are shown."""
    last, agent = 0, task.agent or ""
    is_run = task.runtime is Runtime.RUN
    for entry in baton.store.transcript(task.workspace, task.id, after if is_run else 0):
        shown = entry if is_open else masked(entry)
        for number, message in enumerate(shown.messages, entry.first):
            if number > after:
                yield Said(task, number, entry.agent, rfc3339(entry.at), message)
        last, agent = entry.last, entry.agent
    if not task.is_ended:
        return
    # By whomever it was ended: so that this is read off the task, and always comes last.
    at = rfc3339(task.updated_at)
    if not is_run:
        agent = task.agent or agent
        if task.state is State.DONE and task.has_output:
            last += 1
            if last > after:
                yield Said(task, last, agent, at, _answer_of(baton, task))
    told = Message(MessageType.STATUS, f"The task is {task.state}.", {"state": str(task.state)})
    yield Said(task, max(last, after if is_run else 0) + 1, agent, at, told)


def _answer_of(baton: Baton, task: Task) -> Message:
    """What somebody who works elsewhere has answered with: its output, which the guardrails have looked at."""
    output = baton.store.read(task.workspace, task.id).output
    text = output.get("message") if isinstance(output, dict) else output
    return Message(MessageType.ASSISTANT, text if isinstance(text, str) else canonical_json(output), {"output": output})


def asked_in(new: New, by: str) -> Extra:
    """The user's message as it was let in. ``by``: the key of whoever said it."""
    task, blocks = new.change.task, ({"text": new.body["input"]["message"]},)
    return EntryKept(task.id, Entry(first=1, kind=EntryKind.ASK, agent=by, at=task.created_at, blocks=blocks))
