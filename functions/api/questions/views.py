"""Questions as JSON. docs/openapi.json is made of these types."""

from __future__ import annotations

from datetime import datetime
from itertools import accumulate
from typing import Any, Literal, NotRequired

from typing_extensions import TypedDict

from baton.domain import numbers, times
from baton.domain.questions.approvers import Approvers, Groups
from baton.domain.questions.name_warnings import NameWarning
from baton.domain.questions.question import Decision, Question
from baton.domain.questions.standing_answer import StandingAnswer
from rest import pages
from rest.shape import ViewShape
from rest.tasks.views import EarlierTaskView

# Characters of JSON of one in a list, and of its text where that is more.
MAX_LISTED, MAX_LISTED_TEXT = 30_000, 2_000
# Fields of a handoff that a list leaves out.
_LONG = frozenset({"message", "summary", "context", "expectations", "instructions", "memory"})
# Characters of JSON of the earlier approvals of one answer.
MAX_EARLIER_TEXT = 300_000


class DecisionView(TypedDict):
    by: str
    at: str
    outcome: str
    digest: str | None
    arguments: dict[str, Any] | None
    answer: Any
    reason: str | None
    standing_answer: str | None


class ApproversView(TypedDict):
    """Approvers that another rule of the settings sets."""

    people: list[str]
    group: str | None
    needed: int
    never: list[str]


class NameWarningView(TypedDict):
    """A name in an action that a person could take for another one. ``at``: a JSON Pointer to it, ``/tool`` or
    ``/arguments/…`` for a key. ``looks_like``: ``like`` is the other name; ``mixed_alphabets``: a word has letters of
    several alphabets."""

    at: str
    name: str
    kind: Literal["looks_like", "mixed_alphabets"]
    like: str | None


class HandoffOfTool(TypedDict):
    """What the target of a handoff tool gets besides the arguments. ``message``: the request, as the target's model
    gets it; ``summary``, ``context``: of the question's task; ``expectations``: those that the target inherits;
    ``instructions``: the tool's; ``memory``: the fields by which the task asks for the memory of the workspace;
    ``earlier``: the tasks whose transcripts the target gets. Empty fields are left out, and so are these texts in a
    question of an earlier release and in a list that leaves out long values."""

    target_agent: str
    conversation_id: str
    history: Literal["full", "last_message", "none"]
    earlier: list[EarlierTaskView]
    message: NotRequired[str]
    summary: NotRequired[str]
    context: NotRequired[dict[str, Any]]
    expectations: NotRequired[dict[str, Any]]
    instructions: NotRequired[str]
    memory: NotRequired[dict[str, Any]]


class QuestionView(TypedDict):
    """``digest``: of the action as it was asked for; ``approved_digest``: of the action that may be done, once: the
    ``tool`` with ``approved_arguments``, which need not be the ``arguments`` that were asked for. ``asked_digest``:
    of all that the worker sent, null for a question of an earlier release. ``never``: who may not answer.
    ``by_rule``: rules of the settings set the approvers, in place of the asker. ``further``: the approvers of the
    second and later rules, and of the tool's ``needs_approval``, which have to approve as well. Agents, and services
    without `act_as`, don't see the approvers that a rule sets: ``needed`` is null. ``answerable``: false if too few
    people are left who may. ``handoff``: of the call of a handoff tool by an agent that Baton runs. ``outcome``:
    ``expired`` is neither a yes nor a no. ``is_cut``: in a list that leaves out long values: the question itself has
    them."""

    id: str
    task_id: str
    kind: Literal["text", "choice", "form", "action"]
    text: str
    options: list[str]
    form: dict[str, Any] | None
    tool: str | None
    arguments: dict[str, Any] | None
    handoff: HandoffOfTool | None
    digest: str | None
    asked_by: str
    agent: str
    asked_at: str
    until: str
    people: list[str]
    group: str | None
    needed: int | None
    never: list[str]
    by_rule: bool
    further: list[ApproversView]
    warnings: list[NameWarningView]
    answerable: bool
    outcome: Literal["open", "answered", "approved", "refused", "expired", "revoked", "withdrawn"]
    decisions: list[DecisionView]
    is_cut: bool
    approved_digest: str | None
    approved_arguments: dict[str, Any] | None
    asked_digest: str | None
    used_at: str | None


class BeforeView(TypedDict):
    """An approval of the same tool for the same agent. ``text``: why it was to be done."""

    question_id: str
    task_id: str
    text: str
    by: list[str]
    at: str
    arguments: dict[str, Any]


class WholeQuestion(QuestionView):
    """``before``: the last approval of the same tool for the same agent, to compare an action with. Null without one.
    ``earlier``: up to 20 of them, the last first, and up to 300,000 characters in all."""

    before: BeforeView | None
    earlier: list[BeforeView]


_StandingFor = TypedDict("_StandingFor", {"for": Literal["arguments", "tool"]})


class StandingAnswerView(_StandingFor):
    """``digest``, ``arguments``: of the only action that it is for; null if it is for the tool. ``used``: how many
    actions it has approved; ``begun``: how many of them were begun. ``question_id``: it was given with that answer.
    ``is_suspended``: it approves nothing, as a service or a person who may not approve has changed the agent since.
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
    is_suspended: bool
    is_cut: bool


StandingAnswerPage = pages.of("StandingAnswerPage", StandingAnswerView)
QuestionPage = pages.of("QuestionPage", QuestionView)


_DECISION = ViewShape(DecisionView, Decision, "standing_answer")
_QUESTION = ViewShape(
    QuestionView,
    Question,
    "form tool arguments handoff digest people group needed never further warnings answerable decisions is_cut",
)
_WARNING = ViewShape(NameWarningView, NameWarning)
_APPROVERS = ViewShape(ApproversView, Approvers)
_STANDING = ViewShape(StandingAnswerView, StandingAnswer, "for arguments is_suspended is_cut")


# The requirement of a rule, for a reader who may not read rules.
_HIDDEN: Any = {"people": [], "group": None, "needed": None, "never": []}


def question_view(question: Question, now: datetime, groups: Groups, *, with_rules: bool) -> QuestionView:
    """``with_rules``: the reader may read groups and rules (docs/reading-rights.md)."""
    action, told = question.action, question.expired(now)
    is_hidden = question.by_rule and not with_rules
    approvers = _HIDDEN if is_hidden else _APPROVERS(question.approvers)
    return _QUESTION(
        told,
        form=told.schema,
        tool=action and action.tool,
        arguments=action and action.arguments,
        handoff=action and action.handoff,
        digest=action and action.digest,
        **approvers,
        further=[] if is_hidden else list(map(_APPROVERS, told.further)),
        warnings=list(map(_WARNING, told.warnings)),
        answerable=told.is_open and not (with_rules and told.is_hopeless(groups)),
        decisions=[_DECISION(each, standing_answer=each.standing) for each in told.decisions],
        is_cut=False,
    )


def in_a_list(view: QuestionView) -> QuestionView:
    """Leaves out what is long: a hundred of them go into one answer, of which Lambda sends 6 MB at most."""
    if len(numbers.dumps(view)) <= MAX_LISTED:
        return view
    decisions: list[DecisionView] = [{**each, "arguments": None, "answer": None} for each in view["decisions"]]
    handoff = view["handoff"] and {name: each for name, each in view["handoff"].items() if name not in _LONG}
    short: dict[str, Any] = {
        "text": view["text"][:MAX_LISTED_TEXT],
        "arguments": None,
        "approved_arguments": None,
        "handoff": handoff,
        "form": None,
        "options": [],
        "is_cut": True,
    }
    cut: Any = {**view, **short, "decisions": decisions}
    listed: QuestionView = cut
    return listed


def earlier_views(earlier: list[Question]) -> list[BeforeView]:
    """Returns the approvals that fit into an answer; the last one always."""
    views = [view for each in earlier if (view := before_view(each)) is not None]
    sizes = accumulate(len(numbers.dumps(each)) for each in views)
    return [
        view for at, (view, size) in enumerate(zip(views, sizes, strict=True)) if at == 0 or size <= MAX_EARLIER_TEXT
    ]


def before_view(last: Question) -> BeforeView | None:
    if last.action is None or not last.decisions:
        return None
    decision = last.decisions[-1]
    return {
        "question_id": last.id,
        "task_id": last.task_id,
        "text": last.text,
        "by": sorted({each.by for each in last.decisions}),
        "at": times.rfc3339(decision.at),
        "arguments": last.action.arguments if decision.arguments is None else decision.arguments,
    }


def standing_answer_view(answer: StandingAnswer, *, is_suspended: bool) -> StandingAnswerView:
    is_cut = len(numbers.dumps(answer.arguments)) > MAX_LISTED
    told = {"for": "tool" if answer.digest is None else "arguments"}
    arguments = None if is_cut else answer.arguments
    return _STANDING(answer, **told, arguments=arguments, is_suspended=is_suspended, is_cut=is_cut)
