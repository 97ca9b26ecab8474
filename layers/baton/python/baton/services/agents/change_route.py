"""A human decides which agent gets the work of a type (docs/spec/lifecycle.md §2)."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from baton.domain import errors
from baton.domain.access.principal import Principal
from baton.domain.access.rights import Deed
from baton.domain.access.workspace_change import ChangeSubject
from baton.domain.agents.route import MAX_ROUTES, Mode, Route, RoutingTable
from baton.ports.deps import Deps
from baton.steps.access.record_change import plain, recorded_edit
from baton.steps.retrying import retry_on_conflict


def change_route(
    deps: Deps, by: Principal, work_type: str, values: dict[str, Any], expected_version: int | None = None
) -> tuple[Route, bool]:
    """Returns the route in its new version, and whether it is new. Fields left out keep their value; ``agent`` is
    always given. Raises ``UnknownAgent``, ``TargetInactive``, ``LimitReached``, and ``VersionConflict`` if
    ``expected_version`` (0: must not exist) isn't the present one."""
    by.must_have(Deed.CHANGE_ROUTE)

    def attempt() -> tuple[Route, bool]:
        _must_be_active(deps, by.workspace, values["agent"])
        table, now = deps.store.routes.table(by.workspace), deps.clock.now()
        before = table.last(work_type)
        if before is None or before.removed:
            before = _blank(by, work_type, before, now)
        seen = 0 if before.removed else before.version
        if expected_version is not None and expected_version != seen:
            raise errors.VersionConflict("route", seen)
        if before.removed and len(table) >= MAX_ROUTES:
            raise errors.LimitReached("routes", MAX_ROUTES)
        after = before.changed(by, now, **values, removed=False)
        edited = (None if before.removed else plain(before), plain(after))
        change = recorded_edit(deps, by, ChangeSubject.ROUTES, work_type, edited)
        deps.store.routes.save_route(after, table, change)
        return after, before.removed

    return retry_on_conflict(deps, attempt)


def remove_route(deps: Deps, by: Principal, work_type: str) -> None:
    """Deletes the route for this type of work. Raises ``Unknown``."""
    by.must_have(Deed.CHANGE_ROUTE)

    def attempt() -> None:
        table = deps.store.routes.table(by.workspace)
        route = table.last(work_type)
        if route is None or route.removed:
            raise errors.Unknown("route for this type of work")
        change = recorded_edit(deps, by, ChangeSubject.ROUTES, work_type, (plain(route), None))
        deps.store.routes.save_route(route.changed(by, deps.clock.now(), removed=True), table, change)

    return retry_on_conflict(deps, attempt)


def read_routes(deps: Deps, by: Principal) -> RoutingTable:
    """Returns the workspace's routes. One read."""
    return deps.store.routes.table(by.workspace)


def read_route(deps: Deps, by: Principal, work_type: str) -> Route:
    """Returns the route for this type of work. Raises ``Unknown``."""
    route = deps.store.routes.route(by.workspace, work_type)
    if route is None:
        raise errors.Unknown("route for this type of work")
    return route


def _blank(by: Principal, work_type: str, removed: Route | None, now: datetime) -> Route:
    """The start of a new route. Of a removed route it keeps the version and the mode: ``manual`` isn't
    ended by removing the route."""
    return Route(
        workspace=by.workspace,
        work_type=work_type,
        agent="",
        version=removed.version if removed else 0,
        mode=removed.mode if removed else Mode.DISPATCH,
        updated_at=now,
        updated_by=by.key,
        removed=True,
    )


def _must_be_active(deps: Deps, workspace: str, slug: str) -> None:
    agent = deps.store.agents.agent(workspace, slug)
    if agent is None:
        raise errors.UnknownAgent(slug, agents=deps.store.agents.roster(workspace).some_active())
    if not agent.active:
        raise errors.TargetInactive(slug)
