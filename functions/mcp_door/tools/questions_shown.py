"""Questions to people in the words of a tool's answer. What people said is theirs."""

from __future__ import annotations

from typing import Any

from mcp_door.tools import texts
from mcp_door.tools.tool import Said

NEXT_STEPS = {
    "open": "ask_person with the question_id looks again, and with wait_seconds waits; heartbeat keeps your claim "
    "meanwhile; ask_person with give_up_claim frees you for other work: the task comes back by claim_next",
    "answered": "go on with the answer",
    "approved": "ask_person with the question_id and the digest as use begins it; then do exactly this, once",
    "refused": "don't do it; go on without it, or end with fail",
    "revoked": "don't do it, a human took the approval back; go on without it, or end with fail",
    "expired": "nobody decided, which is no yes: don't do it; ask_person with another text asks anew; or end with fail",
    "withdrawn": "nobody answers it any more; get_task shows the task",
}
USED = (
    "don't do it again; check its effect; report the outcome with complete or fail; if it has to be executed again, "
    "ask_person with another text asks people again"
)
BEGUN = "do exactly this now, once: not again if you have done it since; then work on, and end with complete or fail"
OTHERS = ("answer", "reason", "arguments")


def told(question: dict[str, Any]) -> Said:
    """Returns what has become of a question."""
    lines = [f"{question['id']} is {question['outcome']}; it is over at {question['until']}."]
    data = {"question_id": question["id"], "outcome": question["outcome"], "until": question["until"]}
    if question["outcome"] != "open" and question["decisions"]:
        last = question["decisions"][-1]
        for name in ("answer", "reason"):
            if last[name] is not None:
                data[name] = last[name]
                lines += texts.block(f"human:{last['by']}", name, last[name])
    if question["approved_digest"]:
        lines += _action(question)
        data |= {"digest": question["approved_digest"], "tool": question["tool"], "arguments": approved(question)}
    if question["used_at"]:
        lines.append(
            f"Used at {question['used_at']} by {question['agent']}. The action may have been executed already."
        )
        data["used_at"] = question["used_at"]
    return Said(lines, USED if question["used_at"] else NEXT_STEPS[question["outcome"]], data, OTHERS)


def given_up(question: dict[str, Any]) -> Said:
    lines = [f"{question['id']} is open until {question['until']}. Your claim on {question['task_id']} is over."]
    data = {"question_id": question["id"], "outcome": "open", "until": question["until"], "claim_is_over": True}
    return Said(lines, "claim_next for other work, and for this one with the answer once it is there", data)


def begun(question: dict[str, Any]) -> Said:
    data = {"question_id": question["id"], "used_at": question["used_at"], "tool": question["tool"]}
    data["arguments"] = approved(question)
    lines = [f"Begun at {question['used_at']}.", *_action(question)]
    return Said(lines, BEGUN, data, ("arguments",))


def approved(question: dict[str, Any]) -> Any:
    """Returns the arguments that were approved, which people may have changed."""
    changed = question["decisions"][-1]["arguments"]
    return question["arguments"] if changed is None else changed


def _action(question: dict[str, Any]) -> list[str]:
    is_changed = question["approved_digest"] != question["digest"]
    author = f"human:{question['decisions'][-1]['by']}" if is_changed else question["agent"]
    lines = [f"Approved digest: {question['approved_digest']}, of {texts.line(question['tool'])}."]
    lines += ["These aren't the arguments that you asked for."] if is_changed else []
    return [*lines, *texts.block(author, "arguments", approved(question))]
