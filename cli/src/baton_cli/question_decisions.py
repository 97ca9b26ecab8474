"""Decisions on questions of workers: what a person is shown of one, and the requests that decide."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from baton_cli import typed_values
from baton_cli.command_context import CommandContext
from baton_cli.failures import ExitCode, Failure
from baton_cli.question_wait import Question, path_of
from baton_cli.screen import Screen
from baton_cli.screens import question as screens
from baton_cli.screens.message import Cut
from baton_client.core import Request
from baton_client.errors import Misused

# What a person chooses by a number: a standing answer's reach, until when, and how many actions it approves.
STANDING = {"1": "arguments 1h 1000", "2": "tool 7d 10"}
STANDING_HELP = "1 these arguments for an hour, 2 this tool ten times, or as: tool 2h 5"


@dataclass(frozen=True, slots=True)
class ShownQuestion:
    """A question as it is shown for a decision. ``place``: where it is in the queue."""

    question: Question
    place: str = ""

    def draw(self, screen: Screen, cut: Cut) -> None:
        screens.looked_at(screen, self.question, cut, self.place)


def open_questions(app: CommandContext) -> list[Question]:
    """Returns all questions that wait for people, the oldest first."""
    return [each for page in app.client.pages("/questions", {"limit": 100}) for each in page["items"]]


def whole(app: CommandContext, question: Question) -> Question:
    """Returns the question as it is now, with the last approval of its tool."""
    found: Question = app.client.get(path_of(question))
    return found


def found(app: CommandContext, question_id: str, task_id: str | None) -> Question:
    """Returns the question, whose task may be left out while it is open. Raises ``Failure``."""
    if task_id:
        return whole(app, {"id": question_id, "task_id": task_id})
    for each in open_questions(app):
        if each["id"] == question_id:
            return whole(app, each)
    failure = Failure(
        f"no question {question_id} is open", "it is closed, or not yours to read", "--task TASK names it"
    )
    failure.exit = ExitCode.NOT_FOUND
    raise failure


def decide(app: CommandContext, question: Question, outcome: str, **said: Any) -> Question:
    """Returns the question after a decision; one on an action names the digest that the person saw."""
    body = {"outcome": outcome, **{name: value for name, value in said.items() if value is not None}}
    if outcome == "approved":
        body.setdefault("digest", question["digest"])
    decided: Question = app.client.call(Request[Any]("POST", f"{path_of(question)}/answer", body), repeatable=True)
    return decided


def standing_of(app: CommandContext, typed: str) -> dict[str, Any]:
    """Returns a standing answer as the API takes it, of what a person typed. Raises ``Misused``."""
    words = re.fullmatch(r"(arguments|tool)(?: (\S+)(?: (\d+))?)?", STANDING.get(typed, typed))
    if words is None:
        raise Misused(f"{typed} is no standing answer", f"it is {STANDING_HELP}")
    return standing(app, *words.groups())


def standing(app: CommandContext, reach: str, until: str | None, count: str | int | None) -> dict[str, Any]:
    """``until``: an hour if not given; ``count``: 10 if not given."""
    found: dict[str, Any] = {"for": reach}
    if until is not None:
        found["until"] = typed_values.time(until, now=app.clock(), is_past=False)
    if count is not None:
        found["times"] = int(count)
    return found


def answer_of(question: Question, typed: str) -> Any:
    """Returns the answer that was typed, as the question takes it: an option by its number or its text, a form as JSON.
    Raises ``Misused``."""
    options = question["options"]
    if question["kind"] == "choice":
        if typed.isdecimal() and 1 <= int(typed) <= len(options) and typed not in options:
            return options[int(typed) - 1]
        if typed not in options:
            raise Misused(f"{typed} is none of the options", f"there are 1 to {len(options)}")
    return typed_values.document(typed) if question["kind"] == "form" else typed
