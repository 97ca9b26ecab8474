"""The workspace's agents."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

from pydantic import Field, StringConstraints

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
from baton.domain.agents.agent import (
    DEFAULT_RANK,
    MAX_AGENTS,
    MAX_ALIASES,
    MAX_CONCURRENT,
    MAX_DESCRIPTION,
    MAX_DISPATCH_RANK,
    MAX_NAME,
    MAX_TYPES,
    Approval,
    Requeue,
    Runtime,
    requirements,
)
from baton.domain.agents.tool import MAX_TOOLS_OF_AGENT, NAME_PATTERN
from baton.domain.runs.run_profile import BOUNDS, MAX_MODEL, MAX_SYSTEM_PROMPT
from baton.domain.tasks.task import MAX_BRANCHES, Policy
from baton.services.agents.discover_agents import agents_for, profile_for, seen_agents, whole_agent
from baton.services.agents.import_agents import import_agents
from baton.services.agents.register_agent import register_agent
from rest.answers import Answer, created, ok
from rest.models import Body, Changes, PageQuery, Part, Slug, few, query, strict
from rest.pages import cursor_of, fitting, listed
from rest.routing import Call, Routes, not_agent

if TYPE_CHECKING:
    from baton.ports import Deps
    from baton.services.agents.discover_agents import MatchingAgent, SeenAgent

routes = Routes()

Name = Annotated[str, StringConstraints(min_length=1, max_length=MAX_NAME)]
Names = Annotated[tuple[Name, ...], few(MAX_ALIASES)]
Types = Annotated[tuple[Name, ...], few(MAX_TYPES)]
# Query parameters have commas between types.
AskedType = Annotated[str, StringConstraints(min_length=1, max_length=MAX_NAME, pattern="^[^,]+$")]
AskedTypes = Annotated[frozenset[AskedType], few(MAX_TYPES, 1)]


ToolName = Annotated[str, StringConstraints(pattern=NAME_PATTERN)]


def bounds(name: str) -> Any:
    low, high = BOUNDS[name]
    return Field(ge=low, le=high)


class AgentRequest(Changes):
    """Fields left out keep their value. ``max_concurrent``: the most claims that it may hold at a time; null for no
    limit. ``dispatch_rank``: agents with a lower rank are dispatched first. ``version``: the version that the change is
    based on (0: must not exist yet); any other current version refuses it.

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
    dispatch_rank: Annotated[int, Field(ge=0, le=MAX_DISPATCH_RANK)] = DEFAULT_RANK
    active: bool = True
    system_prompt: Annotated[str, StringConstraints(max_length=MAX_SYSTEM_PROMPT)] = ""
    model: Annotated[str, StringConstraints(max_length=MAX_MODEL)] = ""
    tools: Annotated[tuple[ToolName, ...], few(MAX_TOOLS_OF_AGENT)] = ()
    max_turns: Annotated[int, bounds("max_turns")] = 0
    max_tokens: Annotated[int, bounds("max_tokens")] = 0
    max_reply_tokens: Annotated[int, bounds("max_reply_tokens")] = 0
    join: Policy = Policy.ALL
    quorum: Annotated[int, Field(ge=1, le=MAX_BRANCHES)] | None = None


class Capabilities(Part):
    """Fields left out keep their value."""

    accepts: Types = ()
    produces: Types = ()


class AgentImport(Body):
    """Capabilities by slug."""

    agents: Annotated[
        dict[Slug, Capabilities],
        Field(max_length=MAX_AGENTS, json_schema_extra={"additionalProperties": False}),
    ]


class AgentQuery(PageQuery):
    """Types that an agent should accept and produce."""

    accepts: AskedTypes = Field(default_factory=frozenset)
    produces: AskedTypes = Field(default_factory=frozenset)


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
