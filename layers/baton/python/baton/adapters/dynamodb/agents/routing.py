"""The store's routes by work type."""

from __future__ import annotations

from baton.adapters.dynamodb import keys
from baton.adapters.dynamodb.agents import route_items
from baton.adapters.dynamodb.agents.catalogue import Catalogue, EntryVersion, read_catalogue
from baton.adapters.dynamodb.changes.change_items import change_put
from baton.adapters.dynamodb.table import Table
from baton.domain.access.workspace_change import WorkspaceChange
from baton.domain.agents.route import Route, RoutingTable


class Routing:
    def __init__(self, table: Table) -> None:
        self._table = table

    def route(self, workspace: str, work_type: str) -> Route | None:
        return route_items.route_from(self._table.get(keys.route(workspace, work_type)))

    def table(self, workspace: str) -> RoutingTable:
        found, version = read_catalogue(self._table, keys.routing_table(workspace))
        return RoutingTable(tuple(map(route_items.last_route_from, found)), version)

    def save_route(self, route: Route, table: RoutingTable, change: WorkspaceChange | None = None) -> None:
        kept_at = keys.route_version(route.workspace, route.work_type, route.version)
        entry = EntryVersion(what="route", item=route_items.route_item(route), kept_at=kept_at)
        recorded = [] if change is None else [change_put(change)]
        Catalogue("routing table", keys.routing_table(route.workspace), table.version).save(
            self._table, entry, *recorded
        )
