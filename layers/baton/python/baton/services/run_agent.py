"""Process-task runs an agent (docs/spec/tools.md §3): its model is asked, what it calls is done, and so on until its
task has ended, waits, or goes over to another agent.

What a crash may repeat is decided by what was saved. A call of the model is begun under the claim and counted; its
reply is saved under the claim before anything in it is done; and each of its tools either changes nothing, or has its
effect and its result in one transaction, or is told apart from its repeat by the call's id. So a run that goes on finds
the last reply, sees which of its calls have no result, and does those.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from baton.domain.errors import InvalidInput, ModelAway, ModelRefuses
from baton.domain.history import Conversation, conversation_in
from baton.domain.prompt import ask_in
from baton.domain.reply import is_blank
from baton.domain.times import seconds
from baton.domain.tool import History
from baton.domain.transcript import Entry, Message, MessageType, Transcript, Usage
from baton.ports import Spent
from baton.run_ports import Left, StopReason
from baton.services.ask_model import Asker
from baton.services.kill_switch import is_off
from baton.services.release_task import release_task
from baton.services.run_scribe import Scribe
from baton.services.run_tools import Tools, offered

if TYPE_CHECKING:
    from baton.domain.run_profile import RunProfile
    from baton.domain.task import Task
    from baton.domain.transcript import Block
    from baton.ports import Baton, Extra
    from baton.run_ports import Done, Models, NotDone, Work

FIRST_AWAY_SECONDS, LAST_AWAY_SECONDS = 15, 600
MAX_REPAIRS = 1
MAX_SHORTENINGS = 3
MAX_TOLD = 2_000
MAX_REASON = 500

SWITCHED_OFF = "The agent was switched off; its task goes on where it was once it is switched on again."
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
        body = work.dossier.body
        conversation = conversation_in(body) or Conversation(ask_in(body), History.NONE, (), _source(task))
        tools = offered(self.baton, work, profile, conversation)
        scribe = Scribe(self.baton, work, Transcript(store.transcript(task.workspace, task.id)))
        asker = Asker(
            baton=self.baton,
            models=self.models,
            scribe=scribe,
            profile=profile,
            conversation=conversation,
            tools=tools.specs,
        )
        return _Run(self.baton, work, profile, tools, scribe, asker).go()


@dataclass(frozen=True, slots=True)
class _Run:
    baton: Baton
    work: Work
    profile: RunProfile
    tools: Tools
    scribe: Scribe
    asker: Asker

    def go(self) -> NotDone | Left:
        while True:
            reply = self.scribe.transcript.unanswered() or self._next_reply()
            if not isinstance(reply, Entry):
                return reply
            if self._is_off():
                return self._given_back(SWITCHED_OFF, 0)
            outcome = self._answered(reply)
            if outcome is not None:
                return outcome

    def _next_reply(self) -> Entry | NotDone | Left:
        most = self.profile.max_turns
        if self.scribe.transcript.turns >= most:
            return self.scribe.failed("error", f"The agent has had its {most} turns, and isn't done.")
        if self._is_off():
            return self._given_back(SWITCHED_OFF, 0)
        if not self.asker.has_time():
            return self._given_back("The function's time is up; it goes on where it was.", 0)
        if spent := self.asker.begun():
            return self.scribe.failed("error", spent)
        try:
            reply = self.asker.asked()
        except ModelAway as away:
            task = self.work.dossier.task
            # Nobody replied: an outage, however long, uses up no budget of calls.
            unspent = Spent(task.workflow_id, task.id, Usage(model_calls=-1))
            return self._given_back(f"The model is away: {away.message}", _away_seconds(away, task), unspent)
        except ModelRefuses as refusal:
            told = {"type": refusal.type, "description": refusal.message[:MAX_TOLD], **refusal.fields}
            return self.scribe.failed(**told, retryable=refusal.retryable)
        return self.scribe.replied(reply)

    def _answered(self, reply: Entry) -> NotDone | Left | None:
        """What the reply comes to; None where the model is asked again."""
        stop = StopReason(reply.stop_reason or StopReason.END_TURN)
        if stop in STOPPED:
            return self.scribe.failed("blocker", f"The model's provider stopped the reply: {stop}.")
        if stop is StopReason.CONTEXT_WINDOW_EXCEEDED:
            return self._shortened(reply)
        if problem := _broken(reply, stop, self.profile.max_reply_tokens):
            return self._repaired(reply, problem)
        return self._acted(reply) if reply.calls else self._finished(reply)

    def _is_off(self) -> bool:
        """A reply that came meanwhile is kept, and acted on once the agent is switched on again."""
        return is_off(self.baton, self.work.dossier.task.workspace, self.work.agent.slug)

    def _acted(self, reply: Entry) -> Left | None:
        acted = self.tools.act(reply, self.scribe.transcript.results_of(reply.turn), self.scribe.results)
        if isinstance(acted, Left):
            return acted
        self.scribe.keep(self.scribe.results(reply, acted))
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
        if self.scribe.transcript.repairs >= MAX_REPAIRS:
            return self.scribe.failed("validation", f"The model's reply broke the rules twice: {problem}")
        blocks: list[Block] = self.tools.refused(reply, f"Not done: {problem}.")
        if not blocks:
            blocks = [{"text": f"Your last reply can't be used: {problem}. Answer again."}]
        self.scribe.keep(replace(self.scribe.results(reply, blocks), is_repair=True))
        return None

    def _shortened(self, reply: Entry) -> NotDone | None:
        entries = self.scribe.transcript.entries
        if sum(entry.stop_reason == StopReason.CONTEXT_WINDOW_EXCEEDED for entry in entries) > MAX_SHORTENINGS:
            return self.scribe.failed("error", "The conversation is too long for the model.")
        told = Message(MessageType.ERROR, "The conversation was too long for the model, and is shortened.")
        refused = self.tools.refused(reply, "Not done: the reply was cut off.")
        self.scribe.keep(self.scribe.results(reply, refused, told))
        return None

    def _given_back(self, reason: str, after_seconds: float, *told: Extra) -> Left:
        again_at = self.baton.clock.now() + seconds(after_seconds) if after_seconds else None
        release_task(
            self.baton,
            self.work.by,
            self.work.dossier.task.id,
            self.work.claim_id,
            reason[:MAX_REASON],
            hashlib.sha256(reason.encode()).hexdigest(),
            again_at=again_at,
            has_progressed=self.scribe.has_progressed,
            told=told,
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
    if not reply.blocks and reply.output is None:
        return "it is empty"
    # Thoughts are no answer: the task would be done with nothing.
    says_something = reply.calls or not is_blank(reply.text) or reply.output is not None
    return None if says_something else "it says nothing: answer in words, or call a tool"


def _away_seconds(away: ModelAway, task: Task) -> float:
    """Longer each time that the task came back for nothing, and never less than the provider asked for."""
    pause: float = min(FIRST_AWAY_SECONDS * 2 ** min(task.releases, 10), LAST_AWAY_SECONDS)
    return max(pause, min(away.retry_after or 0, LAST_AWAY_SECONDS))


def _source(task: Task) -> str | None:
    """Of agents only: a human or service is named by its key."""
    return task.source_agent if ":" not in task.source_agent else None
