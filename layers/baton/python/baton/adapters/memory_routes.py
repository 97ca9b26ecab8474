"""The part of the memory store that is about routes by work type."""

from __future__ import annotations

from typing import TYPE_CHECKING

from baton.adapters.memory_registry import MemoryRegistry
from baton.domain.errors import Conflict
from baton.domain.route import RoutingTable

if TYPE_CHECKING:
    from baton.domain.route import Route


class MemoryRoutes(MemoryRegistry):
    def __init__(self) -> None:
        super().__init__()
        self._routing: dict[str, RoutingTable] = {}

    def route(self, workspace: str, work_type: str) -> Route | None:
        return next((route for route in self.routes(workspace) if route.work_type == work_type), None)

    def routes(self, workspace: str) -> RoutingTable:
        with self._lock:
            return self._routing.get(workspace, RoutingTable())

    def save_route(self, route: Route, table: RoutingTable) -> None:
        with self._lock:
            held = self.routes(route.workspace)
            last = held.last(route.work_type)
            if held.version != table.version or (last.version if last else 0) != route.version - 1:
                raise Conflict("route")
            others = [other for other in held.all if other.work_type != route.work_type]
            rows = tuple(sorted([*others, route], key=lambda each: each.work_type))
            self._routing[route.workspace] = RoutingTable(rows, held.version + 1)
