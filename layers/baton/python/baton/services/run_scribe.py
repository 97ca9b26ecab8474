"""What happens in a run is written down under its claim, so that nobody who lost it writes into the transcript."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from baton.domain.errors import Busy, Conflict, StaleClaim
from baton.domain.reply import BrokenReply, kept_blocks
from baton.domain.transcript import Entry, EntryKind, Message, MessageType, Transcript, numbered
from baton.ports import EntryKept, Spent, UnderClaim
from baton.run_ports import NotDone, Reply, StopReason
from baton.services.retrying import decided_again

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from baton.domain.task import Task
    from baton.domain.transcript import Block
    from baton.ports import Baton, Extra
    from baton.run_ports import Work

# What was paid for isn't given up as long as there is time.
SAVING_PAUSES = (1.0, 4.0, 10.0)


@dataclass(slots=True)
class Scribe:
    """``transcript``: as it is by now. ``has_progressed``: since this run began."""

    baton: Baton
    work: Work
    transcript: Transcript
    has_progressed: bool = False

    @property
    def task(self) -> Task:
        return self.work.dossier.task

    def replied(self, reply: Reply) -> Entry:
        """The reply, saved with what it has cost before anything in it is done. One that can't be kept is kept as that.
        Raises ``StaleClaim``."""
        turn, stop = self.transcript.turns + 1, reply.stop_reason
        told: tuple[Message, ...] = ()
        try:
            blocks = numbered(self.task.id, turn, kept_blocks(reply.blocks))
        except BrokenReply as broken:
            blocks, stop = (), StopReason.MALFORMED_MODEL_OUTPUT
            told = (Message(MessageType.ERROR, f"The model's reply can't be kept: {broken}."),)
        if not blocks and not told:
            told = (Message(MessageType.ERROR, f"The model answered nothing: {stop}."),)
        said = {"stop_reason": str(stop), "usage": reply.usage, "output": reply.output, "scripted": reply.scripted}
        entry = replace(self._entry(EntryKind.REPLY, turn, blocks, told), **said)
        spent = Spent(self.task.workflow_id, self.task.id, replace(reply.usage, model_calls=0))
        try:
            self.keep(entry, spent)
        except StaleClaim:
            # Nobody wants the reply any more; what it has cost counts all the same.
            self._insisting(lambda: self.baton.store.commit(self.task.workspace, None, [spent]))
            raise
        return entry

    def results(self, reply: Entry, blocks: Sequence[Block], *told: Message) -> Entry:
        """What came of the reply's calls; to be kept."""
        return self._entry(EntryKind.RESULTS, reply.turn, tuple(blocks), told)

    def failed(self, type: str, description: str, *, retryable: bool = False, **told: Any) -> NotDone:  # noqa: A002 - the field's word
        """The end of this attempt, told to whoever watches in its own transaction."""
        said = (Message(MessageType.ERROR, description, {"type": type}),)
        note = self._entry(EntryKind.NOTE, self.transcript.turns, (), said)
        return NotDone({"type": type, "description": description, **told}, retryable, (EntryKept(self.task.id, note),))

    def keep(self, entry: Entry, *extras: Extra) -> None:
        """Raises ``StaleClaim``."""
        self._insisting(lambda: self._kept(entry, extras))
        self.transcript = self.transcript.with_(entry)
        self.has_progressed = True

    def _insisting(self, write: Callable[[], None]) -> None:
        """As long as there is time."""
        for pause in (*SAVING_PAUSES, None):
            try:
                return decided_again(self.baton.clock, write)
            except Busy:
                if pause is None or self.work.time_left() < pause:
                    raise
                self.baton.clock.sleep(pause)
        return None

    def under_claim(self, *extras: Extra) -> None:
        """Writes them if the claim still is the current one. Raises ``StaleClaim``; ``Conflict`` for what doesn't
        hold."""
        try:
            self.baton.store.commit(self.task.workspace, None, [UnderClaim(self.task.id, self.work.claim_id), *extras])
        except Conflict:
            task, _ = self.baton.store.load(self.task.workspace, self.task.id)
            task.current_claim(self.work.claim_id, self.work.by)
            raise

    def _kept(self, entry: Entry, extras: Sequence[Extra]) -> None:
        try:
            self.under_claim(EntryKept(self.task.id, entry), *extras)
        except Conflict:
            kept = self.baton.store.transcript(self.task.workspace, self.task.id, entry.last - 1)
            if entry not in kept:  # else it was an earlier try that went well unheard
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
