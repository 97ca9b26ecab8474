"""Scripts for the scripted model, in YAML: under ``agents``, by slug (or ``"*"`` for every other), a list of answers.
Attempt 1 of a task gets the first, attempt 2 the second, and so on; the last one repeats.

    agents:
      security-reviewer:
        - output: {verdict: "no finding"}      # completes the task with this output
      flaky:
        - fail: {type: timeout, description: "no answer in time"}
          retryable: true
        - output: "done at the second attempt"
          takes_seconds: 2
      sales:
        - turns:                               # one per reply of the task; the last one repeats
            - thinking: "They want it in French."
              tools: [{name: handoff_to_translator, arguments: {text: "{message}"}}]
            - text: "Handed over: {message}"   # {message}: the user's last message
              stop_reason: end_turn            # default: tool_use if tools are called, else end_turn
              takes_seconds: 1
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

import yaml

from baton.domain import errors
from baton.ports import runs

T = TypeVar("T")

MAX_TAKES_SECONDS = 600
MAX_SCRIPT = 1_000_000
MESSAGE = "{message}"
_OF_SCRIPT = "The script that BATON_SCRIPT names"
_ANSWER = {"output", "fail", "retryable", "takes_seconds", "turns"}
_TURN = {"text", "thinking", "tools", "stop_reason", "takes_seconds"}
_ONE_OF = ("output", "fail", "turns")


class ScriptError(ValueError):
    """The script doesn't have the form above; the message says where."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ScriptedTurn:
    """One reply."""

    text: str = ""
    thinking: str = ""
    tools: tuple[tuple[str, dict[str, Any]], ...] = ()  # each a name and its arguments
    stop_reason: runs.StopReason = runs.StopReason.END_TURN
    takes_seconds: float = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Scripted:
    """One attempt: its ``turns``, a failure, or the ``output`` of the whole task."""

    output: Any = None
    fail: dict[str, str] | None = None
    retryable: bool = False
    takes_seconds: float = 0
    turns: tuple[ScriptedTurn, ...] = ()


NOTHING_SCRIPTED = Scripted(output="No answer is scripted for this agent; this one says that the task was run.")


@dataclass(frozen=True, slots=True)
class Script:
    agents: dict[str, tuple[Scripted, ...]] = field(default_factory=dict)

    def answer(self, agent: str, attempt: int) -> Scripted:
        answers = self.agents.get(agent) or self.agents.get("*") or (NOTHING_SCRIPTED,)
        return _nth(answers, attempt)


def turn_of(answer: Scripted, number: int) -> ScriptedTurn:
    return _nth(answer.turns, number)


def _nth(of: Sequence[T], number: int) -> T:
    """Returns the item with this number, or the last one after that."""
    return of[min(max(number, 1), len(of)) - 1]


def script_at(path: Path) -> Script:
    """Raises ``ModelRefuses`` in plain words, which reach the user who runs an agent with the script."""
    try:
        return parse_script(path.read_text(encoding="utf-8"))
    except OSError as exc:
        raise errors.ModelRefuses(f"{_OF_SCRIPT} can't be read: there is no such file here.") from exc
    except UnicodeDecodeError as exc:
        raise errors.ModelRefuses(f"{_OF_SCRIPT} can't be used: it isn't UTF-8.") from exc
    except ScriptError as exc:
        raise errors.ModelRefuses(f"{_OF_SCRIPT} can't be used: {exc}.") from exc


def parse_script(text: str) -> Script:
    """Raises ``ScriptError``."""
    if len(text) > MAX_SCRIPT:
        raise ScriptError(f"it is longer than {MAX_SCRIPT:,} characters")
    try:
        script = yaml.safe_load(text)
    except yaml.MarkedYAMLError as exc:
        where = f" (line {exc.problem_mark.line + 1})" if exc.problem_mark else ""
        raise ScriptError(f"the script isn't YAML{where}") from exc
    except (yaml.YAMLError, ValueError, RecursionError) as exc:  # an impossible time, an endless list
        raise ScriptError("the script isn't YAML that can be read") from exc
    if script is None:  # an empty file
        return Script()
    agents = script.get("agents", {}) if isinstance(script, dict) else None
    if not isinstance(agents, dict):
        raise ScriptError("the script must be a mapping with 'agents'")
    return Script({str(slug): _answers(f"agents.{slug}", answers or []) for slug, answers in agents.items()})


def _answers(where: str, answers: Any) -> tuple[Scripted, ...]:
    if not isinstance(answers, list):
        raise ScriptError(f"{where}: must be a list of answers")
    return tuple(_answer(f"{where}.{number}", answer) for number, answer in enumerate(answers, start=1))


def _answer(where: str, answer: Any) -> Scripted:
    fields = answer if isinstance(answer, dict) else {}
    if not set(fields) <= _ANSWER or sum(name in fields for name in _ONE_OF) != 1:
        raise ScriptError(f"{where}: must have either 'output', 'fail' or 'turns', and may have takes_seconds")
    if "turns" in fields:
        return Scripted(turns=_turns(f"{where}.turns", fields["turns"]), takes_seconds=_takes(where, fields))
    fail = fields.get("fail")
    if "fail" in fields and not (
        isinstance(fail, dict)
        and set(fail) == {"type", "description"}
        and all(isinstance(each, str) for each in fail.values())
    ):
        raise ScriptError(f"{where}: 'fail' takes 'type' and 'description'")
    _check_json(f"{where}.output", fields.get("output"))
    if not isinstance(fields.get("retryable", False), bool):
        raise ScriptError(f"{where}: retryable must be true or false")
    return Scripted(
        output=fields.get("output"),
        fail=fail,
        retryable=fields.get("retryable", False),
        takes_seconds=_takes(where, fields),
    )


def _turns(where: str, turns: Any) -> tuple[ScriptedTurn, ...]:
    if not isinstance(turns, list) or not turns:
        raise ScriptError(f"{where}: must be a list of replies")
    return tuple(_turn(f"{where}.{number}", turn) for number, turn in enumerate(turns, start=1))


def _turn(where: str, turn: Any) -> ScriptedTurn:
    if not isinstance(turn, dict) or not set(turn) <= _TURN:
        raise ScriptError(f"{where}: may have {', '.join(sorted(_TURN))}")
    for name in ("text", "thinking"):
        if not isinstance(turn.get(name, ""), str):
            raise ScriptError(f"{where}.{name}: must be a text")
    tools = _tools(f"{where}.tools", turn.get("tools", []))
    reason = turn.get("stop_reason", runs.StopReason.TOOL_USE if tools else runs.StopReason.END_TURN)
    if reason not in list(runs.StopReason):
        raise ScriptError(f"{where}.stop_reason: must be one of {', '.join(runs.StopReason)}")
    return ScriptedTurn(
        text=turn.get("text", ""),
        thinking=turn.get("thinking", ""),
        tools=tools,
        stop_reason=runs.StopReason(reason),
        takes_seconds=_takes(where, turn),
    )


def _tools(where: str, tools: Any) -> tuple[tuple[str, dict[str, Any]], ...]:
    if not isinstance(tools, list):
        raise ScriptError(f"{where}: must be a list of calls")
    return tuple(_tool(f"{where}.{number}", tool) for number, tool in enumerate(tools, start=1))


def _tool(where: str, tool: Any) -> tuple[str, dict[str, Any]]:
    fields = tool if isinstance(tool, dict) else {}
    name, arguments = fields.get("name"), fields.get("arguments", {})
    if not set(fields) <= {"name", "arguments"} or not isinstance(name, str) or not isinstance(arguments, dict):
        raise ScriptError(f"{where}: takes a 'name' and 'arguments', which are a mapping")
    _check_json(f"{where}.arguments", arguments)
    return name, arguments


def _takes(where: str, fields: dict[str, Any]) -> float:
    takes = fields.get("takes_seconds", 0)
    if not isinstance(takes, int | float) or not 0 <= takes <= MAX_TAKES_SECONDS:
        raise ScriptError(f"{where}: takes_seconds must be from 0 to {MAX_TAKES_SECONDS}")
    return takes


def _check_json(where: str, value: Any) -> None:
    """Raises ``ScriptError`` for YAML that JSON can't express, as a date without quotes."""
    try:
        json.dumps(value, allow_nan=False)
    except (TypeError, ValueError, RecursionError) as exc:
        raise ScriptError(f"{where}: must be JSON (dates in quotes, numbers that end)") from exc
