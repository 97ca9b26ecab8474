"""What is run for an agent, and what a program is given of a claim."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from baton_cli.profiles import Profile
from baton_cli.worker.api_client import AnswerKind, ApiAnswer
from baton_cli.worker.report import ProgramOutput
from baton_cli.worker.watchdog import CHECKPOINTS

# A retry of a retry of …: its first task names the effects of all.
MOST_RETRIES = 50
# What a program that prints a text is told of how to end.
END_WITH = (
    "Say what you have done. Make the last line this JSON, alone, with every text of asked.acceptance_criteria word "
    'for word: {"baton": "complete", "verification": {"acceptance_criteria_met": [{"criterion": "…", "met": true, '
    '"evidence": "…"}]}}. If you can\'t do it, make it: {"baton": "fail", "failure": {"type": "blocker", '
    '"description": "what is in the way"}}.'
)


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentWork:
    """An agent, and the program that does its work. ``lends_token``: the program gets token and claim, and may call
    Baton itself. ``grace_seconds``: between TERM and KILL. ``is_verbose``: what the program says on standard error is
    told at once. ``memories``: so many entries of the blackboard come with a task."""

    agent: str
    command: tuple[str, ...]
    profile: Profile
    worker: str
    concurrency: int = 1
    directory: Path | None = None
    lease_seconds: int = 300
    time_limit_seconds: float | None = None
    grace_seconds: float = 10.0
    is_text: bool = False
    lends_token: bool = False
    is_verbose: bool = False
    memories: int = 0

    @property
    def reading(self) -> ProgramOutput:
        name = Path(self.command[0]).name
        return ProgramOutput(name=name, is_text=self.is_text, time_limit_seconds=self.time_limit_seconds)

    def limit_at(self, begun_at: float) -> float:
        return math.inf if self.time_limit_seconds is None else begun_at + self.time_limit_seconds


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
    """Returns the same key for every attempt at a task, by whatever worker, and for each of its retries (decision 070):
    it names the task, or the first of those that were retried. A program adds the name of its step. None if that task
    can't be found out now. ``read`` gets a path."""
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
    """The claim's answer without the claim's id, which is the worker's secret. ``is_text``: a model reads it. What it
    is asked for leads, with how to end."""
    told = {name: value for name, value in claim.json.items() if name != "claim_id"}
    leading = {"asked": asked(claim), "end_with": END_WITH} if is_text else {}
    return json.dumps({**leading, **told, "effect_key": key}, ensure_ascii=not is_text).encode()


def asked(claim: WorkerClaim) -> dict[str, Any]:
    """What a task asks for, in few words, with the criteria that its report has to name."""
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
    """``given``: the worker's own. The token isn't handed on unless it is lent."""
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
    return {**{name: value for name, value in given.items() if name != "BATON_TOKEN"}, **named}
