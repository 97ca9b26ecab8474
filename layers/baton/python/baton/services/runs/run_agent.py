"""Process-task runs an agent (docs/spec/tools.md §3): it asks the model, runs the tools that the model calls, and
repeats until the task has ended, waits, or is transferred to another agent.

The saved entries decide what a crash may repeat. A model call is counted before the model is asked. Its reply is
counted when it comes, and saved before any of its calls is run. Each tool either changes nothing, or has its effect and
its result in one transaction, or is idempotent by the call's id. So a resumed run finds the last reply, sees which of
its calls have no result, and runs those. It does so with a reply of the same agent with the same prompt, model and
tools alone; any other reply without results is set aside, and the model is asked again. A run takes the transcript with
its claim's fence: from then on no earlier run adds to it (docs/what-is-stored.md §12).
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, replace

from baton.domain import errors, times
from baton.domain.agents.tool import History
from baton.domain.runs import history
from baton.domain.runs.prompt import ask_in
from baton.domain.runs.reply import is_blank
from baton.domain.runs.transcript import (
    Block,
    MessageType,
    Transcript,
    TranscriptEntry,
    TranscriptMessage,
    Usage,
    result,
)
from baton.domain.tasks.task import Task
from baton.ports import runs
from baton.ports.deps import Deps
from baton.services.claims.release_task import ReleasedWork, release_task
from baton.services.runs.run_tools import RunTools, offered
from baton.steps.runs.model_client import ModelClient
from baton.steps.runs.run_account import RunAccount
from baton.steps.runs.run_context import SWITCHED_OFF, RunContext
from baton.steps.runs.transcript_writer import TranscriptWriter

FIRST_AWAY_SECONDS, LAST_AWAY_SECONDS = 15, 600
MAX_REPAIRS = 1
MAX_SHORTENINGS = 3
MAX_DESCRIPTION = 2_000
MAX_REASON = 500

STOPPED = frozenset({runs.StopReason.GUARDRAIL_INTERVENED, runs.StopReason.CONTENT_FILTERED})
MALFORMED = frozenset({runs.StopReason.MALFORMED_MODEL_OUTPUT, runs.StopReason.MALFORMED_TOOL_USE})


@dataclass(frozen=True, slots=True)
class AgentLoop:
    """An ``AgentRunner`` that decides with a model."""

    deps: Deps
    models: runs.Models

    def run(self, work: runs.RunInput) -> runs.RunResult:
        agent_run = self._begun(work)
        if why := agent_run.run.why_not_to_begin():
            return agent_run.give_back(why, 0)
        while True:
            reply = agent_run.writer.transcript.unanswered() or agent_run.next_reply()
            if not isinstance(reply, TranscriptEntry):
                return reply
            if agent_run.run.is_off():
                return agent_run.give_back(SWITCHED_OFF, 0)
            outcome: runs.RunFailed | runs.RunExit | None = None
            if not agent_run.tools.is_own(reply):
                agent_run.tools.set_aside(reply)
            elif problem := _problem_of(reply, agent_run.run.profile.max_reply_tokens):
                outcome = agent_run.mend(reply, problem)
            elif reply.calls:
                outcome = agent_run.tools.act(reply)
            else:
                outcome = agent_run.complete(reply)
            if outcome is not None:
                return outcome
            if agent_run.run.is_off():
                return agent_run.give_back(SWITCHED_OFF, 0)

    def _begun(self, work: runs.RunInput) -> _AgentRun:
        """Returns the run, where earlier runs of the task have left off."""
        task, record = work.details.task, work.details.message
        profile = self.deps.store.runs.profile(task.workspace, work.agent.slug)
        conversation = history.conversation_in(record)
        if conversation is None:
            conversation = history.Conversation(ask_in(record), History.NONE, source=_source(task))
        run = RunContext(self.deps, work, task, record, conversation, profile)
        handoffs = offered(run)
        transcript = Transcript(self.deps.store.runs.take_transcript(task.workspace, task.id, task.fence))
        writer = TranscriptWriter(run, transcript, RunAccount(run))
        tools = RunTools(run, handoffs, writer)
        return _AgentRun(run, tools, writer, ModelClient(run, self.models, writer, tools.specs))


@dataclass(frozen=True, slots=True)
class _AgentRun:
    run: RunContext
    tools: RunTools
    writer: TranscriptWriter
    model_client: ModelClient

    def next_reply(self) -> TranscriptEntry | runs.RunFailed | runs.RunExit:
        most = self.run.profile.max_turns
        if self.writer.transcript.turns >= most:
            return self.writer.failed("error", f"The agent has had its {most} turns, and isn't done.")
        if not self.model_client.has_time():
            return self.give_back("The function's time is up; it goes on where it was.", 0)
        if spent := self.writer.account.begin_call():
            return self.writer.failed("error", spent)
        try:
            reply = self.model_client.ask()
        except errors.ModelAway as away:
            # There was no reply: an outage, however long, uses no budget of calls.
            self.writer.account.count(Usage(model_calls=-1))
            return self.give_back(f"The model is away: {away.message}", _away_seconds(away, self.run.task))
        except errors.InactiveAgent:
            self.writer.account.count(Usage(model_calls=-1))
            return self.give_back(SWITCHED_OFF, 0)
        except errors.ModelRefuses as refusal:
            details = {"type": refusal.type, "description": refusal.message[:MAX_DESCRIPTION], **refusal.fields}
            return self.writer.failed(**details, retryable=refusal.retryable)
        return self.writer.replied(reply, self.tools.identity)

    def mend(self, reply: TranscriptEntry, problem: str) -> runs.RunFailed | None:
        """Handles a reply that can't be acted on. Returns None if the model is to be asked again."""
        if reply.stop_reason in STOPPED:
            return self.writer.failed("blocker", problem)
        if reply.stop_reason == runs.StopReason.CONTEXT_WINDOW_EXCEEDED:
            return self._shorten(reply, problem)
        return self._repair(reply, problem)

    def complete(self, reply: TranscriptEntry) -> runs.RunFailed | runs.RunExit | None:
        output = reply.output if reply.output is not None else {"message": reply.text}
        if reply.scripted and isinstance(output, dict):
            output = {**output, "scripted": True}
        try:
            return self.tools.complete(output, None, ())
        except errors.InvalidInput as refusal:
            return self._repair(reply, f"your result wasn't taken: {refusal.message}")

    def _repair(self, reply: TranscriptEntry, problem: str) -> runs.RunFailed | None:
        """One more chance for a reply that breaks a rule: every call gets a result, and the model gets the problem."""
        if self.writer.transcript.repairs >= MAX_REPAIRS:
            return self.writer.failed("validation", f"The model's reply broke the rules twice: {problem}")
        blocks = _refused(reply, f"Not done: {problem}.")
        if not blocks:
            blocks = [{"text": f"Your last reply can't be used: {problem}. Answer again."}]
        self.writer.keep(replace(self.writer.results(reply, blocks), is_repair=True))
        return None

    def _shorten(self, reply: TranscriptEntry, problem: str) -> runs.RunFailed | None:
        entries = self.writer.transcript.entries
        if sum(entry.stop_reason == runs.StopReason.CONTEXT_WINDOW_EXCEEDED for entry in entries) > MAX_SHORTENINGS:
            return self.writer.failed("error", problem)
        notice = TranscriptMessage(MessageType.ERROR, "The conversation was too long for the model, and is shortened.")
        refused = _refused(reply, "Not done: the reply was cut off.")
        self.writer.keep(self.writer.results(reply, refused, notice))
        return None

    def give_back(self, reason: str, after_seconds: float) -> runs.RunExit:
        again_at = self.run.deps.clock.now() + times.seconds(after_seconds) if after_seconds else None
        has_progressed = self.writer.has_progressed
        call = self.run.work.call(hashlib.sha256(reason.encode()).hexdigest())
        work = ReleasedWork(reason=reason[:MAX_REASON], again_at=again_at, has_progressed=has_progressed)
        release_task(self.run.deps, call, work)
        return runs.RunExit.GIVEN_BACK


def _refused(reply: TranscriptEntry, why: str) -> list[Block]:
    return [result(call["toolUseId"], why, is_error=True) for call in reply.calls]


def _problem_of(reply: TranscriptEntry, most_tokens: int) -> str | None:
    """What keeps the reply from being acted on: why there is none, or the rule that it breaks, as text for the model.
    None if nothing does."""
    stop = runs.StopReason(reply.stop_reason or runs.StopReason.END_TURN)
    if stop in STOPPED:
        return f"The model's provider stopped the reply: {stop}."
    if stop is runs.StopReason.CONTEXT_WINDOW_EXCEEDED:
        return "The conversation is too long for the model."
    for call in reply.calls:
        if "malformed" in call:
            return f"the arguments of {call['name']} are no JSON object"
    if stop is runs.StopReason.MAX_TOKENS:
        return f"it was cut off at {most_tokens} tokens: be briefer"
    if stop in MALFORMED:
        return "it isn't well-formed"
    if not reply.blocks and reply.output is None:
        return "it is empty"
    # Thoughts are no answer: the task would be completed without output.
    says_something = reply.calls or not is_blank(reply.text) or reply.output is not None
    return None if says_something else "it says nothing: answer in words, or call a tool"


def _away_seconds(away: errors.ModelAway, task: Task) -> float:
    """The pause doubles each time that the task is released without progress, and is never shorter than the provider
    asks for."""
    pause: float = min(FIRST_AWAY_SECONDS * 2 ** min(task.releases, 10), LAST_AWAY_SECONDS)
    return max(pause, min(away.retry_after or 0, LAST_AWAY_SECONDS))


def _source(task: Task) -> str | None:
    """The source if it is an agent; None for a human or service, which is named by its principal key."""
    return task.source_agent if ":" not in task.source_agent else None
