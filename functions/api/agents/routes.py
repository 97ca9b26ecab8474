"""The workspace's agents."""

from __future__ import annotations

from api.agents.requests import AgentImport, AgentQuery, AgentRequest
from api.agents.views import (
    AgentList,
    ImportedAgents,
    SavedAgentView,
    WholeAgentView,
    imported_agent_view,
    saved_agent_view,
    seen_agent_view,
    whole_agent_view,
)
from baton.domain.agents.agent import requirements
from baton.ports.deps import Deps
from baton.services.agents.discover_agents import (
    MatchingAgent,
    SeenAgent,
    agents_for,
    profile_for,
    seen_agents,
    whole_agent,
)
from baton.services.agents.import_agents import import_agents
from baton.services.agents.register_agent import register_agent
from rest.answers import Answer, created, ok
from rest.models import query, strict
from rest.pages import cursor_of, fitting, listed
from rest.routing import Call, Routes, not_agent

routes = Routes()


@routes.put(
    "/agents/{slug}",
    body=strict(AgentRequest),
    answers={200: SavedAgentView, 201: SavedAgentView},
    only=not_agent("register an agent"),
)
def put_agent(deps: Deps, call: Call[AgentRequest, None]) -> Answer:
    """Register an agent, change it, or switch it off.

    Only a human's change can carry a standing approval (`approval: auto`): a service's change ends one. Only a human
    can give it a tool.
    """
    agent, is_new = register_agent(deps, call.by, call.slug, call.body.given(), call.body.expected_version)
    saved = saved_agent_view(agent, profile_for(deps, call.by, agent.slug))
    return created(saved, call.path) if is_new else ok(saved)


@routes.post(
    "/agents/import",
    body=strict(AgentImport),
    answers={200: ImportedAgents},
    only=not_agent("import agents"),
    takes_yaml=True,
)
def import_capabilities(deps: Deps, call: Call[AgentImport, None]) -> Answer:
    """Take over the types that agents accept and produce from a `capabilities.yaml`, as JSON or as YAML.

    Unknown agents are registered, known ones keep all other fields; an entry without news changes nothing. Everything
    is checked before anything is written. An interrupted import may be sent again and continues.
    """
    declared = {slug: types.given() for slug, types in call.body.agents.items()}
    imported = import_agents(deps, call.by, declared, call.idempotency_key)
    return ok({"items": list(map(imported_agent_view, imported))})


@routes.get("/agents/{slug}", answers={200: WholeAgentView})
def get_agent(deps: Deps, call: Call[None, None]) -> Answer:
    """One agent, and its liveness.

    Humans, services with the scope `act_as` and the agent itself also get the profile that process-task runs it by.
    """
    return ok(whole_agent_view(*whole_agent(deps, call.by, call.slug)))


@routes.get("/agents", query=query(AgentQuery, "accepts", "produces"), answers={200: AgentList})
def list_agents(deps: Deps, call: Call[None, AgentQuery]) -> Answer:
    """All agents of the workspace, by slug; or the active ones for types of work, best first.

    `accepts` and `produces` may be repeated, or have several types with commas between them. Agents that declare none
    of the requested types are left out. Live claims are looked up for at most 50 agents of an answer; the others'
    liveness is from their last request for work. An agent whose liveness changes between two pages of the best may be
    on both of them, or on none. A page may be shorter than `limit` and still have a `next_cursor`.
    """
    requires = requirements(sorted(call.query.accepts), sorted(call.query.produces))
    workspace = call.by.workspace
    if requires:
        return ok(fitting(call, listed(call, agents_for(deps, workspace, requires), _rank), _rank, seen_agent_view))
    found = seen_agents(deps, workspace, after=cursor_of(call), most=call.query.limit + 1)
    return ok(fitting(call, listed(call, found, _slug), _slug, seen_agent_view))


def _slug(seen: SeenAgent) -> str:
    return seen.agent.slug


def _rank(matching: MatchingAgent) -> str:
    """Returns a sort key, the best first, then by slug. Scores have four digits."""
    return f"{10_000 - round(matching.score * 10_000):05d}#{matching.agent.slug}"
