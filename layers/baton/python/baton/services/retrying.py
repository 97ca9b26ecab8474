"""Deciding again when somebody else changed it first, and answering a repeated call as the first one was answered."""

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
    """Calls until it doesn't raise ``Conflict``, at most 12 times with jittered pauses, then raises ``Busy``. The
    callable reads afresh each time: a decision is never committed on an older reading than its own."""
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
    """``decided_again`` for a call that may be repeated under a key, even while the first is under way. ``again`` gives
    the first answer as it was remembered.

    The callable looks for that answer first, then decides, and remembers in the transaction of its effect. It may have
    looked before the first call's commit, and decided on what lay there after it: "already claimed" is then the first
    call's own claim. So before a refusal is told, the answer is looked for once more; in which order key and task were
    read doesn't matter then. Raises ``KeyReused``."""
    try:
        return decided_again(baton.clock, decide_and_commit)
    except BatonError:
        first_answer = recalled(baton, once)
        if first_answer is None:
            raise
    return again(first_answer)


def recalled(baton: Baton, once: Once | None) -> dict[str, Any] | None:
    """What was remembered by now under the key. Raises ``KeyReused``."""
    return None if once is None else once.recall(baton.store.remembered(once))


def first_said(baton: Baton, once: Once, answer: dict[str, Any]) -> dict[str, Any]:
    """Remembers the answer to something that is done in steps, each of which may be done again; or gives the answer of
    the same call at the same time that was remembered first. Raises ``KeyReused``."""

    def attempt() -> dict[str, Any]:
        first_answer = recalled(baton, once)
        if first_answer is None:
            baton.store.commit(once.principal.workspace, None, [Remember(once, answer)])
        return answer if first_answer is None else first_answer

    return decided_again(baton.clock, attempt)
