"""The workspace's agents."""

from __future__ import annotations

from api.access.change_views import ChangeView, done_or_pending
from api.agents import requests, views
from baton.domain.access.rights import Deed
from baton.domain.agents.agent import Agent, requirements
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
from rest import answers, models, pages, routing

routes = routing.Routes()


@routes.put(
    "/agents/{slug}",
    body=models.strict(requests.AgentRequest),
    answers={200: views.SavedAgentView, 201: views.SavedAgentView, 202: ChangeView},
    only=routing.with_act_as("register an agent"),
    deed=Deed.CHANGE_AGENT,
)
def put_agent(deps: Deps, call: routing.Call[requests.AgentRequest, None]) -> answers.Answer:
    """Register an agent, change it, or switch it off.

    Only a human's change can carry a standing approval (`approval: auto`): a service's change ends one. Only a human
    can give it a tool.

    Only an administrator takes an agent out of an approval rule: by removing a name that the rule has, or a type of
    work that the agent accepts. The change waits for a second administrator if the workspace has two or more: 202 with
    the pending change.
    """

    def saved(done: tuple[Agent, bool]) -> answers.Answer:
        agent, is_new = done
        view = views.saved_agent_view(agent, profile_for(deps, call.by, agent.slug))
        return answers.created(view, call.path) if is_new else answers.ok(view)

    values, version = call.body.given(), call.body.expected_version
    return done_or_pending(deps, lambda: register_agent(deps, call.by, call.slug, values, version), saved)


@routes.post(
    "/agents/import",
    body=models.strict(requests.AgentImport),
    answers={200: views.ImportedAgents},
    only=routing.with_act_as("import agents"),
    takes_yaml=True,
    deed=Deed.CHANGE_AGENT,
)
def import_capabilities(deps: Deps, call: routing.Call[requests.AgentImport, None]) -> answers.Answer:
    """Take over the types that agents accept and produce from a `capabilities.yaml`, as JSON or as YAML.

    Unknown agents are registered, known ones keep all other fields; an entry without news changes nothing. Everything
    is checked before anything is written. An interrupted import may be sent again and continues.
    """
    declared = {slug: types.given() for slug, types in call.body.agents.items()}
    imported = import_agents(deps, call.by, declared, call.idempotency_key)
    return answers.ok({"items": list(map(views.imported_agent_view, imported))})


@routes.get("/agents/{slug}", answers={200: views.WholeAgentView}, page="/agents/{slug}")
def get_agent(deps: Deps, call: routing.Call[None, None]) -> answers.Answer:
    """One agent, and its liveness.

    Humans, services with the scope `act_as` and the agent itself also get the profile that process-task runs it by.
    """
    return answers.ok(views.whole_agent_view(*whole_agent(deps, call.by, call.slug)))


@routes.get("/agents", query=models.query(requests.AgentQuery, "accepts", "produces"), answers={200: views.AgentList})
def list_agents(deps: Deps, call: routing.Call[None, requests.AgentQuery]) -> answers.Answer:
    """All agents of the workspace, by slug; or the active ones for types of work, best first.

    `accepts` and `produces` may be repeated, or have several types with commas between them. Agents that declare none
    of the requested types are left out. Live claims are looked up for at most 50 agents of an answer; the others'
    liveness is from their last request for work. An agent whose liveness changes between two pages of the best may be
    on both of them, or on none. A page may be shorter than `limit` and still have a `next_cursor`.
    """
    requires = requirements(sorted(call.query.accepts), sorted(call.query.produces))
    workspace = call.by.workspace
    if requires:
        return answers.ok(
            pages.fitting(
                call, pages.listed(call, agents_for(deps, workspace, requires), _rank), _rank, views.seen_agent_view
            )
        )
    found = seen_agents(deps, workspace, after=pages.cursor_of(call), most=call.query.limit + 1)
    return answers.ok(pages.fitting(call, pages.listed(call, found, _slug), _slug, views.seen_agent_view))


def _slug(seen: SeenAgent) -> str:
    return seen.agent.slug


def _rank(matching: MatchingAgent) -> str:
    """Returns a sort key, the best first, then by slug. Scores have four digits."""
    return f"{10_000 - round(matching.score * 10_000):05d}#{matching.agent.slug}"
