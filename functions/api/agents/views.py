"""Agents as JSON. docs/openapi.json is made of these types."""

from __future__ import annotations

from typing import Any, Literal, NotRequired

from typing_extensions import TypedDict

from baton.domain.agents.agent import Agent
from baton.domain.runs.run_profile import RunProfile
from baton.services.agents.discover_agents import MatchingAgent, SeenAgent
from baton.services.agents.import_agents import ImportedAgent
from rest import pages
from rest.shape import ViewShape
from rest.tasks import views as task_views


class AgentView(TypedDict):
    """``max_concurrent``: the most claims that it may hold at a time; null for no limit. ``root_handoffs_per_hour``:
    the most workflows that it may begin in one direction in an hour; null for the workspace's number.
    ``dispatch_rank``: agents with a lower rank are dispatched first. ``approval_giver``: the human who gave the
    standing approval (``approval: auto``), empty without one. ``approval_given_at``: null for an approval of an earlier
    release as well."""

    slug: str
    name: str
    aliases: list[str]
    description: str
    accepts: list[str]
    produces: list[str]
    runtime: Literal["pull", "run"]
    approval: Literal["manual", "auto"]
    approval_giver: str
    approval_given_at: str | None
    requeue: Literal["same", "needs"]
    max_concurrent: int | None
    root_handoffs_per_hour: int | None
    dispatch_rank: int
    active: bool
    version: int
    created_at: str
    updated_at: str
    updated_by: str


class ProfileView(TypedDict, total=False):
    """Left out for callers that may not see it. ``model``: empty for the deployment's own. ``max_turns``: replies of
    the model per task; ``max_tokens``: per task, input and output together; ``max_reply_tokens``: of one reply.
    ``join``, ``quorum``: how many of several delegations have to end before the task continues."""

    system_prompt: str
    model: str
    tools: list[str]
    max_turns: int
    max_tokens: int
    max_reply_tokens: int
    join: Literal["all", "any", "quorum"]
    quorum: int | None


class SavedAgentView(AgentView, ProfileView):
    """The agent after the change."""


class LivenessView(TypedDict):
    """``active``: asked for work less than 5 minutes ago, or holds a claim; ``idle``: less than 30 minutes ago.
    ``last_contact_at``: when it last asked for work, give or take three minutes; null if it never did."""

    status: Literal["active", "idle", "gone"]
    last_contact_at: str | None


class SeenAgentView(AgentView):
    """``match``: the share of the requested types that it declares, 0.5 for an agent that declares none at all;
    ``score``: 0.7 of match and 0.3 of liveness (active 1, idle 0.5, gone 0). Both only if types were requested."""

    liveness: LivenessView
    match: NotRequired[float]
    score: NotRequired[float]


class WholeAgentView(SeenAgentView, ProfileView):
    """The agent, with the profile that process-task runs it by."""


class ImportedAgentView(TypedDict):
    """``version``: the agent's version afterwards."""

    slug: str
    status: Literal["created", "updated", "unchanged"]
    version: int


class ImportedAgents(TypedDict):
    """One item for each agent in the request, in its order."""

    items: list[ImportedAgentView]


AgentList = pages.of("AgentList", SeenAgentView)
agent_view = ViewShape(AgentView, Agent)


def seen_agent_view(seen: SeenAgent) -> SeenAgentView:
    liveness: LivenessView = {
        "status": seen.liveness.status.value,
        "last_contact_at": task_views.when(seen.liveness.last_contact_at),
    }
    view: Any = {**agent_view(seen.agent), "liveness": liveness}
    if isinstance(seen, MatchingAgent):
        view |= {"match": round(seen.match, 4), "score": seen.score}
    shown: SeenAgentView = view
    return shown


def whole_agent_view(seen: SeenAgent, profile: RunProfile | None) -> WholeAgentView:
    return {**seen_agent_view(seen), **profile_view(profile)}


def saved_agent_view(agent: Agent, profile: RunProfile | None) -> SavedAgentView:
    return {**agent_view(agent), **profile_view(profile)}


_PROFILE = ViewShape(ProfileView, RunProfile)


def profile_view(profile: RunProfile | None) -> ProfileView:
    return {} if profile is None else _PROFILE(profile)


imported_agent_view = ViewShape(ImportedAgentView, ImportedAgent)
