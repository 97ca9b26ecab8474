"""A conversation's place in the list: attributes of its root's entry in the workflow."""

from __future__ import annotations

from baton.adapters.dynamodb import keys
from baton.adapters.dynamodb.item_writes import Item
from baton.domain.conversations.begun_conversation import BegunConversation
from baton.domain.tasks.task import Task


def begun_item(root: Task, begun_by: str) -> Item:
    """Returns the place of a conversation in the list of all, for the task that begins it."""
    place = keys.place(keys.QUEUE_INDEX, keys.conversation_index_key(root.workspace, root.id))
    return {**place, "source_agent": begun_by}


def begun_from(entry: Item) -> BegunConversation:
    """From an entry of the index."""
    return BegunConversation(keys.parse_members(entry["pk"]), entry["queue_sk"], entry["source_agent"])
