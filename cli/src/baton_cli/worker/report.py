"""What Baton is told when a program has ended (docs/guides/run-a-worker.md): a pure mapping."""

from __future__ import annotations

import json
import re
import signal
from dataclasses import dataclass, field
from typing import Any

from baton_cli.text import visible
from baton_cli.worker.program import MAX_OUTPUT, Ended

TEMPORARY = 75  # EX_TEMPFAIL of sysexits.h
VERB = "baton"
# What a program may answer in place of an output. All of them end the claim.
VERBS = ("complete", "fail", "reject", "release", "transfer", "delegate")
MAX_DESCRIPTION = 2_000
MAX_HEAD = 200


@dataclass(frozen=True, slots=True)
class Report:
    """A verb with its body, but for the claim. ``is_plain``: without a word of the program's."""

    verb: str
    body: dict[str, Any] = field(default_factory=dict)
    is_plain: bool = False


SWITCHED_OFF = Report("release", {"reason": "The agent was switched off."})
CUT_OFF = Report("release", {"reason": "The worker was cut off from Baton."})


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """``name``: the program's, for people. ``is_text``: its standard output isn't JSON, but a text."""

    name: str
    is_text: bool = False
    time_limit_seconds: float | None = None


def report_of(ended: Ended, reading: Reading) -> Report:
    """``ended`` under a claim that is still held."""
    if ended.unfit:
        return Report("release", {"reason": f"{reading.name} can't be started: {ended.unfit}"[:MAX_DESCRIPTION]})
    if ended.code == 0:
        return _answered(ended, reading)
    if ended.why == "asked":
        return Report("release", {"reason": "The worker was stopped."})
    if ended.why == "due":
        limit = f" after {reading.time_limit_seconds:g} s" if reading.time_limit_seconds else ""
        return _failure("timeout", f"{reading.name} was stopped{limit}, its time limit.", ended, is_retryable=True)
    if ended.code < 0:
        said = f"{reading.name} was killed by {_signal_name(-ended.code)}."
        return _failure("error", said, ended, is_retryable=True)
    said = f"{reading.name} ended with exit code {ended.code}."
    return _failure("error", said, ended, is_retryable=ended.code == TEMPORARY)


def after_refusal(report: Report, problem: Any) -> Report | None:
    """Returns what to say once Baton has refused a report; None if there is nothing left to say."""
    told = problem if isinstance(problem, dict) else {}
    code = str(told.get("code") or "no code")
    if report.verb == "release":
        return None if report.is_plain else Report("release", is_plain=True)
    if code == "inactive_agent":
        return SWITCHED_OFF
    if report.is_plain:
        return Report("release", is_plain=True)
    if report.verb == "fail":
        said = f"The program failed. What it said of it was refused ({code})."
        kept = {"retryable": report.body.get("retryable") is True}
        return Report("fail", {"failure": {"type": "error", "description": said}, **kept}, is_plain=True)
    said = f"Baton refused the program's answer, {report.verb} ({code}): {_told(told)}"
    return Report("fail", {"failure": {"type": "validation", "description": _fitting(said)}})


def _answered(ended: Ended, reading: Reading) -> Report:
    if ended.output is None:
        said = f"{reading.name} printed more than {MAX_OUTPUT} bytes on its standard output."
        return _failure("validation", said, ended)
    if reading.is_text:
        return Report("complete", {"output": {"text": ended.output.decode("utf-8", "replace").strip()}})
    if not ended.output.strip():
        return Report("complete")
    try:
        answer = json.loads(ended.output)
    except (ValueError, RecursionError):
        head = ended.output[:MAX_HEAD].decode("utf-8", "replace")
        return _failure("validation", f"{reading.name} printed something that isn't JSON: {head}", ended)
    return _said(answer, ended, reading)


def _said(answer: Any, ended: Ended, reading: Reading) -> Report:
    if not isinstance(answer, dict) or VERB not in answer:
        return Report("complete", {"output": answer})
    verb, body = answer[VERB], {name: value for name, value in answer.items() if name != VERB}
    if verb in VERBS and "claim_id" not in body:
        return Report(verb, body)
    return _failure("validation", f"{reading.name} answered with a verb that isn't one of {', '.join(VERBS)}.", ended)


def _failure(kind: str, said: str, ended: Ended, *, is_retryable: bool = False) -> Report:
    description = _fitting(said, ended.errors)
    return Report("fail", {"failure": {"type": kind, "description": description}, "retryable": is_retryable})


def _fitting(said: str, errors: str = "") -> str:
    """``said``, and as much of the end of ``errors`` as there is room for."""
    head = visible(said)[:MAX_DESCRIPTION].strip()
    tail = visible(errors).strip()
    room = MAX_DESCRIPTION - len(head) - 1
    return f"{head}\n{tail[-room:]}" if tail and room > 0 else head


def _told(problem: dict[str, Any]) -> str:
    """What the refusal says, each thing once."""
    detail = str(problem.get("detail") or "")
    errors = [str(each.get("message", "")) for each in problem.get("errors") or []]
    listed = [detail, *map(str, problem.get("criteria") or []), *(each for each in errors if each not in detail)]
    return re.sub(r"\s+", " ", "; ".join(filter(None, listed)))


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"
