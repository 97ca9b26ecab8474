"""The workspace's agents."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from pydantic import Field, StringConstraints

from api.views import AgentList, AgentView, agent_view
from baton.domain.agent import MAX_ALIASES, MAX_DESCRIPTION, MAX_NAME, MAX_TYPES, Approval, Requeue, Runtime
from baton.domain.errors import Unknown
from baton.services.register_agent import register_agent
from rest.answers import Answer, created, ok
from rest.models import Changes, strict
from rest.routing import Call, Routes, not_agent

if TYPE_CHECKING:
    from baton.ports import Baton

routes = Routes()

Name = Annotated[str, StringConstraints(min_length=1, max_length=MAX_NAME)]
Names = Annotated[tuple[Name, ...], Field(max_length=MAX_ALIASES)]
Types = Annotated[tuple[Name, ...], Field(max_length=MAX_TYPES)]


class AgentRequest(Changes):
    """Fields left out keep their value. ``version``: the one that was seen (0: must not exist yet), for refusing the
    change if it isn't the present one."""

    name: Name = ""
    aliases: Names = ()
    description: Annotated[str, StringConstraints(max_length=MAX_DESCRIPTION)] = ""
    accepts: Types = ()
    produces: Types = ()
    runtime: Runtime = Runtime.PULL
    approval: Approval = Approval.MANUAL
    requeue: Requeue = Requeue.SAME
    active: bool = True


@routes.put(
    "/agents/{slug}",
    body=strict(AgentRequest),
    answers={200: AgentView, 201: AgentView},
    only=not_agent("register an agent"),
)
def put_agent(baton: Baton, call: Call[AgentRequest, None]) -> Answer:
    """Register an agent, change it, or switch it off.

    Only a human's change can carry a standing approval (`approval: auto`): a service's change ends one.
    """
    agent, is_new = register_agent(baton, call.by, call.slug, call.body.given(), call.body.expected_version)
    return created(agent_view(agent), call.path) if is_new else ok(agent_view(agent))


@routes.get("/agents/{slug}", answers={200: AgentView})
def get_agent(baton: Baton, call: Call[None, None]) -> Answer:
    """One agent."""
    agent = baton.store.agent(call.by.workspace, call.slug)
    if agent is None:
        raise Unknown("agent")
    return ok(agent_view(agent))


@routes.get("/agents", answers={200: AgentList})
def list_agents(baton: Baton, call: Call[None, None]) -> Answer:
    """All agents of the workspace, by slug."""
    agents = sorted(baton.store.roster(call.by.workspace), key=lambda agent: agent.slug)
    return ok({"items": [agent_view(agent) for agent in agents], "next_cursor": None})
