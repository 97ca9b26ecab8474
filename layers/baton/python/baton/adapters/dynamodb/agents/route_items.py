"""The items of routes by work type."""

from __future__ import annotations

from dataclasses import fields

from baton.adapters.dynamodb import keys
from baton.adapters.dynamodb.item_writes import Item
from baton.domain import times
from baton.domain.agents.route import Mode, Route
from baton.domain.newer import member


def route_item(route: Route) -> Item:
    values = {f.name: getattr(route, f.name) for f in fields(Route)}
    plain = {"mode": str(route.mode), "updated_at": times.rfc3339(route.updated_at), "removed": route.removed or None}
    return {**keys.route(route.workspace, route.work_type)._asdict(), **values, **plain}


def last_route_from(item: Item) -> Route:
    """Returns the route even if it was removed."""
    return Route(
        workspace=item["workspace"],
        work_type=item["work_type"],
        agent=item["agent"],
        mode=member(Mode, item["mode"]),
        dispatch_rank=int(item["dispatch_rank"]),
        version=int(item["version"]),
        updated_at=times.parse_rfc3339(item["updated_at"]),
        updated_by=item["updated_by"],
        removed=item.get("removed", False),
    )


def route_from(item: Item | None) -> Route | None:
    """Returns None if the route never existed or was removed."""
    route = None if item is None else last_route_from(item)
    return None if route is None or route.removed else route
