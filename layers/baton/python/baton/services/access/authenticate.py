"""Who sends a request: the principal of its bearer token (docs/decisions/034-the-function-checks-the-token.md)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

from baton.domain import errors
from baton.domain.access.principal import Principal
from baton.domain.access.token import Credentials, Token, credentials_from
from baton.ports.deps import Deps


@contextmanager
def admitted(deps: Deps, header: str) -> Iterator[tuple[Deps, Principal]]:
    """Within it, one request of the header's caller is answered, with the ports and the principal that it yields.

    A token that this process doesn't know, or that its copy doesn't admit, is read first. Of any other token the copy
    says who calls: the request goes on, and the token's present item is read along with the first thing that it reads,
    or alone before anything else that it does. That item decides before anything of the reading is used, and at the
    latest when the request ends, however it ends.

    Raises ``TokenRefused``, at its beginning or from a call of the ports; ``Busy`` if the token can't be read.
    """
    shown = credentials_from(header)
    if shown is None:
        raise errors.TokenRefused
    known = deps.known_tokens.get(shown.token_id)
    if known is None or not known.admits(shown, deps.clock.now()):
        yield deps, _judged(deps, shown, deps.store.token(shown.token_id)).principal
        return

    def judge(present: Token | None) -> None:
        if _judged(deps, shown, present).principal != known.principal:
            raise errors.TokenRefused

    with deps.store.resting_on(known, judge) as settle:
        yield _settling(deps, settle), known.principal


def _judged(deps: Deps, shown: Credentials, present: Token | None) -> Token:
    """Returns the token's present state. Raises ``TokenRefused`` unless the token was issued, has the shown secret,
    hasn't expired and wasn't revoked."""
    if present is None or not present.admits(shown, deps.clock.now()):
        deps.known_tokens.forget(shown.token_id)
        raise errors.TokenRefused
    deps.known_tokens.keep(present.id, present)
    return present


def _settling(deps: Deps, settle: Callable[[], None]) -> Deps:
    """The ports with effects outside of the store, which settles by itself."""
    others: dict[str, Any] = {
        name: _Settling(getattr(deps, name), settle)
        for name in ("dispatch_queue", "trackers", "tracker_queue", "secrets", "callback_key")
    }
    return replace(deps, **others)


class _Settling:
    """A port whose every use settles first who is calling."""

    def __init__(self, port: object, settle: Callable[[], None]) -> None:
        self._port, self._settle = port, settle

    def __getattr__(self, name: str) -> Any:
        self._settle()
        return getattr(self._port, name)
