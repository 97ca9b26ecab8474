"""The queue of open questions: one after the other, and a key for each decision, as for handoffs that wait for
approval. What is approved is what was on the screen: the digest of what was shown goes with the decision."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Protocol

from baton_cli import typed_values
from baton_cli.command_context import CommandContext
from baton_cli.failures import ApiRefusal, Misused
from baton_cli.question_decisions import (
    STANDING_HELP,
    ShownQuestion,
    answer_of,
    decide,
    standing_of,
    whole,
)
from baton_cli.question_wait import Question
from baton_cli.text import one_line

SHORT_HELP = "a approve or answer · e other arguments · S for later ones too · x refuse · q quit · ? more"
HELP = """a      approve the action, for exactly these arguments; or answer the question
e      approve it with other arguments: in $EDITOR, or typed as JSON
S      approve it, and later ones like it: of these arguments, or of this tool
x      refuse, with a reason that its worker is told
v      show it whole
space  later: it goes to the end of the queue
Enter  show it again
q      quit"""


class QuestionScreen(Protocol):
    """A person's terminal: reads keys and lines, and shows questions."""

    def key(self) -> str:
        """Returns the key that was pressed; empty for a key that is held down, or isn't a character."""

    def line(self, question: str) -> str:
        """Returns the line that was typed, which may be empty."""

    def edited(self, text: str) -> str | None:
        """Returns the text as the person has edited it; None if they left without saving."""

    def show_question(self, shown: ShownQuestion, *, is_whole: bool) -> int:
        """Shows the question, and drops the keys pressed before. Returns how many characters were left out."""

    def say(self, text: str) -> None: ...


@dataclass
class QuestionQueue:
    """``decided``: the number of decided questions. ``has_left``: the person quit before the end."""

    app: CommandContext
    terminal: QuestionScreen
    items: list[Question]
    decided: int = 0
    has_left: bool = False
    _unseen: int = field(default=0, repr=False)  # characters that weren't shown, 0 once the person was told of them

    def run(self) -> None:
        """Returns once every question was looked at, or the person leaves."""
        if self.items:
            self.terminal.say(SHORT_HELP)
        while self.items and not self.has_left:
            try:
                question = whole(self.app, self.items[0])
            except ApiRefusal as refusal:
                self.terminal.say(f"✗ {self.items.pop(0)['id']}: {refusal.what}")
                continue
            if question["outcome"] != "open":
                self.terminal.say(f"{question['id']} is {question['outcome']} by now")
                self.items.pop(0)
                continue
            shown = ShownQuestion(question, f"{len(self.items)} left")
            self._unseen = self.terminal.show_question(shown, is_whole=False)
            self._answered(shown)

    def _answered(self, shown: ShownQuestion) -> None:
        """Reads keys until one is a decision, or the person leaves."""
        while not self.has_left:
            key = self.terminal.key()
            if key in {"q", "\x04", "\x1b"}:
                self.has_left = True
            elif key == "?":
                self.terminal.say(HELP)
            elif key not in _VERBS:
                self.terminal.say(SHORT_HELP)
            else:
                try:
                    if _VERBS[key](self, shown):
                        return
                except Misused as misused:
                    self.terminal.say(f"✗ {misused.what}: {misused.why}")
                except ApiRefusal as refusal:
                    self.terminal.say(f"✗ {refusal.what}: {refusal.why}\n  next: {refusal.next_step}")
                    return

    def _has_seen(self) -> bool:
        if self._unseen:
            self.terminal.say(
                f"{self._unseen:,} characters weren't shown: v shows them, the key again goes on without."
            )
            self._unseen = 0
            return False
        return True

    def _decide(self, question: Question, outcome: str, **said: Any) -> bool:
        after = decide(self.app, question, outcome, **said)
        more = f": {len(after['decisions'])} of {after['needed']}" if after["outcome"] == "open" else ""
        self.terminal.say(f"✓ {after['id']} is {after['outcome']}{more}")
        self.items.pop(0)
        self.decided += 1
        return True

    def approve(self, shown: ShownQuestion) -> bool:
        question = shown.question
        if not self._has_seen():
            return False
        if question["kind"] == "action":
            return self._decide(question, "approved")
        typed = self.terminal.line(
            "Your answer (empty: none)?" if question["kind"] != "form" else "Your answer (JSON)?"
        )
        return bool(typed) and self._decide(question, "answered", answer=answer_of(question, typed))

    def approve_others(self, shown: ShownQuestion) -> bool:
        question = shown.question
        if not self._is_action(question) or not self._has_seen():
            return False
        asked = question["arguments"]
        if (changed := self._edited(asked)) is None or changed == asked:
            self.terminal.say("Nothing was changed: a approves it as it is.")
            return False
        if not isinstance(changed, dict):
            raise Misused("these aren't arguments", 'they are an object, as {"amount": 1}')
        self.terminal.show_question(shown.with_arguments(changed), is_whole=True)
        if not self._says_yes("Approve it with these arguments"):
            return False
        return self._decide(question, "approved", arguments=changed)

    def approve_standing(self, shown: ShownQuestion) -> bool:
        question = shown.question
        if not self._is_action(question) or not self._has_seen():
            return False
        typed = self.terminal.line(f"For what ({STANDING_HELP})?")
        if not typed:
            return False
        standing = standing_of(self.app, typed)
        reach = "with these arguments" if standing["for"] == "arguments" else "WITH ANY ARGUMENTS"
        until, count = standing.get("until", "an hour from now"), standing.get("times", 10)
        who = one_line(f"{question['agent']} may call {question['tool']}")
        if not self._says_yes(f"{who} {reach}, {count} times, until {until}"):
            return False
        return self._decide(question, "approved", standing=standing)

    def refuse(self, shown: ShownQuestion) -> bool:
        reason = self.terminal.line("Why?")
        return bool(reason) and self._decide(shown.question, "refused", reason=reason)

    def show_whole(self, shown: ShownQuestion) -> bool:
        self._unseen = self.terminal.show_question(shown, is_whole=True)
        return False

    def again(self, shown: ShownQuestion) -> bool:
        self._unseen = self.terminal.show_question(shown, is_whole=False)
        return False

    def later(self, _shown: ShownQuestion) -> bool:
        self.items.append(self.items.pop(0))
        return True

    def _is_action(self, question: Question) -> bool:
        if question["kind"] != "action":
            self.terminal.say("It is no action: a answers it, x refuses it.")
        return bool(question["kind"] == "action")

    def _edited(self, asked: Any) -> Any:
        """Returns the arguments as the person changed them; None if they changed none."""
        from baton_cli.screens.question import pretty

        if not (os.environ.get("VISUAL") or os.environ.get("EDITOR")):
            typed: str | None = self.terminal.line("The arguments, as JSON (or @FILE)?")
        else:
            typed = self.terminal.edited(pretty(asked) + "\n")
        return typed_values.document(typed) if typed and typed.strip() else None

    def _says_yes(self, question: str) -> bool:
        return self.terminal.line(f"{question} (y/N)?").lower() in {"y", "yes"}


_VERBS: dict[str, Callable[[QuestionQueue, ShownQuestion], bool]] = {
    "a": QuestionQueue.approve,
    "e": QuestionQueue.approve_others,
    "S": QuestionQueue.approve_standing,
    "x": QuestionQueue.refuse,
    "v": QuestionQueue.show_whole,
    " ": QuestionQueue.later,
    "\r": QuestionQueue.again,
    "\n": QuestionQueue.again,
}
