"""What a model is shown of a conversation (docs/spec/tools.md §5): whole turns, in every provider's rules. It begins
with a user's message and ends with one, the roles take turns, and each call stands right before its result."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from baton.domain.events import canonical_json
from baton.domain.prompt import one_line_json
from baton.domain.tool import History
from baton.domain.transcript import EntryKind

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from baton.domain.transcript import Block, Entry

MAX_HISTORY_BYTES = 200_000
# How many earlier tasks of a conversation are looked at, the newest first.
MAX_EARLIER_TASKS = 50
# However many turns an ended task has had.
WHOLE = 1_000_000
LEFT_OUT = "(Earlier turns of this conversation were left out.)"
# How the result of a call begins where it is told as text.
RESULT = "[Result: "
USER, ASSISTANT = "user", "assistant"

Turn = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Seen:
    """A task whose transcript belongs to what a later one sees, from its turn ``since`` up to and with ``turns``."""

    task_id: str
    turns: int
    since: int = 0

    def plain(self) -> dict[str, Any]:
        since = {"since": self.since} if self.since else {}
        return {"task_id": self.task_id, "turns": self.turns, **since}


@dataclass(frozen=True, slots=True)
class Conversation:
    """A task's part of its handoff's record: what the user said, and what of the earlier tasks its agent sees.
    ``source``: the agent that handed it on, None for the user; ``instructions``: of the tool that it came by."""

    message: str
    history: History = History.FULL
    earlier: tuple[Seen, ...] = ()
    source: str | None = None
    instructions: str = ""

    def plain(self) -> dict[str, Any]:
        """As parts of the handoff's record."""
        return {"input": {"message": self.message}, "conversation": self._seen()}

    def _seen(self) -> dict[str, Any]:
        return {
            "history": str(self.history),
            "earlier": [each.plain() for each in self.earlier],
            "source": self.source,
            "instructions": self.instructions,
        }

    def handed_on(self, history: History, task_id: str, turns: int, source: str, instructions: str) -> Conversation:
        """To whom the task hands it on: the user's message unchanged, and as much as ``history`` lets through."""
        earlier = {
            History.FULL: (*self.earlier, Seen(task_id, turns)),
            # Whoever goes on after the target doesn't see more of it either.
            History.LAST_MESSAGE: (Seen(task_id, turns, since=turns),),
            History.NONE: (),
        }[history]
        return Conversation(self.message, history, earlier[-MAX_EARLIER_TASKS:], source, instructions)


def conversation_in(body: dict[str, Any] | None) -> Conversation | None:
    """Of a task that belongs to one."""
    given = body.get("conversation") if body else None
    if body is None or given is None:
        return None
    earlier = tuple(Seen(each["task_id"], each["turns"], each.get("since", 0)) for each in given["earlier"])
    return Conversation(
        body["input"]["message"], History(given["history"]), earlier, given.get("source"), given.get("instructions", "")
    )


@dataclass(frozen=True, slots=True)
class _Unit:
    """What is kept or left out as a whole: a user's message, or a reply with the results of its calls."""

    turns: tuple[Turn, ...]

    @property
    def size(self) -> int:
        return len(canonical_json(self.turns).encode())


@dataclass(slots=True)
class _Reader:
    """``is_own``: of the task that runs, which sees its thoughts again, as some providers want them back."""

    is_own: bool
    units: list[_Unit] = field(default_factory=list)

    def read(self, entries: Iterable[Entry], most_turns: int | None = None, since: int = 0) -> list[_Unit]:
        replies: dict[int, Entry] = {}
        results: dict[int, list[Block]] = {}
        order: list[tuple[EntryKind, int, Entry]] = []
        for entry in entries:
            if entry.turn < since or (most_turns is not None and entry.turn > most_turns):
                continue
            if entry.kind is EntryKind.REPLY:
                replies[entry.turn] = entry
            elif entry.kind is EntryKind.RESULTS:
                results.setdefault(entry.turn, []).extend(entry.blocks)
            if entry.kind in {EntryKind.ASK, EntryKind.REPLY}:
                order.append((entry.kind, entry.turn, entry))
        for kind, turn, entry in order:
            if kind is EntryKind.ASK:
                self.units.append(_Unit(({"role": USER, "content": list(entry.blocks)},)))
            else:
                self._reply(entry, results.get(turn, []))
        return self.units

    def _reply(self, entry: Entry, answers: list[Block]) -> None:
        """Without calls that nobody has answered and answers that nobody asked for; a reply that is nothing else isn't
        shown at all."""
        answered = {block["toolResult"]["toolUseId"]: block for block in answers if "toolResult" in block}
        said = [block for block in map(self._kept, entry.blocks) if block is not None]
        said = [block for block in said if "toolUse" not in block or block["toolUse"]["toolUseId"] in answered]
        if not any("text" in block or "toolUse" in block for block in said):
            said = []
        calls = [block["toolUse"]["toolUseId"] for block in said if "toolUse" in block]
        told = [block for block in answers if "text" in block]
        turns: list[Turn] = []
        if said:
            turns.append({"role": ASSISTANT, "content": said})
        if answer := [*(answered[call] for call in calls), *told]:
            turns.append({"role": USER, "content": answer})
        if turns:
            self.units.append(_Unit(tuple(turns)))

    def _kept(self, block: Block) -> Block | None:
        if "reasoningContent" in block:
            return block if self.is_own else None
        if "text" in block:
            return block if block["text"].strip() else None
        return block


def composed(
    conversation: Conversation,
    earlier: Sequence[tuple[Seen, Sequence[Entry]]],
    own: Sequence[Entry],
    *,
    has_tools: bool,
    most_bytes: int = MAX_HISTORY_BYTES,
) -> list[Turn]:
    """``earlier``: the transcripts that the conversation names, in its order. ``has_tools``: where a model is offered
    none, providers take no calls either, so these are told as text. What has to be left out is left out from the oldest
    turn on; what the user asks for stays in any case."""
    before = [unit for seen, entries in earlier for unit in _Reader(is_own=False).read(entries, seen.turns, seen.since)]
    asked = _Unit(({"role": USER, "content": [{"text": conversation.message}]},))
    if conversation.history is History.LAST_MESSAGE:
        before = [unit for unit in before[-1:] if unit != asked]
    mine = _Reader(is_own=True).read(own)
    if conversation.history is not History.FULL or asked.turns not in [unit.turns for unit in (*before, *mine)]:
        mine = [asked, *mine] if conversation.history is History.FULL else mine
        before = before if conversation.history is History.FULL else [asked, *before]
    units = _cut([*before, *mine], asked, most_bytes)
    turns = _merged([turn for unit in units for turn in unit.turns])
    if turns[-1]["role"] == ASSISTANT:
        turns.append({"role": USER, "content": [{"text": conversation.message}]})
    return turns if has_tools else [_without_calls(turn) for turn in turns]


def _cut(units: list[_Unit], asked: _Unit, most_bytes: int) -> list[_Unit]:
    kept: list[_Unit] = []
    size = asked.size
    for unit in reversed(units):
        size += unit.size
        if size > most_bytes and kept:
            break
        kept.insert(0, unit)
    if len(kept) < len(units):
        told = [] if asked in kept else list(asked.turns)
        kept = [_Unit(({"role": USER, "content": [{"text": LEFT_OUT}]}, *told)), *kept]
    if not kept or kept[0].turns[0]["role"] == ASSISTANT:
        kept = [_Unit(({"role": USER, "content": [{"text": LEFT_OUT}]},)), *kept]
    return kept


def _merged(turns: Iterable[Turn]) -> list[Turn]:
    """The roles take turns."""
    merged: list[Turn] = []
    for turn in turns:
        if merged and merged[-1]["role"] == turn["role"]:
            content = [*merged[-1]["content"], *turn["content"]]
            # Results come right after their calls, and before what else is said.
            content.sort(key=lambda block: "toolResult" not in block)
            merged[-1] = {"role": turn["role"], "content": content}
        else:
            merged.append(turn)
    return merged


def _without_calls(turn: Turn) -> Turn:
    return {"role": turn["role"], "content": [_as_text(block) for block in turn["content"]]}


def _as_text(block: Block) -> Block:
    """On one line each, whatever is in it: none reads like another call, or another's result."""
    if "toolUse" in block:
        call = block["toolUse"]
        return {"text": f"[Called {_quoted(call['name'])} with {one_line_json(call['input'], WHOLE)}]"}
    if "toolResult" in block:
        (content,) = block["toolResult"]["content"]
        told = _quoted(content["text"]) if content.get("text") else one_line_json(content.get("json"), WHOLE)
        return {"text": f"{RESULT}{told}]"}
    return block


def _quoted(text: str) -> str:
    return text if text.isprintable() and not {"[", "]"} & set(text) else one_line_json(text, WHOLE)
