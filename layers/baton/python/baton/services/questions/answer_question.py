"""A human answers a question, approves an action or refuses it; and a worker begins what was approved, once."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from baton.domain import errors
from baton.domain.access.principal import Principal
from baton.domain.access.rights import Deed
from baton.domain.questions.approval import approvers_of
from baton.domain.questions.approvers import Approvers, are_met
from baton.domain.questions.question import Decision, Outcome, Question, Wish
from baton.domain.questions.question_content import content_digest
from baton.domain.questions.standing_answer import Standing, StandingAnswer
from baton.domain.settings.settings import Settings
from baton.domain.tasks import commands
from baton.domain.tasks.calls import WorkerCall
from baton.domain.tasks.task import Claim, Task
from baton.domain.tasks.transitions import transition
from baton.ports.deps import Deps
from baton.ports.writes import Save
from baton.steps import idempotency
from baton.steps.access.person_rights import former
from baton.steps.claims.under_claim import run_under_claim
from baton.steps.guardrails.apply_guardrails import apply_guardrails, apply_guardrails_to_reason
from baton.steps.questions.agree_with_trail import must_agree_with_trail
from baton.steps.questions.answers_of import answers_of
from baton.steps.questions.standing import begin_standing, end_standing, is_for_agent, last_approval, wish_of
from baton.steps.questions.tool_rules import authors_for, rules_about
from baton.steps.retrying import retry_on_conflict
from baton.steps.tasks.change_task import commit


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """``digest``: of the action as the person saw it. ``arguments``: those that are approved in place of what was
    asked."""

    outcome: Outcome
    digest: str | None = None
    arguments: dict[str, Any] | None = None
    answer: Any = None
    reason: str | None = None
    standing: Standing | None = None  # the approval stands for later actions, too


def answer_question(deps: Deps, by: Principal, task_id: str, question_id: str, answer: Answer) -> Question:
    """Returns the question as it is then. Raises ``HumanNeeded``, ``NotAsked``, ``QuestionOver``, ``InvalidInput``,
    ``AgentChanged``, ``GuardrailRefused`` and ``Unknown``. The same decision of the same person again changes
    nothing."""
    by.must_have(Deed.ANSWER)

    def attempt() -> Question:
        task, _ = deps.store.tasks.load(by.workspace, task_id)
        seen = deps.store.questions.question(by.workspace, task_id, question_id)
        if seen.action is not None:
            by.must_have(Deed.DECIDE_ACTION)
        now = deps.clock.now()
        decision = _decision(deps, by, seen, answer)
        gone = former(deps, by.workspace, ((each.by, each.at) for each in seen.decisions), seen.deed)
        kept = seen.decisions if by.id not in gone or not seen.is_open else ()
        same = next((each for each in kept if _is_same(each, decision, answer)), None)
        if same is not None and not seen.expired(now).is_open:
            return seen.expired(now)
        wish, given = (_wish(deps, seen, answer, decision), None) if same is None else (same.wish, same.standing)
        groups = deps.store.settings.of(by.workspace).groups
        question = seen.decided(by, replace(decision, wish=wish, standing=given), groups, gone)
        if same is not None and question.is_open:
            return seen  # unless it is enough by now: somebody is in the group again
        question, begun = begin_standing(deps, question, groups, now)
        ended = end_standing(deps, seen, by.id, now) if question.outcome is Outcome.REFUSED else ()
        command = commands.Decide(
            by=by,
            question_id=question_id,
            told=_told(question, decision),
            outcome=str(question.outcome),
            resume_payload={} if question.is_open else answers_of(deps, task, now, question),
        )
        commit(deps, transition(task, command, now), Save(question), *begun, *ended, *last_approval(question))
        return question

    return retry_on_conflict(deps, attempt)


def revoke_approval(deps: Deps, by: Principal, task_id: str, question_id: str, reason: str) -> Question:
    """Takes the approval of an action back that wasn't used; any human may. The standing answers that it rests on, or
    that began with it, end. Again, it changes nothing. Raises ``HumanNeeded``, ``QuestionOver``, ``TaskEnded`` and
    ``Unknown``."""
    by.must_have(Deed.REVOKE_APPROVAL)
    said = apply_guardrails_to_reason(deps, by.workspace, reason)

    def attempt() -> Question:
        task, _ = deps.store.tasks.load(by.workspace, task_id)
        seen = deps.store.questions.question(by.workspace, task_id, question_id)
        now = deps.clock.now()
        if seen.outcome is Outcome.REVOKED:
            return seen
        question = seen.revoked(Decision(by=by.id, at=now, outcome=Outcome.REVOKED, reason=said))
        told = {"question_id": question_id, "reason": said, "question_digest": content_digest(question)}
        command = commands.RevokeApproval(by=by, told=told)
        commit(deps, transition(task, command, now), Save(question), *end_standing(deps, seen, by.id, now))
        return question

    return retry_on_conflict(deps, attempt)


def use_approval(deps: Deps, call: WorkerCall, question_id: str, digest: str) -> Question:
    """Begins the action that was approved. Succeeds exactly once; its repeat under the idempotency key gets the first
    answer. Raises ``StaleClaim``, ``ReceiptRefused`` and ``Unknown``."""
    by, task_id, key = call.by, call.task_id, call.idempotency_key

    def present() -> Question:
        return deps.store.questions.question(by.workspace, task_id, question_id)

    def decide(task: Task, claim: Claim, settings: Settings) -> Question:
        now = deps.clock.now()
        asked = present()
        question = asked.used(digest, claim.agent, now)
        begun = map(Save, _must_hold(deps, settings, task, asked))
        command = commands.UseApproval(by=by, claim_id=call.claim_id, question_id=question_id, digest=digest)
        commit(deps, transition(task, command, now), Save(question), *begun, *idempotency.save_response(key, {}))
        return question

    return run_under_claim(deps, call, decide, lambda _: present())


def must_hold_still(deps: Deps, call: WorkerCall, question_id: str, digest: str) -> None:
    """Compares an approval that the task has used with the agent, the people and the rules of now, as its use did: for
    the same action, which was not begun after all. Raises like ``use_approval``."""

    def decide(task: Task, claim: Claim, settings: Settings) -> None:
        question = deps.store.questions.question(call.by.workspace, call.task_id, question_id)
        question.must_allow(digest, claim.agent, deps.clock.now())
        _must_hold(deps, settings, task, question)

    run_under_claim(deps, call, decide, lambda _: None)


def _must_hold(deps: Deps, settings: Settings, task: Task, question: Question) -> list[StandingAnswer]:
    """Returns the standing answers that the approval rests on, with one action more begun. Raises ``ReceiptRefused``
    unless the question is as the trail says, and the people who approved it suffice now."""
    must_agree_with_trail(deps, task, question)
    stood = _stood(deps, question)
    if not all(is_for_agent(deps, each) for each in stood):
        raise errors.ReceiptRefused(question.id, "the agent was changed since its standing answer: ask again")
    # A standing answer may have approved in the moment of its end.
    given = (*question.approving, *((each.by, each.since) for each in stood))
    if gone := former(deps, question.workspace, given, question.deed):
        raise errors.ReceiptRefused(question.id, f"the approval of {min(gone)} has ended: ask again")
    deciders = (name for name, _ in question.approving)
    if not are_met(_all_approvers(deps, settings, task, question), deciders, settings.groups):
        lacks = "too few of those who approved are among its approvers by the rules and groups of now"
        raise errors.ReceiptRefused(question.id, f"{lacks}: ask again")
    return [each.with_one_begun(question.id) for each in stood]


def _all_approvers(deps: Deps, settings: Settings, task: Task, question: Question) -> tuple[Approvers, ...]:
    """Returns the question's approvers, and the approvers of the rules about the tool as they are now."""
    tool = "" if question.action is None else question.action.tool
    rules = rules_about(deps, settings, task, question.agent, tool)
    authors = authors_for(task, question.asker_made_by)
    return (*question.all_approvers, *(approvers_of(rule, (question.asked_by,), authors) for rule in rules))


def _stood(deps: Deps, question: Question) -> list[StandingAnswer]:
    """Returns the standing answers that the approval rests on, to be checked with its use: one may be revoked at the
    same time."""
    wanted = question.standing_answers
    if question.action is None or not wanted:
        return []
    found = deps.store.questions.standing_answers(question.workspace, question.agent, question.action.tool)
    # What was given with its own approval isn't what that rests on.
    return [each for each in found if each.id in wanted and each.question_id != question.id]


def _wish(deps: Deps, seen: Question, answer: Answer, decision: Decision) -> Wish | None:
    """Returns the standing answer that a person asks for with their approval. Raises ``InvalidInput``, and
    ``AgentChanged``."""
    asked, action = answer.standing, seen.action
    if asked is None:
        return None
    if action is None or decision.outcome is not Outcome.APPROVED:
        raise errors.InvalidInput("standing", "is for the approval of an action")
    if answer.arguments is not None:
        raise errors.InvalidInput("standing", "can't stand for changed arguments: approve these alone")
    return wish_of(deps, seen, action, asked, decision.at)


def _decision(deps: Deps, by: Principal, question: Question, answer: Answer) -> Decision:
    """What was seen is what is approved: who names another digest than the question's has seen something else."""
    is_refusal = answer.outcome is Outcome.REFUSED
    content = {"answer": answer.answer, "reason": None if is_refusal else answer.reason, "arguments": answer.arguments}
    said = apply_guardrails(deps, by.workspace, content)
    if said["arguments"] != answer.arguments:
        raise errors.InvalidInput("arguments", "must have nothing that a guardrail masks: name the secret instead")
    digest = None
    if question.action is not None and answer.outcome is Outcome.APPROVED:
        question.must_be_seen(answer.digest)
        action = question.action if answer.arguments is None else question.action.with_arguments(answer.arguments)
        digest = action.digest
    return Decision(
        by=by.id,
        at=deps.clock.now(),
        outcome=answer.outcome,
        digest=digest,
        arguments=answer.arguments if digest else None,
        answer=said["answer"],
        reason=apply_guardrails_to_reason(deps, by.workspace, answer.reason) if is_refusal else said["reason"],
    )


def _is_same(before: Decision, decision: Decision, answer: Answer) -> bool:
    if not _asks_for_same(before, answer.standing):
        return False
    return (before.by, before.outcome, before.digest, before.answer, before.reason) == (
        *(decision.by, decision.outcome, decision.digest, decision.answer, decision.reason),
    )


def _asks_for_same(before: Decision, asked: Standing | None) -> bool:
    if asked is None or before.wish is None:
        return before.wish is None and (asked is None or before.standing is not None)
    return asked.is_wish(before.wish)


def _told(question: Question, decision: Decision) -> dict[str, Any]:
    told = {"question_id": question.id, "decided": str(decision.outcome), "digest": decision.digest}
    changed = decision.arguments is not None or None
    return {**told, "reason": decision.reason, "changed": changed, "question_digest": content_digest(question)}
