"""What is read of a conversation, in which order, and where a cursor is that is too long to be given out
(docs/spec/tools.md §2)."""

from __future__ import annotations

import hashlib
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from baton.domain.agent import Runtime
from baton.domain.errors import InvalidInput, KeyTaken
from baton.domain.events import canonical_json
from baton.domain.idempotency import Once
from baton.domain.principal import READER, system
from baton.domain.task import State
from baton.domain.times import rfc3339, seconds
from baton.domain.transcript import Message, MessageType, masked
from baton.ports import Remember

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from baton.domain.places import Places
    from baton.domain.task import Task
    from baton.domain.transcript import Entry
    from baton.ports import Baton

# Of one reading, well under what a function may answer with.
MAX_READ_BYTES = 3_000_000
# Of a cursor, in characters. What is longer is kept, and the cursor is its name.
MAX_CURSOR = 1_000
KEPT_FOR = seconds(7 * 86_400)
_KEPT = "~"


@dataclass(frozen=True, slots=True)
class Said:
    """One message, by ``number`` within its task. ``is_last``: none comes after it, whatever happens."""

    task: Task
    number: int
    agent: str
    at: str
    message: Message
    is_last: bool = False

    @property
    def size(self) -> int:
        """In bytes, about."""
        return len(canonical_json([self.message.text, self.message.data]).encode())


@dataclass(frozen=True, slots=True)
class Shelf:
    """Where long cursors are, by what is in them: in the answers that are remembered for a while."""

    baton: Baton
    workspace: str
    conversation_id: str

    def told_by(self, cursor: str | None) -> str | None:
        """Raises ``InvalidInput``."""
        if cursor is None or not cursor.startswith(_KEPT):
            return cursor
        remembered = self.baton.store.remembered(self._place(cursor))
        if remembered is None:
            raise InvalidInput("after", "was given out too long ago: read from the beginning, without it")
        return str(remembered.answer["places"])

    def kept(self, told: str) -> str:
        if len(told) <= MAX_CURSOR:
            return told
        cursor = _KEPT + hashlib.sha256(told.encode()).hexdigest()
        keep = Remember(self._place(cursor), {"places": told}, self.baton.clock.now() + KEPT_FOR)
        with suppress(KeyTaken):
            self.baton.store.commit(self.workspace, None, [keep])
        return cursor

    def _place(self, cursor: str) -> Once:
        return Once(system(self.workspace, READER), f"places in {self.conversation_id}", cursor, cursor)


@dataclass(slots=True)
class Reader:
    """``is_open``: secrets are shown. ``parts``: the tasks that each waits for, or has waited for."""

    baton: Baton
    places: Places
    tasks: Sequence[Task]
    is_open: bool = field(kw_only=True)
    parts: dict[str, list[Task]] = field(default_factory=dict)

    def read(self, limit: int) -> Iterator[Said]:
        known = {task.id for task in self.tasks}
        tops: list[Task] = []
        # Of one moment, what came of another stands after it.
        for task in sorted(self.tasks, key=lambda task: (task.created_at, task.depth, task.id)):
            of = task.join_parent if task.join_parent in known else None
            (tops if of is None else self.parts.setdefault(of, [])).append(task)
        left = MAX_READ_BYTES
        for number, said in enumerate((each for top in tops for each in self._of(top)), 1):
            left -= said.size
            if left < 0 and number > 1:
                return
            yield said
            if said.is_last:
                self.places.close(said.task)
            else:
                self.places.read_to(said.task, said.number)
            if number >= limit:
                return

    def _of(self, task: Task) -> Iterator[Said]:
        """Its messages; those of its parts stand behind the one that has begun them, before what it makes of them."""
        after, parts = self.places.of(task), self.parts.get(task.id, ())
        if after is None:
            yield from self._parts(parts)
            return
        is_run = task.runtime is Runtime.RUN
        entries = self.baton.store.transcript(task.workspace, task.id, after if is_run else 0)
        begun = {call_id for entry in entries for call_id in _begun_by(entry)}
        others = [part for part in parts if part.call_id not in begun]
        if after:  # what has begun them was read before
            yield from self._parts(others)
        last, agent = 0, task.agent or ""
        for entry in entries:
            shown = entry if self.is_open else masked(entry)
            for number, message in enumerate(shown.messages, entry.first):
                if number > after:
                    yield Said(task, number, entry.agent, rfc3339(entry.at), message)
            last, agent = entry.last, entry.agent
            calls = _begun_by(entry)
            yield from self._parts([part for part in parts if part.call_id in calls])
        if not after:
            yield from self._parts(others)
        if task.is_ended:
            yield from self._end(task, after, last, agent)

    def _parts(self, parts: Sequence[Task]) -> Iterator[Said]:
        for part in parts:
            yield from self._of(part)

    def _end(self, task: Task, after: int, last: int, agent: str) -> Iterator[Said]:
        """By whomever it was ended: so that this is read off the task, as it was before its messages were read, and
        always comes last."""
        at, is_run = rfc3339(task.updated_at), task.runtime is Runtime.RUN
        if not is_run:
            agent = task.agent or agent
            if task.state is State.DONE and task.has_output:
                last += 1
                if last > after:
                    yield Said(task, last, agent, at, _answer_of(self.baton, task))
        told = Message(MessageType.STATUS, f"The task is {task.state}.", {"state": str(task.state)})
        yield Said(task, max(last, after if is_run else 0) + 1, agent, at, told, is_last=True)


def _begun_by(entry: Entry) -> frozenset[str]:
    """The calls that parts were begun by."""
    return frozenset(str(each.data.get("call_id")) for each in entry.told if each.type is MessageType.SUBTASK)


def _answer_of(baton: Baton, task: Task) -> Message:
    """What somebody who works elsewhere has answered with: its output, which the guardrails have looked at."""
    output = baton.store.read(task.workspace, task.id).output
    text = output.get("message") if isinstance(output, dict) else output
    return Message(MessageType.ASSISTANT, text if isinstance(text, str) else canonical_json(output), {"output": output})
