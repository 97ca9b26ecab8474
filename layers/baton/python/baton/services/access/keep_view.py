"""People save views of the console's pages, for themselves or for the workspace."""

from __future__ import annotations

from typing import Any

from baton.domain.access.principal import Principal
from baton.domain.access.rights import Deed
from baton.domain.access.saved_view import SavedView, ViewList, ViewPlace, ViewScope, owner_of
from baton.ports.deps import Deps
from baton.steps.retrying import retry_on_conflict


def views_for(deps: Deps, by: Principal) -> list[tuple[ViewScope, SavedView]]:
    """Returns the workspace's views and one's own, each by name. One read."""
    by.must_have(Deed.READ_VIEWS)
    scopes = (ViewScope.WORKSPACE, ViewScope.MINE)
    found = deps.store.views.lists(by.workspace, [owner_of(scope, by) for scope in scopes])
    return [(scope, of.views[name]) for scope, of in zip(scopes, found, strict=True) for name in sorted(of.views)]


def keep_view(
    deps: Deps, by: Principal, at: ViewPlace, values: dict[str, Any], expected_version: int | None
) -> tuple[SavedView, bool]:
    """Returns the view as it is now, and whether it is new. ``values``: ``title``, ``page`` and ``query``. Raises
    ``VersionConflict`` and ``LimitReached``."""
    by.must_have(Deed.SAVE_VIEW)

    def attempt() -> tuple[SavedView, bool]:
        before = _list_of(deps, by, at)
        before.must_be_at(at.name, expected_version)
        now = deps.clock.now()
        view = SavedView(**values, name=at.name, version=before.version + 1, updated_at=now, updated_by=by.key)
        deps.store.views.save(by.workspace, owner_of(at.scope, by), before.having(view))
        return view, at.name not in before.views

    return retry_on_conflict(deps, attempt)


def drop_view(deps: Deps, by: Principal, at: ViewPlace, expected_version: int | None) -> None:
    """Raises ``Unknown`` and ``VersionConflict``."""
    by.must_have(Deed.DELETE_VIEW)

    def attempt() -> None:
        before = _list_of(deps, by, at)
        after = before.without(at.name)
        before.must_be_at(at.name, expected_version)
        deps.store.views.save(by.workspace, owner_of(at.scope, by), after)

    return retry_on_conflict(deps, attempt)


def _list_of(deps: Deps, by: Principal, at: ViewPlace) -> ViewList:
    return deps.store.views.lists(by.workspace, [owner_of(at.scope, by)])[0]
