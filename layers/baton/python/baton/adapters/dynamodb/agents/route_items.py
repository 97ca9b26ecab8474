"""The items of routes by work type."""

from __future__ import annotations

from baton.adapters.dynamodb import keys, records
from baton.adapters.dynamodb.item_writes import Item
from baton.domain.agents.route import Route


def route_item(route: Route) -> Item:
    values = {**records.written(route), "removed": route.removed or None}
    return {**keys.route(route.workspace, route.work_type)._asdict(), **values}


def last_route_from(item: Item) -> Route:
    """Returns the route even if it was removed."""
    return records.read(Route, item)


def route_from(item: Item | None) -> Route | None:
    """Returns None if the route never existed or was removed."""
    route = None if item is None else last_route_from(item)
    return None if route is None or route.removed else route
