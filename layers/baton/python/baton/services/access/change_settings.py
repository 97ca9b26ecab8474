"""An administrator changes the workspace's settings."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from baton.domain import errors
from baton.domain.access.loosening import loosens
from baton.domain.access.principal import Principal
from baton.domain.access.rights import Deed
from baton.domain.access.workspace_change import ChangeSubject, difference
from baton.domain.agents.agent import Roster
from baton.domain.agents.rule_fit import with_slugs
from baton.domain.questions.approval import check_rules
from baton.domain.settings.plain_settings import plain
from baton.domain.settings.settings import Settings
from baton.ports.access import Recorded
from baton.ports.deps import Deps
from baton.steps.access.record_change import new_change
from baton.steps.access.save_settings import save_settings, with_rules_alert
from baton.steps.access.second_administrator import Loosening, loosened
from baton.steps.retrying import retry_on_conflict


def change_settings(deps: Deps, by: Principal, values: dict[str, Any], expected_version: int | None = None) -> Settings:
    """Returns the settings in their new version; fields left out keep their value.

    Raises:
        InvalidInput: also for a new rule that names no agent, or several.
        VersionConflict.
        ChangePending: the change loosens a rule, and waits for another administrator.
    """
    by.must_have(Deed.CHANGE_SETTINGS)

    def attempt() -> Settings:
        before = deps.store.settings.of(by.workspace)
        if expected_version is not None and expected_version != before.version:
            raise errors.VersionConflict("settings", before.version)
        after = before.changed(**values, version=before.version + 1)
        check_rules(after)
        compared = before
        if "approval_rules" in values:
            compared, after = _with_slugs(deps.store.agents.roster(by.workspace), before, after)
        change = new_change(deps, by, difference(ChangeSubject.SETTINGS, (), plain(before), plain(after)))
        if loosens(compared, after):
            people = deps.store.tokens.people(by.workspace)
            recorded = loosened(deps, by, Loosening(change, people, people.checked_again()))
        else:
            recorded = Recorded((change,) if change.names else ())
            recorded = with_rules_alert(deps, recorded, change, compared, after)
        save_settings(deps, by, before, after, recorded)
        return after

    return retry_on_conflict(deps, attempt)


def _with_slugs(roster: Roster, before: Settings, after: Settings) -> tuple[Settings, Settings]:
    """Returns both with the slugs of the agents that their rules name: a slug in the place of an alias is no change."""
    stored = before.approval_rules
    return (
        replace(before, approval_rules=with_slugs(stored, roster, stored)),
        replace(after, approval_rules=with_slugs(after.approval_rules, roster, stored)),
    )
