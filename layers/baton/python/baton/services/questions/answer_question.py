"""A human answers a question, approves an action or refuses it; and a worker begins what was approved, once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from baton.domain import errors
from baton.domain.access.principal import Principal
from baton.domain.idempotency import SavedResponse
from baton.domain.questions.question import Decision, Outcome, Question
from baton.domain.tasks import commands
from baton.domain.tasks.calls import WorkerCall
from baton.domain.tasks.transitions import transition
from baton.ports.deps import Deps
from baton.ports.handoffs import HandoffInputs, HandoffQuery
from baton.ports.writes import Save
from baton.steps import idempotency
from baton.steps.access.read_rights import knows_claim, refused_as_unknown
from baton.steps.agents.kill_switch import must_be_let_act
from baton.steps.guardrails.apply_guardrails import apply_guardrails
from baton.steps.questions.answers_of import answers_of
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


def answer_question(deps: Deps, by: Principal, task_id: str, question_id: str, answer: Answer) -> Question:
    """Returns the question as it is then. Raises ``HumanNeeded``, ``NotAsked``, ``QuestionOver``, ``InvalidInput``,
    ``GuardrailRefused`` and ``Unknown``. The same decision of the same person again changes nothing."""
    by.must_be_human("answer a question")

    def attempt() -> Question:
        task, _ = deps.store.tasks.load(by.workspace, task_id)
        seen = deps.store.questions.question(by.workspace, task_id, question_id)
        now = deps.clock.now()
        decision = _decision(deps, by, seen, answer)
        if any(_is_same(each, decision) for each in seen.decisions):
            return seen.expired(now)
        question = seen.decided(by, decision, deps.store.settings.of(by.workspace).groups)
        command = commands.Decide(
            by=by,
            question_id=question_id,
            told=_told(question, decision),
            outcome=str(question.outcome),
            resume_payload={} if question.is_open else answers_of(deps, task, now, question),
        )
        commit(deps, transition(task, command, now), Save(question))
        return question

    return retry_on_conflict(deps, attempt)


def use_approval(deps: Deps, call: WorkerCall, question_id: str, digest: str) -> Question:
    """Begins the action that was approved. Succeeds exactly once; its repeat under the idempotency key gets the first
    answer. Raises ``StaleClaim``, ``ReceiptRefused`` and ``Unknown``."""
    by, task_id, key = call.by, call.task_id, call.idempotency_key

    def present() -> Question:
        return deps.store.questions.question(by.workspace, task_id, question_id)

    def read() -> tuple[HandoffInputs, SavedResponse | None]:
        query = HandoffQuery(parent_id=task_id, idempotency_key=key)
        return idempotency.with_response(deps.store.handoffs.handoff_inputs(by.workspace, query))

    def decide(inputs: HandoffInputs) -> Question:
        if inputs.parent is None:
            raise errors.Unknown("task")
        task = inputs.parent.task
        claim = task.current_claim(call.claim_id, by)
        must_be_let_act(deps, by, claim.agent)
        now = deps.clock.now()
        question = present().used(digest, claim.agent, now)
        command = commands.UseApproval(by=by, claim_id=call.claim_id, question_id=question_id, digest=digest)
        commit(deps, transition(task, command, now), Save(question), *idempotency.save_response(key, {}))
        return question

    with refused_as_unknown(deps, by, task_id, unless=knows_claim(call.claim_id)):
        return idempotency.run_idempotently(deps, key, read, decide, lambda _: present())


def _decision(deps: Deps, by: Principal, question: Question, answer: Answer) -> Decision:
    """What was seen is what is approved: who names another digest than the question's has seen something else."""
    said = apply_guardrails(deps, by.workspace, {"answer": answer.answer, "reason": answer.reason})
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
        reason=said["reason"],
    )


def _is_same(before: Decision, decision: Decision) -> bool:
    return (before.by, before.outcome, before.digest, before.answer, before.reason) == (
        *(decision.by, decision.outcome, decision.digest, decision.answer, decision.reason),
    )


def _told(question: Question, decision: Decision) -> dict[str, Any]:
    told = {"question_id": question.id, "decided": str(decision.outcome), "digest": decision.digest}
    return {**told, "reason": decision.reason, "changed": decision.arguments is not None or None}
