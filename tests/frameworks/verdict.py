"""The judge of the kills: what is wrong with the tasks that killed workers did. Each has one handoff to a colleague,
one action that people approve, with an effect, and one other question."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from support.worlds.tenant import Tenant

LOST = ("heartbeat_lost", "requeued")  # what a trail tells of a worker's death


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """A task's state at the end. ``handed``: titles of its handoffs to the colleague. ``questions``: the id,
    the tool or None, the text, and whether the approval was used. ``approved``: the approved arguments by question.
    ``events``: the types of its trail's events. ``is_forged``: its run was forged."""

    task_id: str
    state: str
    failure: Any
    handed: Sequence[str]
    questions: Sequence[tuple[str, str | None, str, bool]]
    events: Sequence[str]
    trail_matches: bool
    approved: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    is_forged: bool = False


def found(room: Tenant, task_id: str, forged: Collection[str] = ()) -> Found:
    task, verified = room.human.get(f"/tasks/{task_id}"), room.human.get(f"/tasks/{task_id}/events/verify")
    (root,) = room.human.get(f"/workflows/{task['workflow_id']}/chain")["nodes"]
    asked = room.human.get(f"/tasks/{task_id}/questions?limit=100")["items"]
    return Found(
        task_id=task_id,
        state=task["state"],
        failure=task["failure"],
        handed=[each["title"] for each in root["children"] if each["target_agent"] == "tester"],
        questions=[(each["id"], each["tool"], each["text"], bool(each["used_at"])) for each in asked],
        events=list(_trail(room, task_id)),
        trail_matches=verified["matches_task"],
        approved={each["id"]: each["approved_arguments"] for each in asked if each["approved_arguments"]},
        is_forged=task_id in forged,
    )


def _trail(room: Tenant, task_id: str) -> Iterator[str]:
    after = 0
    while page := room.human.get(f"/tasks/{task_id}/events?limit=100&after={after}")["events"]:
        yield from (each["type"] for each in page)
        after = page[-1]["seq"]


def tasks_of(room: Tenant, agent: str) -> list[str]:
    """Returns the ids of all tasks that an agent ever had."""
    ids, cursor = [], ""
    while True:
        page = room.human.get(f"/tasks?agent={agent}&limit=100{cursor}")
        ids += [each["id"] for each in page["items"]]
        if page["next_cursor"] is None:
            return ids
        cursor = f"&cursor={page['next_cursor']}"


def wrongs(tasks: Sequence[Found], effects: Sequence[str], handed: int) -> Iterator[str]:
    """``effects``: the key of each effect that was done, its task's id or its question's. ``handed``: how many tasks
    the colleague ever had."""
    done, keys = Counter(effects), set[str]()
    for task in tasks:
        yield from _of(task)
        for question_id, tool, _, is_used in task.questions:
            if tool is None:
                continue
            its = {question_id, task.task_id} & set(done)
            keys |= its
            if its and not is_used:
                yield f"{task.task_id} has its effect without an approval"
            # An effect with the task's id as its key records the argument of its call.
            elif task.task_id in its and task.task_id not in task.approved.get(question_id, {}).values():
                yield f"{task.task_id} has an effect of other arguments than the approved ones"
            if not its and is_used and not _died_after_use(task.events) and not task.is_forged:
                yield f"{task.task_id} lost its effect, and no worker died then"
    yield from (f"the effect {key} is done {count} times" for key, count in done.items() if count > 1)
    yield from (f"the effect {key} is nobody's" for key in done.keys() - keys)
    if handed != (told := sum(len(task.handed) for task in tasks)):
        yield f"the colleague had {handed} tasks, and {told} are a task's"


def _of(task: Found) -> Iterator[str]:
    if task.is_forged:  # its attempts fail, and do nothing
        if not task.trail_matches:
            yield f"the trail of {task.task_id} doesn't match"
        return
    if task.state != "done":
        yield f"{task.task_id} is {task.state}: {task.failure}"
    if len(task.handed) != 1:
        yield f"{task.task_id} hands off {len(task.handed)} times: {list(task.handed)}"
    for kind, count in (("actions", _count(task, True)), ("questions", _count(task, False))):
        if count != 1:
            yield f"{task.task_id} asks {count} {kind}: {[text or tool for _, tool, text, _ in task.questions]}"
    if not task.trail_matches:
        yield f"the trail of {task.task_id} doesn't match"


def _count(task: Found, is_action: bool) -> int:
    return sum((tool is not None) == is_action for _, tool, _, _ in task.questions)


def _died_after_use(events: Sequence[str]) -> bool:
    """An approval is used just before the effect: between them nothing is told of but a death."""
    after = events[events.index("approval_used") + 1 :]
    return bool(after) and after[0] in LOST
