"""Writes a run's transcript under its claim, so that a worker without the claim can't write into it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from baton.domain import errors
from baton.domain.idempotency import IdempotencyKey
from baton.domain.runs.reply import BrokenReply, kept_blocks
from baton.domain.runs.transcript import Block, Entry, EntryKind, Message, MessageType, TaskEntry, Transcript, numbered
from baton.domain.tasks.task import Task
from baton.ports import runs
from baton.ports.writes import AddUsage, Insert, Require, UnderClaim, Write
from baton.steps import idempotency
from baton.steps.retrying import retry_on_conflict
from baton.steps.runs.run_context import RunContext

# A reply that was paid for isn't given up as long as there is time.
SAVING_PAUSES = (1.0, 4.0, 10.0)


@dataclass(slots=True)
class TranscriptWriter:
    """Writes the transcript of one run."""

    run: RunContext
    transcript: Transcript  # as it is by now
    has_progressed: bool = False  # since this run began

    @property
    def task(self) -> Task:
        return self.run.task

    def replied(self, reply: runs.Reply) -> Entry:
        """Saves the reply with its cost, before any of its calls is run. A reply that can't be stored is saved as
        malformed. Raises ``StaleClaim``."""
        turn, stop = self.transcript.turns + 1, reply.stop_reason
        messages: tuple[Message, ...] = ()
        try:
            blocks = numbered(self.task.id, turn, kept_blocks(reply.blocks))
        except BrokenReply as broken:
            blocks, stop = (), runs.StopReason.MALFORMED_MODEL_OUTPUT
            messages = (Message(MessageType.ERROR, f"The model's reply can't be kept: {broken}."),)
        if not blocks and not messages:
            messages = (Message(MessageType.ERROR, f"The model answered nothing: {stop}."),)
        fields = {"stop_reason": str(stop), "usage": reply.usage, "output": reply.output, "scripted": reply.scripted}
        entry = replace(self._entry(EntryKind.REPLY, turn, blocks, messages), **fields)
        spent = AddUsage(self.task.workflow_id, self.task.id, replace(reply.usage, model_calls=0))
        try:
            self.keep(entry, spent)
        except errors.StaleClaim:
            self._count_without_claim(spent, turn)
            raise
        return entry

    def _count_without_claim(self, spent: AddUsage, turn: int) -> None:
        """Counts the cost of a reply that is useless without the claim; once, even if an attempt arrives late."""
        idempotency_key = IdempotencyKey(self.run.work.by, "cost of a reply", f"{self.run.work.claim_id} {turn}", "")

        def count() -> None:
            idempotency.apply_once(self.run.deps, idempotency_key, [spent])

        self._persistently(count)

    def results(self, reply: Entry, blocks: Sequence[Block], *more_messages: Message) -> Entry:
        """The entry with the results of the reply's calls; the caller saves it."""
        return self._entry(EntryKind.RESULTS, reply.turn, tuple(blocks), more_messages)

    def failed(self, type: str, description: str, *, retryable: bool = False, **more_messages: Any) -> runs.RunFailed:  # noqa: A002 - the field's word
        """The end of this attempt, with the message for readers of the conversation as a write of the same
        transaction."""
        messages = (Message(MessageType.ERROR, description, {"type": type}),)
        note = self._entry(EntryKind.NOTE, self.transcript.turns, (), messages)
        return runs.RunFailed(
            {"type": type, "description": description, **more_messages},
            retryable,
            (Insert(TaskEntry(self.task.id, note)),),
        )

    def keep(self, entry: Entry, *extras: Write) -> None:
        """Saves the entry. Raises ``StaleClaim`` unless it was saved while the claim was current."""
        self._persistently(lambda: self._keep_once(entry, extras))
        self.transcript = self.transcript.with_(entry)
        self.has_progressed = True

    def _persistently(self, write: Callable[[], None]) -> None:
        """Tries again as long as there is time."""
        for pause in (*SAVING_PAUSES, None):
            try:
                return retry_on_conflict(self.run.deps.clock, write)
            except errors.Busy:
                if pause is None or self.run.work.time_left() < pause:
                    raise
                self.run.deps.clock.sleep(pause)
        return None

    def under_claim(self, *extras: Write) -> None:
        """Commits the writes if the claim is still the current one. Raises ``StaleClaim``, and ``Conflict`` if
        another condition fails."""
        try:
            self.run.deps.store.commit(
                self.task.workspace, Require(UnderClaim(self.task.id, self.run.work.claim_id)), *extras
            )
        except errors.Conflict:
            task, _ = self.run.deps.store.load(self.task.workspace, self.task.id)
            task.current_claim(self.run.work.claim_id, self.run.work.by)
            raise

    def _keep_once(self, entry: Entry, extras: Sequence[Write]) -> None:
        try:
            self.under_claim(Insert(TaskEntry(self.task.id, entry)), *extras)
        except (errors.Conflict, errors.StaleClaim):
            stored = self.run.deps.store.transcript(self.task.workspace, self.task.id, entry.last - 1)
            if entry not in stored:  # else an earlier try was applied and its reply was lost
                raise

    def _entry(
        self, kind: EntryKind, turn: int, blocks: tuple[Block, ...], more_messages: tuple[Message, ...]
    ) -> Entry:
        return Entry(
            first=self.transcript.next,
            kind=kind,
            agent=self.run.work.agent.slug,
            at=self.run.deps.clock.now(),
            turn=turn,
            blocks=blocks,
            more_messages=more_messages,
        )
