"""Standing answers: they begin when their question is approved, and approve later actions as soon as these are asked
for. A refusal or revocation of an action ends those that would approve it."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime

from baton.domain import errors
from baton.domain.access.principal import Principal, PrincipalKind
from baton.domain.access.rights import Deed
from baton.domain.questions.approvers import Groups
from baton.domain.questions.question import Action, Decision, Outcome, Question, Wish
from baton.domain.questions.standing_answer import (
    MAX_IN_FORCE,
    LastApproval,
    Refusals,
    Standing,
    StandingAnswer,
    wished,
)
from baton.ports.deps import Deps
from baton.ports.writes import Insert, Put, Save, Write
from baton.steps.access.person_rights import still_may


def approve_by_standing(
    deps: Deps, question: Question, groups: Groups, now: datetime
) -> tuple[Question, tuple[Write, ...]]:
    """Returns a new question with the approvals that stand for its action, and what is written with it: each counts as
    its human's, if that human still has the right, may decide, and has seen the agent as it is. Their approvals end
    with them. One read for an action, none for anything else. Reads like ``AgentStore.agent`` if one fits."""
    writes: list[Write] = []
    if question.action is None:
        return question, ()
    asked = deps.store.questions.standing_answers(question.workspace, question.agent, question.action.tool)
    for each in asked:
        human = Principal(question.workspace, PrincipalKind.HUMAN, each.by)
        is_new = all(decision.by != each.by for decision in question.decisions)
        stands = each.is_in_force(now) and each.fits(question.action) and question.may_be_decided_by(human, groups)
        if not (stands and is_new and question.is_open) or not counts(deps, each):
            continue
        digest = question.action.digest
        decision = Decision(by=each.by, at=now, outcome=Outcome.APPROVED, digest=digest, standing=each.id)
        ending = replace(question, until=min(question.until, each.until))
        question = replace(ending.decided(human, decision, groups), version=question.version)
        writes.append(Save(each.with_one_used()))
    return question, (*writes, *last_approval(question))


def counts(deps: Deps, answer: StandingAnswer) -> bool:
    """True if the giver has had the right to decide on actions ever since, and the agent is as they saw it. Reads like
    ``still_may`` and ``AgentStore.agent``."""
    return still_may(deps, answer.workspace, answer.by, Deed.DECIDE_ACTION, answer.since) and is_for_agent(deps, answer)


def is_for_agent(deps: Deps, answer: StandingAnswer) -> bool:
    """True if the agent is as the giver saw it: no service or member has changed the fields that approvers see since,
    or it isn't registered. Reads like ``AgentStore.agent``."""
    agent = deps.store.agents.agent(answer.workspace, answer.agent)
    return agent is None or agent.service_version <= answer.agent_version


def wish_of(deps: Deps, question: Question, action: Action, asked: Standing, now: datetime) -> Wish:
    """Returns the standing answer that a person asks for now. Two reads.

    Raises:
        AgentChanged: a service or a member has changed the agent since it asked, and the person hasn't seen how.
        InvalidInput: also if no further one may be in force for the agent's tool.
    """
    known = _agent_as_seen(deps, question, asked)
    if not _room(deps, question, action, now):
        message = f"can't be added: {MAX_IN_FORCE} stand for this tool, revoke one"
        raise errors.InvalidInput("standing", message)
    return asked.wish(now, _refusals(deps, question, action), action, known)


def _agent_as_seen(deps: Deps, question: Question, asked: Standing) -> int:
    """Returns the version of the agent that the person has seen. Raises ``AgentChanged``. Reads like
    ``AgentStore.agent``."""
    agent = deps.store.agents.agent(question.workspace, question.agent)
    if agent is None:
        return 0
    known = question.asked_as if asked.agent_version is None else asked.agent_version
    if not agent.service_version <= known <= agent.version:
        raise agent.changed_since(known, question_id=question.id, task_id=question.task_id)
    return known


def begin_standing(deps: Deps, question: Question, groups: Groups, now: datetime) -> tuple[Question, tuple[Write, ...]]:
    """Returns a question that has just been approved with the standing answers that its approvers asked for, and their
    writes: as many as there is room for, the latest first, none that has ended, and none that was asked for before a
    refusal of what it would approve. Two reads if one was asked for."""
    wishes = [each for each in question.wishes(groups) if each.wish is not None and now < each.wish.until]
    if question.action is None or not wishes:
        return question, ()
    refusals = _refusals(deps, question, question.action)
    wishes = [each for each in wishes if refusals.let_begin(each, question.action)]
    room = min(_room(deps, question, question.action, now), len(wishes))
    made = (
        wished(question, each, each.wish, deps.ids.new("sta", now))
        for each in wishes[len(wishes) - room :]
        if each.wish
    )
    begun = [each for each in made if each is not None]
    if not begun:
        return question, ()
    writes: tuple[Write, ...] = (Save(refusals.with_begun(now)), *map(Insert, begun))
    return question.with_standing({each.by: each.id for each in begun}), writes


def end_standing(deps: Deps, question: Question, by: str, now: datetime) -> tuple[Write, ...]:
    """Returns the writes that end the standing answers in the question's decisions, and the others that would approve
    its action in any spelling: somebody refuses what they approve. Those that were asked for and haven't begun never
    will. Two reads for an action."""
    if question.action is None:
        return ()
    refusals = _refusals(deps, question, question.action)
    found = deps.store.questions.standing_answers(question.workspace, question.agent, question.action.tool)
    ids = {each.standing for each in question.decisions if each.standing is not None}
    named = [each for each in found if each.id in ids and each.revoked_at is None]
    refused = question.values_digests
    others = [each for each in found if each.allows_something(now) and each.is_for(refused) and each.id not in ids]
    ended = (each.revoked(by, now) for each in (*named, *others))
    return (*map(Save, refusals.with_refused(now, question.id)), *map(Save, ended))


def _refusals(deps: Deps, question: Question, action: Action) -> Refusals:
    """Is read before the standing answers: then its version covers them."""
    return deps.store.questions.last_refusals(question.workspace, question.agent, action.tool, question.values_digests)


def _room(deps: Deps, question: Question, action: Action, now: datetime) -> int:
    found = deps.store.questions.standing_answers(question.workspace, question.agent, action.tool)
    return max(0, MAX_IN_FORCE - sum(each.allows_something(now) for each in found))


def last_approval(question: Question) -> tuple[Write, ...]:
    """Returns what an approval leaves for whoever decides on the next action of the same tool."""
    if question.action is None or question.outcome is not Outcome.APPROVED:
        return ()
    last = LastApproval(
        agent=question.agent, tool=question.action.tool, task_id=question.task_id, question_id=question.id
    )
    return (Put(last),)
