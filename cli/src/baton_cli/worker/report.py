"""The report of a program's end to Baton (docs/guides/run-a-worker.md), as pure functions."""

from __future__ import annotations

import re
import signal
from dataclasses import dataclass, field
from typing import Any

from baton_cli.text import visible
from baton_cli.worker.program import MAX_OUTPUT, ProgramExit
from baton_client import numbers
from baton_client.mended import decoded, read, text_of

TEMPORARY = 75  # EX_TEMPFAIL of sysexits.h
VERB = "baton"
# The verbs that a program may name in its answer. All of them end the claim.
VERBS = ("complete", "fail", "reject", "release", "transfer", "delegate")
MAX_DESCRIPTION = 2_000
MAX_HEAD = 200
GUARDRAIL = "guardrail"
# The characters that are kept of an answer that was refused twice. They fit into any request, however they are escaped.
MAX_KEPT = 40_000
_CUT = f" The first {MAX_KEPT:,} characters of it are kept."
# The fields of a release. None of them is a result.
_OF_RELEASE = {"reason", "not_before"}
_COLOURS = re.compile(r"\x1b\[[0-9;?]*[ -/]*[@-~]")
# What may stand below a report: blanks, the end of a code fence, a rule.
_DECORATION = re.compile(r"(?:\x1b\[[0-9;?]*[ -/]*[@-~]|[\s`*_=\ufeff-])*")


@dataclass(frozen=True, slots=True)
class ClaimReport:
    """A verb and its body, without the claim's id. ``is_plain``: it has no text of the program's. ``kept``: the
    program's answer that Baton has refused, as this report keeps it."""

    verb: str
    body: dict[str, Any] = field(default_factory=dict)
    is_plain: bool = False
    kept: Any = None


SWITCHED_OFF = ClaimReport("release", {"reason": "The agent was switched off."}, is_plain=True)
CUT_OFF = ClaimReport("release", {"reason": "The worker was cut off from Baton."}, is_plain=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class ProgramOutput:
    """How to read a program's output. ``name``: the program's, for people. ``is_text``: its standard output is a text,
    not JSON."""

    name: str
    is_text: bool = False
    time_limit_seconds: float | None = None


def report_of(ended: ProgramExit, reading: ProgramOutput) -> ClaimReport:
    """Returns the report of a program that ended under a claim that is still held."""
    if ended.start_error:
        said = f"{reading.name} can't be started: {ended.start_error}"
        return ClaimReport("release", {"reason": said[:MAX_DESCRIPTION]}, is_plain=True)
    if ended.code == 0:
        return _answered(ended, reading)
    if ended.why == "asked":
        return ClaimReport("release", {"reason": "The worker was stopped."}, is_plain=True)
    if ended.why == "due":
        limit = f" after {reading.time_limit_seconds:g} s" if reading.time_limit_seconds else ""
        return _failure("timeout", f"{reading.name} was stopped{limit}, its time limit.", ended, is_retryable=True)
    if ended.code < 0:
        said = f"{reading.name} was killed by {_signal_name(-ended.code)}."
        return _failure("error", said, ended, is_retryable=True)
    said = f"{reading.name} ended with exit code {ended.code}."
    return _failure("error", said, ended, is_retryable=ended.code == TEMPORARY)


def after_refusal(report: ClaimReport, problem: Any) -> ClaimReport | None:
    """Returns the report to send after Baton has refused one; None if nothing is left to send."""
    told = problem if isinstance(problem, dict) else {}
    code = str(told.get("code") or "no code")
    if report.verb == "release" and report.body.keys() <= _OF_RELEASE:
        return ClaimReport("release", is_plain=True) if report.body else None
    if code == "inactive_agent":
        return SWITCHED_OFF
    if report.is_plain:
        return ClaimReport("release", is_plain=True)
    if report.kept is not None:
        return _keeping_less(report, code)
    if report.verb == "fail":
        said, kind = f"The program failed. What it said of it was refused ({code}).", "error"
    else:
        said, kind = f"Baton refused the program's answer, {report.verb} ({code}): {_told(told)}", "validation"
    failure = {"type": kind, "description": _fitting(said)}
    body = {"failure": failure, **({"retryable": report.body.get("retryable") is True} if kind == "error" else {})}
    is_output_alone = report.verb == "complete" and report.body.keys() <= {"output", "verification"}
    answer = report.body.get("output") if is_output_alone else report.body
    if answer is None or code == GUARDRAIL:  # a text that a guardrail refuses isn't kept
        return ClaimReport("fail", body, is_plain=report.verb == "fail")
    return _keeping(body, answer)


def shortened(report: ClaimReport, kept_as: str, status: int) -> ClaimReport:
    """Returns the report to send in place of one that a program between the worker and Baton refuses with ``status``.
    ``kept_as``: the file in the worker's spool that has the whole report, or empty."""
    if report.verb == "release":
        return ClaimReport("release", is_plain=True)
    where = f"The worker's machine keeps it as {kept_as}." if kept_as else "It isn't kept."
    why = " as too large (HTTP 413)" if status == 413 else f" (HTTP {status})"
    said = f"A program between the worker and Baton refused the report, {report.verb},{why}. {where}"
    failure = {"type": "error", "description": said}
    return ClaimReport("fail", {"failure": failure, "retryable": report.body.get("retryable") is True}, is_plain=True)


def _keeping(body: dict[str, Any], answer: Any) -> ClaimReport:
    """Returns the failure with the program's answer as partial progress: the work may have taken hours, and the next
    worker can use it."""
    failure = {**body["failure"], "partial_progress": {"output": answer}}
    return ClaimReport("fail", {**body, "failure": failure}, kept=answer)


def _keeping_less(report: ClaimReport, code: str) -> ClaimReport:
    """Returns the failure after Baton has refused it with the whole answer, mostly as too large. It has the answer's
    text, or its beginning, and after one more refusal nothing, so that the refusals come to an end."""
    bare = {name: value for name, value in report.body["failure"].items() if name != "partial_progress"}
    description = bare["description"].removesuffix(_CUT)
    text = report.kept if isinstance(report.kept, str) else numbers.dumps(report.kept, ensure_ascii=False)
    if code == GUARDRAIL or (text == report.kept and len(text) <= MAX_KEPT):
        return ClaimReport("fail", {**report.body, "failure": {**bare, "description": description}}, is_plain=True)
    said = description[: MAX_DESCRIPTION - len(_CUT)] + _CUT
    return _keeping({**report.body, "failure": {**bare, "description": said}}, text[:MAX_KEPT])


def _answered(ended: ProgramExit, reading: ProgramOutput) -> ClaimReport:
    if ended.is_cut:
        said = f"{reading.name} printed more than {MAX_OUTPUT} bytes on its standard output.{_CUT}"
        return _unread(said, decoded(ended.output)[:MAX_KEPT], ended)
    text = decoded(ended.output)
    if reading.is_text:
        return _text_report(text.strip())
    if not ended.output.strip():
        return ClaimReport("complete")
    try:
        answer, notes = read(ended.output)
    except (ValueError, RecursionError):
        said = f"{reading.name} printed something that isn't JSON: {text_of(text[:MAX_HEAD])[0]}"
        return _unread(said, text, ended)
    return _json_report(answer, notes, ended, reading)


def _unread(said: str, text: str, ended: ProgramExit) -> ClaimReport:
    """Returns the failure of a program whose output isn't JSON, with the output as text."""
    fit, notes = text_of(text)
    return _keeping(_failure("validation", said, ended).body, {"text": fit, **({"notes": notes} if notes else {})})


def _text_report(text: str) -> ClaimReport:
    """Returns the report of a text. The last line that is JSON and names a verb is the report. The rest of the text is
    the output, and of a failure the partial progress, unless the report has its own."""
    lines = text.split("\n")  # U+2028 and similar characters may stand within JSON
    for number in reversed(range(len(lines))):
        found = _report_in(lines[number])
        if found is not None:
            answer, notes = found
            before = "\n".join(lines[:number]).rstrip().removesuffix("```json").removesuffix("```").rstrip()
            after = [each for each in lines[number + 1 :] if not _DECORATION.fullmatch(each)]
            rest, others = text_of("\n".join([*([before] if before else []), *after]))
            return _reported(_with_text(answer, rest), list(dict.fromkeys([*notes, *others])))
    whole, notes = text_of(text)
    return _reported({VERB: "complete", "output": {"text": whole}}, notes)


def _with_text(answer: dict[str, Any], text: str) -> dict[str, Any]:
    """Returns the answer of a program with the rest of the text that it printed."""
    failure = answer.get("failure")
    if answer[VERB] == "complete":
        return {"output": {"text": text}, **answer}
    if answer[VERB] == "fail" and text and isinstance(failure, dict):
        return {**answer, "failure": {"partial_progress": {"output": {"text": text}}, **failure}}
    return answer


def _report_in(line: str) -> tuple[dict[str, Any], list[str]] | None:
    """Returns the report that a line holds, whatever colours, quotes or marks are around it."""
    plain = _COLOURS.sub("", line).strip("\ufeff` \t\r")
    if f'"{VERB}"' not in plain:
        return None
    try:
        answer, notes = read(plain)
    except (ValueError, RecursionError):
        return None
    is_report = isinstance(answer, dict) and answer.get(VERB) in VERBS and "claim_id" not in answer
    return (answer, notes) if is_report else None


def _json_report(answer: Any, notes: list[str], ended: ProgramExit, reading: ProgramOutput) -> ClaimReport:
    if not isinstance(answer, dict) or VERB not in answer:
        return _reported({VERB: "complete", "output": answer}, notes)
    if answer[VERB] in VERBS and "claim_id" not in answer:
        return _reported(answer, notes)
    said = f"{reading.name} answered with a verb that isn't one of {', '.join(VERBS)}, or with a claim_id."
    return _keeping(_failure("validation", said, ended).body, answer)


def _reported(answer: dict[str, Any], notes: list[str]) -> ClaimReport:
    """Returns the report that the answer names. ``notes``: the repairs, for the notes of a completion."""
    verb, body = answer[VERB], {name: value for name, value in answer.items() if name != VERB}
    kept = body.get("notes", [])
    if verb == "complete" and notes and isinstance(kept, list):
        body["notes"] = [*kept, *notes]
    return ClaimReport(verb, body)


def _failure(kind: str, said: str, ended: ProgramExit, *, is_retryable: bool = False) -> ClaimReport:
    description = _fitting(said, ended.errors)
    return ClaimReport("fail", {"failure": {"type": kind, "description": description}, "retryable": is_retryable})


def _fitting(said: str, errors: str = "") -> str:
    """Returns ``said``, and as much of the end of ``errors`` as fits."""
    head = visible(said)[:MAX_DESCRIPTION].strip()
    tail = visible(errors).strip()
    room = MAX_DESCRIPTION - len(head) - 1
    return f"{head}\n{tail[-room:]}" if tail and room > 0 else head


def _told(problem: dict[str, Any]) -> str:
    """Returns the texts of a refusal, each once."""
    detail = str(problem.get("detail") or "")
    errors = [str(each.get("message", "")) for each in problem.get("errors") or []]
    listed = [detail, *map(str, problem.get("criteria") or []), *(each for each in errors if each not in detail)]
    return re.sub(r"\s+", " ", "; ".join(filter(None, listed)))


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"
