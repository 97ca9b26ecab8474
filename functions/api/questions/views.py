"""Questions as JSON. docs/openapi.json is made of these types."""

from __future__ import annotations

import json
from datetime import datetime
from typing import Any, Literal

from typing_extensions import TypedDict

from baton.domain import times
from baton.domain.questions.approvers import Groups
from baton.domain.questions.question import Decision, Question
from baton.domain.questions.standing_answer import StandingAnswer
from rest import pages
from rest.shape import ViewShape

# Characters of JSON of one in a list, and of its text where that is more.
MAX_LISTED, MAX_LISTED_TEXT = 30_000, 2_000


class DecisionView(TypedDict):
    by: str
    at: str
    outcome: str
    digest: str | None
    arguments: dict[str, Any] | None
    answer: Any
    reason: str | None
    standing_answer: str | None


class QuestionView(TypedDict):
    """``digest``: of the action as it was asked for; ``approved_digest``: of what may be done, once. ``never``: who may
    not answer. ``answerable``: false if too few people are left who may. ``outcome``: ``expired`` is neither a yes nor
    a no. ``is_cut``: of a list that leaves out what is long: the question itself has it."""

    id: str
    task_id: str
    kind: Literal["text", "choice", "form", "action"]
    text: str
    options: list[str]
    form: dict[str, Any] | None
    tool: str | None
    arguments: dict[str, Any] | None
    digest: str | None
    asked_by: str
    agent: str
    asked_at: str
    until: str
    people: list[str]
    group: str | None
    needed: int
    never: list[str]
    answerable: bool
    outcome: Literal["open", "answered", "approved", "refused", "expired", "revoked", "withdrawn"]
    decisions: list[DecisionView]
    is_cut: bool
    approved_digest: str | None
    used_at: str | None


class BeforeView(TypedDict):
    """The last approval of the same tool for the same agent."""

    question_id: str
    task_id: str
    by: list[str]
    at: str
    arguments: dict[str, Any]


class WholeQuestion(QuestionView):
    """``before``: what was approved last, to compare with; null if nothing was, and of what is no action."""

    before: BeforeView | None


_StandingFor = TypedDict("_StandingFor", {"for": Literal["arguments", "tool"]})


class StandingAnswerView(_StandingFor):
    """``digest``, ``arguments``: of the only action that it is for; null if it is for the tool. ``used``: how many
    actions it has approved; ``begun``: how many of them were begun. ``question_id``: it was given with that answer.
    ``is_cut``: its arguments are too long for a list, the question has them."""

    id: str
    agent: str
    tool: str
    digest: str | None
    arguments: dict[str, Any] | None
    by: str
    since: str
    until: str
    times: int
    used: int
    begun: int
    task_id: str
    question_id: str
    revoked_at: str | None
    revoked_by: str | None
    is_cut: bool


StandingAnswerPage = pages.of("StandingAnswerPage", StandingAnswerView)
QuestionPage = pages.of("QuestionPage", QuestionView)


_DECISION = ViewShape(DecisionView, Decision, "standing_answer")
_QUESTION = ViewShape(
    QuestionView, Question, "form tool arguments digest people group needed never answerable decisions is_cut"
)
_STANDING = ViewShape(StandingAnswerView, StandingAnswer, "for arguments is_cut")


def question_view(question: Question, now: datetime, groups: Groups) -> QuestionView:
    action, approvers, told = question.action, question.approvers, question.expired(now)
    return _QUESTION(
        told,
        form=told.schema,
        tool=action and action.tool,
        arguments=action and action.arguments,
        digest=action and action.digest,
        people=list(approvers.people),
        group=approvers.group,
        needed=approvers.needed,
        never=list(approvers.never),
        answerable=told.is_open and not approvers.is_hopeless(groups),
        decisions=[_DECISION(each, standing_answer=each.standing) for each in told.decisions],
        is_cut=False,
    )


def in_a_list(view: QuestionView) -> QuestionView:
    """Leaves out what is long: a hundred of them go into one answer, of which Lambda sends 6 MB at most."""
    if len(json.dumps(view)) <= MAX_LISTED:
        return view
    decisions: list[DecisionView] = [{**each, "arguments": None, "answer": None} for each in view["decisions"]]
    short: dict[str, Any] = {
        "text": view["text"][:MAX_LISTED_TEXT],
        "arguments": None,
        "form": None,
        "options": [],
        "is_cut": True,
    }
    cut: Any = {**view, **short, "decisions": decisions}
    listed: QuestionView = cut
    return listed


def before_view(last: Question | None) -> BeforeView | None:
    if last is None or last.action is None or not last.decisions:
        return None
    decision = last.decisions[-1]
    return {
        "question_id": last.id,
        "task_id": last.task_id,
        "by": sorted({each.by for each in last.decisions}),
        "at": times.rfc3339(decision.at),
        "arguments": last.action.arguments if decision.arguments is None else decision.arguments,
    }


def standing_answer_view(answer: StandingAnswer) -> StandingAnswerView:
    is_cut = len(json.dumps(answer.arguments)) > MAX_LISTED
    told = {"for": "tool" if answer.digest is None else "arguments"}
    return _STANDING(answer, **told, arguments=None if is_cut else answer.arguments, is_cut=is_cut)
