"""A human changes the workspace's settings."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from baton.domain.errors import VersionConflict
from baton.services.retrying import decided_again
from baton.services.tracker_gate import change_gate

if TYPE_CHECKING:
    from baton.domain.principal import Principal
    from baton.domain.settings import Settings
    from baton.ports import Baton


def change_settings(
    baton: Baton, by: Principal, values: dict[str, Any], expected_version: int | None = None
) -> Settings:
    """Returns the settings in their new version; fields left out keep their value. Raises ``InvalidInput`` and
    ``VersionConflict``."""
    by.must_be_human("change the workspace's settings")

    def attempt() -> Settings:
        before = baton.store.settings(by.workspace)
        if expected_version is not None and expected_version != before.version:
            raise VersionConflict("settings", before.version)
        after = before.changed(**values, version=before.version + 1)
        opens = after.tracker is not None and after.tracker != before.tracker
        if opens:
            # Before the settings: a wake-up without a tracker is harmless, a tracker that is never woken isn't.
            change_gate(baton, by.workspace, lambda circuit: circuit.opened(baton.clock.now()))
        baton.store.save_settings(by.workspace, after, by, baton.clock.now())
        if opens:
            # And after them: a process that looked in between saw no tracker, and is about to clear the wake-up.
            change_gate(baton, by.workspace, lambda circuit: circuit.opened(baton.clock.now()))
        return after

    return decided_again(baton.clock, attempt)
