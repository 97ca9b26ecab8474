"""Views that people save: the address of a page with its filters, under a name, for oneself or for the workspace."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum

from baton.domain import errors
from baton.domain.access.principal import Principal

MAX_VIEWS = 50


class ViewScope(StrEnum):
    """Whose views: one's own, or those of everybody in the workspace."""

    MINE = "mine"
    WORKSPACE = "workspace"


@dataclass(frozen=True, slots=True, kw_only=True)
class SavedView:
    """``version``: that of its list when it was saved last, so it never says the same of two views."""

    name: str
    title: str
    page: str  # of the console, such as ``/tasks``
    query: Mapping[str, str]  # the filters in its address
    version: int
    updated_at: datetime
    updated_by: str  # the principal's key


@dataclass(frozen=True, slots=True)
class ViewList:
    """The views of one person or of the workspace, by name."""

    views: Mapping[str, SavedView]
    version: int = 0

    def must_be_at(self, name: str, expected_version: int | None) -> None:
        """Raises ``VersionConflict`` unless the view is in this version (0: there is none)."""
        seen = self.views[name].version if name in self.views else 0
        if expected_version is not None and expected_version != seen:
            raise errors.VersionConflict("view", seen)

    def having(self, view: SavedView) -> ViewList:
        """Raises ``LimitReached``."""
        if view.name not in self.views and len(self.views) >= MAX_VIEWS:
            raise errors.LimitReached("views of one scope", MAX_VIEWS)
        return replace(self, views={**self.views, view.name: view}, version=view.version)

    def without(self, name: str) -> ViewList:
        """Raises ``Unknown``."""
        if name not in self.views:
            raise errors.Unknown("view")
        kept = {each: view for each, view in self.views.items() if each != name}
        return replace(self, views=kept, version=self.version + 1)


@dataclass(frozen=True, slots=True)
class ViewPlace:
    """Which view is meant."""

    scope: ViewScope
    name: str


def owner_of(scope: ViewScope, by: Principal) -> str | None:
    """Returns whose list it is; None: the workspace's."""
    return by.key if scope is ViewScope.MINE else None
