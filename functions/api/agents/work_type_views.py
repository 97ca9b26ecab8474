"""Routes by work type as JSON. docs/openapi.json is made of these types."""

from __future__ import annotations

from typing import Literal

from typing_extensions import TypedDict

from baton.domain.agents.route import Route
from rest import pages
from rest.shape import ViewShape


class RouteView(TypedDict):
    """``mode_setter``: the human who chose agent and mode, who need not be the last editor. ``mode_set_at``: null for a
    choice of an earlier release."""

    work_type: str
    agent: str
    mode: Literal["dispatch", "next", "manual"]
    mode_setter: str
    mode_set_at: str | None
    dispatch_rank: int
    version: int
    updated_at: str
    updated_by: str


RouteList = pages.of("RouteList", RouteView)
route_view = ViewShape(RouteView, Route)
