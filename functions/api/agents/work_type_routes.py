"""Routes by work type: which agent gets handoffs that name no target."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from api.agents.work_type_views import RouteList, RouteView, route_view
from baton.domain.access.rights import Deed
from baton.domain.agents.agent import DEFAULT_RANK, MAX_DISPATCH_RANK
from baton.domain.agents.route import Mode
from baton.domain.agents.route import Route as WorkRoute
from baton.ports.deps import Deps
from baton.services.agents.change_route import change_route, read_route, read_routes, remove_route
from rest import answers, models, pages, routing

routes = routing.Routes()


class RouteRequest(models.Changes):
    """``agent``: an active agent's slug. ``mode``: whether an approval dispatches the task, or leaves it to a worker
    that claims it by its id, or a human decides each time. ``dispatch_rank``: lower goes first; left out, it keeps its
    value (100 at first). ``version``: the version that the change is based on (0: must not exist yet); any other
    current version refuses it."""

    agent: models.Slug
    mode: Mode
    dispatch_rank: Annotated[int, Field(ge=0, le=MAX_DISPATCH_RANK)] = DEFAULT_RANK


@routes.put(
    "/routes/{work_type}",
    body=models.strict(RouteRequest),
    answers={200: RouteView, 201: RouteView},
    only=routing.human(Deed.CHANGE_ROUTE),
)
def put_route(deps: Deps, call: routing.Call[RouteRequest, None]) -> answers.Answer:
    """Route a type of work to an agent. A workspace holds at most 500 routes."""
    work_type = call.params["work_type"]
    route, is_new = change_route(deps, call.by, work_type, call.body.given(), call.body.expected_version)
    return answers.created(route_view(route), call.path) if is_new else answers.ok(route_view(route))


@routes.get("/routes", query=models.query(models.PageQuery), answers={200: RouteList})
def list_routes(deps: Deps, call: routing.Call[None, models.PageQuery]) -> answers.Answer:
    """The workspace's routes, by `dispatch_rank` and then by work type."""
    found = sorted(read_routes(deps, call.by), key=_sort_key)
    return answers.ok(pages.fitting(call, pages.listed(call, found, _sort_key), _sort_key, route_view))


def _sort_key(route: WorkRoute) -> str:
    return f"{route.dispatch_rank:04d}#{route.work_type}"


@routes.get("/routes/{work_type}", answers={200: RouteView})
def get_route(deps: Deps, call: routing.Call[None, None]) -> answers.Answer:
    """One route."""
    return answers.ok(route_view(read_route(deps, call.by, call.params["work_type"])))


@routes.delete("/routes/{work_type}", answers={204: None}, only=routing.human(Deed.CHANGE_ROUTE))
def delete_route(deps: Deps, call: routing.Call[None, None]) -> answers.Answer:
    """Remove the route of a type of work."""
    remove_route(deps, call.by, call.params["work_type"])
    return answers.nothing()
