"""The changes of a workspace, newest first."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from baton.domain import errors
from baton.domain.access.principal import Principal
from baton.domain.access.workspace_change import ChangeState, ChangeSubject, WorkspaceChange
from baton.ports.access import SettingsVersion
from baton.ports.deps import Deps
from baton.ports.paging import Page
from baton.steps.filtering import filtered

READ_CHANGES = "read the workspace's changes"


@dataclass(frozen=True, slots=True)
class ChangeFilter:
    """The changes to list; None for any."""

    subject: ChangeSubject | None = None
    name: str | None = None  # a setting, a principal, an agent, a tool, a work type, or a person without `human:`
    state: ChangeState | None = None

    def takes(self, change: WorkspaceChange, now: datetime) -> bool:
        return (
            self.subject in {None, change.subject}
            and (self.name is None or not {self.name, f"human:{self.name}"}.isdisjoint(change.names))
            and self.state in {None, change.state_at(now)}
        )


def list_changes(deps: Deps, by: Principal, filters: ChangeFilter, limit: int, cursor: str | None) -> Page:
    """Returns a page of changes, for people and for services with ``act_as``. Pending changes are found without reading
    the others. A page may be shorter than ``limit``. Raises ``HumanNeeded`` and ``ScopeNeeded``."""
    by.must_have_act_as(READ_CHANGES)
    now, store = deps.clock.now(), deps.store.changes
    if filters.state in {ChangeState.PENDING, ChangeState.APPROVED}:
        found = [each for each in store.waiting(by.workspace) if filters.takes(each, now)]
        left = [each for each in found if cursor is None or each.id < cursor]
        return Page(tuple(left[:limit]), left[limit - 1].id if len(left) > limit else None)
    return filtered(
        lambda size, at: store.newest(by.workspace, size, at), lambda each: filters.takes(each, now), limit, cursor
    )


def find_change(deps: Deps, by: Principal, change_id: str) -> WorkspaceChange:
    """Raises ``HumanNeeded``, ``ScopeNeeded`` and ``Unknown``."""
    by.must_have_act_as(READ_CHANGES)
    return deps.store.changes.change(by.workspace, change_id)


def settings_version(deps: Deps, by: Principal, version: int) -> SettingsVersion:
    """Returns an earlier or the current version of the settings. Raises ``HumanNeeded``, ``ScopeNeeded`` and
    ``Unknown``."""
    by.must_have_act_as(READ_CHANGES)
    found = deps.store.settings.version(by.workspace, version)
    if found is None:
        raise errors.Unknown("version of the settings")
    return found
