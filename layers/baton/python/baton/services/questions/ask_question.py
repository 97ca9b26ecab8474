"""A worker asks people, under its claim: a question, or whether it may do something (docs/spec/questions.md)."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

from baton.domain import errors, times
from baton.domain.agents.agent import service_version_of
from baton.domain.canonical_json import digest_of
from baton.domain.guardrails.guardrails import checked
from baton.domain.ids import question_id_of
from baton.domain.questions.approval import approvers_of
from baton.domain.questions.approvers import DEFAULT_ANSWER_SECONDS, MAX_ANSWER_SECONDS, Approvers
from baton.domain.questions.form import check_form
from baton.domain.questions.name_warnings import check_tool_name, name_warnings
from baton.domain.questions.question import MAX_OPTIONS, Action, Question, QuestionKind
from baton.domain.questions.question_content import content_digest
from baton.domain.rights.read_rights import may_see_rules
from baton.domain.settings.settings import Settings
from baton.domain.tasks import commands
from baton.domain.tasks.calls import WorkerCall
from baton.domain.tasks.task import Claim, OpenQuestion, Task
from baton.domain.tasks.transitions import transition
from baton.ports.deps import Deps
from baton.ports.writes import Insert
from baton.steps import idempotency
from baton.steps.claims.under_claim import run_under_claim
from baton.steps.questions.standing import approve_by_standing
from baton.steps.questions.tool_rules import authors_for, rules_about
from baton.steps.tasks.change_task import commit


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """A worker's question. ``people`` and ``group``: who may answer; without both any human. A rule of the settings
    about the tool overrides ``people``, ``group`` and ``needed``, but not the values of a ``needs_approval``."""

    kind: QuestionKind
    text: str
    options: tuple[str, ...] = ()
    schema: dict[str, Any] | None = None
    tool: str | None = None
    arguments: dict[str, Any] = field(default_factory=dict)
    people: tuple[str, ...] = ()
    group: str | None = None
    needed: int = 1
    not_author: bool = False  # whoever made the handoff may not answer either
    until: datetime | None = None  # at most 30 days ahead, a day by default
    call_id: str | None = None  # as in ``Action``
    tool_version: int | None = None
    handoff: dict[str, Any] | None = None  # as in ``Action``
    is_by_mark: bool = False  # the approvers come from the tool's ``needs_approval``, and are no choice of the asker

    @property
    def digest(self) -> str:
        """SHA-256 of the canonical JSON of the question and its approvers, as the worker sent them."""
        names = ("text", "tool", "arguments", "group", "needed", "not_author")
        lists = {"options": list(self.options), "people": list(self.people)}
        until = None if self.until is None else times.rfc3339(self.until)
        sent = {name: getattr(self, name) for name in names} | lists
        return digest_of({**sent, "kind": str(self.kind), "form": self.schema, "until": until})


def ask_question(deps: Deps, call: WorkerCall, asked: Asked) -> Question:
    """Returns the question; for a repeat as it is now. The claim is extended as by a heartbeat. Raises ``StaleClaim``,
    ``TooManyQuestions``, ``InvalidInput``, ``GuardrailRefused`` and ``Unknown``."""
    by, task_id, key = call.by, call.task_id, call.idempotency_key

    def replay(saved: dict[str, Any]) -> Question:
        return deps.store.questions.question(by.workspace, task_id, saved["question_id"])

    def decide(task: Task, _: Claim, settings: Settings) -> Question:
        now = deps.clock.now()
        question_id = question_id_of(task.id, deps.ids.new("qst", now))
        question = _question(call, task, _checked(asked, settings), now, question_id)
        question = _with_approvers(settings, call, asked, question, _by_rules(deps, settings, task, question))
        question = _marked(
            deps, settings, replace(question, asked_digest=asked.digest, asked_as=_agent_now(deps, question))
        )
        question, stood = approve_by_standing(deps, question, settings.groups, now)
        opened = OpenQuestion(question.id, question.until) if question.is_open else None
        told = _told(question)
        change = transition(task, commands.Ask(by=by, claim_id=call.claim_id, question=opened, told=told), now)
        saved = idempotency.save_response(key, {"question_id": question.id})
        commit(deps, change, Insert(question), *stood, *saved)
        return question

    return run_under_claim(deps, call, decide, replay)


def _checked(asked: Asked, settings: Settings) -> Asked:
    """Raises ``GuardrailRefused`` for what the workspace doesn't let pass, and ``InvalidInput`` for what a guardrail
    would mask beside the words that people read: what is approved has to be what is done."""
    whole = {"tool": asked.tool, "arguments": asked.arguments, "form": asked.schema, "group": asked.group}
    content = {**whole, "people": list(asked.people), "text": asked.text, "options": list(asked.options)}
    passed = checked(content, settings.guardrails, "")
    for name in (*whole, "people"):
        if passed[name] != content[name]:
            raise errors.InvalidInput(name, "must have nothing that a guardrail masks: name the secret instead")
    return replace(asked, text=passed["text"], options=tuple(passed["options"]))


def _question(call: WorkerCall, task: Task, asked: Asked, now: datetime, question_id: str) -> Question:
    until = asked.until or now + times.seconds(DEFAULT_ANSWER_SECONDS)
    if not now < until <= now + times.seconds(MAX_ANSWER_SECONDS):
        raise errors.InvalidInput("until", "must be in the future, and at most 30 days ahead")
    if (asked.kind is QuestionKind.CHOICE) is not (2 <= len(asked.options) <= MAX_OPTIONS):
        raise errors.InvalidInput("options", f"must be 2 to {MAX_OPTIONS} of a choice, and none of anything else")
    if (asked.kind is QuestionKind.ACTION) is not bool(asked.tool):
        raise errors.InvalidInput("tool", "must name what an action calls, and is of actions alone")
    if (asked.kind is QuestionKind.FORM) is not (asked.schema is not None):
        raise errors.InvalidInput("schema", "must be the JSON Schema of a form, and is of forms alone")
    if asked.schema is not None:
        check_form(asked.schema)
    never = (call.by.key, *authors_for(task, call.by.made_by)) if asked.not_author else (call.by.key,)
    action = None
    if asked.tool:
        check_tool_name(asked.tool)
        action = Action(
            tool=asked.tool,
            arguments=asked.arguments,
            why=asked.text,
            call_id=asked.call_id,
            tool_version=asked.tool_version,
            handoff=asked.handoff,
        )
    return Question(
        workspace=call.by.workspace,
        id=question_id,
        task_id=task.id,
        kind=asked.kind,
        text=asked.text,
        asked_by=call.by.key,
        asker_made_by=call.by.made_by or None,
        agent=task.current_claim(call.claim_id, call.by).agent,
        fence=task.fence,
        asked_at=now,
        until=until,
        approvers=Approvers(people=asked.people, group=asked.group, needed=asked.needed, never=never),
        options=asked.options,
        schema=asked.schema,
        action=action,
    )


def _by_rules(deps: Deps, settings: Settings, task: Task, question: Question) -> tuple[Approvers, ...]:
    """Returns the approvers that rules of the settings set."""
    if question.action is None:
        return ()
    rules = rules_about(deps, settings, task, question.agent, question.action.tool)
    authors = authors_for(task, question.asker_made_by)
    return tuple(dict.fromkeys(approvers_of(rule, question.approvers.never, authors) for rule in rules))


def _with_approvers(
    settings: Settings, call: WorkerCall, asked: Asked, question: Question, ruled: tuple[Approvers, ...]
) -> Question:
    """Returns the question with the approvers of the rules, in place of the asker's. The approvers of a tool's
    ``needs_approval`` stay as well, unless they are all people. Raises ``InvalidInput`` if they stay and are too
    few."""
    own = question.approvers
    stays = asked.is_by_mark and own != Approvers(never=(call.by.key,))
    if stays or not ruled:
        own.check(settings.groups, shows_sizes=may_see_rules(call.by))
    if not ruled:
        return question
    first, *further = dict.fromkeys((*ruled, own) if stays else ruled)
    return replace(question, approvers=first, further=tuple(further), by_rule=True)


def _agent_now(deps: Deps, question: Question) -> int:
    """Returns the version of the agent that people read with an action (``service_version_of``)."""
    if question.action is None:
        return 0
    return service_version_of(deps.store.agents.agent(question.workspace, question.agent))


def _marked(deps: Deps, settings: Settings, question: Question) -> Question:
    """Returns the question with warnings about the names in its action. The tool's name is compared with the agent's
    approved tools, the tools of the workspace, and the tools of its rules."""
    if question.action is None:
        return question
    workspace, tool = question.workspace, question.action.tool
    known = [
        *deps.store.questions.approved_like(workspace, question.agent, tool),
        *(each.name for each in deps.store.tools.toolbox(workspace).tools),
        *(rule.tool for rule in settings.approval_rules if rule.tool is not None),
    ]
    return replace(question, warnings=name_warnings(tool, question.action.arguments, known))


def _told(question: Question) -> dict[str, Any]:
    """What the trail says of it: no content, which may be large, but the digest of an action."""
    action = {} if question.action is None else {"tool": question.action.tool, "digest": question.action.digest}
    by = sorted(each.by for each in question.decisions)
    stood = {"outcome": str(question.outcome), "approved_by": by} if by else {}
    return {
        "question_id": question.id,
        "kind": str(question.kind),
        "until": times.rfc3339(question.until),
        "needed": question.approvers.needed,
        **({"by_rule": 1 + len(question.further)} if question.by_rule else {}),
        "question_digest": content_digest(question),
        **action,
        **stood,
    }
