"""Another administrator decides on a change that loosens a rule (docs/decisions/109-changes-of-a-workspace.md)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import datetime

from baton.domain import errors
from baton.domain.access.person import People
from baton.domain.access.principal import Principal
from baton.domain.access.rights import Deed
from baton.domain.access.workspace_change import ChangeState, ChangeSubject, WorkspaceChange
from baton.domain.questions.approval import check_rules
from baton.domain.settings.plain_settings import given, plain
from baton.domain.settings.settings import Settings
from baton.ports.access import Recorded
from baton.ports.deps import Deps
from baton.ports.writes import Save
from baton.steps.access.agent_edits import apply_edit
from baton.steps.access.save_settings import save_settings, with_rules_alert
from baton.steps.access.second_administrator import must_rest_on, must_still_administer, resolved_request
from baton.steps.access.token_changes import people_without, revocation_of
from baton.steps.guardrails.apply_guardrails import apply_guardrails_to_reason
from baton.steps.retrying import retry_on_conflict
from baton.steps.tracker.save_webhook import apply_removal


def approve_change(deps: Deps, by: Principal, change_id: str, digest: str) -> WorkspaceChange:
    """Applies the change if everything that it changes is still as it was. A token's request is only approved: its
    asker repeats the request. The same approval again changes nothing.

    Raises:
        RightNeeded, Unknown, NotAsked, ChangeOver.
        ChangeOvertaken: the workspace has changed, or the asker isn't an administrator any more.
        InvalidInput: ``digest`` isn't the digest of the change.
    """
    by.must_have(Deed.DECIDE_CHANGE)

    def attempt() -> WorkspaceChange:
        now, people = deps.clock.now(), deps.store.tokens.people(by.workspace)
        must_still_administer(deps, by)
        settings = deps.store.settings.of(by.workspace)  # before the change: another approval may apply it meanwhile
        change = deps.store.changes.change(by.workspace, change_id)
        if change.decided_by == by.key and change.state in {ChangeState.APPLIED, ChangeState.APPROVED}:
            return change
        is_request = change.subject is ChangeSubject.TOKENS and change.after is not None
        state = ChangeState.APPROVED if is_request else ChangeState.APPLIED
        decided = change.decided(by, state, now, digest)
        must_rest_on(people, decided, now)
        if is_request:
            alerts = map(Save, resolved_request(deps, decided))
            deps.store.commit(by.workspace, Save(decided), Save(people.checked_again()), *alerts)
        elif change.subject is ChangeSubject.SETTINGS:
            _change_settings(deps, settings, decided, people)
        elif change.subject is ChangeSubject.AGENTS:
            apply_edit(deps, decided, people)
        elif change.subject is ChangeSubject.TRACKER:
            apply_removal(deps, decided, people)
        else:
            _revoke(deps, decided, people, now)
        return decided

    return retry_on_conflict(deps, attempt)


def refuse_change(deps: Deps, by: Principal, change_id: str, reason: str | None = None) -> WorkspaceChange:
    """Refuses the change, or ends its approval that isn't used yet. Raises ``RightNeeded``, ``Unknown``, ``NotAsked``
    and ``ChangeOver``."""
    by.must_have(Deed.DECIDE_CHANGE)
    said = apply_guardrails_to_reason(deps, by.workspace, reason)
    return _ended(deps, by, change_id, ChangeState.REFUSED, lambda change, now: change.refused(by, now, said))


def withdraw_change(deps: Deps, by: Principal, change_id: str) -> WorkspaceChange:
    """Takes the caller's own change back. Raises ``RightNeeded``, ``Unknown``, ``NotAsked`` and ``ChangeOver``."""
    by.must_have(Deed.WITHDRAW_CHANGE)
    return _ended(deps, by, change_id, ChangeState.WITHDRAWN, lambda change, now: change.withdrawn(by, now))


def _change_settings(deps: Deps, before: Settings, decided: WorkspaceChange, people: People) -> None:
    present = plain(before)
    for name, value in (decided.before or {}).items():
        if present.get(name) != value:
            raise errors.ChangeOvertaken(decided.id, name)
    after = replace(before, **given(decided.after or {}), version=before.version + 1)
    check_rules(after)
    recorded = Recorded((decided,), resolved_request(deps, decided), people.checked_again())
    recorded = with_rules_alert(deps, recorded, decided, before, after)
    save_settings(deps, decided.asker, before, after, recorded)


def _revoke(deps: Deps, decided: WorkspaceChange, people: People, now: datetime) -> None:
    token = deps.store.tokens.token(str((decided.before or {})["id"]))
    if token is None or token.revoked_at is not None or revocation_of(token).before != decided.before:
        raise errors.ChangeOvertaken(decided.id, "the token")
    recorded = Recorded((decided,), resolved_request(deps, decided), people_without(people, token, now))
    deps.store.tokens.save_revocation(token.revoked(decided.asker, now), recorded)


def _ended(
    deps: Deps,
    by: Principal,
    change_id: str,
    state: ChangeState,
    end: Callable[[WorkspaceChange, datetime], WorkspaceChange],
) -> WorkspaceChange:
    """Saves the change as ``end`` returns it. The same end by the same person again changes nothing."""

    def attempt() -> WorkspaceChange:
        change = deps.store.changes.change(by.workspace, change_id)
        if (change.state, change.decided_by) == (state, by.key):
            return change
        ended = end(change, deps.clock.now())
        deps.store.commit(by.workspace, Save(ended), *map(Save, resolved_request(deps, ended)))
        return ended

    return retry_on_conflict(deps, attempt)
