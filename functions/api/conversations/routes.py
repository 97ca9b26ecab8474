"""Conversations with agents, and their messages."""

from __future__ import annotations

from api.conversations import requests, views
from baton.domain.access.rights import Deed
from baton.ports.deps import Deps
from baton.services.conversations.converse import read_messages, say, start_conversation
from baton.services.conversations.list_conversations import ConversationFilter, list_conversations
from baton.services.conversations.see_conversation import see_conversation
from rest import answers, models, pages, routing

routes = routing.Routes()


@routes.post(
    "/conversations",
    body=models.strict(requests.ConversationRequest),
    answers={201: views.AskedView},
    only=routing.CONVERSERS,
    deed=Deed.CONVERSE,
)
def create_conversation(deps: Deps, call: routing.Call[requests.ConversationRequest, None]) -> answers.Answer:
    """Send a message to an agent and begin a conversation.

    All tasks that follow from it, handoffs to other agents included, are one workflow: the conversation has its id.
    """
    view = views.asked_view(deps, call.by, start_conversation(deps, call.by, call.body.opening(), call.idempotency_key))
    return answers.created(view, f"/conversations/{view['conversation_id']}")


@routes.get(
    "/conversations",
    query=models.query(requests.ConversationQuery),
    answers={200: views.ConversationPage},
    made_of_tasks=True,
)
def list_all_conversations(deps: Deps, call: routing.Call[None, requests.ConversationQuery]) -> answers.Answer:
    """Conversations, the latest begun first; the filters may be combined.

    An agent or service without `act_as` finds those that it takes part in. A page may hold fewer than `limit` items,
    even none, and still have a `next_cursor`: continue until it is null. A conversation shows milliseconds after it
    began.
    """
    options = call.query
    is_open = None if options.state is None else options.state == "open"
    criteria = ConversationFilter(begun_by=options.begun_by, is_open=is_open)
    page = list_conversations(deps, call.by, criteria, options.limit, pages.cursor_of(call))
    return answers.ok(pages.listing(call, page, views.listed_conversation))


@routes.get("/conversations/{conversation_id}", answers={200: views.ConversationView}, page="/chat/{conversation_id}")
def get_conversation(deps: Deps, call: routing.Call[None, None]) -> answers.Answer:
    """One conversation: the agent that holds it, its tasks, and its usage so far."""
    return answers.ok(views.conversation_view(see_conversation(deps, call.by, call.params["conversation_id"])))


@routes.get(
    "/conversations/{conversation_id}/messages",
    query=models.query(requests.MessageQuery),
    answers={200: views.MessagePage},
)
def list_messages(deps: Deps, call: routing.Call[None, requests.MessageQuery]) -> answers.Answer:
    """The conversation's messages, task by task in the order of their creation.

    The messages of a task's branches come before those that the task writes with their results.

    Continue with `after` from the answer, whether or not it had items: no message is skipped, not even one that an
    earlier task writes late. A page may hold fewer than `limit` items.
    """
    conversation_id = call.params["conversation_id"]
    found, cursor = read_messages(deps, call.by, conversation_id, call.query.limit, pages.read_cursor_of(call))
    return answers.ok({"items": list(map(views.message_view, found)), "after": pages.sealed(call, cursor)})


@routes.post(
    "/conversations/{conversation_id}/messages",
    body=models.strict(requests.MessageRequest),
    answers={201: views.AskedView},
    only=routing.CONVERSERS,
    deed=Deed.CONVERSE,
)
def create_message(deps: Deps, call: routing.Call[requests.MessageRequest, None]) -> answers.Answer:
    """Send another message, to the agent that holds the conversation.

    Refused with 409 `conversation_busy` while it answers: `task_id` is the task to wait for; with 409 `loop_guard` if
    the workflow has used up its handoffs; and with 404 if the workflow didn't begin with a message.

    The message of a human who may approve is their approval. 409 `conversation_moved`: the agent that holds the
    conversation has written after `after`. 409 `agent_changed`: a service or a member has changed the agent since.
    Nothing was sent.
    """
    said = call.body.said(pages.read_cursor_in(call, call.body.after))
    details = say(deps, call.by, call.params["conversation_id"], said, call.idempotency_key)
    return answers.created(views.asked_view(deps, call.by, details), f"/tasks/{details.task.id}")
