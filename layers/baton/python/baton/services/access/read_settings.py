"""The workspace's settings."""

from __future__ import annotations

from baton.domain.access.principal import Principal
from baton.domain.rights.read_rights import may_see_rules
from baton.domain.settings.settings import Settings
from baton.ports.deps import Deps


def read_settings(deps: Deps, by: Principal) -> tuple[Settings, bool]:
    """Returns the settings, and whether the caller may see the guardrails, groups and rules among them."""
    return deps.store.settings.of(by.workspace), may_see_rules(by)
