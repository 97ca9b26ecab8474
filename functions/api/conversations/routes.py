"""Conversations with agents, and their messages."""

from __future__ import annotations

from api.conversations.requests import ConversationRequest, MessageQuery, MessageRequest
from api.conversations.views import (
    AskedView,
    ConversationView,
    MessagePage,
    asked_view,
    conversation_view,
    message_view,
)
from baton.ports.deps import Deps
from baton.services.conversations.converse import read_messages, say, start_conversation
from baton.services.conversations.see_conversation import see_conversation
from rest.answers import Answer, created, ok
from rest.models import query, strict
from rest.pages import read_cursor_of, sealed
from rest.routing import CONVERSERS, Call, Routes

routes = Routes()


@routes.post("/conversations", body=strict(ConversationRequest), answers={201: AskedView}, only=CONVERSERS)
def create_conversation(deps: Deps, call: Call[ConversationRequest, None]) -> Answer:
    """Send a message to an agent and begin a conversation.

    All tasks that follow from it, handoffs to other agents included, are one workflow: the conversation has its id.
    """
    view = asked_view(deps, start_conversation(deps, call.by, call.body.opening(), call.idempotency_key))
    return created(view, f"/conversations/{view['conversation_id']}")


@routes.get("/conversations/{conversation_id}", answers={200: ConversationView})
def get_conversation(deps: Deps, call: Call[None, None]) -> Answer:
    """One conversation: the agent that holds it, its tasks, and its usage so far."""
    return ok(conversation_view(see_conversation(deps, call.by, call.params["conversation_id"])))


@routes.get("/conversations/{conversation_id}/messages", query=query(MessageQuery), answers={200: MessagePage})
def list_messages(deps: Deps, call: Call[None, MessageQuery]) -> Answer:
    """The conversation's messages, task by task in the order of their creation.

    The messages of a task's branches come before those that the task writes with their results.

    Continue with `after` from the answer, whether or not it had items: no message is skipped, not even one that an
    earlier task writes late. A page may hold fewer than `limit` items.
    """
    conversation_id = call.params["conversation_id"]
    found, cursor = read_messages(deps, call.by, conversation_id, call.query.limit, read_cursor_of(call))
    return ok({"items": list(map(message_view, found)), "after": sealed(call, cursor)})


@routes.post(
    "/conversations/{conversation_id}/messages", body=strict(MessageRequest), answers={201: AskedView}, only=CONVERSERS
)
def create_message(deps: Deps, call: Call[MessageRequest, None]) -> Answer:
    """Send another message, to the agent that holds the conversation.

    Refused with 409 `conversation_busy` while it answers: `task_id` is the task to wait for; with 409 `loop_guard` if
    the workflow has used up its handoffs; and with 404 if the workflow didn't begin with a message.
    """
    details = say(deps, call.by, call.params["conversation_id"], call.body.message, call.idempotency_key)
    return created(asked_view(deps, details), f"/tasks/{details.task.id}")
