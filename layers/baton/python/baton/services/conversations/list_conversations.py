"""Finds conversations: the latest begun first."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from baton.domain.access.principal import Principal
from baton.domain.agents.agent import Roster
from baton.domain.conversations.begun_conversation import BegunConversation
from baton.domain.conversations.conversation_thread import Thread, thread_from
from baton.domain.tasks.task import Task
from baton.ports.conversations import TalkTasks
from baton.ports.deps import Deps
from baton.ports.paging import Page
from baton.steps.access.read_rights import ReadRights
from baton.steps.filtering import filtered


@dataclass(frozen=True, slots=True, kw_only=True)
class ConversationFilter:
    """Which conversations to list."""

    begun_by: str | None = None  # a principal's key
    is_open: bool | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ListedConversation:
    """A conversation as it is now."""

    root: Task
    thread: Thread
    tasks: Sequence[Task]
    agent_name: str | None  # of the holder's agent; None for open work that nobody has claimed

    @property
    def holder(self) -> Task:
        return self.thread.holder

    @property
    def is_open(self) -> bool:
        """True if work on it is not ended."""
        return not all(task.is_ended for task in self.tasks)

    @property
    def updated_at(self) -> datetime:
        """The time of the latest change of one of its tasks."""
        return max(task.meta.updated_at for task in self.tasks)


def list_conversations(deps: Deps, by: Principal, criteria: ConversationFilter, limit: int, cursor: str | None) -> Page:
    """Returns the conversations that the caller takes part in, of those that the filter accepts; one that it works on a
    separate part of isn't among them. A page may be shorter than ``limit``."""
    rights = ReadRights(deps, by)

    def takes(each: ListedConversation) -> bool:
        if criteria.is_open not in {None, each.is_open}:
            return False
        return rights.may_read_any(task for task in each.tasks if task.id in each.thread.walked)

    return filtered(lambda size, at: _page(deps, by.workspace, criteria, size, at), takes, limit, cursor)


def _page(deps: Deps, workspace: str, criteria: ConversationFilter, limit: int, cursor: str | None) -> Page:
    begun = deps.store.conversations.begun(workspace, limit, cursor, criteria.begun_by)
    if not begun.items:
        return begun
    talks = deps.store.conversations.talks(workspace, [each.id for each in begun.items])
    roster = deps.store.agents.roster(workspace)
    read = [each for each in begun.items if each.id in talks]
    found = (_listed(each, talks[each.id], roster) for each in read)
    is_all = len(read) == len(begun.items)
    return Page(tuple(filter(None, found)), begun.cursor if is_all else read[-1].root_id)


def _listed(begun: BegunConversation, talk: TalkTasks, roster: Roster) -> ListedConversation | None:
    """Returns None for a conversation without its root: an operator is removing the workspace's data."""
    root = talk.tasks.get(begun.root_id)
    if root is None:
        return None
    thread = thread_from(root, talk.tasks, talk.followed)
    agent = roster.find(thread.holder.agent) if thread.holder.agent else None
    tasks = tuple(talk.tasks.values())
    return ListedConversation(root=root, thread=thread, tasks=tasks, agent_name=agent.name if agent else None)
