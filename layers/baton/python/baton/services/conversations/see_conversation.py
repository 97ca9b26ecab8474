"""An overview of a conversation, and a workflow's usage."""

from __future__ import annotations

from dataclasses import dataclass

from baton.domain.access.principal import Principal
from baton.domain.agents.agent import Agent
from baton.domain.runs import history
from baton.domain.runs.prompt import ask_in
from baton.domain.runs.transcript import Usage
from baton.domain.tasks.task import Task
from baton.ports.deps import Deps
from baton.services.conversations.converse import heard
from baton.steps.conversations.find_conversation import find_conversation, root_record


@dataclass(frozen=True, slots=True, kw_only=True)
class Overview:
    """A conversation as a whole."""

    tasks: tuple[Task, ...]
    root: Task
    holder: Task  # the task that holds the conversation
    agent: Agent | None  # the holder's agent; None for open work that nobody has claimed
    message: str  # the first message
    usage: Usage

    @property
    def is_open(self) -> bool:
        """True if work on it is not ended."""
        return not all(task.is_ended for task in self.tasks)


def see_conversation(deps: Deps, by: Principal, conversation_id: str) -> Overview:
    """Returns the overview. Five reads, the second of which takes one more for each hundred tasks. A caller that works
    only on a separate part of the conversation sees that part, without the message. Raises ``Unknown``."""
    workspace = by.workspace
    found = find_conversation(deps, workspace, conversation_id)
    root, holder, shown = found.root, found.holder, heard(deps, by, found)
    record = root_record(deps, found)
    conversation = history.conversation_in(record)
    _, usage = deps.store.runs.usage(workspace, conversation_id, root.id)
    message = conversation.message if conversation else ask_in(record)
    return Overview(
        tasks=shown,
        root=root,
        holder=holder,
        agent=deps.store.agents.agent(workspace, holder.agent) if holder.agent else None,
        message=message if root in shown else "",
        usage=usage,
    )
