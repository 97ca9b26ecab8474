"""What a tool says when its route refuses: the reason, and what to do about it."""

from __future__ import annotations

from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from typing import Any

from baton.domain import errors
from baton.domain.handoffs.workflow import ROOT_RATE
from baton.domain.numbers import dumps
from mcp_door.tools import questions_shown, steps, texts
from mcp_door.tools.steps import known_step

MAX_LISTED = 50
# By code; what isn't here goes by its class.
STEPS = {
    "stale_claim": "stop, unless the claim_id is misspelled or lost: list_tasks with held shows what your agent holds; "
    "claim_next with the task_id takes the task again if it is free, so that finished work isn't lost; claim_next "
    "alone gets you other work",
    "claim_over": "this claim has ended; call claim_next without that request_id",
    "already_claimed": "another worker has it; claim_next gets you other work",
    "not_claimable": "it can't be taken now; claim_next gets you what can; get_task shows its state",
    "approval_needed": "people have to approve this task first: tell them, if you can; claim_next gets you other work; "
    "call it with this task_id again once get_task shows that nothing holds the task from your agent",
    "at_capacity": "finish what you hold, then call claim_next",
    "task_ended": "it has ended; get_task shows how",
    "criteria_unreported": "call complete again with a report in criteria for each of them, by its exact text",
    "claim_required": "add the claim_id of the task that this work belongs to; or, if the claims are other sessions', "
    "a name of your own as worker; if you lost the claim_id, list_tasks with held shows the task",
    "claim_changed": "another session was first; claim_next gets you other work; list_tasks with held shows who has it",
    "nobody_holds": "that claim is over; claim_next with this task_id takes it, if it is ready",
    "capability_mismatch": "name one of the able agents as target, or ask for another deliverable",
    "unknown_agent": "name one of these agents, or leave the target out for any able agent",
    "inactive_agent": "this agent is switched off: name another, or ask a human to switch it on",
    "loop_guard": "don't hand this on again; finish it yourself; or fail it; a human may let it through",
    "own_handoff": "leave it to another agent: this one handed it off itself",
    "guardrail": "take the refused text out, say where it is kept instead, and call again",
    "idempotency_key_reused": "use a new request_id for a new request, or the very same arguments",
    "human_required": "ask a human: no agent may do this",
    "scope_required": "ask a human for a token with this scope, or act as yourself",
    "not_your_agent": "act as yourself: leave the agent out",
    "claim_full": "end the claim: it has stored as much as one may",
    "question_over": "ask_person with its question_id shows what people said",
    "receipt_refused": "don't do it; ask_person with the question_id says what was approved; another text asks anew",
    "too_many_questions": "wait for the answers to those that are open; or go on without",
    "too_many_waits": "complete it with what there is; or fail it; or hand the rest on",
}
OWN_CLAIM = f"{steps.OWN_CLAIM}claim_next without them gets you other work"
CLASSES: tuple[tuple[type[errors.BatonError], str], ...] = (
    (errors.InvalidInput, "correct the named argument and call again"),
    (errors.Forbidden, "you may not do this; ask a human who may"),
    (errors.Unknown, "check the id; list_tasks shows tasks that you may read; recall finds entries"),
    (errors.TooMany, "wait, then call again with the same arguments"),
    (errors.Refused, "get_task shows the present state; decide by that"),
)
ROOT_STEP = "begin no more of these within the hour; ask a human to raise the limit that is named, or to let it through"
_LATER = "call again with the same arguments in a few seconds"


def refusal(
    exc: errors.BatonError,
    missing: AbstractSet[str],
    renamed: Mapping[str, str] | None = None,
    *,
    as_json: bool = False,
) -> str:
    """Returns the refusal in a model's words. ``missing``: the tools that its client lacks. ``renamed``: a field of the
    route → the tool's argument. ``as_json``: its first line is ``{error, code}``."""
    if isinstance(exc, errors.InvalidInput):
        exc.rename(renamed or {})
    said = dumps({"error": texts.line(exc.message), "code": exc.code}, ensure_ascii=False)
    lines = [said if as_json else f"Refused ({exc.code}): {texts.line(exc.message)}"]
    problems = [
        f"- {texts.line(each['field'])}: {texts.line(each['message'])}" for each in exc.fields.get("errors", [])
    ]
    lines += problems if len(problems) > 1 else []
    for name, value in exc.fields.items():
        if name in _TOLD:
            lines += _told(name, value)
    return "\n".join([*lines, f"next: {known_step(step_after(exc), missing)}"])


def _told(name: str, value: Any) -> list[str]:
    """Returns a field of the refusal. Each text of a list is told whole, as it may have to be repeated exactly."""
    if not isinstance(value, list):
        return [f"{name}: {texts.quoted(value) if name == 'worker' else texts.line(str(value))}"]
    return [f"{name}:", *(f"- {texts.exact(str(each))}" for each in value[:MAX_LISTED])]


_TOLD = (
    "state",
    "agent",
    "worker",
    "claimed_at",
    "expires_at",
    "criteria",
    "missing",
    "able",
    "agents",
    "review_id",
    "rule",
    "retry_after",
)


def step_after(exc: errors.BatonError) -> str:
    if exc.fields.get("rule") == ROOT_RATE:
        return ROOT_STEP
    if "resume_fence" in exc.fields:
        return OWN_CLAIM.format(fence=exc.fields["resume_fence"])
    if "used_at" in exc.fields:
        return questions_shown.USED
    if exc.code in STEPS:
        return STEPS[exc.code]
    return next((step for kind, step in CLASSES if isinstance(exc, kind)), _LATER)
