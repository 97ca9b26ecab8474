"""Writes a run's transcript under its claim, so that a worker without the claim can't write into it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from baton.domain.errors import Busy, Conflict, StaleClaim
from baton.domain.idempotency import Once
from baton.domain.reply import BrokenReply, kept_blocks
from baton.domain.transcript import Entry, EntryKind, Message, MessageType, Transcript, numbered
from baton.ports import EntryKept, Spent, UnderClaim
from baton.run_ports import NotDone, Reply, StopReason
from baton.services.learn_from_page import once_only
from baton.services.retrying import decided_again

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from baton.domain.task import Task
    from baton.domain.transcript import Block
    from baton.ports import Baton, Extra
    from baton.run_ports import Work

# A reply that was paid for isn't given up as long as there is time.
SAVING_PAUSES = (1.0, 4.0, 10.0)


@dataclass(slots=True)
class Scribe:
    """Writes the transcript of one run."""

    baton: Baton
    work: Work
    transcript: Transcript  # as it is by now
    has_progressed: bool = False  # since this run began

    @property
    def task(self) -> Task:
        return self.work.dossier.task

    def replied(self, reply: Reply) -> Entry:
        """Saves the reply with its cost, before any of its calls is run. A reply that can't be stored is saved as
        malformed. Raises ``StaleClaim``."""
        turn, stop = self.transcript.turns + 1, reply.stop_reason
        messages: tuple[Message, ...] = ()
        try:
            blocks = numbered(self.task.id, turn, kept_blocks(reply.blocks))
        except BrokenReply as broken:
            blocks, stop = (), StopReason.MALFORMED_MODEL_OUTPUT
            messages = (Message(MessageType.ERROR, f"The model's reply can't be kept: {broken}."),)
        if not blocks and not messages:
            messages = (Message(MessageType.ERROR, f"The model answered nothing: {stop}."),)
        fields = {"stop_reason": str(stop), "usage": reply.usage, "output": reply.output, "scripted": reply.scripted}
        entry = replace(self._entry(EntryKind.REPLY, turn, blocks, messages), **fields)
        spent = Spent(self.task.workflow_id, self.task.id, replace(reply.usage, model_calls=0))
        try:
            self.keep(entry, spent)
        except StaleClaim:
            self._count_without_claim(spent, turn)
            raise
        return entry

    def _count_without_claim(self, spent: Spent, turn: int) -> None:
        """Counts the cost of a reply that is useless without the claim; once, even if an attempt arrives late."""
        once = Once(self.work.by, "cost of a reply", f"{self.work.claim_id} {turn}", "")

        def count() -> None:
            once_only(self.baton, once, [spent])

        self._persistently(count)

    def results(self, reply: Entry, blocks: Sequence[Block], *told: Message) -> Entry:
        """The entry with the results of the reply's calls; the caller saves it."""
        return self._entry(EntryKind.RESULTS, reply.turn, tuple(blocks), told)

    def failed(self, type: str, description: str, *, retryable: bool = False, **told: Any) -> NotDone:  # noqa: A002 - the field's word
        """The end of this attempt, with the message for readers of the conversation as an extra write of the same
        transaction."""
        messages = (Message(MessageType.ERROR, description, {"type": type}),)
        note = self._entry(EntryKind.NOTE, self.transcript.turns, (), messages)
        return NotDone({"type": type, "description": description, **told}, retryable, (EntryKept(self.task.id, note),))

    def keep(self, entry: Entry, *extras: Extra) -> None:
        """Saves the entry. Raises ``StaleClaim``."""
        self._persistently(lambda: self._keep_once(entry, extras))
        self.transcript = self.transcript.with_(entry)
        self.has_progressed = True

    def _persistently(self, write: Callable[[], None]) -> None:
        """Tries again as long as there is time."""
        for pause in (*SAVING_PAUSES, None):
            try:
                return decided_again(self.baton.clock, write)
            except Busy:
                if pause is None or self.work.time_left() < pause:
                    raise
                self.baton.clock.sleep(pause)
        return None

    def under_claim(self, *extras: Extra) -> None:
        """Commits the extra writes if the claim is still the current one. Raises ``StaleClaim``, and ``Conflict`` if
        another condition fails."""
        try:
            self.baton.store.commit(self.task.workspace, None, [UnderClaim(self.task.id, self.work.claim_id), *extras])
        except Conflict:
            task, _ = self.baton.store.load(self.task.workspace, self.task.id)
            task.current_claim(self.work.claim_id, self.work.by)
            raise

    def _keep_once(self, entry: Entry, extras: Sequence[Extra]) -> None:
        try:
            self.under_claim(EntryKept(self.task.id, entry), *extras)
        except Conflict:
            stored = self.baton.store.transcript(self.task.workspace, self.task.id, entry.last - 1)
            if entry not in stored:  # else an earlier try was applied and its reply was lost
                raise

    def _entry(self, kind: EntryKind, turn: int, blocks: tuple[Block, ...], told: tuple[Message, ...]) -> Entry:
        return Entry(
            first=self.transcript.next,
            kind=kind,
            agent=self.work.agent.slug,
            at=self.baton.clock.now(),
            turn=turn,
            blocks=blocks,
            told=told,
        )
