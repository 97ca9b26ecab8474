"""Alerts about changes of the workspace that bind people: rules, groups, and who approves and administers. Pure."""

from __future__ import annotations

from baton.domain.access.workspace_change import WorkspaceChange
from baton.domain.alerts.alert import Alert, Severity

# No caller can raise an alert of these kinds: a kind of a caller has no underscore.
RULES_CHANGED = "rules_changed"
LOOSENED_ALONE = "loosened_alone"
CHANGE_ASKED = "change_asked"
NO_ADMINISTRATOR = "no_administrator"
NEW_APPROVER = "new_approver"
_SENTENCES = {
    RULES_CHANGED: (Severity.WARNING, "{by} changed {names} ({subject}). Read change {id} of the workspace."),
    LOOSENED_ALONE: (
        Severity.CRITICAL,
        "{by}, the only administrator, loosened {names} ({subject}) alone. Read change {id} of the workspace.",
    ),
    CHANGE_ASKED: (
        Severity.WARNING,
        "{by} asks to change {names} ({subject}). Another administrator approves or refuses change {id}.",
    ),
    NO_ADMINISTRATOR: (
        Severity.CRITICAL,
        "{by}, the last administrator, revoked their own token. The deployment's operator issues another one: {id}.",
    ),
    NEW_APPROVER: (
        Severity.WARNING,
        (
            "{by} gave {names} the right {right}: they can approve from now on. If you don't know this person, have an "
            "administrator revoke the token: baton tokens revoke {token}, or the console's page Tokens. Change {id}."
        ),
    ),
}


def workspace_alert(kind: str, change: WorkspaceChange, id_: str) -> Alert:
    """Returns the alert about a change. Its text has no words of a caller but names."""
    severity, sentence = _SENTENCES[kind]
    granted = change.after or {}
    message = sentence.format(
        by=change.by,
        names=", ".join(change.names),
        subject=change.subject,
        id=change.id,
        right=granted.get("right"),
        token=granted.get("id"),
    )
    return Alert(
        workspace=change.workspace,
        id=id_,
        kind=kind,
        severity=severity,
        message=message,
        change_id=change.id,
        raised_by=change.by,
        raised_at=change.applied_at or change.at,
    )
