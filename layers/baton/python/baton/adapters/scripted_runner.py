"""A runner that follows a script instead of thinking, and says so in everything that it answers.

The script is YAML: under ``agents``, by slug (or ``"*"`` for every other), a list of answers. Attempt 1 of a task gets
the first, attempt 2 the second, and so on; the last is given again.

    agents:
      security-reviewer:
        - output: {verdict: "no finding"}      # completes the task
      flaky:
        - fail: {type: timeout, description: "no answer in time"}
          retryable: true
        - output: "done at the second attempt"
          takes_seconds: 2
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import yaml

from baton.ports import Clock
from baton.run_ports import Done, NotDone, Work

MAX_TAKES_SECONDS = 600
_KEYS = {"output", "fail", "retryable", "takes_seconds"}
_DEFAULT = {"output": "No answer is scripted for this agent; this one says that the task was run."}


class ScriptError(ValueError):
    """The script isn't of the form above; the message says where."""


@dataclass(frozen=True, slots=True)
class ScriptedRunner:
    answers: dict[str, list[dict[str, Any]]] = field(default_factory=dict)
    clock: Clock | None = None

    def run(self, work: Work) -> Done | NotDone:
        answers = self.answers.get(work.agent.slug) or self.answers.get("*") or [_DEFAULT]
        answer = answers[min(max(work.dossier.task.attempt, 1), len(answers)) - 1]
        if self.clock is not None and answer.get("takes_seconds"):
            self.clock.sleep(answer["takes_seconds"])
        if "fail" in answer:
            return NotDone({**answer["fail"], "scripted": True}, retryable=answer.get("retryable", False))
        return Done({"scripted": True, "agent": work.agent.slug, "answer": answer["output"]})


def parse_script(text: str) -> dict[str, list[dict[str, Any]]]:
    """Raises ``ScriptError``."""
    try:
        script = yaml.safe_load(text)
    except yaml.YAMLError as exc:
        raise ScriptError(f"the script isn't YAML: {exc}") from exc
    if script is None:  # an empty file
        return {}
    agents = script.get("agents", {}) if isinstance(script, dict) else None
    if not isinstance(agents, dict):
        raise ScriptError("the script must be a mapping with 'agents'")
    return {str(slug): _answers(slug, answers or []) for slug, answers in agents.items()}


def _answers(slug: Any, answers: Any) -> list[dict[str, Any]]:
    if not isinstance(answers, list):
        raise ScriptError(f"agents.{slug}: must be a list of answers")
    return [_answer(slug, answer) for answer in answers]


def _answer(slug: str, answer: Any) -> dict[str, Any]:
    if not isinstance(answer, dict) or not set(answer) <= _KEYS or ("output" in answer) == ("fail" in answer):
        raise ScriptError(f"agents.{slug}: each answer has either 'output' or 'fail', and may have takes_seconds")
    fail = answer.get("fail")
    if "fail" in answer and not (isinstance(fail, dict) and set(fail) == {"type", "description"}):
        raise ScriptError(f"agents.{slug}: 'fail' takes 'type' and 'description'")
    takes = answer.get("takes_seconds", 0)
    if not isinstance(takes, int | float) or not 0 <= takes <= MAX_TAKES_SECONDS:
        raise ScriptError(f"agents.{slug}: takes_seconds must be from 0 to {MAX_TAKES_SECONDS}")
    return answer
