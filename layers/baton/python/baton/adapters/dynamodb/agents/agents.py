"""The store's agents."""

from __future__ import annotations

from dataclasses import dataclass

from baton.adapters.dynamodb import items, keys
from baton.adapters.dynamodb.agents.catalogue import Catalogue, EntryVersion
from baton.adapters.dynamodb.agents.workspace_configs import WorkspaceConfigs, config_raises
from baton.adapters.dynamodb.puts import put
from baton.adapters.dynamodb.runs.run_items import profile_item
from baton.adapters.dynamodb.table import Table
from baton.domain.agents.agent import Agent, Roster
from baton.domain.runs.run_profile import RunProfile
from baton.domain.settings.settings import Settings


@dataclass(eq=False)
class Agents:
    _table: Table
    _configs: WorkspaceConfigs

    def roster(self, workspace: str) -> Roster:
        return self._configs.config(workspace).roster

    def agent(self, workspace: str, slug: str) -> Agent | None:
        return self._configs.config(workspace).roster.find(slug)

    def dispatch_inputs(self, workspace: str, slug: str) -> tuple[Agent | None, Settings]:
        config = self._configs.config(workspace)
        return config.roster.find(slug), config.settings

    def save_agent(self, agent: Agent, roster: Roster, profile: RunProfile | None = None) -> None:
        entry = EntryVersion(
            what="agent",
            item=items.agent_item(agent),
            kept_at=keys.agent_version(agent.workspace, agent.slug, agent.version),
            index=items.agent_queued(agent),
        )
        also = [] if profile is None else [put(profile_item(profile))]
        also += config_raises(agent.workspace)
        Catalogue("roster", keys.roster(agent.workspace), roster.version).save(self._table, entry, *also)
        self._configs.keep_roster(
            agent.workspace, roster.saved(agent)
        )  # nobody changed another agent: the write required that
        self._configs.read_anew()
