"""Process-task runs an agent (spec/tools.md §3): its model is asked, what it calls is done, and so on until its task
has ended, waits, or goes over to another agent.

What a crash may repeat is decided by what was saved. A call of the model is begun under the claim and counted; its
reply is saved under the claim before anything in it is done; and each of its tools either changes nothing, or has its
effect and its result in one transaction, or is told apart from its repeat by the call's id. So a run that goes on finds
the last reply, sees which of its calls have no result, and does those.
"""

from __future__ import annotations

import hashlib
import random
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from baton.domain.errors import Busy, Conflict, InvalidInput, ModelAway, ModelRefuses
from baton.domain.events import canonical_json
from baton.domain.handoff import budget_of
from baton.domain.history import MAX_HISTORY_BYTES, Conversation, composed, conversation_in
from baton.domain.loop_guard import Budget
from baton.domain.prompt import ask_in, system_prompt
from baton.domain.reply import BrokenReply, kept_blocks
from baton.domain.times import seconds
from baton.domain.tool import History
from baton.domain.transcript import Entry, EntryKind, Message, MessageType, Transcript, Usage, numbered
from baton.ports import EntryKept, Spent, UnderClaim
from baton.run_ports import Left, NotDone, Reply, Request, StopReason
from baton.services.release_task import release_task
from baton.services.retrying import decided_again
from baton.services.run_tools import Tools, offered

if TYPE_CHECKING:
    from collections.abc import Sequence

    from baton.domain.history import Seen
    from baton.domain.run_profile import RunProfile
    from baton.domain.task import Task
    from baton.domain.transcript import Block
    from baton.ports import Baton, Extra
    from baton.run_ports import Done, Models, Work

# Less than that, and a model isn't asked any more.
MIN_TURN_SECONDS = 5.0
# How often, and how long between, a provider is asked again that is throttled or out, before the task goes back.
MAX_TRIES = 3
FIRST_PAUSE_SECONDS, LAST_PAUSE_SECONDS = 1.0, 10.0
FIRST_AWAY_SECONDS, LAST_AWAY_SECONDS = 15, 600
SAVING_PAUSES = (1.0, 4.0, 10.0)
MAX_REPAIRS = 1
MAX_SHORTENINGS = 3
MAX_TOLD = 2_000

STOPPED = frozenset({StopReason.GUARDRAIL_INTERVENED, StopReason.CONTENT_FILTERED})
MALFORMED = frozenset({StopReason.MALFORMED_MODEL_OUTPUT, StopReason.MALFORMED_TOOL_USE})


@dataclass(frozen=True, slots=True)
class AgentLoop:
    """An ``AgentRunner`` that thinks with a model."""

    baton: Baton
    models: Models

    def run(self, work: Work) -> Done | NotDone | Left:
        task, store = work.dossier.task, self.baton.store
        profile = store.profile(task.workspace, work.agent.slug)
        body = work.dossier.body or {}
        conversation = conversation_in(body) or Conversation(ask_in(body), History.NONE, (), _source(task))
        run = _Run(
            baton=self.baton,
            models=self.models,
            work=work,
            profile=profile,
            conversation=conversation,
            tools=offered(self.baton, work, profile, conversation),
            transcript=Transcript(store.transcript(task.workspace, task.id)),
            budget=budget_of(body),
        )
        return run.go()


@dataclass(slots=True, kw_only=True)
class _Run:
    baton: Baton
    models: Models
    work: Work
    profile: RunProfile
    conversation: Conversation
    tools: Tools
    transcript: Transcript
    budget: Budget
    earlier: list[tuple[Seen, Sequence[Entry]]] | None = None
    has_progressed: bool = field(default=False)

    @property
    def task(self) -> Task:
        return self.work.dossier.task

    def go(self) -> NotDone | Left:
        while True:
            reply = self.transcript.unanswered() or self._next_reply()
            if not isinstance(reply, Entry):
                return reply
            outcome = self._answer(reply)
            if outcome is not None:
                return outcome

    # Asking

    def _next_reply(self) -> Entry | NotDone | Left:
        if self.transcript.turns >= self.profile.max_turns:
            return self._failed("error", f"The agent has had its {self.profile.max_turns} turns, and isn't done.")
        if self.work.time_left() < MIN_TURN_SECONDS:
            return self._given_back("The function's time is up; it goes on where it was.", 0)
        if refusal := self._begun():
            return refusal
        try:
            provider, model, reply = self._asked()
        except ModelAway as away:
            return self._given_back(f"The model is away: {away.message}", _away_seconds(away, self.task))
        except ModelRefuses as refusal_:
            told = {"type": refusal_.type, "description": refusal_.message[:MAX_TOLD], **refusal_.fields}
            return self._failed(**told, retryable=refusal_.retryable)
        self.baton.log(
            "a model replied",
            action="model_replied",
            task_id=self.task.id,
            provider=provider,
            model=model,
            stop_reason=str(reply.stop_reason),
            input_tokens=reply.usage.input_tokens,
            output_tokens=reply.usage.output_tokens,
        )
        entry = self._entry_of(reply)
        spent = Spent(self.task.workflow_id, self.task.id, replace(reply.usage, model_calls=0))
        self._keep(entry, spent)
        return entry

    def _begun(self) -> NotDone | None:
        """Counts the call before it is made, so that no budget is passed however many run at once."""
        task, budget = self.task, self.budget
        spent = Spent(task.workflow_id, task.id, Usage(model_calls=1), budget.max_model_calls, budget.max_tokens)

        def attempt() -> NotDone | None:
            mine, all_ = self.baton.store.usage(task.workspace, task.workflow_id, task.id)
            if mine.tokens >= self.profile.max_tokens:
                return self._failed("error", f"The agent has used up its {self.profile.max_tokens} tokens.")
            if budget.max_model_calls is not None and all_.model_calls >= budget.max_model_calls:
                return self._failed("error", f"The workflow's budget is {budget.max_model_calls} model calls.")
            if budget.max_tokens is not None and all_.tokens >= budget.max_tokens:
                return self._failed("error", f"The workflow's budget is {budget.max_tokens} tokens.")
            self._commit(spent)
            return None

        return decided_again(self.baton.clock, attempt)

    def _asked(self) -> tuple[str, str, Reply]:
        provider, model_id, model = self.models.of(self.profile.model)
        turn = self.transcript.turns + 1
        for tried in range(1, MAX_TRIES + 1):
            request = Request(
                system=system_prompt(
                    self.profile.system_prompt,
                    (self.work.dossier.body or {}).get("context"),
                    self.conversation.source,
                    self.conversation.instructions,
                ),
                messages=self._history(),
                tools=self.tools.specs,
                model=model_id,
                max_tokens=self.profile.max_reply_tokens,
                seconds=max(self.work.time_left(), MIN_TURN_SECONDS),
                workspace=self.task.workspace,
                agent=self.work.agent.slug,
                task_id=self.task.id,
                attempt=self.task.attempt,
                turn=turn,
            )
            try:
                return provider, model_id, model.converse(request)
            except ModelAway as away:
                pause = min(FIRST_PAUSE_SECONDS * 3 ** (tried - 1), LAST_PAUSE_SECONDS)
                pause = max(pause * (0.5 + random.random()), away.retry_after or 0)  # noqa: S311 - no secret
                is_worth_it = pause <= LAST_PAUSE_SECONDS and pause + MIN_TURN_SECONDS < self.work.time_left()
                if tried == MAX_TRIES or not is_worth_it:
                    raise
                self.baton.clock.sleep(pause)
        raise ModelAway("it was asked often enough")

    def _history(self) -> list[dict[str, Any]]:
        if self.earlier is None:
            self.earlier = self._read_earlier()
        too_long = sum(entry.stop_reason == StopReason.CONTEXT_WINDOW_EXCEEDED for entry in self.transcript.entries)
        return composed(
            self.conversation,
            self.earlier,
            self.transcript.entries,
            has_tools=bool(self.tools.specs),
            most_bytes=MAX_HISTORY_BYTES >> too_long,
        )

    def _read_earlier(self) -> list[tuple[Seen, Sequence[Entry]]]:
        """The newest first, and no further back than there is room for."""
        found: list[tuple[Seen, Sequence[Entry]]] = []
        size = 0
        for seen in reversed(self.conversation.earlier):
            entries = self.baton.store.transcript(self.task.workspace, seen.task_id)
            found.insert(0, (seen, entries))
            size += sum(len(canonical_json(entry.blocks)) for entry in entries)
            if size > MAX_HISTORY_BYTES:
                break
        return found

    def _entry_of(self, reply: Reply) -> Entry:
        turn, stop = self.transcript.turns + 1, reply.stop_reason
        told: tuple[Message, ...] = ()
        try:
            blocks = numbered(self.task.id, turn, kept_blocks(reply.blocks))
        except BrokenReply as broken:
            blocks, stop = (), StopReason.MALFORMED_MODEL_OUTPUT
            told = (Message(MessageType.ERROR, f"The model's reply can't be kept: {broken}."),)
        if not blocks and not told:
            told = (Message(MessageType.ERROR, f"The model answered nothing: {stop}."),)
        return Entry(
            first=self.transcript.next,
            kind=EntryKind.REPLY,
            agent=self.work.agent.slug,
            at=self.baton.clock.now(),
            turn=turn,
            blocks=blocks,
            told=told,
            stop_reason=str(stop),
            usage=reply.usage,
            output=reply.output,
            scripted=reply.scripted,
        )

    # Answering

    def _answer(self, reply: Entry) -> NotDone | Left | None:
        """What the reply comes to; None where the model is asked again."""
        stop = StopReason(reply.stop_reason or StopReason.END_TURN)
        if stop in STOPPED:
            return self._failed("blocker", f"The model's provider stopped the reply: {stop}.")
        if stop is StopReason.CONTEXT_WINDOW_EXCEEDED:
            return self._shortened(reply)
        if problem := _broken(reply, stop, self.profile.max_reply_tokens):
            return self._repaired(reply, problem)
        if reply.calls:
            return self._acted(reply)
        return self._finished(reply)

    def _acted(self, reply: Entry) -> NotDone | Left | None:
        given = self.transcript.results_of(reply.turn)
        acted = self.tools.act(reply, given, self._results_entry)
        if isinstance(acted, Left):
            return acted
        self._keep(self._results_entry(reply, acted))
        return None

    def _finished(self, reply: Entry) -> NotDone | Left | None:
        output = reply.output if reply.output is not None else {"message": reply.text}
        if reply.scripted and isinstance(output, dict):
            output = {**output, "scripted": True}
        try:
            return self.tools.complete(output, None, ())
        except InvalidInput as refusal:
            return self._repaired(reply, f"your result wasn't taken: {refusal.message}")

    def _repaired(self, reply: Entry, problem: str) -> NotDone | None:
        """One more chance for a reply that breaks a rule: every call gets its result, and the model is told."""
        if self.transcript.repairs >= MAX_REPAIRS:
            return self._failed("validation", f"The model's reply broke the rules twice: {problem}")
        blocks: list[Block] = self.tools.refused(reply, f"Not done: {problem}.")
        if not blocks:
            blocks = [{"text": f"Your last reply can't be used: {problem}. Answer again."}]
        self._keep(replace(self._results_entry(reply, blocks), is_repair=True))
        return None

    def _shortened(self, reply: Entry) -> NotDone | None:
        times = sum(entry.stop_reason == StopReason.CONTEXT_WINDOW_EXCEEDED for entry in self.transcript.entries)
        if times > MAX_SHORTENINGS:
            return self._failed("error", "The conversation is too long for the model.")
        told = Message(MessageType.ERROR, "The conversation was too long for the model, and is shortened.")
        self._keep(self._results_entry(reply, self.tools.refused(reply, "Not done: the reply was cut off."), told))
        return None

    def _results_entry(self, reply: Entry, blocks: Sequence[Block], *told: Message) -> Entry:
        return Entry(
            first=self.transcript.next,
            kind=EntryKind.RESULTS,
            agent=self.work.agent.slug,
            at=self.baton.clock.now(),
            turn=reply.turn,
            blocks=tuple(blocks),
            told=told,
        )

    # Saving

    def _keep(self, entry: Entry, *extras: Extra) -> None:
        """Under the claim, so that nobody who lost it writes into the transcript. Raises ``StaleClaim``."""
        for pause in (*SAVING_PAUSES, None):
            try:
                decided_again(self.baton.clock, lambda: self._saved(entry, extras))
                break
            except Busy:  # what was paid for isn't given up as long as there is time
                if pause is None or self.work.time_left() < pause:
                    raise
                self.baton.clock.sleep(pause)
        self.transcript = self.transcript.with_(entry)
        self.has_progressed = True

    def _saved(self, entry: Entry, extras: Sequence[Extra]) -> None:
        try:
            self._commit(EntryKept(self.task.id, entry), *extras)
        except Conflict:
            kept = self.baton.store.transcript(self.task.workspace, self.task.id, entry.last - 1)
            if entry not in kept:  # else it was an earlier try that went well unheard
                raise

    def _commit(self, *extras: Extra) -> None:
        under = UnderClaim(self.task.id, self.work.claim_id)
        try:
            self.baton.store.commit(self.task.workspace, None, [under, *extras])
        except Conflict:
            task, _ = self.baton.store.load(self.task.workspace, self.task.id)
            task.current_claim(self.work.claim_id, self.work.by)
            raise

    # Ending

    def _failed(self, type: str, description: str, *, retryable: bool = False, **told: Any) -> NotDone:  # noqa: A002 - the field's word
        note = Entry(
            first=self.transcript.next,
            kind=EntryKind.NOTE,
            agent=self.work.agent.slug,
            at=self.baton.clock.now(),
            turn=self.transcript.turns,
            told=(Message(MessageType.ERROR, description, {"type": type}),),
        )
        failure = {"type": type, "description": description, **told}
        return NotDone(failure, retryable, (EntryKept(self.task.id, note),))

    def _given_back(self, reason: str, after_seconds: float) -> Left:
        again_at = self.baton.clock.now() + seconds(after_seconds) if after_seconds else None
        release_task(
            self.baton,
            self.work.by,
            self.task.id,
            self.work.claim_id,
            reason[:500],
            hashlib.sha256(reason.encode()).hexdigest(),
            again_at=again_at,
            has_progressed=self.has_progressed,
        )
        return Left.GIVEN_BACK


def _broken(reply: Entry, stop: StopReason, most_tokens: int) -> str | None:
    """Which rule the reply breaks."""
    for call in reply.calls:
        if "malformed" in call:
            return f"the arguments of {call['name']} are no JSON object"
    if stop is StopReason.MAX_TOKENS:
        return f"it was cut off at {most_tokens} tokens: be briefer"
    if stop in MALFORMED:
        return "it isn't well-formed"
    return None if reply.blocks or reply.output is not None else "it is empty"


def _away_seconds(away: ModelAway, task: Task) -> float:
    """Longer each time that the task came back for nothing, and never less than the provider asked for."""
    pause: float = min(FIRST_AWAY_SECONDS * 2 ** min(task.releases, 10), LAST_AWAY_SECONDS)
    return max(pause, min(away.retry_after or 0, LAST_AWAY_SECONDS))


def _source(task: Task) -> str | None:
    return task.source_agent if ":" not in task.source_agent else None
