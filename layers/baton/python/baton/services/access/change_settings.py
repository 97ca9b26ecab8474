"""A human changes the workspace's settings."""

from __future__ import annotations

from typing import Any

from baton.domain import errors
from baton.domain.access.principal import Principal
from baton.domain.questions.approval import check_rules
from baton.domain.settings.settings import Settings
from baton.ports.deps import Deps
from baton.steps.retrying import retry_on_conflict


def change_settings(deps: Deps, by: Principal, values: dict[str, Any], expected_version: int | None = None) -> Settings:
    """Returns the settings in their new version; fields left out keep their value. Raises ``InvalidInput`` and
    ``VersionConflict``."""
    by.must_be_human("change the workspace's settings")

    def attempt() -> Settings:
        before = deps.store.settings.of(by.workspace)
        if expected_version is not None and expected_version != before.version:
            raise errors.VersionConflict("settings", before.version)
        after = before.changed(**values, version=before.version + 1)
        check_rules(after)
        now, circuit = deps.clock.now(), None
        if after.tracker is not None and after.tracker != before.tracker:
            circuit = deps.store.tracker.circuit(by.workspace).closed(now)
        deps.store.settings.save_settings(by.workspace, after, by, now, circuit)
        return after

    return retry_on_conflict(deps, attempt)
