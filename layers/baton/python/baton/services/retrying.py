"""Retries on conflict, and idempotent calls: a repeated call is answered like the first."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, Any, TypeVar

from baton.domain.errors import BatonError, Busy, Conflict
from baton.ports import Remember

if TYPE_CHECKING:
    from collections.abc import Callable

    from baton.domain.idempotency import Once
    from baton.ports import Baton, Clock

ATTEMPTS = 12
FIRST_PAUSE_SECONDS = 0.01
LAST_PAUSE_SECONDS = 0.4

Answer = TypeVar("Answer")


def decided_again(clock: Clock, decide_and_commit: Callable[[], Answer]) -> Answer:
    """Calls until there is no ``Conflict``, at most 12 times with jittered pauses; then raises ``Busy``. The callable
    reads anew each time: a decision is never committed on another attempt's read."""
    for attempt in range(ATTEMPTS):
        try:
            return decide_and_commit()
        except Conflict:
            longest = min(FIRST_PAUSE_SECONDS * 2**attempt, LAST_PAUSE_SECONDS)
            clock.sleep(random.uniform(0, longest))  # noqa: S311 - spreads retries, keeps no secret
    raise Busy("Too many changes at once; the same request may be sent again.")


def decided_once(
    baton: Baton,
    once: Once | None,
    again: Callable[[dict[str, Any]], Answer],
    decide_and_commit: Callable[[], Answer],
) -> Answer:
    """Runs ``decided_again`` for a call that may be repeated under an idempotency key, also while the first call runs.
    ``again`` turns the saved response into the answer.

    The callable looks for the saved response first, then decides, and saves the response in the transaction of its
    effect. Its look may come before the first call's commit, and its decision after it: "already claimed" then means
    the first call's own claim. So the saved response is looked for once more before an error is raised; the order in
    which key and task were read doesn't matter then. Raises ``KeyReused``.
    """
    try:
        return decided_again(baton.clock, decide_and_commit)
    except BatonError:
        saved = recalled(baton, once)
        if saved is None:
            raise
    return again(saved)


def recalled(baton: Baton, once: Once | None) -> dict[str, Any] | None:
    """The response saved under the key so far. Raises ``KeyReused``."""
    return None if once is None else once.recall(baton.store.remembered(once))


def first_said(baton: Baton, once: Once, answer: dict[str, Any]) -> dict[str, Any]:
    """Saves the response to a call that is done in steps, each of which may be repeated. Returns the response that a
    concurrent call with the same key saved first, if there is one. Raises ``KeyReused``."""

    def attempt() -> dict[str, Any]:
        saved = recalled(baton, once)
        if saved is None:
            baton.store.commit(once.principal.workspace, None, [Remember(once, answer)])
        return answer if saved is None else saved

    return decided_again(baton.clock, attempt)
