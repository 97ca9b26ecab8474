"""Reads the list of conversations, and many conversations at once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial

from baton.adapters.dynamodb import keys
from baton.adapters.dynamodb.conversations.conversation_items import begun_from
from baton.adapters.dynamodb.table import Table
from baton.domain.lru_cache import LruCache
from baton.ports.conversations import TalkTasks
from baton.ports.handoffs import WorkflowStore
from baton.ports.paging import Page
from baton.ports.tasks import TaskStore

# Entries of the list in one read, where most of them may be somebody else's.
ENTRIES_AT_ONCE = 500
# The most tasks that one look at several conversations reads.
MAX_TASKS = 1_000
# The most conversations that a process keeps for its lists, and the most tasks of one that is kept.
MAX_KEPT, MAX_KEPT_TASKS = 200, 20

Members = tuple[str, ...]


class ConversationReads:
    def __init__(self, table: Table, tasks: TaskStore, workflows: WorkflowStore) -> None:
        self._table, self._tasks, self._workflows = table, tasks, workflows
        self._kept_talks: LruCache[tuple[str, str, Members], TalkTasks] = LruCache(MAX_KEPT)

    def begun(self, workspace: str, limit: int, cursor: str | None, begun_by: str | None = None) -> Page:
        at_once = limit if begun_by is None else max(limit, ENTRIES_AT_ONCE)
        entries, after = self._table.newest(keys.conversations(workspace), at_once, cursor, keys.QUEUE_INDEX)
        found = [each for each in map(begun_from, entries) if begun_by in {None, each.begun_by}]
        shown = tuple(found[:limit])
        return Page(shown, shown[-1].root_id if len(found) > limit else after)

    def talks(self, workspace: str, conversation_ids: Sequence[str]) -> dict[str, TalkTasks]:
        members = _that_fit(self._members(workspace, conversation_ids))
        found = {each: self._kept_talks.get((workspace, each, members[each])) for each in members}
        unread = [each for each, talk in found.items() if talk is None]
        tasks, followed = self._tasks.talk(workspace, [task_id for each in unread for task_id in members[each]])
        read = {
            each: TalkTasks(
                {task_id: tasks[task_id] for task_id in members[each] if task_id in tasks},
                {task_id: followed[task_id] for task_id in members[each] if task_id in followed},
            )
            for each in unread
        }
        for each, talk in read.items():
            if _is_over(talk, members[each]):
                self._kept_talks.keep((workspace, each, members[each]), talk)
        return {each: talk or read[each] for each, talk in found.items()}

    def _members(self, workspace: str, conversation_ids: Sequence[str]) -> dict[str, Members]:
        found: dict[str, Members] = {}

        def read(conversation_id: str) -> None:
            found[conversation_id] = tuple(each.task_id for each in self._workflows.members(workspace, conversation_id))

        self._table.together([partial(read, each) for each in conversation_ids])
        return {each: found[each] for each in conversation_ids}


def _that_fit(members: Mapping[str, Members]) -> dict[str, Members]:
    """Returns the first ones, as far as one look goes."""
    fitting: dict[str, Members] = {}
    left = MAX_TASKS
    for each, task_ids in members.items():
        left -= len(task_ids)
        if left < 0 and fitting:
            break
        fitting[each] = task_ids
    return fitting


def _is_over(talk: TalkTasks, members: Members) -> bool:
    """True if nothing of it changes while it has no more members: an ended task never changes (docs/invariants.md), and
    a message and a retry come with a task of their own."""
    is_whole = len(talk.tasks) == len(members) and talk.tasks.keys() >= set(talk.followed.values())
    return is_whole and len(members) <= MAX_KEPT_TASKS and all(task.is_ended for task in talk.tasks.values())
