"""A task's output and completion message. Small ones are attributes of HEAD, larger ones an item of their own that HEAD
names (docs/what-is-stored.md §4)."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from baton.adapters.dynamodb import keys, trail_items
from baton.adapters.dynamodb.item_writes import Item
from baton.domain.canonical_json import canonical_json
from baton.domain.numbers import loads
from baton.domain.tasks import tail
from baton.domain.tasks.event_type import EventType
from baton.domain.tasks.task import Task
from baton.domain.tasks.task_items import TaskOutput

# An item of its own takes a write unit for each started KB, a call, and a read unit for whoever looks. In HEAD so many
# bytes take one unit at most, and the HEAD of an ended task stays below the 4 KB that one read unit brings.
MAX_IN_HEAD_BYTES = 1_000


def output_parts(task: Task, output: TaskOutput) -> tuple[Item, Item | None]:
    """Returns the attributes of HEAD, and the item that has to be put before HEAD if the output is large. The item's
    key is a digest of its content: an attempt that loses leaves an item that no HEAD names, and no attempt ever
    changes what another one has put. ``task``: after the change."""
    texts = _texts(task, output)
    if sum(len(text.encode()) for text in texts.values()) <= MAX_IN_HEAD_BYTES:
        return dict(texts), None
    digest = hashlib.sha256(canonical_json(texts).encode()).hexdigest()[:32]
    key = keys.output(task.workspace, task.id, digest)
    return {"output_in": key.sk}, {**key._asdict(), **texts}


def output_named(head: Item) -> str | None:
    """Returns the sort key of the item that has the output; None if HEAD has it, or there is none."""
    return head.get("output_in")


def output_from(task: Task, found: Mapping[str, Item]) -> TaskOutput:
    """Reads what HEAD says of the output; of a task without one, None for both. ``found``: HEAD, and the item that it
    names, by sort key."""
    head = found[keys.HEAD]
    named = output_named(head)
    item = head if named is None else found.get(named, {})
    content = loads(item["output"]) if "output" in item else None
    if "completion" not in item:
        return TaskOutput(content)
    kept = loads(item["completion"])
    completion = kept if "completion_id" in kept else {**_told(task), **kept}
    return TaskOutput(content, dict(sorted(completion.items())))


def _texts(task: Task, output: TaskOutput) -> dict[str, str]:
    texts = {} if output.content is None else {"output": canonical_json(output.content)}
    if output.completion is None:
        return texts
    return {**texts, "completion": canonical_json(_kept(output.completion, _told(task)))}


def _kept(completion: dict[str, Any], told: dict[str, Any]) -> dict[str, Any]:
    """Returns the completion message without what its event tells. A message that has its id is whole."""
    is_of_event = told.keys() <= completion.keys() and completion.get("completion_id") == told.get("completion_id")
    if not (told and is_of_event):
        return completion
    return {name: value for name, value in completion.items() if name not in told or value != told[name]}


def _told(task: Task) -> dict[str, Any]:
    """Returns the fields of the completion message that a completion's event has; none after another end, or if the
    event was damaged. The check of the trail finds the damage, and the task stays readable."""
    with suppress(IndexError, *trail_items.UNREADABLE):
        last = task.meta.tail[-1]
        if last["type"] == EventType.HANDOFF_COMPLETED:
            data, ended = loads(last["data"]), tail.ended_in(last, task)
            return {
                "completion_id": data["completion_id"],
                "handoff_id": task.handoff_id,
                "source": {"agent": ended.agent if ended else ""},
                "status": data["status"],
                "timestamp": last["at"],
            }
    return {}
