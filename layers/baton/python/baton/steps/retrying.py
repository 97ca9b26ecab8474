"""Retries on conflict, and idempotent calls: a repeated call is answered like the first."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, Any, TypeVar

from baton.domain.errors import BatonError, Busy, Conflict
from baton.ports import SaveResponse

if TYPE_CHECKING:
    from collections.abc import Callable

    from baton.domain.idempotency import IdempotencyKey
    from baton.ports import Clock, Deps

ATTEMPTS = 12
FIRST_PAUSE_SECONDS = 0.01
LAST_PAUSE_SECONDS = 0.4

Answer = TypeVar("Answer")


def retry_on_conflict(clock: Clock, decide_and_commit: Callable[[], Answer]) -> Answer:
    """Calls until there is no ``Conflict``, at most 12 times with jittered pauses; then raises ``Busy``. The callable
    reads anew each time: a decision is never committed on another attempt's read."""
    for attempt in range(ATTEMPTS):
        try:
            return decide_and_commit()
        except Conflict:
            longest = min(FIRST_PAUSE_SECONDS * 2**attempt, LAST_PAUSE_SECONDS)
            clock.sleep(random.uniform(0, longest))  # noqa: S311 - spreads retries, keeps no secret
    raise Busy("Too many changes at once; the same request may be sent again.")


def run_idempotently(
    deps: Deps,
    idempotency_key: IdempotencyKey | None,
    again: Callable[[dict[str, Any]], Answer],
    decide_and_commit: Callable[[], Answer],
) -> Answer:
    """Runs ``retry_on_conflict`` for a call that may be repeated under an idempotency key, even while the first runs.
    ``again`` turns the saved response into the answer.

    The callable looks for the saved response first, then decides, and saves the response in the transaction of its
    effect. Its look may come before the first call's commit, and its decision after it: "already claimed" then means
    the first call's own claim. So the saved response is looked for once more before an error is raised; the order in
    which key and task were read doesn't matter then. Raises ``KeyReused``.
    """
    try:
        return retry_on_conflict(deps.clock, decide_and_commit)
    except BatonError:
        saved = replayed_response(deps, idempotency_key)
        if saved is None:
            raise
    return again(saved)


def replayed_response(deps: Deps, idempotency_key: IdempotencyKey | None) -> dict[str, Any] | None:
    """The response saved under the key so far. Raises ``KeyReused``."""
    return None if idempotency_key is None else idempotency_key.replay(deps.store.saved_response(idempotency_key))


def save_first_response(deps: Deps, idempotency_key: IdempotencyKey, answer: dict[str, Any]) -> dict[str, Any]:
    """Saves the response to a call that is done in steps, each of which may be repeated. Returns the response that a
    concurrent call with the same key saved first, if there is one. Raises ``KeyReused``."""

    def attempt() -> dict[str, Any]:
        saved = replayed_response(deps, idempotency_key)
        if saved is None:
            deps.store.commit(idempotency_key.principal.workspace, SaveResponse(idempotency_key, answer))
        return answer if saved is None else saved

    return retry_on_conflict(deps.clock, attempt)
