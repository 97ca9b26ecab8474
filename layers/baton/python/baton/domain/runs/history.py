"""The history that a model gets of a conversation (docs/spec/tools.md §5): whole turns, valid for every provider. It
begins and ends with a user's turn, the roles alternate, and each call comes right before its result."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from baton.domain import hidden
from baton.domain.agents.tool import History
from baton.domain.handoffs import handoff_message
from baton.domain.runs.prompt import is_plain, one_line_json
from baton.domain.runs.transcript import Block, EntryKind, TranscriptEntry
from baton.domain.tasks import trail

MAX_HISTORY_BYTES = 200_000
# Earlier tasks of a conversation that a history reads, the newest ones.
MAX_EARLIER_TASKS = 50
# No limit: more than a text or a task can have.
WHOLE = 1_000_000
LEFT_OUT = "(Earlier turns of this conversation were left out.)"
# How the result of a call begins if it is written as text.
RESULT = "[Result: "
USER, ASSISTANT = "user", "assistant"

Turn = dict[str, Any]


@dataclass(frozen=True, slots=True)
class EarlierTask:
    """The part of an earlier task's transcript that a later task sees."""

    task_id: str
    turns: int  # the last turn
    since: int = 0  # the first turn

    def plain(self) -> dict[str, Any]:
        since = {"since": self.since} if self.since else {}
        return {"task_id": self.task_id, "turns": self.turns, **since}


@dataclass(frozen=True, slots=True)
class Conversation:
    """A conversation as a handoff's record holds it."""

    message: str  # the user's
    history: History = History.FULL
    earlier: tuple[EarlierTask, ...] = ()  # the earlier tasks that the agent sees
    source: str | None = None  # the agent that made the handoff; None for the user
    instructions: str = ""  # of the handoff tool

    def put_into(self, message: handoff_message.HandoffMessage) -> handoff_message.HandoffMessage:
        """Returns the message as part of this conversation."""
        seen = {
            "history": str(self.history),
            "earlier": [each.plain() for each in self.earlier],
            "source": self.source,
            "instructions": self.instructions,
        }
        return replace(message, input=handoff_message.InputPart({"message": self.message})).having(conversation=seen)

    def handed_on(self, history: History, task_id: str, turns: int, source: str, instructions: str) -> Conversation:
        """Returns the conversation for the target of a handoff tool: the same message, and as much of the transcripts
        as ``history`` allows."""
        earlier = {
            History.FULL: (*self.earlier, EarlierTask(task_id, turns)),
            # Later agents, after further handoffs, see no more of this task either.
            History.LAST_MESSAGE: (EarlierTask(task_id, turns, since=turns),),
            History.NONE: (),
        }[history]
        return Conversation(self.message, history, earlier[-MAX_EARLIER_TASKS:], source, instructions)


def conversation_in(record: handoff_message.HandoffMessage) -> Conversation | None:
    """Returns the conversation of a handoff's record; None if the task belongs to none."""
    given = record.more.get("conversation")
    if given is None:
        return None
    earlier = tuple(EarlierTask(each["task_id"], each["turns"], each.get("since", 0)) for each in given["earlier"])
    return Conversation(
        record.input.fields["message"],
        History(given["history"]),
        earlier,
        given.get("source"),
        given.get("instructions", ""),
    )


@dataclass(frozen=True, slots=True)
class _TurnGroup:
    """Turns that are kept or left out together: a user's message, or a reply with the results of its calls."""

    turns: tuple[Turn, ...]

    @property
    def size(self) -> int:
        return len(trail.canonical_json(self.turns).encode())


@dataclass(slots=True)
class _TurnReader:
    """Builds the turn groups of a transcript."""

    is_own: bool  # the running task's transcript: its reasoning is kept, as some providers require it back
    groups: list[_TurnGroup] = field(default_factory=list)

    def read(
        self, entries: Iterable[TranscriptEntry], most_turns: int | None = None, since: int = 0
    ) -> list[_TurnGroup]:
        results: dict[int, list[Block]] = {}
        order: list[tuple[EntryKind, int, TranscriptEntry]] = []
        for entry in entries:
            if entry.turn < since or (most_turns is not None and entry.turn > most_turns):
                continue
            if entry.kind is EntryKind.RESULTS:
                results.setdefault(entry.turn, []).extend(entry.blocks)
            if entry.kind in {EntryKind.ASK, EntryKind.REPLY}:
                order.append((entry.kind, entry.turn, entry))
        for kind, turn, entry in order:
            if kind is EntryKind.ASK:
                self.groups.append(_TurnGroup(({"role": USER, "content": list(entry.blocks)},)))
            else:
                self._reply(entry, results.get(turn, []))
        return self.groups

    def _reply(self, entry: TranscriptEntry, answers: list[Block]) -> None:
        """Adds a reply with its results, without unanswered calls and without results that have no call. A reply with
        neither text nor calls is left out."""
        answered = {block["toolResult"]["toolUseId"]: block for block in answers if "toolResult" in block}
        shown = [block for block in map(self._kept, entry.blocks) if block is not None]
        shown = [block for block in shown if "toolUse" not in block or block["toolUse"]["toolUseId"] in answered]
        if not any("text" in block or "toolUse" in block for block in shown):
            shown = []
        calls = [block["toolUse"]["toolUseId"] for block in shown if "toolUse" in block]
        texts = [block for block in answers if "text" in block]
        turns: list[Turn] = []
        if shown:
            turns.append({"role": ASSISTANT, "content": shown})
        if answer := [*(answered[call] for call in calls), *texts]:
            turns.append({"role": USER, "content": answer})
        if turns:
            self.groups.append(_TurnGroup(tuple(turns)))

    def _kept(self, block: Block) -> Block | None:
        if "reasoningContent" in block:
            return block if self.is_own else None
        if "text" in block:
            return block if block["text"].strip() else None
        return block


def composed(
    conversation: Conversation,
    earlier: Sequence[tuple[EarlierTask, Sequence[TranscriptEntry]]],
    own: Sequence[TranscriptEntry],
    *,
    has_tools: bool,
    most_bytes: int = MAX_HISTORY_BYTES,
) -> list[Turn]:
    """Returns the model's history. ``earlier``: the transcripts that the conversation names, in its order.
    ``has_tools``: False writes calls and results as text, as providers take none without tools. Over ``most_bytes`` the
    oldest turns are left out, never the user's message."""
    earlier_groups = [
        group for seen, entries in earlier for group in _TurnReader(is_own=False).read(entries, seen.turns, seen.since)
    ]
    question = _TurnGroup(({"role": USER, "content": [{"text": conversation.message}]},))
    if conversation.history is History.LAST_MESSAGE:
        earlier_groups = [group for group in earlier_groups[-1:] if group != question]
    own_groups = _TurnReader(is_own=True).read(own)
    if conversation.history is not History.FULL or question.turns not in [
        group.turns for group in (*earlier_groups, *own_groups)
    ]:
        own_groups = [question, *own_groups] if conversation.history is History.FULL else own_groups
        earlier_groups = earlier_groups if conversation.history is History.FULL else [question, *earlier_groups]
    groups = _cut([*earlier_groups, *own_groups], question, most_bytes)
    turns = _merged([turn for group in groups for turn in group.turns])
    if turns[-1]["role"] == ASSISTANT:
        turns.append({"role": USER, "content": [{"text": conversation.message}]})
    return [_shown(turn if has_tools else _without_calls(turn)) for turn in turns]


def _cut(groups: list[_TurnGroup], question: _TurnGroup, most_bytes: int) -> list[_TurnGroup]:
    kept: list[_TurnGroup] = []
    size = question.size
    for group in reversed(groups):
        size += group.size
        if size > most_bytes and kept:
            break
        kept.insert(0, group)
    if len(kept) < len(groups):
        question_turns = [] if question in kept else list(question.turns)
        kept = [_TurnGroup(({"role": USER, "content": [{"text": LEFT_OUT}]}, *question_turns)), *kept]
    if not kept or kept[0].turns[0]["role"] == ASSISTANT:
        kept = [_TurnGroup(({"role": USER, "content": [{"text": LEFT_OUT}]},)), *kept]
    return kept


def _merged(turns: Iterable[Turn]) -> list[Turn]:
    """Returns the turns with neighbours of one role joined."""
    merged: list[Turn] = []
    for turn in turns:
        if merged and merged[-1]["role"] == turn["role"]:
            content = [*merged[-1]["content"], *turn["content"]]
            # Results come right after their calls, before other content.
            content.sort(key=lambda block: "toolResult" not in block)
            merged[-1] = {"role": turn["role"], "content": content}
        else:
            merged.append(turn)
    return merged


def _shown(turn: Turn) -> Turn:
    """Returns the turn with hidden characters spelled out; reasoning stays as it is, as providers sign it."""
    content = [block if "reasoningContent" in block else hidden.spelled_out_in(block) for block in turn["content"]]
    return {"role": turn["role"], "content": content}


def _without_calls(turn: Turn) -> Turn:
    return {"role": turn["role"], "content": [_as_text(block) for block in turn["content"]]}


def _as_text(block: Block) -> Block:
    """Returns a call or a result as one line of text, so that its content can't imitate another call or result."""
    if "toolUse" in block:
        call = block["toolUse"]
        return {"text": f"[Called {_quoted(call['name'])} with {one_line_json(call['input'], WHOLE)}]"}
    if "toolResult" in block:
        (content,) = block["toolResult"]["content"]
        text = _quoted(content["text"]) if content.get("text") else one_line_json(content.get("json"), WHOLE)
        return {"text": f"{RESULT}{text}]"}
    return block


def _quoted(text: str) -> str:
    return text if is_plain(text) and not {"[", "]"} & set(text) else one_line_json(text, WHOLE)
