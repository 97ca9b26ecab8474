"""A conversation's tasks, its root, and the task that holds it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from baton.domain.conversations.conversation_thread import thread_from
from baton.domain.errors import Unknown
from baton.domain.runs.history import conversation_in

if TYPE_CHECKING:
    from baton.domain.conversations.conversation_thread import Thread
    from baton.domain.tasks.task import Task
    from baton.ports import Deps


@dataclass(frozen=True, slots=True)
class FoundConversation:
    """The tasks of a conversation."""

    tasks: tuple[Task, ...]  # in the order of their creation
    root: Task
    thread: Thread
    root_body: dict[str, Any] | None = None  # the root's record, if it had to be read

    @property
    def holder(self) -> Task:
        return self.thread.holder


def find_conversation(deps: Deps, workspace: str, conversation_id: str) -> FoundConversation:
    """Returns the tasks of any workflow, for its readers. Two reads, and one more if it has several roots. Raises
    ``Unknown``."""
    ids = [each.task_id for each in deps.store.workflow(workspace, conversation_id)]
    tasks, followed = deps.store.talk(workspace, ids) if ids else ({}, {})
    if not tasks:
        raise Unknown("conversation")
    in_order = tuple(tasks[each] for each in sorted(tasks))
    root, body = _root(deps, in_order)
    return FoundConversation(in_order, root, thread_from(root, tasks, followed), body)


def root_body(deps: Deps, found: FoundConversation) -> dict[str, Any] | None:
    """Returns the root's record. One read, unless it was read before."""
    return found.root_body or deps.store.bodies(found.root.workspace, [found.root.id]).get(found.root.id)


def _root(deps: Deps, tasks: tuple[Task, ...]) -> tuple[Task, dict[str, Any] | None]:
    """The root that a user's message began, else the first: later roots may belong to others."""
    roots = sorted((task for task in tasks if task.is_root), key=lambda task: (task.created_at, task.id)) or [tasks[0]]
    if len(roots) == 1:
        return roots[0], None
    bodies = deps.store.bodies(roots[0].workspace, [each.id for each in roots])
    conversations = [each for each in roots if conversation_in(bodies.get(each.id)) is not None]
    root = (conversations or roots)[0]
    return root, bodies.get(root.id)
