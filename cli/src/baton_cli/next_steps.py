"""The next step after a refusal: a sentence for each of the API's codes, and for each status."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

_LOOK = "look again: baton tasks show {task_id}"
_BY_CODE = {
    "agent_changed": "look at it: baton agents show {agent}; then: baton tasks approve {task_id} {looked_at}",
    "agent_changed retry": "look at it: baton agents show {agent}; then: baton tasks retry {retry_of} {looked_at}",
    "agent_changed review": "look at it: baton agents show {agent}; then: "
    "baton reviews release {review_id} --version VERSION {looked_at}",
    "agent_changed question": "look at it: baton agents show {agent}; then: "
    "baton approvals answer {question_id} --task {task_id} --approve --digest DIGEST --standing FOR {looked_at}",
    "agent_changed conversation": "look at it: baton agents show {agent}; then: "
    "baton chat --resume {conversation_id} {looked_at}",
    "already_claimed": "another one: baton tasks claim; who has it: baton tasks show {task_id}",
    "already_retried": "baton await {task_id}",
    "approval_needed": "a person approves it: baton tasks approve {task_id}; all that wait: baton approvals list",
    "at_capacity": "end a claim of {agent}'s first: baton tasks list --agent {agent} --state claimed",
    "callback_used": "nothing: it was answered; what came of it: baton tasks show TASK",
    "capability_mismatch": "who can take it: baton agents list --accepts TYPE",
    "claim_changed": "look who holds it now: baton tasks show {task_id}",
    "claim_full": "end the claim: baton tasks complete, fail or release TASK",
    "claim_over": "claim anew, without --key: baton tasks claim {task_id}",
    "claim_required": "--claim CLAIM: the claim under which the agent works, or export BATON_CLAIM_ID",
    "code_refused": "a new link: baton console",
    "conversation_busy": "baton await {task_id}",
    "conversation_moved": "read it, and send your message again: baton chat --resume {conversation_id}",
    "criteria_unreported": 'report each by its text: --data \'{{"verification": {{"acceptance_criteria_met": '
    '[{{"criterion": "…", "met": true}}]}}}}\'',
    "entry_closed": "baton memory show ENTRY",
    "guardrail": "take it out of the text; what is looked for: baton settings show",
    "human_required": "a human does it, with a profile of their own: --profile NAME",
    "idempotency_key_reused": "use another --key",
    "inactive_agent": "a human switches it on: baton agents on AGENT",
    "limit_reached": "remove what isn't needed any more",
    "loop_guard": "a human lets it through: baton reviews list --state open",
    "name_taken": "another name; who has it: baton agents show {agent}",
    "no_tracker": "connect Notion first: baton tracker token --token -",
    "nobody_holds": "baton tasks show {task_id}",
    "not_allowed": _LOOK,
    "not_authenticated": "baton init, or set BATON_TOKEN",
    "not_claimable": "when it can be: baton tasks show {task_id}",
    "not_your_agent": "the agent's own profile: --profile NAME; whose there are: baton doctor",
    "own_handoff": "another agent claims it: baton tasks claim {task_id} --agent AGENT",
    "rate_limited": "try again later, or ask a human to raise requests_per_minute: baton settings show",
    "review_closed": "baton reviews show {review_id}",
    "change_over": "baton changes show {change_id}",
    "change_overtaken": "an administrator refuses it: baton changes refuse {change_id}; then ask again",
    "right_needed": "ask an administrator for a token with the right {right}; your own: baton doctor",
    "revision_changed": "read what it is now: baton tasks show {task_id}",
    "scope_required": "an administrator makes a token that has it: baton tokens create --scope {scope}",
    "scope_required act_as": "hand work off in your own name, and leave --from out: baton handoff create; "
    "an administrator, or a service with the scope act_as, acts for agents",
    "secret_already_shown": "revoke it, and make another: baton tokens revoke {token_id}",
    "stale_claim": "the task isn't yours any more: baton tasks show {task_id}",
    "task_ended": "what came of it: baton tasks show {task_id}; once more: baton tasks retry {task_id}",
    "ticket_refused": "make another",
    "token_refused": "baton doctor; a human makes another token with: baton tokens create",
    "token_required": "a token of your own instead of a session's: baton init",
    "too_large": "make it smaller, or name a file in place of its content",
    "too_many_alerts": "see what was raised: baton alerts list",
    "too_many_listeners": "end one that listens, or ask a human to raise listeners_per_principal: baton settings show",
    "too_many_polls": "end one that waits, or wait until one is over",
    "tool_suspended": "an approver resumes it: baton tools save {tool} --to AGENT",
    "undo_window_over": "baton tasks cancel {task_id}",
    "not_found agent": "name an agent by its slug; all of them: baton agents list",
    "unknown_agent": "name one of these agents; all of them: baton agents list",
    "version_conflict": "read it again, and send its version",
    "webhook_installed": "baton tracker close-webhook",
}
_BY_STATUS = {
    400: "baton COMMAND --help shows what it takes",
    401: "baton init, or set BATON_TOKEN",
    403: "with a profile that may: --profile NAME; whose there are: baton doctor",
    404: "check the id; elsewhere: --profile NAME",
    405: "baton api --help",
    409: "look how it stands now, and decide again",
    413: "make it smaller, or name a file in place of its content",
    422: "mend what is named; all that it takes: baton COMMAND --help",
    429: "try again later",
}


_ABOUT = {
    "agents": "agent",
    "review_id": "review",
    "retry_of": "retry",
    "conversation_id": "conversation",
    "question_id": "question",
}


def after(status: int, code: str, problem: Mapping[str, Any]) -> str:
    """Returns the next step after a refusal; never empty."""
    about = next((word for name, word in _ABOUT.items() if name in problem), problem.get("scope"))
    if step := _BY_CODE.get(f"{code} {about}") or _BY_CODE.get(code):
        return _filled(step, problem)
    if status >= 500 and (request_id := problem.get("request_id")):
        return f"try again; the request's id in the logs is {request_id}"
    return _BY_STATUS.get(status, "try again" if status >= 500 else "baton doctor")


def _filled(step: str, problem: Mapping[str, Any]) -> str:
    """Returns the step with the refusal's fields in it. A field that the refusal lacks becomes a placeholder, as in the
    help."""
    names = re.findall(r"(?<!\{)\{(\w+)\}", step)
    known = {**problem, "looked_at": _looked_at(problem)}
    return step.format(**{name: known.get(name) or name.removesuffix("_id").upper() for name in names})


def _looked_at(problem: Mapping[str, Any]) -> str:
    """Returns the option that names the agents' versions."""
    if versions := problem.get("agent_versions"):
        return f"--agent-versions '{json.dumps(versions)}'"
    return f"--agent-version {problem.get('version') or 'VERSION'}"
