"""Humans revoke tokens: their own up to the right that they show, and an administrator all."""

from __future__ import annotations

from datetime import datetime

from baton.domain import errors
from baton.domain.access.principal import Principal
from baton.domain.access.rights import Deed
from baton.domain.access.token import Token
from baton.domain.alerts.workspace_alerts import NO_ADMINISTRATOR, workspace_alert
from baton.ports.access import Recorded
from baton.ports.deps import Deps
from baton.steps.access.record_change import new_change
from baton.steps.access.second_administrator import Loosening, loosened
from baton.steps.access.token_changes import people_without, revocation_of
from baton.steps.retrying import retry_on_conflict


def revoke_token(deps: Deps, by: Principal, token_id: str) -> Token:
    """Revokes the token from the next request on. Revoking twice changes nothing. A token may have leaked, so everybody
    revokes their own: the end of the last administrator raises an alert. A token revokes none of the same name with a
    higher right: its holder may be another person.

    Raises:
        Unknown.
        RightNeeded: the token is another principal's, or has a higher right than the caller's.
        ChangePending: the revocation ends another administrator's right, or shortens it, and waits for another
            administrator.
    """
    by.must_have(Deed.REVOKE_OWN_TOKEN)

    def attempt() -> Token:
        token = deps.store.tokens.token(token_id)
        if token is None or token.workspace != by.workspace:
            raise errors.Unknown("token")
        if token.principal.key != by.key or not _covers(by, token):
            by.must_have(Deed.REVOKE_TOKEN)
        now = deps.clock.now()
        revoked = token.revoked(by, now)
        if revoked is not token:
            deps.store.tokens.save_revocation(revoked, _record(deps, by, token, now))
        return revoked

    return retry_on_conflict(deps, attempt)


def _covers(by: Principal, token: Token) -> bool:
    return by.right is not None and token.right is not None and by.right.covers(token.right)


def _record(deps: Deps, by: Principal, token: Token, now: datetime) -> Recorded:
    change = new_change(deps, by, revocation_of(token))
    if not token.is_of_a_person:
        return Recorded((change,))
    people = deps.store.tokens.people(token.workspace)
    after = people_without(people, token, now)
    shortens = after.named(token.subject).administers_until(now) < people.named(token.subject).administers_until(now)
    if shortens and token.subject != by.id:
        return loosened(deps, by, Loosening(change, people, after))
    if people.administrators(now) and not after.administrators(now):
        alert = workspace_alert(NO_ADMINISTRATOR, change, deps.ids.new("alert", now))
        return Recorded((change,), (alert,), after)
    return Recorded((change,), people=after)
