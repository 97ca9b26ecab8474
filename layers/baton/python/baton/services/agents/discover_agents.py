"""The agents of a workspace, and the agents that match a list of capabilities (docs/spec/protocol.md §8)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from baton.domain.access.principal import Principal
from baton.domain.agents.agent import Agent
from baton.domain.agents.liveness import Liveness, Presence, liveness
from baton.domain.handoffs.workflow import HeldClaim
from baton.domain.ids import made_at
from baton.domain.rights.read_rights import may_see_profile
from baton.domain.runs.run_profile import RunProfile
from baton.ports.deps import Deps
from baton.steps.agents.resolve_agents import no_such_agent

MAX_LOOKS_FOR_CLAIMS = 50


@dataclass(frozen=True, slots=True)
class SeenAgent:
    agent: Agent
    liveness: Liveness


@dataclass(frozen=True, slots=True)
class MatchingAgent(SeenAgent):
    """An agent that matches."""

    match: float  # the share of the requested types that it declares

    @property
    def score(self) -> float:
        return self.liveness.score(self.match)


def seen_agent(deps: Deps, workspace: str, slug: str) -> SeenAgent:
    """Returns the agent with its liveness. Raises ``Unknown``."""
    agent = deps.store.agents.agent(workspace, slug)
    if agent is None:
        raise no_such_agent(deps, workspace, slug)
    last_contact_at = deps.store.contacts.last_contact(workspace, slug)
    contacts = {slug: last_contact_at} if last_contact_at else {}
    return SeenAgent(agent, _livenesses(deps, workspace, [slug], contacts)[slug])


def whole_agent(deps: Deps, by: Principal, slug: str) -> tuple[SeenAgent, RunProfile | None]:
    """Returns the agent, and its run profile if the caller may see that. Raises ``Unknown``."""
    return seen_agent(deps, by.workspace, slug), profile_for(deps, by, slug)


def profile_for(deps: Deps, by: Principal, slug: str) -> RunProfile | None:
    return deps.store.runs.profile(by.workspace, slug) if may_see_profile(by, slug) else None


def seen_agents(deps: Deps, workspace: str, *, after: str | None = None, most: int | None = None) -> list[SeenAgent]:
    """Returns all agents by slug, inactive ones too; or the first ``most`` after a slug, without reading the liveness
    of others."""
    ordered = sorted(deps.store.agents.roster(workspace), key=lambda agent: agent.slug)
    agents = [agent for agent in ordered if after is None or agent.slug > after][:most]
    contacts = deps.store.contacts.last_contacts(workspace)
    seen = _livenesses(deps, workspace, [agent.slug for agent in agents], contacts)
    return [SeenAgent(agent, seen[agent.slug]) for agent in agents]


def agents_for(deps: Deps, workspace: str, requires: Iterable[str]) -> list[MatchingAgent]:
    """Returns the active agents that declare some of ``requires`` (in the spelling of ``requirements``) or declare
    nothing, best first: by match and liveness, then by slug."""
    criteria = tuple(requires)
    rated = [(agent.match(criteria), agent) for agent in deps.store.agents.roster(workspace) if agent.active]
    likely = sorted(((match, agent) for match, agent in rated if match), key=lambda each: (-each[0], each[1].slug))
    contacts = deps.store.contacts.last_contacts(workspace)
    seen = _livenesses(deps, workspace, [agent.slug for _, agent in likely], contacts)
    found = [MatchingAgent(agent, seen[agent.slug], match) for match, agent in likely]
    return sorted(found, key=lambda each: (-each.score, each.agent.slug))


def _livenesses(deps: Deps, workspace: str, slugs: list[str], contacts: Mapping[str, datetime]) -> dict[str, Liveness]:
    """Liveness by slug. Claims are read only if the last contact alone doesn't show that the agent is active, and for
    the first 50 such agents; the others are judged by their last contact."""
    now = deps.clock.now()
    seen = {slug: liveness(contacts.get(slug), now) for slug in slugs}
    quiet = [slug for slug in slugs if seen[slug].status is not Presence.ACTIVE]
    for slug in quiet[:MAX_LOOKS_FOR_CLAIMS]:
        held = deps.store.claims.held(workspace, slug)
        seen[slug] = liveness(_latest(contacts.get(slug), held), now, holds_claim=bool(held))
    return seen


def _latest(contact: datetime | None, held: Sequence[HeldClaim]) -> datetime | None:
    """Returns the last contact, or when the last of the claims was made."""
    moments = [contact, *(made_at(each.claim_id) for each in held)]
    return max((at for at in moments if at is not None), default=None)
