"""Routes: the target of work that names only its type, and how it is approved (docs/spec/lifecycle.md §2)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum
from typing import Any

from baton.domain.access.principal import Principal
from baton.domain.access.rights import Deed
from baton.domain.agents.agent import DEFAULT_RANK

MAX_ROUTES = 500


class Mode(StrEnum):
    """How work of this type is approved: for the dispatcher, for an agent that claims it by id, or by a human only."""

    DISPATCH = "dispatch"
    NEXT = "next"
    MANUAL = "manual"


@dataclass(frozen=True, slots=True, kw_only=True)
class Route:
    """The target agent of a work type."""

    workspace: str
    work_type: str
    agent: str
    mode: Mode = Mode.DISPATCH
    dispatch_rank: int = DEFAULT_RANK  # lower goes first
    version: int = 0
    updated_at: datetime
    updated_by: str
    # The person who chose mode and agent, and the time. None: an earlier release stored neither, and its last editor
    # counts.
    mode_set_by: str | None = None
    mode_set_at: datetime | None = None
    removed: bool = False  # a removed route is kept, so that versions go on if the work type is routed again

    @property
    def mode_setter(self) -> str:
        return self.updated_by if self.mode_set_by is None else self.mode_set_by

    def changed(self, by: Principal, at: datetime, **values: Any) -> Route:
        """Returns the next version. Raises ``HumanNeeded``, and ``RightNeeded`` for a person who ends the mode
        ``manual`` without the right to give standing approvals."""
        by.must_have(Deed.CHANGE_ROUTE)
        after = replace(self, **values, version=self.version + 1, updated_at=at, updated_by=by.key)
        if self.mode is Mode.MANUAL and self.version and (after.mode is not Mode.MANUAL or after.removed):
            by.must_have(Deed.GIVE_STANDING_APPROVAL)
        if (after.mode, after.agent) == (self.mode, self.agent):
            return replace(after, mode_set_by=self.mode_setter)
        return replace(after, mode_set_by=by.key, mode_set_at=at)


@dataclass(frozen=True, slots=True)
class RoutingTable:
    """The workspace's routes, by rank and then by work type."""

    all: tuple[Route, ...] = ()  # removed routes included
    version: int = 0  # rises with every change of any route, so that concurrent changes can't exceed ``MAX_ROUTES``

    def __iter__(self) -> Iterator[Route]:
        live = (route for route in self.all if not route.removed)
        return iter(sorted(live, key=lambda route: (route.dispatch_rank, route.work_type)))

    def __len__(self) -> int:
        return sum(not route.removed for route in self.all)

    def last(self, work_type: str) -> Route | None:
        """Returns the route's last version, even if it is removed; None if there was none."""
        return next((route for route in self.all if route.work_type == work_type), None)
