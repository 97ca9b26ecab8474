"""A change that loosens a rule waits for a second administrator, unless the workspace has only one."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime

from baton.domain import errors
from baton.domain.access.person import People
from baton.domain.access.principal import Principal
from baton.domain.access.rights import Deed
from baton.domain.access.workspace_change import MAX_WAITING, ChangeState, WorkspaceChange
from baton.domain.alerts.alert import Alert
from baton.domain.alerts.workspace_alerts import CHANGE_ASKED, LOOSENED_ALONE, workspace_alert
from baton.domain.idempotency import IdempotencyKey
from baton.ports.access import Recorded
from baton.ports.deps import Deps
from baton.ports.writes import Save, SaveResponse
from baton.steps import idempotency

# Expired changes that are marked with a new request. A change has up to 400 KB, and a transaction 4 MB.
_MARKED = 4


@dataclass(frozen=True, slots=True)
class Loosening:
    """``people``: as they were read. ``after``: in their next version, so that the commit requires the version that was
    read."""

    change: WorkspaceChange
    people: People
    after: People
    idempotency_key: IdempotencyKey | None = None


def loosened(deps: Deps, by: Principal, loosening: Loosening) -> Recorded:
    """Returns the record of a change that the only administrator makes alone, or the deployment's operator.

    Raises:
        ChangePending: the workspace has another administrator. Nothing but the request was stored.
        TokenRefused, RightNeeded: the caller's right has ended since the request began.
    """
    must_still_administer(deps, by)
    if not by.is_operator and loosening.people.administrators(deps.clock.now()) - {by.id}:
        raise errors.ChangePending(_ask(deps, loosening))
    alone = replace(loosening.change, is_alone=True)
    alert = workspace_alert(LOOSENED_ALONE, alone, deps.ids.new("alert", deps.clock.now()))
    return Recorded((alone,), (alert,), loosening.after)


def must_still_administer(deps: Deps, by: Principal) -> None:
    """Reads the caller's token again, after the people that the commit requires: a revocation in between changes the
    people. Raises ``TokenRefused`` and ``RightNeeded``."""
    if not by.token_id:
        return
    token = deps.store.tokens.token(by.token_id)
    if token is None or not token.is_active(deps.clock.now()):
        raise errors.TokenRefused
    token.principal.must_have(Deed.DECIDE_CHANGE)


def must_rest_on(people: People, change: WorkspaceChange, now: datetime) -> None:
    """Raises ``ChangeOvertaken`` unless the asker and the approver of the change have been administrators ever since:
    their requests and approvals from before they left don't come back with them."""
    if not _asker_stands(people, change, now):
        raise errors.ChangeOvertaken(change.id, "the right of its asker")
    approver = change.approver
    if approver and not people.named(approver.id).still_may(Deed.DECIDE_CHANGE, change.decided_at, now):
        raise errors.ChangeOvertaken(change.id, "the right of its approver")


def resolved_request(deps: Deps, decided: WorkspaceChange) -> tuple[Alert, ...]:
    """Returns the alert that asked for the decision, resolved by it; none if a person has resolved it."""
    by, at = decided.approver, decided.decided_at
    if decided.alert_id is None or by is None or at is None:
        return ()
    alert = deps.store.alerts.alert(decided.workspace, decided.alert_id)
    resolved = alert.resolved(by, at, f"The change is {decided.state}.")
    return () if resolved is alert else (resolved,)


def _asker_stands(people: People, change: WorkspaceChange, now: datetime) -> bool:
    """True if the asker has been an administrator ever since. A revocation outlasts the end of its asker's approvals:
    the person that it is about could end them. It gives no right, and another administrator approves it."""
    asker = people.named(change.asker.id)
    if change.is_revocation:
        asker = replace(asker, ended_at=None)
    return asker.still_may(Deed.DECIDE_CHANGE, change.at, now)


def _ask(deps: Deps, loosening: Loosening) -> WorkspaceChange:
    """Stores the change as a request to the other administrators, and returns it. A person who asks for the same again
    gets their earlier request, if it can still be applied. The limit counts by asker, so that no asker delays the
    requests of others. Raises ``LimitReached``."""
    now, change = deps.clock.now(), loosening.change
    waiting = deps.store.changes.waiting(change.workspace)
    over = [each for each in waiting if _is_over(each, change.by, loosening.people, now)]
    own = [each for each in waiting if each.by == change.by and each not in over]
    for each in own:
        if (each.digest, each.state) == (change.digest, ChangeState.PENDING):
            deps.store.commit(change.workspace, *_answered(loosening, each))
            return each
    if not change.is_revocation and sum(not each.is_revocation for each in own) >= MAX_WAITING:
        raise errors.LimitReached("pending changes of one administrator; withdraw one of yours", MAX_WAITING)
    asked = change.waiting(deps.ids.new("alert", now))
    # Requests of the same content first: only one of them is pending then.
    ended = [Save(each.expired()) for each in sorted(over, key=lambda each: each.digest != asked.digest)[:_MARKED]]
    answered = _answered(loosening, asked)
    alert = workspace_alert(CHANGE_ASKED, asked, str(asked.alert_id))
    deps.store.commit(change.workspace, Save(asked), Save(alert), *ended, *answered)
    return asked


def _answered(loosening: Loosening, asked: WorkspaceChange) -> tuple[SaveResponse, ...]:
    return idempotency.save_response(loosening.idempotency_key, {"change_id": asked.id})


def _is_over(change: WorkspaceChange, asker: str, people: People, now: datetime) -> bool:
    """True for a request that has expired, and for the asker's own request that can't be applied any more."""
    if change.state_at(now) is ChangeState.EXPIRED:
        return True
    return change.by == asker and not _asker_stands(people, change, now)
