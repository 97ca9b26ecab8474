"""A conversation's tasks, its root, and the task that holds it."""

from __future__ import annotations

from dataclasses import dataclass

from baton.domain import errors
from baton.domain.conversations.conversation_thread import Thread, thread_from
from baton.domain.handoffs import handoff_message
from baton.domain.runs import history
from baton.domain.tasks.task import Task
from baton.ports.deps import Deps


@dataclass(frozen=True, slots=True)
class FoundConversation:
    """The tasks of a conversation."""

    tasks: tuple[Task, ...]  # in the order of their creation
    root: Task
    thread: Thread
    root_record: handoff_message.HandoffMessage | None = None  # the root's record, if it had to be read

    @property
    def holder(self) -> Task:
        return self.thread.holder


def find_conversation(deps: Deps, workspace: str, conversation_id: str) -> FoundConversation:
    """Returns the tasks of any workflow, for its readers. Two reads, and one more if it has several roots. Raises
    ``Unknown``."""
    ids = [each.task_id for each in deps.store.workflows.members(workspace, conversation_id)]
    tasks, followed = deps.store.tasks.talk(workspace, ids) if ids else ({}, {})
    if not tasks:
        raise errors.Unknown("conversation")
    in_order = tuple(tasks[each] for each in sorted(tasks))
    root, record = _root(deps, in_order)
    return FoundConversation(in_order, root, thread_from(root, tasks, followed), record)


def root_record(deps: Deps, found: FoundConversation) -> handoff_message.HandoffMessage:
    """Returns the root's record. One read, unless it was read before."""
    root = found.root
    return found.root_record or handoff_message.message_from(
        deps.store.tasks.bodies(root.workspace, [root.id]).get(root.id)
    )


def _root(deps: Deps, tasks: tuple[Task, ...]) -> tuple[Task, handoff_message.HandoffMessage | None]:
    """The root that a user's message began, else the first: later roots may belong to others."""
    roots = sorted((task for task in tasks if task.is_root), key=lambda task: (task.created_at, task.id)) or [tasks[0]]
    if len(roots) == 1:
        return roots[0], None
    bodies = deps.store.tasks.bodies(roots[0].workspace, [each.id for each in roots])
    records = {task_id: handoff_message.message_from(body) for task_id, body in bodies.items()}
    conversations = [
        each for each in roots if each.id in records and history.conversation_in(records[each.id]) is not None
    ]
    root = (conversations or roots)[0]
    return root, records.get(root.id)
