"""A conversation's place in the list: attributes of its root's entry in the workflow."""

from __future__ import annotations

from baton.adapters.dynamodb import keys
from baton.adapters.dynamodb.item_writes import Item
from baton.domain.conversations.begun_conversation import BegunConversation


def begun_item(workspace: str, conversation: BegunConversation) -> Item:
    place = keys.conversation_index_key(workspace, conversation.root_id)
    return {"queue_pk": place.pk, "queue_sk": place.sk, "source_agent": conversation.begun_by}


def begun_from(entry: Item) -> BegunConversation:
    """From an entry of the index."""
    return BegunConversation(keys.parse_members(entry["pk"]), entry["queue_sk"], entry["source_agent"])
