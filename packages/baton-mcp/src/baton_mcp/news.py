"""What is new for an agent: two looks at Baton, and what happened in between."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

# States in which nobody has approved the task yet.
UNAPPROVED = "needs"


@dataclass(frozen=True, slots=True)
class Look:
    """What one look found. ``ready``: the agent's tasks that it may claim, ``waiting``: those that it handed off and
    that wait for approval, both by id; ``ended``: the inbox, by the item's id."""

    ready: Mapping[str, Any] = field(default_factory=dict)
    waiting: Mapping[str, Any] = field(default_factory=dict)
    ended: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class News:
    """``content``: for a model; ``meta``: short values, which Claude Code shows as attributes."""

    content: str
    meta: dict[str, str]


def news(before: Look, now: Look, states: Mapping[str, str]) -> Iterator[News]:
    """``states``: of the tasks that no longer wait for approval, as far as they are known."""
    for task_id in sorted(now.ready.keys() - before.ready.keys()):
        task = now.ready[task_id]
        said = "came back to you" if task["attempt"] else "is yours to claim"
        yield _told(
            "ready", task_id, task["title"], f"A task {said}, from {task['source_agent']}: claim_next takes it."
        )
    for task_id in sorted(before.waiting.keys() - now.waiting.keys()):
        state = states.get(task_id, UNAPPROVED)
        if state != UNAPPROVED and task_id not in {item["task_id"] for item in now.ended.values()}:
            yield _told(
                "approved", task_id, before.waiting[task_id]["title"], f"A handoff of yours was approved: {state}."
            )
    for item_id in sorted(now.ended.keys() - before.ended.keys()):
        item = now.ended[item_id]
        yield _told(
            item["state"], item["task_id"], item["title"], "A task that you handed off has ended: get_task shows it."
        )


def _told(event: str, task_id: str, title: str, sentence: str) -> News:
    """The title is its author's: it stands between quotation marks, in one line, and is cut."""
    shown = " ".join(title.split()).replace('"', "'")[:120]
    return News(f'{sentence} Its title, as its author wrote it: "{shown}"', {"event": event, "task_id": task_id})
