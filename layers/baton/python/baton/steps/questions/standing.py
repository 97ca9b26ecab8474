"""Standing answers: they approve the actions that they are for as soon as these are asked for."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime

from baton.domain.access.principal import Principal, PrincipalKind
from baton.domain.questions.approvers import Groups
from baton.domain.questions.question import Decision, Outcome, Question
from baton.domain.questions.standing_answer import LastApproval
from baton.ports.deps import Deps
from baton.ports.writes import Put, Save, Write
from baton.steps.access.person_rights import still_may


def approve_by_standing(
    deps: Deps, question: Question, groups: Groups, now: datetime
) -> tuple[Question, tuple[Write, ...]]:
    """Returns a new question with the approvals that stand for its action, and what is written with it: each counts as
    its human's, if that human still has the right and may decide. Their approvals end with them. One read for an
    action, none for anything else."""
    writes: list[Write] = []
    if question.action is None:
        return question, ()
    asked = deps.store.questions.standing_answers(question.workspace, question.agent, question.action.tool)
    for each in asked:
        human = Principal(question.workspace, PrincipalKind.HUMAN, each.by)
        is_new = all(decision.by != each.by for decision in question.decisions)
        stands = each.is_in_force(now) and each.fits(question.action) and question.may_be_decided_by(human, groups)
        if not (stands and is_new and question.is_open) or not still_may(
            deps, each.workspace, each.by, question.deed, each.since
        ):
            continue
        digest = question.action.digest
        decision = Decision(by=each.by, at=now, outcome=Outcome.APPROVED, digest=digest, standing=each.id)
        ending = replace(question, until=min(question.until, each.until))
        question = replace(ending.decided(human, decision, groups), version=question.version)
        writes.append(Save(each.with_one_used()))
    return question, (*writes, *last_approval(question))


def last_approval(question: Question) -> tuple[Write, ...]:
    """Returns what an approval leaves for whoever decides on the next action of the same tool."""
    if question.action is None or question.outcome is not Outcome.APPROVED:
        return ()
    last = LastApproval(
        agent=question.agent, tool=question.action.tool, task_id=question.task_id, question_id=question.id
    )
    return (Put(last),)
