"""The store's settings of workspaces."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from baton.adapters.dynamodb import items, keys
from baton.adapters.dynamodb.agents.catalogue import EntryVersion, kept_version
from baton.adapters.dynamodb.agents.workspace_configs import WorkspaceConfigs, config_raises
from baton.adapters.dynamodb.puts import put_version
from baton.adapters.dynamodb.table import Table
from baton.adapters.dynamodb.tracker.tracker_items import tracker_circuit_item
from baton.domain import times
from baton.domain.access.principal import Principal
from baton.domain.settings.settings import Settings
from baton.domain.tracker.tracker_circuit import TrackerCircuit


@dataclass(eq=False)
class WorkspaceSettings:
    _table: Table
    _configs: WorkspaceConfigs

    def of(self, workspace: str) -> Settings:
        return self._configs.config(workspace).settings

    def save_settings(
        self, workspace: str, settings: Settings, by: Principal, at: datetime, circuit: TrackerCircuit | None = None
    ) -> None:
        item = {**items.settings_item(workspace, settings), "updated_by": by.key, "updated_at": times.rfc3339(at)}
        entry = EntryVersion(what="settings", item=item, kept_at=keys.settings_version(workspace, settings.version))
        written = [put_version(item, settings.version, entry.what), kept_version(entry)]
        if circuit is not None:
            written.append(put_version(tracker_circuit_item(circuit), circuit.version, "tracker circuit"))
        self._table.write([*written, *config_raises(workspace)])
        self._configs.read_anew()
