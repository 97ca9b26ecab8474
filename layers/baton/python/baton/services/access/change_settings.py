"""A human changes the workspace's settings."""

from __future__ import annotations

from typing import Any

from baton.domain import errors
from baton.domain.access.principal import Principal
from baton.domain.settings.settings import Settings
from baton.ports.deps import Deps
from baton.steps.retrying import retry_on_conflict
from baton.steps.tracker.change_tracker_circuit import change_tracker_circuit


def change_settings(deps: Deps, by: Principal, values: dict[str, Any], expected_version: int | None = None) -> Settings:
    """Returns the settings in their new version; fields left out keep their value. Raises ``InvalidInput`` and
    ``VersionConflict``."""
    by.must_be_human("change the workspace's settings")

    def attempt() -> Settings:
        before = deps.store.settings.of(by.workspace)
        if expected_version is not None and expected_version != before.version:
            raise errors.VersionConflict("settings", before.version)
        after = before.changed(**values, version=before.version + 1)
        opens = after.tracker is not None and after.tracker != before.tracker
        if opens:
            # Before the settings: a wake-up without a tracker is harmless, a tracker that is never woken isn't.
            change_tracker_circuit(deps, by.workspace, lambda circuit: circuit.closed(deps.clock.now()))
        deps.store.settings.save_settings(by.workspace, after, by, deps.clock.now())
        if opens:
            # And after them: a process that looked in between saw no tracker, and is about to clear the wake-up.
            change_tracker_circuit(deps, by.workspace, lambda circuit: circuit.closed(deps.clock.now()))
        return after

    return retry_on_conflict(deps, attempt)
