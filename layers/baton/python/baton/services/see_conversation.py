"""A conversation as a whole, and what a workflow has spent."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from baton.domain.handoff import budget_of
from baton.domain.history import conversation_in
from baton.domain.prompt import ask_in
from baton.services.converse import heard
from baton.services.find_conversation import find_conversation

if TYPE_CHECKING:
    from baton.domain.agent import Agent
    from baton.domain.loop_guard import Budget
    from baton.domain.principal import Principal
    from baton.domain.task import Task
    from baton.domain.transcript import Usage
    from baton.ports import Baton


@dataclass(frozen=True, slots=True, kw_only=True)
class Overview:
    """``holder``: the task of whoever has the conversation; ``agent``: who that is, None for open work that nobody has
    taken. ``message``: the first."""

    tasks: tuple[Task, ...]
    root: Task
    holder: Task
    agent: Agent | None
    message: str
    usage: Usage

    @property
    def is_open(self) -> bool:
        """Somebody still works on it, or is to."""
        return not all(task.is_ended for task in self.tasks)


def see_conversation(baton: Baton, by: Principal, conversation_id: str) -> Overview:
    """Five readings, of which the second takes one more for each hundred tasks. Who only does a part aside for it sees
    that, and not the message. Raises ``Unknown``."""
    workspace = by.workspace
    found = find_conversation(baton, workspace, conversation_id)
    root, holder, shown = found.root, found.holder, heard(baton, by, found)
    body = found.root_body or baton.store.bodies(workspace, [root.id]).get(root.id)
    conversation = conversation_in(body)
    _, usage = baton.store.usage(workspace, conversation_id, root.id)
    message = conversation.message if conversation else ask_in(body)
    return Overview(
        tasks=shown,
        root=root,
        holder=holder,
        agent=baton.store.agent(workspace, holder.agent) if holder.agent else None,
        message=message if root in shown else "",
        usage=usage,
    )


def spending(baton: Baton, workspace: str, workflow_id: str, root_id: str) -> tuple[Usage, Budget]:
    """What the workflow has spent so far, and its root's budget. Two readings."""
    _, usage = baton.store.usage(workspace, workflow_id, root_id)
    return usage, budget_of(baton.store.bodies(workspace, [root_id]).get(root_id))
