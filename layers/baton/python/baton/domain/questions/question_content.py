"""The content of a question, in the names of the API, and its digest, which the task's trail keeps. Pure.

The command line and ``tools/admin/verify_trail.py`` compute the digest with code of their own."""

from __future__ import annotations

from typing import Any

from baton.domain import times
from baton.domain.canonical_json import digest_of
from baton.domain.questions.approvers import Approvers
from baton.domain.questions.name_warnings import NameWarning
from baton.domain.questions.question import Decision, Question

_DECISION = ("by", "outcome", "digest", "arguments", "answer", "reason")


def content_of(question: Question) -> dict[str, Any]:
    """Returns everything that the asker and the deciders wrote, with the warnings about names. Empty fields are left
    out: a later release may add fields without a change of old digests. Events of their own state the outcome and the
    use of an approval."""
    action = question.action
    content = {
        "id": question.id,
        "task_id": question.task_id,
        "kind": str(question.kind),
        "text": question.text,
        "options": list(question.options),
        "form": question.schema,
        "tool": action and action.tool,
        "arguments": action and action.arguments,
        "handoff": action and action.handoff,
        "asked_by": question.asked_by,
        "agent": question.agent,
        "asked_at": times.rfc3339(question.asked_at),
        "until": times.rfc3339(question.until),
        **_approvers(question.approvers),
        "by_rule": question.by_rule,
        "further": [_approvers(each) for each in question.further],
        "asked_digest": question.asked_digest,
        "warnings": [_warning(each) for each in question.warnings],
        "decisions": [_decision(each) for each in question.decisions],
    }
    return {name: value for name, value in content.items() if value}


def content_digest(question: Question) -> str:
    """Returns SHA-256, in hexadecimal, of the content's canonical JSON."""
    return digest_of(content_of(question))


def _approvers(rule: Approvers) -> dict[str, Any]:
    return {"people": list(rule.people), "group": rule.group, "needed": rule.needed, "never": list(rule.never)}


def _decision(decision: Decision) -> dict[str, Any]:
    written = {name: getattr(decision, name) for name in _DECISION}
    told = {"outcome": str(decision.outcome), "at": times.rfc3339(decision.at), "standing_answer": decision.standing}
    return {name: value for name, value in {**written, **told}.items() if value is not None}


def _warning(warning: NameWarning) -> dict[str, Any]:
    return {"at": warning.at, "name": warning.name, "kind": str(warning.kind), "like": warning.like}
