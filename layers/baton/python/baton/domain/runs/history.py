"""The history that a model gets of a conversation (docs/spec/tools.md §5): whole turns, valid for every provider. It
begins and ends with a user's turn, the roles alternate, and each call comes right before its result."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from baton.domain import hidden
from baton.domain.access.principal import PrincipalKind
from baton.domain.agents.tool import History
from baton.domain.canonical_json import canonical_json
from baton.domain.handoffs import handoff_message
from baton.domain.runs.prompt import is_plain, one_line_json
from baton.domain.runs.transcript import Block, EntryKind, TranscriptEntry

MAX_HISTORY_BYTES = 200_000
# Earlier tasks of a conversation that a history reads, the newest ones.
MAX_EARLIER_TASKS = 50
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
    agent: str | None = None  # None in a handoff of an earlier release, and for work that no agent claimed

    def plain(self) -> dict[str, Any]:
        since = {"since": self.since} if self.since else {}
        agent = {"agent": self.agent} if self.agent else {}
        return {"task_id": self.task_id, **agent, "turns": self.turns, **since}


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
        seen: dict[str, Any] = {"history": str(self.history), "source": self.source, "instructions": self.instructions}
        seen["earlier"] = [each.plain() for each in self.earlier]
        return replace(message, input=handoff_message.InputPart({"message": self.message})).having(conversation=seen)

    def handed_on(self, history: History, task_id: str, turns: int, source: str, instructions: str) -> Conversation:
        """Returns the conversation for the target of a handoff tool: the same message, and as much of the transcripts
        as ``history`` allows."""
        earlier: tuple[EarlierTask, ...] = ()
        if history is History.FULL:
            earlier = (*self.earlier, EarlierTask(task_id, turns, agent=source))
        if history is History.LAST_MESSAGE:
            # Later agents, after further handoffs, see no more of this task either.
            earlier = (EarlierTask(task_id, turns, since=turns, agent=source),)
        return Conversation(self.message, history, earlier[-MAX_EARLIER_TASKS:], source, instructions)


def conversation_in(record: handoff_message.HandoffMessage) -> Conversation | None:
    """Returns the conversation of a handoff's record; None if the task belongs to none."""
    given = record.more.get("conversation")
    if given is None:
        return None
    earlier = tuple(
        EarlierTask(each["task_id"], each["turns"], each.get("since", 0), each.get("agent"))
        for each in given["earlier"]
    )
    message, source, instructions = record.input.fields["message"], given.get("source"), given.get("instructions", "")
    return Conversation(message, History(given["history"]), earlier, source, instructions)


# Turns that are kept or left out together: a user's message, or a reply with the results of its calls.
TurnGroup = tuple[Turn, ...]


def _groups(entries: Iterable[TranscriptEntry], *, is_own: bool) -> list[TurnGroup]:
    """Returns the turns of a transcript. ``is_own``: that of the running task, whose reasoning is kept, as some
    providers require it back."""
    shown, results = list(entries), dict[int, list[Block]]()
    for entry in shown:
        if entry.kind is EntryKind.RESULTS:
            results.setdefault(entry.turn, []).extend(entry.blocks)
    groups: list[TurnGroup] = []
    for entry in shown:
        if entry.kind is EntryKind.ASK:
            groups.append(_ask(entry))
        elif entry.kind is EntryKind.REPLY:
            groups.append(_reply(entry, results.get(entry.turn, []), is_own=is_own))
    return [group for group in groups if group]


def _ask(entry: TranscriptEntry) -> TurnGroup:
    """Returns a message's turn, which names an author that is no person. An agent's text is JSON on one line, so that
    it can't imitate another author's message."""
    kind, label = entry.agent.partition(":")[0], f"Message of {entry.agent}:"
    if kind == PrincipalKind.AGENT:
        return _said(f"{label} {one_line_json(entry.text)}")
    blocks = [{"text": label}, *entry.blocks] if kind == PrincipalKind.SERVICE else list(entry.blocks)
    return ({"role": USER, "content": blocks},)


def _reply(entry: TranscriptEntry, answers: list[Block], *, is_own: bool) -> TurnGroup:
    """Returns a reply with its results, without unanswered calls and without results that have no call. A reply with
    neither text nor calls is left out."""
    answered = {block["toolResult"]["toolUseId"]: block for block in answers if "toolResult" in block}
    shown = [block for block in entry.blocks if _is_kept(block, is_own=is_own)]
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
    return tuple(turns)


def _is_kept(block: Block, *, is_own: bool) -> bool:
    if "reasoningContent" in block:
        return is_own
    return "text" not in block or bool(block["text"].strip())


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
    before: list[TurnGroup] = []
    for seen, entries in earlier:
        before += _groups((each for each in entries if seen.since <= each.turn <= seen.turns), is_own=False)
    entries = [*(each for _, seen in earlier for each in seen), *own]
    asks = [each for each in entries if each.kind is EntryKind.ASK and each.text == conversation.message]
    groups, question = _groups(own, is_own=True), _ask(asks[-1]) if asks else _said(conversation.message)
    if conversation.history is History.LAST_MESSAGE:
        before = [group for group in before[-1:] if group != question]
    if conversation.history is not History.FULL:
        before = [question, *before]
    elif question not in (*before, *groups):
        groups = [question, *groups]
    kept = _cut([*before, *groups], question, most_bytes)
    turns = _merged(turn for group in kept for turn in group)
    if turns[-1]["role"] == ASSISTANT:
        turns += question
    return [_shown(turn if has_tools else _without_calls(turn)) for turn in turns]


def _said(text: str) -> TurnGroup:
    return ({"role": USER, "content": [{"text": text}]},)


def _cut(groups: list[TurnGroup], question: TurnGroup, most_bytes: int) -> list[TurnGroup]:
    kept: list[TurnGroup] = []
    size = _size(question)
    for group in reversed(groups):
        size += _size(group)
        if size > most_bytes and kept:
            break
        kept.insert(0, group)
    if len(kept) < len(groups):
        kept = [(*_said(LEFT_OUT), *(() if question in kept else question)), *kept]
    if not kept or kept[0][0]["role"] == ASSISTANT:
        kept = [_said(LEFT_OUT), *kept]
    return kept


def _size(group: TurnGroup) -> int:
    return len(canonical_json(group).encode())


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
        return {"text": f"[Called {_quoted(call['name'])} with {one_line_json(call['input'])}]"}
    if "toolResult" in block:
        (content,) = block["toolResult"]["content"]
        text = _quoted(content["text"]) if content.get("text") else one_line_json(content.get("json"))
        return {"text": f"{RESULT}{text}]"}
    return block


def _quoted(text: str) -> str:
    return text if is_plain(text) and not {"[", "]"} & set(text) else one_line_json(text)
