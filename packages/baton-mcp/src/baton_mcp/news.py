"""News for an agent: what has happened between two snapshots of its work."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from baton_client.texts import HIDING

# The states of a task that was approved and hasn't ended. An ended one is in the inbox.
APPROVED = {"delegated", "next", "claimed", "waiting"}


@dataclass(frozen=True, slots=True)
class AgentSnapshot:
    """What one look at Baton found. ``ready``: the tasks that the agent may claim, by id and attempt. ``waiting``: the
    tasks that it handed off and that wait for approval, by id. ``ended``: the items of its inbox, by id.
    ``due_seconds``: in how many seconds the next of its tasks may be claimed, None if none is to come."""

    ready: Mapping[tuple[str, int], Any] = field(default_factory=dict)
    waiting: Mapping[str, Any] = field(default_factory=dict)
    ended: Mapping[str, Any] = field(default_factory=dict)
    due_seconds: float | None = None


@dataclass(frozen=True, slots=True)
class News:
    """``content``: for a model; ``meta``: short values, which Claude Code shows as attributes."""

    content: str
    meta: dict[str, str]


def news(before: AgentSnapshot, now: AgentSnapshot, states: Mapping[str, str]) -> Iterator[News]:
    """Yields what has happened. ``states``: the known states of the tasks that don't wait for approval any more."""
    for task_id, attempt in sorted(now.ready.keys() - before.ready.keys()):
        task = now.ready[task_id, attempt]
        event, said = ("came_back", "came back to you") if attempt else ("ready", "is yours to claim")
        sentence = f"A task {said}, from {task['source_agent']}: claim_next takes it."
        yield _told(event, task_id, task["title"], sentence)
    for task_id in sorted(before.waiting.keys() - now.waiting.keys()):
        state = states.get(task_id)
        if state in APPROVED and task_id not in {item["task_id"] for item in now.ended.values()}:
            sentence = f"A handoff of yours was approved: {state}."
            yield _told("approved", task_id, before.waiting[task_id]["title"], sentence)
    for item_id in sorted(now.ended.keys() - before.ended.keys()):
        item = now.ended[item_id]
        yield _told(
            item["state"], item["task_id"], item["title"], "A task that you handed off has ended: get_task shows it."
        )


def _told(event: str, task_id: str, title: str, sentence: str) -> News:
    """Returns the news. The title is its author's text: it is quoted, in one line, without hidden characters, and
    cut."""
    seen = "".join(each for each in re.sub(HIDING, "", title) if each.isprintable() or each.isspace())
    shown = " ".join(seen.split()).replace('"', "'")[:120]
    return News(f'{sentence} Its title, as its author wrote it: "{shown}"', {"event": event, "task_id": task_id})
