"""Asks an agent's model: with the part of the conversation that the agent sees, and again after a pause if the provider
is throttled or out."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from baton.domain import errors
from baton.domain.canonical_json import canonical_json
from baton.domain.guardrails.guardrails import OFF
from baton.domain.runs import history
from baton.domain.runs.memory_prompt import memory_lines
from baton.domain.runs.prompt import request_beside, system_prompt
from baton.domain.runs.transcript import TranscriptEntry, masked
from baton.ports import runs
from baton.steps.runs.run_context import RunContext
from baton.steps.runs.transcript_writer import TranscriptWriter

# With less time than that, the model isn't asked any more.
MIN_TURN_SECONDS = 5.0
# How often a provider is asked before the task is released, and the pauses between.
MAX_TRIES = 3
FIRST_PAUSE_SECONDS, LAST_PAUSE_SECONDS = 1.0, 10.0
# A provider that answers and is throttled is waited for: the next try may well succeed, and a release counts.
MAX_THROTTLED_TRIES, LAST_THROTTLE_SECONDS = 10, 30.0


@dataclass(slots=True)
class ModelClient:
    """Asks the model for one run."""

    run: RunContext
    models: runs.Models
    transcript_writer: TranscriptWriter
    tools: list[dict[str, Any]]  # in the shape that the model gets
    earlier: list[tuple[history.EarlierTask, Sequence[TranscriptEntry]]] | None = field(default=None)

    def has_time(self) -> bool:
        return self.run.work.time_left() >= MIN_TURN_SECONDS

    def ask(self) -> runs.ModelReply:
        """Returns the model's reply. Raises ``ModelAway`` when tries or time run out, ``ModelThrottled`` after many
        more, ``ModelRefuses``, and ``InactiveAgent`` if the agent was switched off while the provider was waited
        for."""
        provider, model_id, model = self.models.of(self.run.profile.model)
        tried = 0
        while True:
            tried += 1
            try:
                reply = model.converse(self._request(model_id))
                reply = replace(reply, usage=reply.usage.bounded())
            except errors.ModelAway as away:
                is_throttled = isinstance(away, errors.ModelThrottled)
                most = MAX_THROTTLED_TRIES if is_throttled else MAX_TRIES
                longest = LAST_THROTTLE_SECONDS if is_throttled else LAST_PAUSE_SECONDS
                if tried >= most or not self._pause(tried, away, longest):
                    raise
                if self.run.is_off():
                    raise errors.InactiveAgent(self.run.work.agent.slug) from away
                continue
            self._log(reply, provider, model_id)
            return reply

    def _pause(self, tried: int, away: errors.ModelAway, longest: float) -> bool:
        """Sleeps before the next try. False if the pause is too long, or for what time is left."""
        pause: float = min(FIRST_PAUSE_SECONDS * 3 ** min(tried - 1, 5), LAST_PAUSE_SECONDS)
        pause = max(pause * (0.5 + random.random()), away.retry_after or 0)  # noqa: S311 - no secret
        if pause > longest or pause + MIN_TURN_SECONDS > self.run.work.time_left():
            return False
        self.run.deps.clock.sleep(pause)
        return True

    def _request(self, model_id: str) -> runs.ModelRequest:
        work, task, said, own = self.run.work, self.run.task, self.run.conversation, self.run.profile.system_prompt
        context = self.run.record.context.json
        more = [*request_beside(self.run.record, said.message), *memory_lines(work.memory)]
        return runs.ModelRequest(
            system=system_prompt(own, context, said.source, said.instructions, more),
            messages=self._history(),
            tools=self.tools,
            model=model_id,
            max_tokens=self.run.profile.max_reply_tokens,
            seconds=max(work.time_left(), MIN_TURN_SECONDS),
            workspace=task.workspace,
            agent=work.agent.slug,
            task_id=task.id,
            attempt=task.attempt,
            turn=self.transcript_writer.transcript.turns + 1,
        )

    def _history(self) -> list[dict[str, Any]]:
        """The messages for the model, half as long for each time that they were too long."""
        if self.earlier is None:
            self.earlier = self._read_earlier()
        transcript = self.transcript_writer.transcript
        entries = transcript.of(self.run.work.agent.slug) if self.run.work.sees_own else transcript.entries
        too_long = sum(entry.stop_reason == runs.StopReason.CONTEXT_WINDOW_EXCEEDED for entry in entries)
        conversation, most_bytes = self.run.conversation, history.MAX_HISTORY_BYTES >> too_long
        return history.composed(conversation, self.earlier, entries, has_tools=bool(self.tools), most_bytes=most_bytes)

    def _read_earlier(self) -> list[tuple[history.EarlierTask, Sequence[TranscriptEntry]]]:
        """The newest tasks that fit. Secrets are masked, as in everything between agents, unless the workspace turned
        that off."""
        found: list[tuple[history.EarlierTask, Sequence[TranscriptEntry]]] = []
        if not self.run.conversation.earlier:
            return found
        size, workspace = 0, self.run.task.workspace
        is_open = self.run.deps.store.settings.of(workspace).guardrails.secrets == OFF
        for seen in reversed(self.run.conversation.earlier):
            entries: Sequence[TranscriptEntry] = self.run.deps.store.runs.transcript(workspace, seen.task_id)
            entries = entries if is_open else [masked(entry) for entry in entries]
            found.insert(0, (seen, entries))
            size += sum(len(canonical_json(entry.blocks)) for entry in entries)
            if size > history.MAX_HISTORY_BYTES:
                break
        return found

    def _log(self, reply: runs.ModelReply, provider: str, model_id: str) -> None:
        about = {"task_id": self.run.task.id, "provider": provider, "model": model_id}
        used = {"input_tokens": reply.usage.input_tokens, "output_tokens": reply.usage.output_tokens}
        stop_reason = str(reply.stop_reason)
        self.run.deps.log("a model replied", action="model_replied", **about, stop_reason=stop_reason, **used)
