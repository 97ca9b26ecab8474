"""Questions as JSON. docs/openapi.json is made of these types."""

from __future__ import annotations

from datetime import datetime
from typing import Any, Literal

from typing_extensions import TypedDict

from baton.domain import times
from baton.domain.questions.question import Decision, Question
from rest import pages


class DecisionView(TypedDict):
    by: str
    at: str
    outcome: str
    digest: str | None
    arguments: dict[str, Any] | None
    answer: Any
    reason: str | None


class QuestionView(TypedDict):
    """``digest``: of the action as it was asked for; ``approved_digest``: of what may be done, once. ``never``: who may
    not answer. ``outcome``: ``expired`` is neither a yes nor a no."""

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
    outcome: Literal["open", "answered", "approved", "refused", "expired", "withdrawn"]
    decisions: list[DecisionView]
    approved_digest: str | None
    used_at: str | None


QuestionPage = pages.of("QuestionPage", QuestionView)


class QuestionsOfTask(TypedDict):
    items: list[QuestionView]


def question_view(question: Question, now: datetime) -> dict[str, Any]:
    action, approvers = question.action, question.approvers
    told = question.expired(now)
    return {
        "id": told.id,
        "task_id": told.task_id,
        "kind": str(told.kind),
        "text": told.text,
        "options": list(told.options),
        "form": told.schema,
        "tool": action and action.tool,
        "arguments": action and action.arguments,
        "digest": action and action.digest,
        "asked_by": told.asked_by,
        "agent": told.agent,
        "asked_at": times.rfc3339(told.asked_at),
        "until": times.rfc3339(told.until),
        "people": list(approvers.people),
        "group": approvers.group,
        "needed": approvers.needed,
        "never": list(approvers.never),
        "outcome": str(told.outcome),
        "decisions": [_decision_view(each) for each in told.decisions],
        "approved_digest": told.approved_digest,
        "used_at": None if told.used_at is None else times.rfc3339(told.used_at),
    }


def _decision_view(decision: Decision) -> dict[str, Any]:
    return {
        "by": decision.by,
        "at": times.rfc3339(decision.at),
        "outcome": str(decision.outcome),
        "digest": decision.digest,
        "arguments": decision.arguments,
        "answer": decision.answer,
        "reason": decision.reason,
    }
