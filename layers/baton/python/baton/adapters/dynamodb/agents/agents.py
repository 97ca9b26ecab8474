"""The store's agents."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from baton.adapters.dynamodb import items, keys
from baton.adapters.dynamodb.agents.catalogue import Catalogue, EntryVersion
from baton.adapters.dynamodb.agents.workspace_configs import WorkspaceConfigs, config_raises, settings_unchanged
from baton.adapters.dynamodb.item_writes import ItemWrite
from baton.adapters.dynamodb.puts import put
from baton.adapters.dynamodb.runs.run_items import profile_item
from baton.adapters.dynamodb.table import Table
from baton.domain.agents.agent import Agent, Roster
from baton.domain.agents.guards import Guards
from baton.domain.runs.run_profile import RunProfile
from baton.domain.settings.settings import Settings
from baton.ports.access import Recorded


@dataclass(eq=False)
class Agents:
    _table: Table
    _configs: WorkspaceConfigs
    _recorded_writes: Callable[[Recorded | None], list[ItemWrite]]

    def roster(self, workspace: str) -> Roster:
        return self._configs.config(workspace).roster

    def agent(self, workspace: str, slug: str) -> Agent | None:
        return self._configs.config(workspace).roster.find(slug)

    def dispatch_inputs(self, workspace: str, slug: str) -> tuple[Agent | None, Settings]:
        config = self._configs.config(workspace)
        return config.roster.find(slug), config.settings

    def guards(self, workspace: str) -> Guards:
        return self._configs.config(workspace).guards

    def save_agent(
        self,
        agent: Agent,
        roster: Roster,
        profile: RunProfile | None = None,
        recorded: Recorded | None = None,
        settings_version: int | None = None,
    ) -> None:
        agent = roster.stamped(agent)
        entry = EntryVersion(
            what="agent",
            item=items.agent_item(agent),
            kept_at=keys.agent_version(agent.workspace, agent.slug, agent.version),
            index=items.agent_queued(agent),
        )
        also = [] if profile is None else [put(profile_item(profile))]
        also += [*config_raises(agent.workspace), *self._recorded_writes(recorded)]
        if settings_version is not None:
            also.append(settings_unchanged(agent.workspace, settings_version))
        Catalogue("roster", keys.roster(agent.workspace), roster.version).save(self._table, entry, *also)
        self._configs.keep_roster(
            agent.workspace, roster.saved(agent)
        )  # nobody changed another agent: the write required that
        self._configs.read_anew()
