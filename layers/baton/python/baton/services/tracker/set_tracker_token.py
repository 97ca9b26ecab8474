"""A human gives Baton its token for the tracker."""

from __future__ import annotations

from baton.domain import errors
from baton.domain.access.principal import Principal
from baton.domain.access.rights import Deed
from baton.ports.deps import Deps
from baton.services.tracker.retry_tracker import hurry
from baton.steps.tracker.change_tracker_circuit import change_tracker_circuit

MAX_TOKEN = 500


def set_tracker_token(deps: Deps, by: Principal, token: str) -> None:
    """Saves the token among the secrets; it is never shown again. Waiting pages are sent at once."""
    by.must_have(Deed.SET_TRACKER_TOKEN)
    if not 0 < len(token) <= MAX_TOKEN or not token.isascii() or not token.isprintable() or " " in token:
        raise errors.InvalidInput("token", f"must be 1 to {MAX_TOKEN} printable characters without spaces")
    deps.secrets.put(by.workspace, token)
    if deps.store.settings.of(by.workspace).tracker is not None:
        change_tracker_circuit(deps, by.workspace, lambda circuit: circuit.closed(deps.clock.now()))
        hurry(deps, by.workspace)
        deps.tracker_queue.notify(by.workspace)
