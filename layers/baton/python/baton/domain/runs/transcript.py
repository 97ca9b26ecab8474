"""The transcript of a task's run: the user's messages, the model's replies, the tools' results and notes for viewers.
Entries are never rewritten; the messages of a conversation and the model's history are computed from them.

Blocks are those of Bedrock's Converse: ``text``, ``reasoningContent``, ``toolUse`` and ``toolResult``."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import astuple, dataclass, field, replace
from datetime import datetime
from enum import StrEnum
from operator import add
from typing import Any

from baton.domain import errors
from baton.domain.guardrails.guardrails import MASK, MAX_ITEMS, Guardrails, checked

Block = dict[str, Any]
# The most tokens that a model reads or writes for one reply.
MAX_COUNT = 10_000_000
# More than an entry can hold: a stored text is always shown.
MAX_TEXT_SHOWN = 10_000_000
# Each block of these is one message.
SHOWN = frozenset({"text", "reasoningContent", "toolUse", "toolResult"})


class EntryKind(StrEnum):
    """The source of an entry."""

    ASK = "ask"  # the user
    REPLY = "reply"  # the model
    RESULTS = "results"  # the tools that a reply called, or a text that the model gets in place of results
    NOTE = "note"  # Baton, for viewers; never shown to a model


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
class TranscriptMessage:
    """A message of a conversation, as its viewers see it."""

    type: MessageType
    text: str
    data: dict[str, Any] = field(default_factory=dict)  # fields of the message's type


@dataclass(frozen=True, slots=True)
class Usage:
    """The model's use by a task."""

    # Calls that were begun, whether or not a reply was saved. A call that found the provider away doesn't count.
    model_calls: int = 0
    input_tokens: int = 0
    output_tokens: int = 0

    @property
    def tokens(self) -> int:
        return self.input_tokens + self.output_tokens

    def bounded(self) -> Usage:
        """Returns the counts bounded by ``MAX_COUNT``: a provider, or a server in its place, may report anything."""
        return Usage(self.model_calls, count_in(self.input_tokens), count_in(self.output_tokens))

    def plus(self, other: Usage) -> Usage:
        return Usage(*map(add, astuple(self), astuple(other)))


def count_in(reported: Any) -> int:
    """Returns a reported count of tokens, bounded to 0 … ``MAX_COUNT``; 0 if it is no number."""
    if isinstance(reported, str) and reported.isascii() and reported.isdigit():
        return int(reported) if len(reported) < len(str(MAX_COUNT)) else MAX_COUNT
    if isinstance(reported, bool) or not isinstance(reported, int | float) or reported != reported or reported <= 0:
        return 0
    return MAX_COUNT if reported >= MAX_COUNT else int(reported)


@dataclass(frozen=True, slots=True, kw_only=True)
class TranscriptEntry:
    """One entry of a transcript."""

    first: int  # the number of its first message
    kind: EntryKind
    agent: str
    at: datetime
    turn: int = 0  # the number of the reply that it is or belongs to; 0 before the first reply
    blocks: tuple[Block, ...] = ()
    more_messages: tuple[TranscriptMessage, ...] = ()  # messages besides those of the blocks
    stop_reason: str | None = None
    usage: Usage = field(default_factory=Usage)
    is_repair: bool = False  # the entry tells the model that its reply broke a rule
    output: Any = None  # the reply's result, if that is more than its text
    scripted: bool = False  # a scripted model wrote it, no real one
    made_with: str | None = None  # of a reply: ``RunProfile.identity``; None in an entry of an earlier release

    @property
    def messages(self) -> tuple[TranscriptMessage, ...]:
        shown = [message for block in self.blocks for message in _messages_of(self.kind, block)]
        if self.scripted:  # viewers see that no real model answered
            shown = [TranscriptMessage(each.type, each.text, {**each.data, "scripted": True}) for each in shown]
        return (*shown, *self.more_messages)

    @property
    def last(self) -> int:
        """The number of its last message. An entry counts for at least one."""
        shown = sum(not SHOWN.isdisjoint(block) for block in self.blocks)
        return self.first + max(shown + len(self.more_messages), 1) - 1

    @property
    def calls(self) -> tuple[Block, ...]:
        """The tool calls of a reply, in order."""
        return tuple(block["toolUse"] for block in self.blocks if "toolUse" in block)

    def in_order(self, results: Mapping[str, Block]) -> tuple[Block, ...]:
        """Returns the results of a reply's calls in the order of the calls."""
        return tuple(results[call["toolUseId"]] for call in self.calls if call["toolUseId"] in results)

    @property
    def results(self) -> dict[str, Block]:
        """Tool results by the id of their call."""
        found = (block["toolResult"] for block in self.blocks if "toolResult" in block)
        return {result["toolUseId"]: result for result in found}

    @property
    def text(self) -> str:
        return "\n\n".join(block["text"] for block in self.blocks if block.get("text"))


@dataclass(frozen=True, slots=True)
class Transcript:
    """A task's entries, in order."""

    entries: tuple[TranscriptEntry, ...] = ()

    @property
    def next(self) -> int:
        """The number of the next message."""
        return self.entries[-1].last + 1 if self.entries else 1

    @property
    def turns(self) -> int:
        return sum(entry.kind is EntryKind.REPLY for entry in self.entries)

    @property
    def last_turn(self) -> int:
        """The highest turn of its entries; 0 before the first reply."""
        return max((entry.turn for entry in self.entries), default=0)

    @property
    def repairs(self) -> int:
        """How many of the latest replies in a row broke a rule."""
        number = 0
        for entry in reversed(self.entries):
            if entry.kind is EntryKind.RESULTS:
                if not entry.is_repair:
                    break
                number += 1
        return number

    def of(self, agent: str) -> tuple[TranscriptEntry, ...]:
        """Returns the entries without the replies of other agents, and without their results."""
        made = (EntryKind.REPLY, EntryKind.RESULTS)
        others = {each.turn for each in self.entries if each.kind is EntryKind.REPLY and each.agent != agent}
        return tuple(each for each in self.entries if each.kind not in made or each.turn not in others)

    def results_of(self, turn: int) -> dict[str, Block]:
        """Returns the tool results for the calls of one reply, by the id of the call."""
        return {
            call: result
            for entry in self.entries
            if entry.kind is EntryKind.RESULTS and entry.turn == turn
            for call, result in entry.results.items()
        }

    def unanswered(self) -> TranscriptEntry | None:
        """Returns the last reply if it has no results yet or lacks some: a run continues there."""
        for entry in reversed(self.entries):
            if entry.kind is EntryKind.REPLY:
                answered = any(each.turn == entry.turn for each in self.entries if each.kind is EntryKind.RESULTS)
                calls = {call["toolUseId"] for call in entry.calls}
                is_done = answered and calls <= set(self.results_of(entry.turn))
                return None if is_done else entry
        return None


def masked(entry: TranscriptEntry) -> TranscriptEntry:
    """Returns the entry with secrets masked, without content if they can't be masked."""
    try:
        content = {"blocks": list(entry.blocks), "told": [each.data for each in entry.more_messages]}
        shown = checked(content, Guardrails(secrets=MASK, max_items=MAX_ITEMS, max_text_characters=MAX_TEXT_SHOWN), "")
    except errors.GuardrailRefused:
        return replace(entry, blocks=(), more_messages=())
    messages = tuple(replace(each, data=data) for each, data in zip(entry.more_messages, shown["told"], strict=True))
    return replace(entry, blocks=tuple(shown["blocks"]), more_messages=messages)


def call_id(task_id: str, turn: int, number: int) -> str:
    """Returns an id that is unique in the conversation, whatever ids the model uses, and valid for every provider."""
    return f"call_{task_id.removeprefix('task_')[-16:]}_{turn}_{number}"


def numbered(task_id: str, turn: int, blocks: Iterable[Block]) -> tuple[Block, ...]:
    """Returns the blocks with Baton's own ids for the calls."""
    named, number = [], 0
    for block in blocks:
        if "toolUse" in block:
            number += 1
            named.append({"toolUse": {**block["toolUse"], "toolUseId": call_id(task_id, turn, number)}})
        else:
            named.append(block)
    return tuple(named)


def result(call: str, content: Any, *, is_error: bool = False) -> Block:
    """Returns the block of a tool's result. ``content``: text or JSON."""
    item = {"text": content} if isinstance(content, str) else {"json": content}
    return {"toolResult": {"toolUseId": call, "content": [item], "status": "error" if is_error else "success"}}


def _messages_of(kind: EntryKind, block: Block) -> Iterator[TranscriptMessage]:
    if "text" in block:
        if kind is EntryKind.REPLY:
            yield TranscriptMessage(MessageType.ASSISTANT, block["text"])
        elif kind is EntryKind.ASK:
            yield TranscriptMessage(MessageType.USER, block["text"])
        else:  # a text that the model gets in place of results
            yield TranscriptMessage(MessageType.ERROR, block["text"])
    elif "reasoningContent" in block:
        yield TranscriptMessage(
            MessageType.THINKING, block["reasoningContent"].get("reasoningText", {}).get("text", "")
        )
    elif "toolUse" in block:
        call = block["toolUse"]
        data = {"call_id": call["toolUseId"], "tool_name": call["name"], "arguments": call["input"]}
        yield TranscriptMessage(MessageType.TOOL_CALL, f"Called {call['name']}", data)
    elif "toolResult" in block:
        yield _result_message(block["toolResult"])


def _result_message(result_block: Block) -> TranscriptMessage:
    (content,) = result_block["content"]
    text = content.get("text", "")
    data = {"call_id": result_block["toolUseId"], "status": result_block["status"]}
    return TranscriptMessage(
        MessageType.TOOL_RESULT, text, {**data, **({} if "text" in content else {"content": content["json"]})}
    )


@dataclass(frozen=True, slots=True)
class TaskEntry:
    """An entry of a task's transcript."""

    task_id: str
    entry: TranscriptEntry
    fence: int | None = None  # of the run that writes it; None: no run does
