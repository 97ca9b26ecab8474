"""The tool calls that a run waits for, and what came of them."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, Literal

from baton_client.canonical import digest_of, plain
from baton_client.errors import Refused
from baton_client.texts import as_data, one_line
from baton_client.verbs import Question, read_object

Kind = Literal["hand_off", "approve", "ask"]
# The fields of a question that its digest covers, as they are where a call leaves them out.
_UNSAID: Mapping[str, Any] = {
    **dict.fromkeys(("tool", "group", "form", "until")),
    "arguments": {},
    "options": [],
    "people": [],
    "needed": 1,
    "not_author": False,
}


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

    @property
    def asked_digest(self) -> str:
        """The ``asked_digest`` that Baton shows for a question of this call: of its content and approvers."""
        sent = {**_UNSAID, **self.question}
        return digest_of({**sent, "until": sent["until"] and _in_utc(str(sent["until"]))})


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


@dataclass(frozen=True, slots=True)
class Receipt:
    """The action that the server allows now, once: ``tool`` with ``arguments``. ``refusal``: why nothing may be done,
    for a
    model; empty otherwise. ``is_changed``: a person approved other arguments than were asked for. ``question_id``: the
    same in each attempt, so it is an effect key."""

    tool: str
    arguments: Mapping[str, Any]
    refusal: str = ""
    is_changed: bool = False
    question_id: str = ""

    @property
    def is_good(self) -> bool:
        return not self.refusal

    @property
    def note(self) -> str:
        """The notice to the model about changed arguments; empty if they are unchanged."""
        said = f"A person changed the arguments. {as_data('the approved input', self.arguments)}\n"
        return said if self.is_changed else ""


def _in_utc(until: str) -> str:
    """Returns a time as Baton writes it."""
    try:
        at = datetime.fromisoformat(until)
    except ValueError:
        return until  # Baton refuses the question
    return at.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


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
    why = failure.get("description") or inner.get("description")
    said = f"{result['agent'] or 'nobody'}: {result['state']}"
    said += "" if is_good else f", {as_data('why', why) if why else unsaid}"
    value = f"What it said is {elsewhere}" if is_good and "output" in left_out else result.get("output")
    return Outcome(call_id, "hand_off", is_good, value, said)


def outcome_of_question(call: Call, question: Question) -> Outcome:
    if question.is_approved:
        digest, arguments = str(question.raw.get("approved_digest") or ""), plain(question.arguments)
        return Outcome(call.call_id, call.kind, True, arguments, "approved", question.id, digest)
    if question.outcome == "answered":
        return Outcome(call.call_id, call.kind, True, plain(question.answer), "answered", question.id)
    words = {"refused": "refused by a person", "expired": "nobody decided in time", "revoked": "taken back by a person"}
    why = f": {one_line(question.reason)}" if question.reason else ""
    said = words.get(question.outcome, question.outcome) + why
    return Outcome(call.call_id, call.kind, False, None, said, question.id)
