"""Saves changed settings with the record of the change."""

from __future__ import annotations

from dataclasses import replace

from baton.domain.access.loosening import binds_otherwise, raised_in_tracker
from baton.domain.access.principal import Principal, tracker_human
from baton.domain.access.workspace_change import WorkspaceChange
from baton.domain.alerts.workspace_alerts import RULES_CHANGED, workspace_alert
from baton.domain.settings.settings import Settings
from baton.ports.access import Recorded
from baton.ports.deps import Deps


def save_settings(deps: Deps, by: Principal, before: Settings, after: Settings, recorded: Recorded) -> None:
    """Saves ``after`` with its record, and the circuit of a tracker that it switches on. The earlier approvals of a
    person of the tracker end when they get a higher right. Raises ``Conflict``."""
    now = deps.clock.now()
    if raised := raised_in_tracker(before.tracker, after.tracker):
        people = recorded.people or deps.store.tokens.people(by.workspace).checked_again()
        names = (tracker_human(by.workspace, each).id for each in raised)
        recorded = replace(recorded, people=people.with_ended(names, now))
    if after.tracker is not None and after.tracker != before.tracker:
        recorded = replace(recorded, circuit=deps.store.tracker.circuit(by.workspace).closed(now))
    deps.store.settings.save_settings(by.workspace, after, by, now, recorded)


def with_rules_alert(
    deps: Deps, recorded: Recorded, change: WorkspaceChange, before: Settings, after: Settings
) -> Recorded:
    """Returns the record with an alert if the change is about approvers."""
    if not binds_otherwise(before, after):
        return recorded
    alert = workspace_alert(RULES_CHANGED, change, deps.ids.new("alert", deps.clock.now()))
    return replace(recorded, alerts=(*recorded.alerts, alert))
