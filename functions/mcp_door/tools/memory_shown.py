"""What a workspace knows, in the words of a tool's answer. Each line names its author; all of it is theirs."""

from __future__ import annotations

from typing import Any

from mcp_door.tools import texts

MEMBERS = "members of the workspace"


def memory_lines(memory: dict[str, Any] | None) -> list[str]:
    """Returns what a claim brings: what was known at the handoff, what has changed since, and what fits the work."""
    if memory is None:
        return []
    lines: list[str] = []
    if memory["snapshot"] and memory["snapshot"]["summaries"]:
        known = "\n".join(map(_known, memory["snapshot"]["summaries"], memory["snapshot"]["posted_by"]))
        lines += texts.block(MEMBERS, f"known of {texts.line(memory['snapshot']['scope'])} at the handoff", known)
    if changed := _changed(memory["drift"]):
        lines += texts.block(MEMBERS, "changed since", "\n".join(changed))
    if memory["auto_memories"]:
        lines += texts.block(MEMBERS, "may help", "\n".join(map(entry_line, memory["auto_memories"])))
    return lines


def _known(summary: str, posted_by: str) -> str:
    """Returns the quoted summary, with its author before it: no text can sign for somebody else."""
    return f"by {texts.line(posted_by)}: {texts.quoted(summary)}"


def _changed(drift: dict[str, Any] | None) -> list[str]:
    if drift is None:
        return []
    ended = [
        f"{each['id']} {texts.quoted(each['summary'])} was {each['how']} by {texts.line(each['by'])}{_instead(each)}"
        for each in drift["decisions_superseded"]
    ]
    taken_back = [
        f"{each['entry_type']} {each['id']} was {each['how']} by {texts.line(each['by'])}"
        for each in drift["entries_taken_back"]
    ]
    return [*ended, *taken_back, *(f"new {entry_line(each)}" for each in drift["warnings_added"])]


def _instead(ended: dict[str, Any]) -> str:
    return f"; instead: {texts.quoted(ended['instead'])}" if ended["instead"] else ""


def entry_line(entry: dict[str, Any]) -> str:
    """Returns an entry in one line."""
    place = f"{entry['entry_type']} {entry['id']} by {texts.line(entry['posted_by'])} in {texts.line(entry['scope'])}"
    detail = f" · {texts.quoted(entry['detail'])}" if entry["detail"] else ""
    return f"{place}: {texts.quoted(entry['summary'])}{detail}"


def found_lines(entries: list[dict[str, Any]]) -> list[str]:
    """Returns entries that were found, each with its reasons and what it replaced."""
    return texts.block(MEMBERS, "what is known", "\n".join(each for entry in entries for each in _whole(entry)))


def _whole(entry: dict[str, Any]) -> list[str]:
    status = f" [{entry['status']}]" if entry["status"] else ""
    lines = [f"{entry_line(entry)}{status}"]
    if entry["rationale"]:
        lines.append(f"  because {texts.quoted(entry['rationale'])}")
    return [*lines, *(f"  instead of {each['id']} {texts.quoted(each['summary'])}" for each in entry["replaced"])]
