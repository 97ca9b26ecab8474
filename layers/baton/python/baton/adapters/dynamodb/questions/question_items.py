"""The items of questions. What a person is asked is stored as it was sent, in JSON's own spelling."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

from baton.adapters.dynamodb import keys, records
from baton.adapters.dynamodb.item_writes import Item
from baton.domain import times
from baton.domain.canonical_json import canonical_json
from baton.domain.newer import member
from baton.domain.numbers import loads
from baton.domain.questions.approvers import Approvers
from baton.domain.questions.name_warnings import NameWarning
from baton.domain.questions.question import Action, Decision, Outcome, Question, Wish
from baton.domain.questions.standing_answer import MAX_SECONDS, LastApproval, LastRefusal, StandingAnswer


def question_item(question: Question) -> Item:
    return {
        **records.written(question),
        "approvers": canonical_json(records.written(question.approvers)),
        "further": canonical_json(list(map(records.written, question.further))) if question.further else None,
        "by_rule": question.by_rule or None,
        "asked_as": question.asked_as or None,
        "warnings": canonical_json(list(map(records.written, question.warnings))) if question.warnings else None,
        "action": None if question.action is None else canonical_json(_plain(question.action)),
        "handoff": canonical_json(question.action.handoff) if question.action and question.action.handoff else None,
        "decisions": canonical_json([_decided(each) for each in question.decisions]),
        "wishes": canonical_json(wishes) if (wishes := _wishes(question)) else None,
        **keys.question(question.workspace, question.task_id, question.id)._asdict(),
        **keys.place(keys.QUEUE_INDEX, keys.question_index_key(question)),
    }


def question_from(item: Item) -> Question:
    action = loads(item["action"]) if item.get("action") else None
    wishes = {by: records.read(Wish, each) for by, each in loads(item.get("wishes") or "{}").items()}
    return records.read(
        Question,
        item,
        approvers=_approvers(loads(item["approvers"])),
        further=tuple(map(_approvers, loads(item.get("further") or "[]"))),
        warnings=tuple(records.read(NameWarning, each) for each in loads(item.get("warnings") or "[]")),
        action=None if action is None else Action(**action, handoff=loads(item.get("handoff") or "null")),
        decisions=tuple(_decision(each, wishes) for each in loads(item["decisions"])),
    )


def standing_answer_item(answer: StandingAnswer) -> Item:
    """The table deletes it a day after its end."""
    ttl = times.to_ms(answer.until) // 1_000 + 86_400
    return {**keys.standing_answer(answer)._asdict(), **records.written(answer), "ttl": ttl}


def standing_answer_from(item: Item) -> StandingAnswer:
    arguments = loads(item["arguments"]) if item.get("arguments") else None
    return records.read(StandingAnswer, item, arguments=arguments)


def last_refusal_item(workspace: str, refusal: LastRefusal) -> Item:
    """The table deletes it a day after each standing answer that was asked for before it has ended."""
    ttl = times.to_ms(refusal.changed_at) // 1_000 + MAX_SECONDS + 86_400
    return {**keys.last_refusal(workspace, refusal)._asdict(), **records.written(refusal), "ttl": ttl}


def last_refusal_from(item: Item) -> LastRefusal:
    return records.read(LastRefusal, item)


def last_approval_item(workspace: str, approval: LastApproval) -> Item:
    key = keys.last_approval(workspace, approval.agent, approval.tool, approval.question_id)
    return {**key._asdict(), **records.written(approval)}


def _plain(action: Action) -> dict[str, Any]:
    """Returns the action without ``handoff``, which an earlier release doesn't read."""
    return {each.name: getattr(action, each.name) for each in fields(action) if each.name != "handoff"}


def _decided(decision: Decision) -> dict[str, Any]:
    values = {each.name: getattr(decision, each.name) for each in fields(decision) if each.name != "wish"}
    return {**values, "at": times.rfc3339(decision.at)}


def _wishes(question: Question) -> dict[str, Item]:
    """Returns the standing answers that approvers of an open question ask for. They are no part of the decisions, as an
    earlier release reads these."""
    decided = question.decisions if question.is_open else ()
    return {each.by: records.written(each.wish) for each in decided if each.wish is not None}


def _approvers(found: dict[str, Any]) -> Approvers:
    lists = {name: tuple(found[name]) for name in ("people", "never")}
    # Only handoffs have a next group. The digest of a question covers none, so a stored one is ignored.
    return Approvers(**{**found, **lists, "wider": None})


def _decision(found: dict[str, Any], wishes: dict[str, Wish]) -> Decision:
    at, outcome = times.parse_rfc3339(found["at"]), member(Outcome, found["outcome"])
    return Decision(**{**found, "at": at, "outcome": outcome, "wish": wishes.get(found["by"])})
