"""The store's routes by work type."""

from __future__ import annotations

from typing import TYPE_CHECKING

from baton.adapters.dynamodb import keys
from baton.adapters.dynamodb.agents import route_items
from baton.adapters.dynamodb.agents.registry import Registry, kept_version
from baton.adapters.dynamodb.puts import put_version
from baton.domain.agents.route import RoutingTable

if TYPE_CHECKING:
    from baton.adapters.dynamodb.table import Write
    from baton.domain.agents.route import Route


class Routing(Registry):
    def route(self, workspace: str, work_type: str) -> Route | None:
        return route_items.route_from(self._table.get(keys.route(workspace, work_type)))

    def routes(self, workspace: str) -> RoutingTable:
        found = list(self._table.query_all("#pk = :pk", {":pk": keys.routes(workspace)}))
        table = keys.routing_table(workspace)
        routes = tuple(route_items.last_route_from(item) for item in found if item["sk"] != table.sk)
        version = next((int(item["version"]) for item in found if item["sk"] == table.sk), 0)
        return RoutingTable(routes, version)

    def save_route(self, route: Route, table: RoutingTable) -> None:
        item = route_items.route_item(route)
        table_item = {**keys.routing_table(route.workspace)._asdict(), "version": table.version + 1}
        kept = keys.route_version(route.workspace, route.work_type, route.version)

        def writes_for(token: str) -> list[Write]:
            return [
                put_version(item, route.version, "route"),
                put_version(table_item, table.version + 1, "routing table"),
                kept_version(item, kept, token, "route"),
            ]

        self._table.transact(writes_for, kept)
