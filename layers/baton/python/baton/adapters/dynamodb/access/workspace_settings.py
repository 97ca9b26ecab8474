"""The store's settings of workspaces."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from baton.adapters.dynamodb import items, keys
from baton.adapters.dynamodb.access.recorded_writes import recorded_writes
from baton.adapters.dynamodb.agents.catalogue import EntryVersion, kept_version
from baton.adapters.dynamodb.agents.workspace_configs import WorkspaceConfigs, config_raises
from baton.adapters.dynamodb.puts import put_version
from baton.adapters.dynamodb.table import Table
from baton.domain import times
from baton.domain.access.principal import Principal
from baton.domain.settings.settings import Settings
from baton.ports.access import Recorded, SettingsVersion


@dataclass(eq=False)
class WorkspaceSettings:
    _table: Table
    _configs: WorkspaceConfigs

    def of(self, workspace: str) -> Settings:
        return self._configs.config(workspace).settings

    def version(self, workspace: str, version: int) -> SettingsVersion | None:
        item = self._table.get(keys.settings_version(workspace, version))
        if item is None:
            return None
        at = item.get("updated_at")
        return SettingsVersion(items.settings_from(item), item.get("updated_by"), at and times.parse_rfc3339(at))

    def save_settings(
        self,
        workspace: str,
        settings: Settings,
        by: Principal,
        at: datetime,
        recorded: Recorded | None = None,
    ) -> None:
        item = {**items.settings_item(workspace, settings), "updated_by": by.key, "updated_at": times.rfc3339(at)}
        entry = EntryVersion(what="settings", item=item, kept_at=keys.settings_version(workspace, settings.version))
        written = [put_version(item, settings.version, entry.what), kept_version(entry)]
        self._table.write([*written, *config_raises(workspace), *recorded_writes(recorded)])
        self._configs.read_anew()
