"""A human gives Baton its token for the tracker."""

from __future__ import annotations

from baton.domain import errors
from baton.domain.access.principal import Principal
from baton.domain.access.rights import Deed
from baton.domain.access.workspace_change import ChangeSubject, Difference
from baton.ports.deps import Deps
from baton.ports.writes import Save
from baton.services.tracker.retry_tracker import hurry
from baton.steps.access.record_change import new_change
from baton.steps.tracker.change_tracker_circuit import change_tracker_circuit

MAX_TOKEN = 500


def set_tracker_token(deps: Deps, by: Principal, token: str) -> None:
    """Saves the token among the secrets; it is never shown again. Waiting pages are sent at once.

    The record comes first, as no transaction spans both stores: after a crash or an error in between, the record states
    a token that wasn't saved. A token is never replaced without a record. The present token again changes nothing, so a
    repeat is recorded once, unless the first request didn't save the token."""
    by.must_have(Deed.SET_TRACKER_TOKEN)
    if not 0 < len(token) <= MAX_TOKEN or not token.isascii() or not token.isprintable() or " " in token:
        raise errors.InvalidInput("token", f"must be 1 to {MAX_TOKEN} printable characters without spaces")
    present = deps.secrets.get(by.workspace, afresh=True)
    if token != present:
        told = (None, {"token": "set"}) if present is None else ({"token": "set"}, {"token": "replaced"})
        change = new_change(deps, by, Difference(ChangeSubject.TRACKER, ("token",), *told))
        deps.store.commit(by.workspace, Save(change))
        deps.secrets.put(by.workspace, token)
    if deps.store.settings.of(by.workspace).tracker is not None:
        change_tracker_circuit(deps, by.workspace, lambda circuit: circuit.closed(deps.clock.now()))
        hurry(deps, by.workspace)
        deps.tracker_queue.notify(by.workspace)
