"""Routes by work type as JSON. docs/openapi.json is made of these types."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from typing_extensions import TypedDict

from baton.domain.times import rfc3339

if TYPE_CHECKING:
    from baton.domain.agents.route import Route


class RouteView(TypedDict):
    work_type: str
    agent: str
    mode: Literal["dispatch", "next", "manual"]
    dispatch_rank: int
    version: int
    updated_at: str
    updated_by: str


class RouteList(TypedDict):
    items: list[RouteView]
    next_cursor: str | None


def route_view(route: Route) -> RouteView:
    return {
        "work_type": route.work_type,
        "agent": route.agent,
        "mode": route.mode.value,
        "dispatch_rank": route.dispatch_rank,
        "version": route.version,
        "updated_at": rfc3339(route.updated_at),
        "updated_by": route.updated_by,
    }
