"""What happened while a task was run, entry by entry: the model's replies, what its tools answered, and what is told to
whoever watches. Entries are never rewritten; messages and the model's history are read off them.

Blocks are those of Bedrock's Converse: ``text``, ``reasoningContent``, ``toolUse`` and ``toolResult``."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from baton.domain.errors import GuardrailRefused
from baton.domain.guardrails import MASK, MAX_ITEMS, Guardrails, checked

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from datetime import datetime

Block = dict[str, Any]
# No model reads or writes more tokens for one reply.
MAX_COUNT = 10_000_000
# More than an entry can hold: what was kept is shown.
MAX_TEXT_SHOWN = 10_000_000


class EntryKind(StrEnum):
    """``ask``: what the user says; ``reply``: the model's; ``results``: of the tools that a reply called, or what the
    model is told instead of results; ``note``: for whoever watches, never for a model."""

    ASK = "ask"
    REPLY = "reply"
    RESULTS = "results"
    NOTE = "note"


class MessageType(StrEnum):
    USER = "user_message"
    ASSISTANT = "assistant_message"
    THINKING = "thinking"
    TOOL_CALL = "tool_call"
    TOOL_RESULT = "tool_result"
    SKILL_LOAD = "skill_load"
    HANDOFF = "handoff"
    SUBTASK = "subtask_created"
    STATUS = "status_change"
    ERROR = "error"


@dataclass(frozen=True, slots=True)
class Message:
    """What somebody who watches a conversation sees. ``data``: what belongs to the type."""

    type: MessageType
    text: str
    data: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Usage:
    """``model_calls``: those that were begun, whether or not a reply was saved; not those that the provider was away
    for."""

    model_calls: int = 0
    input_tokens: int = 0
    output_tokens: int = 0

    @property
    def tokens(self) -> int:
        return self.input_tokens + self.output_tokens

    def bounded(self) -> Usage:
        """As far as it can be believed: a provider, or a server that stands in for one, may count anything."""
        return Usage(self.model_calls, count_in(self.input_tokens), count_in(self.output_tokens))

    def plus(self, other: Usage) -> Usage:
        return Usage(
            self.model_calls + other.model_calls,
            self.input_tokens + other.input_tokens,
            self.output_tokens + other.output_tokens,
        )


def count_in(said: Any) -> int:
    """Tokens of one reply, 0 to ``MAX_COUNT``, as somebody counted them; 0 for what is no number."""
    if isinstance(said, str) and said.isascii() and said.isdigit():
        return int(said) if len(said) < len(str(MAX_COUNT)) else MAX_COUNT
    if isinstance(said, bool) or not isinstance(said, int | float) or said != said or said <= 0:
        return 0
    return MAX_COUNT if said >= MAX_COUNT else int(said)


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """``first``: the number of its first message; ``turn``: of the reply that it is or belongs to, 0 before any;
    ``told``: messages beside those that the blocks are; ``is_repair``: the reply that it answers broke a rule, and the
    model was told so; ``output``: what a reply comes to as a result, where that is more than its text; ``scripted``:
    nobody thought about it."""

    first: int
    kind: EntryKind
    agent: str
    at: datetime
    turn: int = 0
    blocks: tuple[Block, ...] = ()
    told: tuple[Message, ...] = ()
    stop_reason: str | None = None
    usage: Usage = field(default_factory=Usage)
    is_repair: bool = False
    output: Any = None
    scripted: bool = False

    @property
    def messages(self) -> tuple[Message, ...]:
        shown = [message for block in self.blocks for message in _shown(self.kind, block)]
        if self.scripted:  # whoever watches is told that nobody thought
            shown = [Message(each.type, each.text, {**each.data, "scripted": True}) for each in shown]
        return (*shown, *self.told)

    @property
    def last(self) -> int:
        """The number of its last message. An entry has one at least."""
        return self.first + max(len(self.messages), 1) - 1

    @property
    def calls(self) -> tuple[Block, ...]:
        """The tool calls of a reply, in order."""
        return tuple(block["toolUse"] for block in self.blocks if "toolUse" in block)

    @property
    def results(self) -> dict[str, Block]:
        """By the call that each answers."""
        found = (block["toolResult"] for block in self.blocks if "toolResult" in block)
        return {result["toolUseId"]: result for result in found}

    @property
    def text(self) -> str:
        return "\n\n".join(block["text"] for block in self.blocks if block.get("text"))


@dataclass(frozen=True, slots=True)
class Transcript:
    """A task's entries, in order."""

    entries: tuple[Entry, ...] = ()

    @property
    def next(self) -> int:
        """The number of the next message."""
        return self.entries[-1].last + 1 if self.entries else 1

    @property
    def turns(self) -> int:
        return sum(entry.kind is EntryKind.REPLY for entry in self.entries)

    @property
    def repairs(self) -> int:
        """How many replies in a row broke a rule, up to now."""
        number = 0
        for entry in reversed(self.entries):
            if entry.kind is EntryKind.RESULTS:
                if not entry.is_repair:
                    break
                number += 1
        return number

    def results_of(self, turn: int) -> dict[str, Block]:
        """Of all entries that answer that reply's calls."""
        return {
            call: result
            for entry in self.entries
            if entry.kind is EntryKind.RESULTS and entry.turn == turn
            for call, result in entry.results.items()
        }

    def unanswered(self) -> Entry | None:
        """The last reply, if nothing or not everything that it asks for has been done yet: where a run goes on."""
        for entry in reversed(self.entries):
            if entry.kind is EntryKind.REPLY:
                answered = any(each.turn == entry.turn for each in self.entries if each.kind is EntryKind.RESULTS)
                calls = {call["toolUseId"] for call in entry.calls}
                is_done = answered and calls <= set(self.results_of(entry.turn))
                return None if is_done else entry
        return None

    def with_(self, entry: Entry) -> Transcript:
        return Transcript((*self.entries, entry))


def masked(entry: Entry) -> Entry:
    """Without secrets. What can't be masked isn't shown."""
    try:
        said = {"blocks": list(entry.blocks), "told": [each.data for each in entry.told]}
        shown = checked(said, Guardrails(secrets=MASK, max_items=MAX_ITEMS, max_text_characters=MAX_TEXT_SHOWN), "")
    except GuardrailRefused:
        return replace(entry, blocks=(), told=())
    told = tuple(replace(each, data=data) for each, data in zip(entry.told, shown["told"], strict=True))
    return replace(entry, blocks=tuple(shown["blocks"]), told=told)


def call_id(task_id: str, turn: int, number: int) -> str:
    """The id of a call, for every provider's alphabet: no two calls in a conversation share one, whatever a model
    says."""
    return f"call_{task_id.removeprefix('task_')[-16:]}_{turn}_{number}"


def numbered(task_id: str, turn: int, blocks: Iterable[Block]) -> tuple[Block, ...]:
    """The reply's calls under ids of ours."""
    named, number = [], 0
    for block in blocks:
        if "toolUse" in block:
            number += 1
            named.append({"toolUse": {**block["toolUse"], "toolUseId": call_id(task_id, turn, number)}})
        else:
            named.append(block)
    return tuple(named)


def result(call: str, content: Any, *, is_error: bool = False) -> Block:
    """``content``: text, or JSON."""
    said = {"text": content} if isinstance(content, str) else {"json": content}
    return {"toolResult": {"toolUseId": call, "content": [said], "status": "error" if is_error else "success"}}


def _shown(kind: EntryKind, block: Block) -> Iterator[Message]:
    if "text" in block:
        if kind is EntryKind.REPLY:
            yield Message(MessageType.ASSISTANT, block["text"])
        elif kind is EntryKind.ASK:
            yield Message(MessageType.USER, block["text"])
        else:  # what a model is told in place of results
            yield Message(MessageType.ERROR, block["text"])
    elif "reasoningContent" in block:
        yield Message(MessageType.THINKING, block["reasoningContent"].get("reasoningText", {}).get("text", ""))
    elif "toolUse" in block:
        call = block["toolUse"]
        data = {"call_id": call["toolUseId"], "tool_name": call["name"], "arguments": call["input"]}
        yield Message(MessageType.TOOL_CALL, f"Called {call['name']}", data)
    elif "toolResult" in block:
        yield _result_shown(block["toolResult"])


def _result_shown(said: Block) -> Message:
    (content,) = said["content"]
    text = content.get("text", "")
    data = {"call_id": said["toolUseId"], "status": said["status"]}
    return Message(
        MessageType.TOOL_RESULT, text, {**data, **({} if "text" in content else {"content": content["json"]})}
    )
