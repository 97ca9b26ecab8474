"""The queue of open questions: one after the other, and a key for each decision, as for handoffs that wait for
approval. What is approved is what was on the screen: the digest of what was shown goes with the decision."""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from typing import Any, Protocol

from baton_cli import typed_values
from baton_cli.approval_decisions import CHANGED, looked_at, takes_as_it_is
from baton_cli.key_queue import LOOKS, KeyQueue, KeyTerminal, says_yes
from baton_cli.question_decisions import STANDING_HELP, ShownQuestion, answer_of, decide, standing_of, whole
from baton_cli.question_wait import Question
from baton_cli.screens import warnings
from baton_cli.screens.question import pretty
from baton_cli.text import one_line
from baton_client.errors import Misused, Refused

SHORT_HELP = "a approve or answer · e other arguments · S for later ones too · x refuse · q quit · ? more"
HELP = """a      approve the action, for exactly these arguments; or answer the question
e      approve it with other arguments: in $EDITOR, or typed as JSON
S      approve it, and later ones like it: of these arguments, or of this tool
x      refuse, with a reason that its worker is told
v      show it whole
space  later: it goes to the end of the queue
Enter  show it again
q      quit"""


class QuestionScreen(KeyTerminal, Protocol):
    def edited(self, text: str) -> str | None:
        """Returns the text as the person has edited it; None if they left without saving."""


@dataclass
class QuestionQueue(KeyQueue):
    terminal: QuestionScreen

    help, short_help = HELP, SHORT_HELP

    def run(self) -> bool:
        """Returns True once every question was looked at, False if the person leaves before."""
        if self.items:
            self.terminal.say(SHORT_HELP)
        while self.items:
            try:
                question = whole(self.app, self.items[0])
            except Refused as refusal:
                self.terminal.say(f"✗ {self.items.pop(0)['id']}: {refusal.what}")
                continue
            if question["outcome"] != "open":
                self.terminal.say(f"{question['id']} is {question['outcome']} by now")
                self.items.pop(0)
            elif not self.answered(ShownQuestion(question, f"{len(self.items)} left")):
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
        if not self.has_seen():
            return False
        if question["kind"] == "action":
            return self._decide(question, "approved")
        typed = self.terminal.line(f"Your answer ({'JSON' if question['kind'] == 'form' else 'empty: none'})?")
        return bool(typed) and self._decide(question, "answered", answer=answer_of(question, typed))

    def approve_others(self, shown: ShownQuestion) -> bool:
        question, asked = shown.question, shown.question["arguments"]
        if not self._may_approve(question):
            return False
        if (changed := self._edited(asked)) is None or changed == asked:
            self.terminal.say("Nothing was changed: a approves it as it is.")
            return False
        if not isinstance(changed, dict):
            raise Misused("these aren't arguments", 'they are an object, as {"amount": 1}')
        self.terminal.show(replace(shown, question={**question, "changed": changed}), is_whole=True)
        is_meant = says_yes(self.terminal, "Approve it with these arguments")
        return is_meant and self._decide(question, "approved", arguments=changed)

    def approve_standing(self, shown: ShownQuestion) -> bool:
        question = shown.question
        if not self._may_approve(question) or not (typed := self.terminal.line(f"For what ({STANDING_HELP})?")):
            return False
        standing = standing_of(self.app, typed)
        reach = "with these arguments" if standing["for"] == "arguments" else "WITH ANY ARGUMENTS"
        until, count = standing.get("until", "an hour from now"), standing.get("times", 10)
        self.terminal.say(f"{warnings.BAR} {one_line(question['tool'])}")
        who = f"{question['agent']} may use this tool"
        is_meant = says_yes(self.terminal, f"{who} {reach}, {count} times, until {until}")
        return is_meant and self._decide_standing(question, standing)

    def _decide_standing(self, question: Question, standing: dict[str, Any]) -> bool:
        """Shows an agent that has changed since it asked, and asks again."""
        known: dict[str, Any] = {}
        while True:
            try:
                return self._decide(question, "approved", standing=standing, **known)
            except Refused as refusal:
                if refusal.code != CHANGED:
                    raise
                if not takes_as_it_is(self.app, self.terminal, refusal.problem):
                    return False
                known = looked_at(refusal.problem)

    def refuse(self, shown: ShownQuestion) -> bool:
        reason = self.terminal.line("Why?")
        return bool(reason) and self._decide(shown.question, "refused", reason=reason)

    def _may_approve(self, question: Question) -> bool:
        """Returns True for an action that the person has seen."""
        if question["kind"] != "action":
            self.terminal.say("It is no action: a answers it, x refuses it.")
            return False
        return self.has_seen()

    def _edited(self, asked: Any) -> Any:
        """Returns the arguments as the person changed them; None if they changed none."""
        if not (os.environ.get("VISUAL") or os.environ.get("EDITOR")):
            typed: str | None = self.terminal.line("The arguments, as JSON (or @FILE)?")
        else:
            typed = self.terminal.edited(pretty(asked) + "\n")
        return typed_values.document(typed) if typed and typed.strip() else None


QuestionQueue.verbs = {
    **LOOKS,
    "a": QuestionQueue.approve,
    "e": QuestionQueue.approve_others,
    "S": QuestionQueue.approve_standing,
    "x": QuestionQueue.refuse,
}
