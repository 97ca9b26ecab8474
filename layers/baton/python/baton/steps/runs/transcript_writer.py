"""Writes a run's transcript, as long as no later run has taken it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from baton.domain.runs.reply import BrokenReply, kept_blocks
from baton.domain.runs.transcript import (
    Block,
    EntryKind,
    MessageType,
    TaskEntry,
    Transcript,
    TranscriptEntry,
    TranscriptMessage,
    numbered,
)
from baton.ports import runs
from baton.ports.writes import Insert
from baton.steps.runs.run_account import RunAccount
from baton.steps.runs.run_context import RunContext


@dataclass(slots=True)
class TranscriptWriter:
    """Writes the transcript of one run."""

    run: RunContext
    transcript: Transcript  # as it is by now
    account: RunAccount
    has_progressed: bool = False  # since this run began

    def replied(self, reply: runs.ModelReply, identity: Callable[[TranscriptEntry], str]) -> TranscriptEntry:
        """Counts the reply, and saves it before any of its calls is run. A reply that can't be stored is saved as
        malformed. ``identity`` returns the entry's ``made_with``. Raises ``StaleClaim`` if the claim is over: then the
        reply is counted, and not saved."""
        turn, stop = self.transcript.turns + 1, reply.stop_reason
        messages: tuple[TranscriptMessage, ...] = ()
        try:
            blocks = numbered(self.run.task.id, turn, kept_blocks(reply.blocks))
        except BrokenReply as broken:
            blocks, stop = (), runs.StopReason.MALFORMED_MODEL_OUTPUT
            messages = (TranscriptMessage(MessageType.ERROR, f"The model's reply can't be kept: {broken}."),)
        if not blocks and not messages:
            messages = (TranscriptMessage(MessageType.ERROR, f"The model answered nothing: {stop}."),)
        fields = {"stop_reason": str(stop), "usage": reply.usage, "output": reply.output, "scripted": reply.scripted}
        entry = self._entry(EntryKind.REPLY, turn, blocks, messages, **fields)
        entry = replace(entry, made_with=identity(entry))
        self.account.count_reply(reply.usage)
        self.keep(entry)
        return entry

    def results(
        self, reply: TranscriptEntry, blocks: Sequence[Block], *more_messages: TranscriptMessage
    ) -> TranscriptEntry:
        """The entry with the results of the reply's calls; the caller saves it."""
        return self._entry(EntryKind.RESULTS, reply.turn, tuple(blocks), more_messages)

    def failed(self, type: str, description: str, *, retryable: bool = False, **more_messages: Any) -> runs.RunFailed:  # noqa: A002 - the field's word
        """The end of this attempt, with the message for readers of the conversation as a write of the same
        transaction."""
        messages = (TranscriptMessage(MessageType.ERROR, description, {"type": type}),)
        note = self._entry(EntryKind.NOTE, self.transcript.turns, (), messages)
        failure = {"type": type, "description": description, **more_messages}
        return runs.RunFailed(failure, retryable, (self.insert(note),))

    def keep(self, entry: TranscriptEntry) -> None:
        """Saves the entry. Raises ``StaleClaim`` if the claim is over. An entry that is on its way when it ends is
        saved all the same, unless a later run has taken the transcript by then."""
        self.run.persist(lambda: self._keep(entry))
        self.transcript = Transcript((*self.transcript.entries, entry))
        self.has_progressed = True

    def insert(self, entry: TranscriptEntry) -> Insert:
        """The write that saves the entry with what it tells of."""
        return Insert(TaskEntry(self.run.task.id, entry, self.run.task.fence))

    def _keep(self, entry: TranscriptEntry) -> None:
        store, work, task = self.run.deps.store, self.run.work, self.run.task
        now, _ = store.tasks.load(task.workspace, task.id)
        now.current_claim(work.claim_id, work.by)
        store.runs.keep_entry(task.workspace, TaskEntry(task.id, entry, task.fence))

    def _entry(
        self,
        kind: EntryKind,
        turn: int,
        blocks: tuple[Block, ...],
        more_messages: tuple[TranscriptMessage, ...],
        **more: Any,
    ) -> TranscriptEntry:
        at, agent = self.run.deps.clock.now(), self.run.work.agent.slug
        place: dict[str, Any] = {"first": self.transcript.next, "kind": kind, "agent": agent, "at": at, "turn": turn}
        return TranscriptEntry(**place, blocks=blocks, more_messages=more_messages, **more)
