"""Conversations as JSON. docs/openapi.json is made of these types."""

from __future__ import annotations

from typing import Any, Literal

from typing_extensions import TypedDict

from baton.domain import times
from baton.domain.access.principal import Principal
from baton.domain.tasks.task import Kind, Task
from baton.ports.deps import Deps
from baton.ports.details import TaskDetails
from baton.services.conversations.converse import ReadMessage
from baton.services.conversations.list_conversations import ListedConversation
from baton.services.conversations.see_conversation import Overview
from rest import pages
from rest.shape import ViewShape
from rest.tasks import views as task_views

MessageName = Literal[
    "user_message",
    "assistant_message",
    "thinking",
    "tool_call",
    "tool_result",
    "skill_load",
    "handoff",
    "subtask_created",
    "status_change",
    "error",
]


class AskedView(TypedDict):
    """``task``: the task that answers the message. ``conversation_id``: its workflow."""

    conversation_id: str
    task: task_views.ChangedTask


class ConversationTask(TypedDict):
    """``agent``: null for open work that was never claimed. ``join_parent``: the task that waits for this one's
    branch."""

    id: str
    agent: str | None
    state: task_views.StateName
    parent_id: str | None
    join_parent: str | None
    kind: task_views.KindName
    created_at: str


class ConversationView(TypedDict):
    """``agent``: the agent that holds the conversation and gets the next message; ``holder``: the id of its task.
    ``state``: ``open`` while one of its tasks hasn't ended. ``message``: the first one. ``tasks``: in the order of
    their creation."""

    conversation_id: str
    holder: str
    agent: str | None
    agent_name: str | None
    state: Literal["open", "idle"]
    message: str
    tasks: list[ConversationTask]
    usage: task_views.UsageView
    created_at: str


class ListedConversationView(TypedDict):
    """A conversation in a list. ``title``: the first message's beginning. ``begun_with``: the agent that it was sent
    to; ``agent``: the one that holds the conversation now, null for open work that nobody has claimed. ``state``:
    ``open`` while one of its tasks hasn't ended. ``updated_at``: of the latest change of one of its tasks."""

    conversation_id: str
    title: str
    begun_by: str
    begun_with: str | None
    agent: str | None
    agent_name: str | None
    state: Literal["open", "idle"]
    created_at: str
    updated_at: str


class MessageView(TypedDict):
    """``number``: within its task. ``agent``: the author, a slug or the user (``human:alice``). ``data``: depends on
    the type, such as ``new_task_id`` and ``variables`` of a ``handoff``."""

    number: int
    task_id: str
    agent: str
    type: MessageName
    text: str
    data: dict[str, Any]
    at: str


class MessagePage(TypedDict):
    """``after``: the value for the next request, now or later."""

    items: list[MessageView]
    after: str


ConversationPage = pages.of("ConversationPage", ListedConversationView)
_TASK = ViewShape(ConversationTask, Task, "kind")
_MESSAGE = ViewShape(MessageView, ReadMessage, "task_id type text data")


def asked_view(deps: Deps, by: Principal, details: TaskDetails) -> AskedView:
    return {"conversation_id": details.task.workflow_id, "task": task_views.changed_task(deps, by, details)}


def conversation_view(seen: Overview) -> ConversationView:
    root = seen.root
    return {
        "conversation_id": root.workflow_id,
        "holder": seen.holder.id,
        "agent": seen.holder.agent,
        "agent_name": seen.agent.name if seen.agent else None,
        "state": "open" if seen.is_open else "idle",
        "message": seen.message,
        "tasks": list(map(_task_view, seen.tasks)),
        "usage": task_views.usage_view(seen.usage),
        "created_at": times.rfc3339(root.created_at),
    }


def listed_conversation(listed: ListedConversation) -> ListedConversationView:
    root = listed.root
    return {
        "conversation_id": root.workflow_id,
        "title": root.title,
        "begun_by": root.created_by,
        "begun_with": root.target_agent,
        "agent": listed.holder.agent,
        "agent_name": listed.agent_name,
        "state": "open" if listed.is_open else "idle",
        "created_at": times.rfc3339(root.created_at),
        "updated_at": times.rfc3339(listed.updated_at),
    }


def message_view(read: ReadMessage) -> MessageView:
    said = read.message
    return _MESSAGE(read, task_id=read.task.id, type=said.type.value, text=said.text, data=said.data)


def _task_view(task: Task) -> ConversationTask:
    return _TASK(task, kind=Kind(task.kind).value)
