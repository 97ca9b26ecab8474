"""The order in which a conversation's messages are read, and the storage of read cursors that are too long to be given
out (docs/spec/tools.md §2)."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field

from baton.domain import errors, times
from baton.domain.access.principal import READER, system
from baton.domain.canonical_json import canonical_json
from baton.domain.conversations.read_cursor import ReadCursor
from baton.domain.idempotency import IdempotencyKey
from baton.domain.runs.transcript import MessageType, TranscriptEntry, TranscriptMessage, masked
from baton.domain.tasks.task import Task
from baton.ports.deps import Deps
from baton.ports.writes import SaveResponse

# Of one answer, well under a function's limit.
MAX_READ_BYTES = 3_000_000
# Of a cursor, in characters. A longer one is saved, and its name given out instead.
MAX_CURSOR = 1_000
KEPT_FOR = times.seconds(7 * 86_400)
_SAVED = "~"


@dataclass(frozen=True, slots=True)
class ReadMessage:
    """One message of a conversation."""

    task: Task
    number: int  # within its task
    agent: str
    at: str
    message: TranscriptMessage
    is_last: bool = False  # no message of the task can come after it

    @property
    def size(self) -> int:
        """In bytes, approximately."""
        return len(canonical_json([self.message.text, self.message.data]).encode())


@dataclass(frozen=True, slots=True)
class CursorStore:
    """The long read cursors of a conversation, saved for a while among the saved responses, each under its hash."""

    deps: Deps
    workspace: str
    conversation_id: str

    def told_by(self, cursor: str | None) -> str | None:
        """Returns the read cursor in full. Raises ``InvalidInput``."""
        if cursor is None or not cursor.startswith(_SAVED):
            return cursor
        saved_response = self.deps.store.saved_response(self._key(cursor))
        if saved_response is None:
            raise errors.InvalidInput("after", "was given out too long ago: read from the beginning, without it")
        return str(saved_response.answer["places"])

    def kept(self, cursor_text: str) -> str:
        if len(cursor_text) <= MAX_CURSOR:
            return cursor_text
        cursor = _SAVED + hashlib.sha256(cursor_text.encode()).hexdigest()
        save = SaveResponse(self._key(cursor), {"places": cursor_text}, self.deps.clock.now() + KEPT_FOR)
        with suppress(errors.KeyTaken):
            self.deps.store.commit(self.workspace, save)
        return cursor

    def _key(self, cursor: str) -> IdempotencyKey:
        return IdempotencyKey(system(self.workspace, READER), f"places in {self.conversation_id}", cursor, cursor)


def ended_transcript(deps: Deps, task: Task, after: int = 0) -> tuple[TranscriptEntry, ...]:
    """Returns the transcript of a task that has ended. It is taken as if by the task's next run, which never comes: a
    run that had an entry under way when the task ended adds nothing from then on."""
    store = deps.store
    if not task.fence:
        return store.runs.transcript(task.workspace, task.id, after)
    return store.runs.take_transcript(task.workspace, task.id, task.fence + 1, after)


@dataclass(slots=True)
class ConversationReader:
    """Reads a conversation's messages."""

    deps: Deps
    read_cursor: ReadCursor
    tasks: Sequence[Task]
    is_open: bool = field(kw_only=True)  # secrets are shown
    # task id → the tasks that it waits for, or has waited for
    parts: dict[str, list[Task]] = field(default_factory=dict)

    def read(self, limit: int) -> Iterator[ReadMessage]:
        ids = {task.id for task in self.tasks}
        top_level: list[Task] = []
        # Of tasks created at one moment, the descendant comes after the ancestor.
        for task in sorted(self.tasks, key=lambda task: (task.created_at, task.depth, task.id)):
            parent = task.join_parent if task.join_parent in ids else None
            (top_level if parent is None else self.parts.setdefault(parent, [])).append(task)
        bytes_left = MAX_READ_BYTES
        for number, message in enumerate((each for top in top_level for each in self._messages_of(top)), 1):
            bytes_left -= message.size
            if bytes_left < 0 and number > 1:
                return
            yield message
            if message.is_last:
                self.read_cursor.close(message.task)
            else:
                self.read_cursor.read_to(message.task, message.number)
            if number >= limit:
                return

    def _messages_of(self, task: Task) -> Iterator[ReadMessage]:
        """The task's messages. The messages of its branches follow the message that began them, before the task's own
        that follow their results."""
        after, parts = self.read_cursor.of(task), self.parts.get(task.id, ())
        if after is None:
            yield from self._parts(parts)
            return
        is_run = task.is_run
        entries = self._entries(task, after if is_run else 0)
        begun = {call_id for entry in entries for call_id in _begun_by(entry)}
        others = [part for part in parts if part.call_id not in begun]
        if after:  # the message that began them was read before
            yield from self._parts(others)
        last, agent = 0, task.agent or ""
        for entry in entries:
            shown = entry if self.is_open else masked(entry)
            for number, message in enumerate(shown.messages, entry.first):
                if number > after:
                    yield ReadMessage(task, number, entry.agent, times.rfc3339(entry.at), message)
            last, agent = entry.last, entry.agent
            calls = _begun_by(entry)
            yield from self._parts([part for part in parts if part.call_id in calls])
        if not after:
            yield from self._parts(others)
        if task.is_ended:
            yield from self._end(task, after, last, agent)

    def _entries(self, task: Task, after: int) -> tuple[TranscriptEntry, ...]:
        may_have_run = task.is_run or task.target_agent is None  # an agent that Baton runs may have taken open work
        if may_have_run and task.is_ended:
            return ended_transcript(self.deps, task, after)
        return self.deps.store.runs.transcript(task.workspace, task.id, after)

    def _parts(self, parts: Sequence[Task]) -> Iterator[ReadMessage]:
        for part in parts:
            yield from self._messages_of(part)

    def _end(self, task: Task, after: int, last: int, agent: str) -> Iterator[ReadMessage]:
        """The output and the end of the task, by any principal. Taken from the task as it was before its messages were
        read, so it always comes last."""
        at, is_run = times.rfc3339(task.meta.updated_at), task.is_run
        if not is_run:
            agent = task.agent or agent
            if task.is_done and task.has_output:
                last += 1
                if last > after:
                    yield ReadMessage(task, last, agent, at, _answer_of(self.deps, task))
        status = TranscriptMessage(MessageType.STATUS, f"The task is {task.state}.", {"state": str(task.state)})
        yield ReadMessage(task, max(last, after if is_run else 0) + 1, agent, at, status, is_last=True)


def _begun_by(entry: TranscriptEntry) -> frozenset[str]:
    """The calls that began branches."""
    return frozenset(str(each.data.get("call_id")) for each in entry.more_messages if each.type is MessageType.SUBTASK)


def _answer_of(deps: Deps, task: Task) -> TranscriptMessage:
    """The answer of an agent that Baton doesn't run: its output, which the guardrails have checked."""
    output = deps.store.tasks.read(task.workspace, task.id).output
    text = output.get("message") if isinstance(output, dict) else output
    return TranscriptMessage(
        MessageType.ASSISTANT, text if isinstance(text, str) else canonical_json(output), {"output": output}
    )
