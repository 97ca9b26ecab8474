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
# Beside the reason: what came with a task.
_CAME = ("summary", "results", "context", "rollback", "recoveries", "memory")


def prompt_of(work: WorkVerbs, *, report: str = "Report on each of these, word for word, with evidence:") -> str:
    """Returns the handoff as a text: what is asked, under ``report`` the criteria, and as data what came with it."""
    lines = [visible(work.reason)]
    if criteria := criteria_of(work):
        lines += ["", report, *(f"- {one_line(each)}" for each in criteria)]
    lines += [f"Keep to this: {one_line(each)}" for each in _expectations(work).get("constraints") or ()]
    came = {**work.brief, "recoveries": work.raw["recoveries"], "memory": work.raw["memory"]}
    if data := {name: came[name] for name in _CAME if came.get(name)}:
        lines += ["", as_data("what came with the task", data)]
    return "\n".join(lines)


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
