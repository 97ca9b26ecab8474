"""A queue of what waits for a person: one after the other, and a key for each decision."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, Protocol

from baton_cli.command_context import CommandContext
from baton_cli.failures import next_step_of
from baton_cli.similar_tasks import Item
from baton_client.errors import Misused, Refused

_LEAVES = {"q", "\x04", "\x1b"}


class LineTerminal(Protocol):
    """A person's terminal: reads and shows lines."""

    def line(self, question: str) -> str:
        """Returns the line that was typed, which may be empty."""

    def say(self, text: str) -> None: ...


class KeyTerminal(LineTerminal, Protocol):
    """A person's terminal: reads keys and lines, and shows what waits."""

    def key(self) -> str:
        """Returns the key that was pressed; empty for a key that is held down, or isn't a character."""

    def show(self, shown: Any, *, is_whole: bool) -> int:
        """Shows it, and drops the keys that were pressed before. Returns how many characters were left out."""


def says_yes(terminal: LineTerminal, question: str) -> bool:
    return terminal.line(f"{question} (y/N)?").lower() in {"y", "yes"}


@dataclass
class KeyQueue:
    """``decided``: how many were decided. ``verbs``: what each key does; it returns True once that is decided."""

    app: CommandContext
    terminal: KeyTerminal
    items: list[Item]
    decided: int = 0
    _unseen: int = field(default=0, repr=False)  # characters that weren't shown, 0 once the person was told of them

    help: ClassVar[str]
    short_help: ClassVar[str]
    verbs: ClassVar[Mapping[str, Callable[[Any, Any], bool]]]

    def answered(self, shown: Any) -> bool:
        """Shows it, and reads keys until one is a decision. Returns False if the person leaves."""
        self.again(shown)
        while (key := self.terminal.key()) not in _LEAVES:
            if key not in self.verbs:
                self.terminal.say(self.help if key == "?" else self.short_help)
                continue
            try:
                if self.verbs[key](self, shown):
                    return True
            except (Refused, Misused) as refusal:
                self.terminal.say(
                    f"✗ {refusal.what}: {refusal.why}\n  next: {next_step_of(refusal) or self.short_help}"
                )
                if isinstance(refusal, Refused):
                    self.look_again(shown)
                    return True
        return False

    def look_again(self, shown: Any) -> None:
        """Reads it once more, as its decision was refused."""

    def has_seen(self) -> bool:
        """Returns True if all of it was on the screen, or the person was told that it wasn't and pressed the key
        again."""
        if self._unseen:
            self.terminal.say(
                f"{self._unseen:,} characters weren't shown: v shows them, the same key again goes on without."
            )
            self._unseen = 0
            return False
        return True

    def whole(self, shown: Any) -> bool:
        self._unseen = self.terminal.show(shown, is_whole=True)
        return False

    def again(self, shown: Any) -> bool:
        self._unseen = self.terminal.show(shown, is_whole=False)
        return False

    def later(self, _shown: Any) -> bool:
        self.items.append(self.items.pop(0))
        return True


LOOKS: dict[str, Callable[[Any, Any], bool]] = {
    "v": KeyQueue.whole,
    " ": KeyQueue.later,
    "\r": KeyQueue.again,
    "\n": KeyQueue.again,
}
