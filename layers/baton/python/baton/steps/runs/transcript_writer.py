"""Writes a run's transcript, as long as no later run has taken it."""

from __future__ import annotations

from collections.abc import Sequence
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
from baton.domain.tasks.task import Task
from baton.ports import runs
from baton.ports.writes import Insert
from baton.steps.runs.persistence import persistently
from baton.steps.runs.run_account import RunAccount
from baton.steps.runs.run_context import RunContext


@dataclass(slots=True)
class TranscriptWriter:
    """Writes the transcript of one run."""

    run: RunContext
    transcript: Transcript  # as it is by now
    account: RunAccount
    has_progressed: bool = False  # since this run began

    @property
    def task(self) -> Task:
        return self.run.task

    def replied(self, reply: runs.ModelReply) -> TranscriptEntry:
        """Counts the reply, and saves it before any of its calls is run. A reply that can't be stored is saved as
        malformed. Raises ``StaleClaim`` if the claim is over: then the reply is counted, and not saved."""
        turn, stop = self.transcript.turns + 1, reply.stop_reason
        messages: tuple[TranscriptMessage, ...] = ()
        try:
            blocks = numbered(self.task.id, turn, kept_blocks(reply.blocks))
        except BrokenReply as broken:
            blocks, stop = (), runs.StopReason.MALFORMED_MODEL_OUTPUT
            messages = (TranscriptMessage(MessageType.ERROR, f"The model's reply can't be kept: {broken}."),)
        if not blocks and not messages:
            messages = (TranscriptMessage(MessageType.ERROR, f"The model answered nothing: {stop}."),)
        fields = {"stop_reason": str(stop), "usage": reply.usage, "output": reply.output, "scripted": reply.scripted}
        entry = replace(self._entry(EntryKind.REPLY, turn, blocks, messages), **fields)
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
        return runs.RunFailed(
            {"type": type, "description": description, **more_messages},
            retryable,
            (Insert(TaskEntry(self.task.id, note, self.run.fence)),),
        )

    def keep(self, entry: TranscriptEntry) -> None:
        """Saves the entry. Raises ``StaleClaim`` if the claim is over. An entry that is on its way when it ends is
        saved all the same, unless a later run has taken the transcript by then."""
        persistently(self.run, self.run.must_hold_claim)
        of_task = TaskEntry(self.task.id, entry, self.run.fence)
        persistently(self.run, lambda: self.run.deps.store.keep_entry(self.task.workspace, of_task))
        self.transcript = self.transcript.with_(entry)
        self.has_progressed = True

    def _entry(
        self, kind: EntryKind, turn: int, blocks: tuple[Block, ...], more_messages: tuple[TranscriptMessage, ...]
    ) -> TranscriptEntry:
        return TranscriptEntry(
            first=self.transcript.next,
            kind=kind,
            agent=self.run.work.agent.slug,
            at=self.run.deps.clock.now(),
            turn=turn,
            blocks=blocks,
            more_messages=more_messages,
        )
