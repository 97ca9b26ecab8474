"""What a process keeps of a workspace: its agents and its settings, under one version that every change of them raises
in its own transaction, and every revocation of a token
(docs/decisions/035-one-version-of-what-a-process-keeps.md)."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass

from baton.adapters.dynamodb import items, keys
from baton.adapters.dynamodb.agents.catalogue import read_catalogue, version_of
from baton.adapters.dynamodb.item_writes import Item, ItemWrite
from baton.adapters.dynamodb.table import Table, to_wire
from baton.adapters.dynamodb.table_reader import TableReader
from baton.domain import errors
from baton.domain.access.settings import Settings
from baton.domain.access.token import Token
from baton.domain.agents.agent import Roster
from baton.domain.recent import Recent

# The most agents that a process caches. Beyond it, the least recently used workspaces' rosters go.
MAX_KEPT_AGENTS = 5_000
# The most workspaces whose settings it caches.
MAX_KEPT_WORKSPACES = 1_000


@dataclass(frozen=True, slots=True)
class Config:
    """The agents and the settings of a workspace, at one version."""

    version: int
    roster: Roster
    settings: Settings


class Configs(TableReader):
    def __init__(self, table: Table) -> None:
        super().__init__(table)
        self._rosters: OrderedDict[str, Roster] = OrderedDict()
        self._configs: Recent[str, Config] = Recent(MAX_KEPT_WORKSPACES)
        # The version that was seen last, and tokens with the version that was seen before they were read.
        self._versions: Recent[str, int] = Recent(MAX_KEPT_WORKSPACES)
        self._tokens: Recent[str, tuple[Token, int]] = Recent()
        self._turns = 0

    def config(self, workspace: str, wanted: Sequence[keys.Key] = ()) -> tuple[Config, dict[keys.Key, Item]]:
        """Returns the workspace's agents and settings, and those of the wanted items that exist. One call, with the
        version in its batch; no reading of the version if this request has read it. A further call, or two, if the
        version isn't the one that this process knows."""
        version, found = self._version(workspace, wanted)
        self.saw_version(workspace, version)
        kept = self._configs.get(workspace)
        if kept is None or kept.version != version or workspace not in self._rosters:
            kept = self._read_config(workspace, version)
            self._configs.keep(workspace, kept)
        with suppress(KeyError):  # another thread may have let it go
            self._rosters.move_to_end(workspace)
        return kept, found

    def _version(self, workspace: str, wanted: Sequence[keys.Key]) -> tuple[int, dict[keys.Key, Item]]:
        check = self._table.check
        own = None if check is None else next((key for key in check.wanted if _is_version(key, workspace)), None)
        if check is not None and own is not None:
            if check.is_open:
                found = self._table.get_many([*wanted, own])
                return version_of(found.pop(own, None)), found
            if check.brought is not None:
                return version_of(check.brought.get(own)), self._table.get_many(wanted) if wanted else {}
        key = self.next_version_key(workspace)
        found = self._table.get_many([*wanted, key]) if wanted else _alone(key, self._table.get(key))
        return version_of(found.pop(key, None)), found

    def _read_config(self, workspace: str, version: int) -> Config:
        """Reads what the version is about after the version. What changes between the two is newer than the version
        says, and the next comparison reads it again. In the other order, old agents would be cached under a new
        version. The same holds for the roster and its own version."""
        roster_key, settings_key = keys.roster(workspace), keys.settings(workspace)
        found = self._table.get_many([roster_key, settings_key])
        roster_version = version_of(found.get(roster_key))
        roster = self._rosters.get(workspace)
        if roster is None or roster.version != roster_version:
            agents, _ = read_catalogue(self._table, roster_key)
            roster = Roster(tuple(map(items.agent_from, agents)), roster_version)
        self.keep_roster(workspace, roster)
        return Config(version, roster, items.settings_from(found.get(settings_key)))

    def kept_roster(self, workspace: str) -> Roster | None:
        return self._rosters.get(workspace)

    def keep_roster(self, workspace: str, roster: Roster) -> None:
        self._rosters.pop(workspace, None)
        self._rosters[workspace] = roster
        while (
            len(self._rosters) > 1 and sum(len(each.agents) for each in list(self._rosters.values())) > MAX_KEPT_AGENTS
        ):
            self._configs.forget(self._rosters.popitem(last=False)[0])

    def forget_rosters(self) -> None:
        """Empties the cache, as in a new process."""
        self._rosters.clear()
        self._configs.clear()
        self._versions.clear()
        self._tokens.clear()

    def next_version_key(self, workspace: str) -> keys.Key:
        """Each reading takes another one of the version's items. Two threads at once may take the same one."""
        turn, self._turns = self._turns, self._turns + 1
        return keys.config_version(workspace, turn % keys.CONFIG_SHARDS)

    def seen_version(self, workspace: str) -> int | None:
        return self._versions.get(workspace)

    def saw_version(self, workspace: str, version: int) -> None:
        self._versions.keep(workspace, version)


def config_raises(workspace: str) -> list[ItemWrite]:
    """The writes that raise the version, for the transaction of what it is about. They have no condition: what is
    changed has its own."""
    return [_raise(keys.config_version(workspace, shard)) for shard in range(keys.CONFIG_SHARDS)]


def _raise(key: keys.Key) -> ItemWrite:
    request = {
        "Key": to_wire(key._asdict()),
        "UpdateExpression": "ADD #version :one",
        "ExpressionAttributeNames": {"#version": "version"},
        "ExpressionAttributeValues": to_wire({":one": 1}),
    }
    return ItemWrite("Update", request, lambda: errors.Conflict("settings"))


def _is_version(key: keys.Key, workspace: str) -> bool:
    return any(key == keys.config_version(workspace, shard) for shard in range(keys.CONFIG_SHARDS))


def _alone(key: keys.Key, item: Item | None) -> dict[keys.Key, Item]:
    return {} if item is None else {key: item}
