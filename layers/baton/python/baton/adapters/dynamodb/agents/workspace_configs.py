"""What a process keeps of a workspace: its agents and its settings, under one version that every change of them raises
in its own transaction, and every revocation of a token
(docs/what-is-stored.md §13)."""

from __future__ import annotations

import random
from collections import OrderedDict
from contextlib import suppress
from copy import copy
from dataclasses import dataclass
from typing import Self

from baton.adapters.dynamodb import items, keys
from baton.adapters.dynamodb.agents.catalogue import read_catalogue, version_of
from baton.adapters.dynamodb.item_writes import ItemWrite
from baton.adapters.dynamodb.puts import VERSION_NOT_SET, VERSION_UNCHANGED, update
from baton.adapters.dynamodb.table import Table, update_request
from baton.domain import errors
from baton.domain.access.person import Person
from baton.domain.access.token import Token
from baton.domain.agents.agent import Roster, roster_of
from baton.domain.agents.guards import Guards
from baton.domain.lru_cache import LruCache
from baton.domain.settings.settings import Settings

# The most agents that a process caches. Beyond it, the least recently used workspaces' rosters go.
MAX_KEPT_AGENTS = 5_000
# The most workspaces whose settings it caches.
MAX_KEPT_WORKSPACES = 1_000


@dataclass(frozen=True, slots=True)
class WorkspaceConfig:
    """The agents and the settings of a workspace, at one version."""

    version: int
    roster: Roster
    settings: Settings
    guards: Guards


class WorkspaceConfigs:
    def __init__(self, table: Table) -> None:
        self._table = table
        self._rosters: OrderedDict[str, Roster] = OrderedDict()
        self._configs: LruCache[str, WorkspaceConfig] = LruCache(MAX_KEPT_WORKSPACES)
        # Tokens, each with the version that was read before it; None for one whose workspace wasn't known before.
        self.tokens: LruCache[str, tuple[Token, int | None]] = LruCache()
        # People by workspace and name, each with the version that was read before it.
        self.persons: LruCache[tuple[str, str], tuple[Person, int]] = LruCache()
        # The versions that the request has read so far, by workspace. None: for no single request.
        self._at: dict[str, int] | None = None

    def at_one_version(self) -> Self:
        configs = copy(self)
        configs._at = {}
        return configs

    def read_anew(self) -> None:
        if self._at is not None:
            self._at.clear()

    def config(self, workspace: str) -> WorkspaceConfig:
        """Returns the workspace's agents and settings. One call, which reads their version, unless this request has
        read it. One or two further calls if this process doesn't know the version."""
        version = self.version(workspace)
        kept = self._configs.get(workspace)
        if kept is None or kept.version != version or workspace not in self._rosters:
            kept = self._read_config(workspace, version)
            self._configs.keep(workspace, kept)
        with suppress(KeyError):  # another thread may have let it go
            self._rosters.move_to_end(workspace)
        return kept

    def version(self, workspace: str) -> int:
        at = {} if self._at is None else self._at
        if workspace not in at:
            shard = random.randrange(keys.CONFIG_SHARDS)  # noqa: S311 - spreads readings, keeps no secret
            at[workspace] = version_of(self._table.get(keys.config_version(workspace, shard)))
        return at[workspace]

    def _read_config(self, workspace: str, version: int) -> WorkspaceConfig:
        """Reads what the version is about after the version. What changes between the two is newer than the version
        says, and the next comparison reads it again. In the other order, old agents would be cached under a new
        version. The same holds for the roster and its own version."""
        roster_key, settings_key = keys.roster(workspace), keys.settings(workspace)
        found = self._table.get_many([roster_key, settings_key])
        roster_version = version_of(found.get(roster_key))
        roster = self._rosters.get(workspace)
        if roster is None or roster.version != roster_version:
            agents, _ = read_catalogue(self._table, roster_key)
            roster = roster_of(map(items.agent_from, agents), roster_version)
        self.keep_roster(workspace, roster)
        settings = items.settings_from(found.get(settings_key))
        return WorkspaceConfig(version, roster, settings, Guards(roster, settings, version))

    def keep_roster(self, workspace: str, roster: Roster) -> None:
        self._rosters.pop(workspace, None)
        self._rosters[workspace] = roster
        while (
            len(self._rosters) > 1 and sum(len(each.agents) for each in list(self._rosters.values())) > MAX_KEPT_AGENTS
        ):
            self._configs.forget(self._rosters.popitem(last=False)[0])


def config_raises(workspace: str) -> list[ItemWrite]:
    """The writes that raise the version, for the transaction of what it is about. They have no condition: what is
    changed has its own."""
    shards = (keys.config_version(workspace, shard) for shard in range(keys.CONFIG_SHARDS))
    return [update(key, "ADD #version :one", None, {":one": 1}, lambda: errors.Conflict("settings")) for key in shards]


def settings_unchanged(workspace: str, version: int) -> ItemWrite:
    """Requires this version of the settings. Version 0: none were ever saved."""
    condition = VERSION_UNCHANGED if version else f"{VERSION_NOT_SET} OR {VERSION_UNCHANGED}"
    request = update_request(keys.settings(workspace), "", condition, {":seen": version})
    return ItemWrite("ConditionCheck", request, lambda: errors.Conflict("settings"))
