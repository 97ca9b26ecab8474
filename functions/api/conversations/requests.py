"""What users send to agents."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field, StringConstraints

from api.handoffs import requests
from api.memory.requests import ScopePath
from baton.domain.memory.taken_along import asked_for
from baton.services.conversations.converse import MAX_TEXT, Opening, SaidMessage
from rest import models

MAX_MESSAGES = 200
MAX_AFTER = 2_000
# A text with something visible.
Text = Annotated[str, StringConstraints(min_length=1, max_length=MAX_TEXT, pattern=models.SAYS_SOMETHING)]
Context = Annotated[dict[str, Any], Field(json_schema_extra={"propertyNames": {"pattern": "^([^_]|$)"}})]


class ConversationRequest(models.Body):
    """``agent``: a slug, name or alias. ``context``: given to the agent with the message; keys that begin with ``_``
    are Baton's. ``budget``: of the whole conversation. ``scope``, ``auto_snapshot`` and ``auto_memories``: what the
    agent is told of the memory, as with a handoff; each later task of the conversation takes it anew."""

    agent: requests.Name
    message: Text
    context: Context = Field(default_factory=dict)
    budget: requests.BudgetRequest = requests.LEFT_OUT
    scope: ScopePath = requests.LEFT_OUT
    auto_snapshot: bool = requests.LEFT_OUT
    auto_memories: requests.MemoryCount = requests.LEFT_OUT

    def opening(self) -> Opening:
        budget = self.budget.given() if "budget" in self.model_fields_set else None
        memory = asked_for(self.model_dump(exclude_unset=True))
        return Opening(agent=self.agent, message=self.message, context=self.context, budget=budget, memory=memory)


class MessageRequest(models.Body):
    """``after``: from the page of messages that the author has read last. A message to a conversation that has moved on
    since is refused. Left out, the author has read nothing. ``agent_version``: the ``version`` of the agent that holds
    the conversation, once a human has looked at it. Needed if a service or a member has changed the agent since the
    last message was approved."""

    message: Text
    after: Annotated[str | None, StringConstraints(max_length=MAX_AFTER)] = None
    agent_version: requests.Positive | None = None

    def said(self, after: str | None) -> SaidMessage:
        """Returns the message. ``after``: the read cursor in the caller's ``after``."""
        return SaidMessage(self.message, after, self.agent_version)


class ConversationQuery(models.PageQuery):
    """``begun_by``: who sent the first message, such as ``human:alice``. ``state``: ``open`` while one of its tasks
    hasn't ended, ``idle`` while it waits for a message."""

    begun_by: Annotated[str, StringConstraints(min_length=1, max_length=requests.MAX_NAME)] | None = None
    state: Literal["open", "idle"] | None = None


class MessageQuery(models.Query):
    """``after``: the value from the page before; left out, the list begins with the first message."""

    after: Annotated[str | None, StringConstraints(max_length=MAX_AFTER)] = None
    limit: Annotated[int, Field(ge=1, le=MAX_MESSAGES), models.from_digits] = 50
