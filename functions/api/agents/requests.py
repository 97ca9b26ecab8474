"""What humans and services send about agents."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import Field, StringConstraints

from baton.domain.agents.agent import (
    DEFAULT_RANK,
    MAX_AGENTS,
    MAX_ALIASES,
    MAX_CONCURRENT,
    MAX_DESCRIPTION,
    MAX_DISPATCH_RANK,
    MAX_NAME,
    MAX_ROOT_HANDOFFS,
    MAX_TYPES,
    Approval,
    Requeue,
    Runtime,
)
from baton.domain.agents.tool import MAX_TOOLS_OF_AGENT, NAME_PATTERN
from baton.domain.runs.run_profile import BOUNDS, MAX_MODEL, MAX_SYSTEM_PROMPT
from baton.domain.tasks.task import MAX_BRANCHES, Policy
from rest import models

Name = Annotated[str, StringConstraints(min_length=1, max_length=MAX_NAME)]
Names = Annotated[tuple[Name, ...], models.few(MAX_ALIASES)]
Types = Annotated[tuple[Name, ...], models.few(MAX_TYPES)]
# Query parameters have commas between types.
AskedType = Annotated[str, StringConstraints(min_length=1, max_length=MAX_NAME, pattern="^[^,]+$")]
AskedTypes = Annotated[frozenset[AskedType], models.few(MAX_TYPES, 1)]
ToolName = Annotated[str, StringConstraints(pattern=NAME_PATTERN)]


def bounds(name: str) -> Any:
    low, high = BOUNDS[name]
    return Field(ge=low, le=high)


class AgentRequest(models.Changes):
    """Fields left out keep their value. ``max_concurrent``: the most claims that it may hold at a time; null for no
    limit. ``root_handoffs_per_hour``: the most workflows that it may begin in one direction in an hour, null for the
    workspace's number; only a human changes it. ``dispatch_rank``: agents with a lower rank are dispatched first.
    ``version``: the version that the change is based on (0: must not exist yet); any other current version refuses it.

    The other fields are the profile that process-task runs the agent by. ``model``: ``<provider>[:<id>]``, empty for
    the deployment's own. ``tools``: names; only a human can add one. ``max_turns``: replies of the model per task;
    ``max_tokens``: per task, input and output together; ``max_reply_tokens``: of one reply. ``join``: how many of
    several delegations have to end before the task continues; ``quorum``: their number, only with ``join: quorum`` and
    required there."""

    name: Name = ""
    aliases: Names = ()
    description: Annotated[str, StringConstraints(max_length=MAX_DESCRIPTION)] = ""
    accepts: Types = ()
    produces: Types = ()
    runtime: Runtime = Runtime.PULL
    approval: Approval = Approval.MANUAL
    requeue: Requeue = Requeue.SAME
    max_concurrent: Annotated[int, Field(ge=1, le=MAX_CONCURRENT)] | None = None
    root_handoffs_per_hour: Annotated[int, Field(ge=1, le=MAX_ROOT_HANDOFFS)] | None = None
    dispatch_rank: Annotated[int, Field(ge=0, le=MAX_DISPATCH_RANK)] = DEFAULT_RANK
    active: bool = True
    system_prompt: Annotated[str, StringConstraints(max_length=MAX_SYSTEM_PROMPT)] = ""
    model: Annotated[str, StringConstraints(max_length=MAX_MODEL)] = ""
    tools: Annotated[tuple[ToolName, ...], models.few(MAX_TOOLS_OF_AGENT)] = ()
    max_turns: Annotated[int, bounds("max_turns")] = 0
    max_tokens: Annotated[int, bounds("max_tokens")] = 0
    max_reply_tokens: Annotated[int, bounds("max_reply_tokens")] = 0
    join: Policy = Policy.ALL
    quorum: Annotated[int, Field(ge=1, le=MAX_BRANCHES)] | None = None


class Capabilities(models.Part):
    """Fields left out keep their value."""

    accepts: Types = ()
    produces: Types = ()


class AgentImport(models.Body):
    """Capabilities by slug."""

    agents: Annotated[
        dict[models.Slug, Capabilities],
        Field(max_length=MAX_AGENTS, json_schema_extra={"additionalProperties": False}),
    ]


class AgentQuery(models.PageQuery):
    """Types that an agent should accept and produce."""

    accepts: AskedTypes = Field(default_factory=frozenset)
    produces: AskedTypes = Field(default_factory=frozenset)
