"""The tool calls that a run waits for, and what came of them."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, cast

from baton_client.errors import Refused
from baton_client.verbs import Question, read_object

Kind = Literal["hand_off", "approve", "ask"]
# What makes a question the one that a call asks.
_CONTENT = {"kind", "text", "tool", "arguments", "options", "form"}
_MASKED = re.compile(r"\[masked: [^\]]*\]")
# What a mask may stand for: otherwise it would stand for any other text.
_SECRET = re.compile(r"-----BEGIN .*|\S+", re.DOTALL)
_LEAST_MASKED = 8


@dataclass(frozen=True, slots=True)
class Call:
    """A tool call that a run waits for. ``call_id``: the framework's own, unique in the run. ``fields``: of the branch
    of a delegation (``target`` …), or of the question (``tool``, ``arguments``, ``options`` …)."""

    call_id: str
    kind: Kind
    text: str
    fields: Mapping[str, Any] = field(default_factory=dict[str, Any])

    @classmethod
    def hand_off(
        cls,
        call_id: str,
        to: str,
        reason: str,
        *,
        variables: Mapping[str, Any] | None = None,
        criteria: Sequence[str] = (),
        **more: Any,
    ) -> Call:
        """Another agent does a part of this work. ``more``: other fields of ``BranchRequest``."""
        fields: dict[str, Any] = {"target": {"agent": to, "reason": reason}, **more}
        if variables:
            fields["context"] = {**more.get("context", {}), "variables": dict(variables)}
        if criteria:
            wanted = {"type": "result", "description": reason, "acceptance_criteria": list(criteria)}
            fields["expectations"] = {"deliverables": [wanted]}
        return cls(call_id, "hand_off", reason, fields)

    @classmethod
    def approve(cls, call_id: str, tool: str, arguments: Mapping[str, Any], why: str = "", **more: Any) -> Call:
        """People say whether an action may be done. ``more``: ``people``, ``group``, ``needed``, ``until``."""
        return cls(
            call_id, "approve", why or f"May {tool} be done?", {"tool": tool, "arguments": dict(arguments), **more}
        )

    @classmethod
    def ask(cls, call_id: str, text: str, *, options: Sequence[str] = (), **more: Any) -> Call:
        """People answer a question. ``more``: ``form``, ``people``, ``group``, ``needed``, ``until``."""
        return cls(call_id, "ask", text, {**({"options": list(options)} if options else {}), **more})

    @property
    def question(self) -> dict[str, Any]:
        """Returns the body with which it is asked, but for the claim."""
        kind = "form" if self.fields.get("form") else "choice" if self.fields.get("options") else "text"
        return {"kind": "action" if self.kind == "approve" else kind, "text": self.text, **self.fields}

    def is_asked_by(self, question: Mapping[str, Any]) -> bool:
        return all(_is_kept_as(value, question.get(name)) for name, value in self.question.items() if name in _CONTENT)


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of a call. ``value``: the colleague's output, the answer, or the arguments that were approved.
    ``said``: the same, or why not, for a model. ``question_id`` and ``digest``: of what people decided."""

    call_id: str
    kind: Kind
    is_good: bool
    value: Any
    said: str
    question_id: str = ""
    digest: str = ""


def _is_kept_as(said: Any, kept: Any) -> bool:
    """Whether Baton keeps ``said`` as ``kept``: a guardrail may have masked secrets in its texts."""
    if isinstance(said, str) and isinstance(kept, str):
        return said == kept or _is_masked_as(said, kept)
    if isinstance(said, Mapping) and isinstance(kept, Mapping):
        ours, theirs = cast("Mapping[str, Any]", said), cast("Mapping[str, Any]", kept)
        return ours.keys() == theirs.keys() and all(_is_kept_as(each, theirs[name]) for name, each in ours.items())
    if isinstance(said, (list, tuple)) and isinstance(kept, list):
        both = cast("Sequence[Any]", said), cast("Sequence[Any]", kept)
        return len(both[0]) == len(both[1]) and all(map(_is_kept_as, *both))
    return bool(said == kept)


def _is_masked_as(said: str, kept: str) -> bool:
    first, *others = _MASKED.split(kept)
    if not others or not said.startswith(first):
        return False
    at = len(first)
    for number, after in enumerate(others, 1):
        end = said.find(after, at + _LEAST_MASKED) if number < len(others) else len(said) - len(after)
        if end - at < _LEAST_MASKED or not said.startswith(after, end) or not _SECRET.fullmatch(said, at, end):
            return False
        at = end + len(after)
    return True


def branch_id(call_id: str) -> str:
    """Returns the id as a branch may have it: some models' ids have other characters, or hundreds of them."""
    return call_id if re.fullmatch(r"[A-Za-z0-9_-]{1,64}", call_id) else hashlib.sha256(call_id.encode()).hexdigest()


def named_by(branches: Sequence[Call], refused: Refused) -> Sequence[Call]:
    """Returns the branches that the refusal names; all, if it names none."""
    places = [re.match(r"branches\W(\d+)", str(each.get("field"))) for each in refused.errors]
    numbers = {int(each[1]) for each in places if each}
    return [each for number, each in enumerate(branches) if number in numbers] or branches


def outcome_of_result(call_id: str, result: Mapping[str, Any]) -> Outcome:
    is_good = result["state"] == "done"
    left_out = result.get("left_out") or ()
    elsewhere = f"too long to come along: task {result['task_id']} has it"
    failure = read_object(result, "failure") if result.get("failure") else {}
    inner = read_object(failure, "failure") if failure.get("failure") else {}
    unsaid = f"why is {elsewhere}" if "failure" in left_out else "it doesn't say why"
    why = failure.get("description") or inner.get("description") or unsaid
    said = f"{result['agent'] or 'nobody'}: {result['state']}" + ("" if is_good else f", {why}")
    value = f"What it said is {elsewhere}" if is_good and "output" in left_out else result.get("output")
    return Outcome(call_id, "hand_off", is_good, value, said)


def outcome_of_question(call: Call, question: Question) -> Outcome:
    if question.is_approved:
        digest = str(question.raw.get("approved_digest") or "")
        return Outcome(call.call_id, call.kind, True, question.arguments, "approved", question.id, digest)
    if question.outcome == "answered":
        return Outcome(call.call_id, call.kind, True, question.answer, "answered", question.id)
    words = {"refused": "refused by a person", "expired": "nobody decided in time", "revoked": "taken back by a person"}
    why = f": {question.reason}" if question.reason else ""
    said = words.get(question.outcome, question.outcome) + why
    return Outcome(call.call_id, call.kind, False, None, said, question.id)
