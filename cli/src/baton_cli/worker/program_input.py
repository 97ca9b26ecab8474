"""The input of a program that works on a claim: its standard input and its environment."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from baton_cli.text import json_text
from baton_cli.worker.agent_work import AgentWork
from baton_cli.worker.api_client import AnswerKind, ApiAnswer
from baton_cli.worker.watchdog import CHECKPOINTS
from baton_client import numbers

_SECRETS = {"BATON_TOKEN", "BATON_RUN_KEY"}
# So many retries in a row are followed to their first task.
MOST_RETRIES = 50
# The instruction for a program that prints a text: how to end.
END_WITH = (
    "Say what you have done. Make the last line this JSON, alone, with every text of asked.acceptance_criteria word "
    'for word: {"baton": "complete", "verification": {"acceptance_criteria_met": [{"criterion": "…", "met": true, '
    '"evidence": "…"}]}}. If you can\'t do it, make it: {"baton": "fail", "failure": {"type": "blocker", '
    '"description": "what is in the way"}}.'
)


@dataclass(frozen=True, slots=True)
class WorkerClaim:
    """The answer to a claim."""

    json: Mapping[str, Any]

    @property
    def task_id(self) -> str:
        return str(self.json["task"]["id"])

    @property
    def claim_id(self) -> str:
        return str(self.json["claim_id"])

    @property
    def lease_seconds(self) -> float:
        return float(self.json["lease_seconds"])

    @property
    def title(self) -> str:
        return str(self.json["task"]["title"])

    @property
    def attempt(self) -> int:
        return int(self.json["task"]["attempt"])


def effect_key(read: Callable[[str], ApiAnswer], claim: WorkerClaim) -> str | None:
    """Returns the effect key (decision 070), the same for every attempt at a task and for each of its retries. It names
    the task, or the first task of a row of retries. A program adds the name of its step. Returns None if Baton didn't
    say in time which task was the first. ``read`` gets a path."""
    task: Mapping[str, Any] = claim.json["task"]
    for _ in range(MOST_RETRIES):
        if task.get("retry_of") is None:
            break
        earlier = read(f"/tasks/{task['retry_of']}")
        if earlier.kind is AnswerKind.RETRY:
            return None
        task = earlier.json if earlier.kind is AnswerKind.DONE else {"id": task["retry_of"]}
    return f"baton-{task['id']}"


def standard_input(claim: WorkerClaim, key: str, *, is_text: bool = False) -> bytes:
    """Returns the claim's answer as JSON, without the claim's id, which is the worker's secret. ``is_text``: a model
    reads it, so what the task asks for stands first, and how to end; no character of it is hidden."""
    told = {name: value for name, value in claim.json.items() if name != "claim_id"}
    leading = {"asked": asked(claim), "end_with": END_WITH} if is_text else {}
    written = numbers.dumps({**leading, **told, "effect_key": key}, ensure_ascii=not is_text)
    return (json_text(written) if is_text else written).encode()


def asked(claim: WorkerClaim) -> dict[str, Any]:
    """Returns what a task asks for, in few words, with the criteria that its report has to name."""
    body = claim.json.get("body") or {}
    expected = body.get("expectations") or {}
    deliverables = expected.get("deliverables") or []
    found = {
        "summary": body.get("summary") or claim.title,
        "reason": (body.get("target") or {}).get("reason"),
        "deliverables": [
            {name: each[name] for name in ("type", "description", "files") if each.get(name)} for each in deliverables
        ],
        "constraints": expected.get("constraints"),
        "acceptance_criteria": [text for each in deliverables for text in each.get("acceptance_criteria") or []],
    }
    return {name: value for name, value in found.items() if value}


def environment(work: AgentWork, claim: WorkerClaim, key: str, given: Mapping[str, str]) -> dict[str, str]:
    """Returns the program's environment. ``given``: the worker's own. The token, and the key that signs saved runs,
    aren't handed on unless ``work.lends_token``."""
    task = claim.json["task"]
    named = {
        "BATON_AGENT": work.agent,
        "BATON_TASK_ID": claim.task_id,
        "BATON_WORKFLOW_ID": str(task["workflow_id"]),
        "BATON_ATTEMPT": str(claim.attempt),
        "BATON_FENCE": str(claim.json["fence"]),
        "BATON_EFFECT_KEY": key,
        "BATON_CHECKPOINT_FD": str(CHECKPOINTS),
    }
    if work.lends_token:
        lent = {"BATON_URL": work.profile.url, "BATON_TOKEN": work.profile.token, "BATON_CLAIM_ID": claim.claim_id}
        return {**given, **named, **lent}
    return {**{name: value for name, value in given.items() if name not in _SECRETS}, **named}
