"""What a claimed task, and what came of a call, say to a model: what somebody wrote is data, and no instruction."""

from __future__ import annotations

from typing import Any, cast

from baton_client.claims import WorkVerbs
from baton_client.texts import as_data, one_line, visible
from baton_client.verbs import Task

# Of an action whose approval can't be used (any more).
MAY_BE_DONE = (
    "Not done now: an attempt that was interrupted has used the approval, or it was taken back. The action may have "
    "been done already. Look before you go on; to do it again, ask again."
)
# The fields of a handoff that only Baton needs, or that other lines or the memory show.
_KNOWN = {"handoff_id", "hops", "kind", "timestamp", "conversation", "auto_snapshot", "auto_memories", "snapshot"}
_KNOWN_OF_A_PART = {
    "source": {"agent"},
    "target": {"agent", "reason"},
    "expectations": {"deliverables", "constraints", "estimated_duration"},
    "metadata": {"depth", "parent_handoff", "priority", "workflow_id"},
}


def prompt_of(work: WorkVerbs, *, report: str = "Report on each of these, word for word, with evidence:") -> str:
    """Returns the handoff as a text: what is asked, under ``report`` the criteria, and as data the rest of the
    handoff."""
    lines, expected = [visible(work.reason)], _expectations(work)
    if criteria := criteria_of(work):
        lines += ["", report, *(f"- {one_line(each)}" for each in criteria)]
    for each in expected.get("deliverables") or ():
        files = f" (files: {', '.join(each['files'])})" if each.get("files") else ""
        if each.get("description") or files:
            lines.append(f"Deliver: {one_line(each.get('description') or str(each.get('type')))}{one_line(files)}")
    lines += [f"Keep to this: {one_line(each)}" for each in expected.get("constraints") or ()]
    if duration := expected.get("estimated_duration"):
        lines.append(f"Estimated duration: {one_line(duration)}")
    if data := _rest(work):
        lines += ["", as_data("what came with the task", data)]
    return "\n".join(lines)


def _rest(work: WorkVerbs) -> dict[str, Any]:
    """Returns everything of the handoff that the other lines of the prompt don't have."""
    body = {name: value for name, value in work.brief.items() if name not in _KNOWN}
    for part, known in _KNOWN_OF_A_PART.items():
        if isinstance(found := body.get(part), dict):
            found = cast("dict[str, Any]", found)
            body[part] = {name: each for name, each in found.items() if name not in known and each is not None}
    came = {**body, "recoveries": work.raw["recoveries"], "memory": work.raw["memory"]}
    return {name: value for name, value in came.items() if value}


def criteria_of(work: WorkVerbs) -> list[str]:
    """Returns each acceptance criterion once, in their order."""
    wanted = _expectations(work).get("deliverables") or ()
    return list(dict.fromkeys(each for one in wanted for each in one.get("acceptance_criteria") or ()))


def told(task: Task) -> str:
    """Returns what came of a task that another agent did."""
    if task.is_done:
        return as_data("what it said", task.output)
    if task.has_ended:
        return as_data(f"it is {task.state}", (task.failure or {}).get("description") or "it doesn't say why")
    return f"It isn't done yet, and goes on: task {task.id} is {task.state}."


def criterion_meant(work: WorkVerbs, shown: str) -> str | None:
    """Returns the criterion that a model has seen as this; None for another text."""
    return next((each for each in criteria_of(work) if shown in (each, one_line(each))), None)


def _expectations(work: WorkVerbs) -> dict[str, Any]:
    found: object = work.brief.get("expectations")
    return cast("dict[str, Any]", found) if isinstance(found, dict) else {}
