"""The shell of an idempotent use case: a repeated call is answered like the first (docs/spec/requests.md §2). It
replays the saved response, retries on a conflict, and gives the write that saves the response with the effect."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, TypeVar

from baton.domain import errors, times
from baton.domain.access.principal import Principal
from baton.domain.idempotency import IdempotencyKey, SavedResponse
from baton.domain.tracker import page_changes
from baton.domain.tracker.webhook import REPLAY_WINDOW
from baton.ports.deps import Deps
from baton.ports.handoffs import HandoffInputs
from baton.ports.writes import SaveResponse, Write
from baton.steps.retrying import attempts, retry_on_conflict, too_many_changes

REFUSED = "refused"

Inputs = TypeVar("Inputs")
Answer = TypeVar("Answer")


def run_idempotently(
    deps: Deps,
    idempotency_key: IdempotencyKey | None,
    read: Callable[[], tuple[Inputs, SavedResponse | None]],
    decide: Callable[[Inputs], Answer],
    replay: Callable[[dict[str, Any]], Answer],
) -> Answer:
    """Runs a use case that may be repeated under an idempotency key, even while the first call runs. ``read`` returns
    the inputs of the decision and the saved response, if there is one; ``decide`` commits its effect with
    ``save_response``, and is called again with new inputs after a conflict; ``replay`` turns the saved response into
    the answer. A saved refusal is raised again. Raises ``KeyReused``.

    The look for the saved response may come before the first call's commit, and the decision after it: "already
    claimed" then means the first call's own claim. So the saved response is looked for once more before an error is
    raised; the order in which key and task were read doesn't matter then.
    """

    try:
        for attempt in attempts(deps):
            with attempt:
                inputs, saved_response = read()
                saved = idempotency_key.replay(saved_response) if idempotency_key else None
                return decide(inputs) if saved is None else _answered(saved, replay)
        raise too_many_changes()
    except errors.BatonError:
        saved = saved_so_far(deps, idempotency_key)
        if saved is None:
            raise
    return _answered(saved, replay)


def run_once(
    deps: Deps,
    idempotency_key: IdempotencyKey | None,
    act: Callable[[], Answer],
    replay: Callable[[dict[str, Any]], Answer],
) -> Answer:
    """Runs a use case as ``run_idempotently`` does, if ``act`` does its own reads."""
    return run_idempotently(
        deps, idempotency_key, lambda: response_alone(deps, idempotency_key), lambda _: act(), replay
    )


def _answered(saved: dict[str, Any], replay: Callable[[dict[str, Any]], Answer]) -> Answer:
    if REFUSED in saved:
        raise errors.refusal_from(**saved[REFUSED])
    return replay(saved)


def was_answered(idempotency_key: IdempotencyKey | None, saved_response: SavedResponse | None) -> bool:
    """True if the first call under the key has had its effect. Raises the refusal if it was refused, and
    ``KeyReused``."""
    saved = None if idempotency_key is None else idempotency_key.replay(saved_response)
    if saved is not None and REFUSED in saved:
        raise errors.refusal_from(**saved[REFUSED])
    return saved is not None


def with_response(inputs: HandoffInputs) -> tuple[HandoffInputs, SavedResponse | None]:
    return inputs, inputs.saved_response


def response_alone(deps: Deps, idempotency_key: IdempotencyKey | None) -> tuple[None, SavedResponse | None]:
    """Reads the saved response, for a decision that does its own reads."""
    return None, deps.store.saved_response(idempotency_key) if idempotency_key else None


def save_response(idempotency_key: IdempotencyKey | None, answer: dict[str, Any]) -> tuple[SaveResponse, ...]:
    """Returns the write that saves the response; none without a key."""
    return (SaveResponse(idempotency_key, answer),) if idempotency_key else ()


def save_refusal(idempotency_key: IdempotencyKey | None, refusal: errors.BatonError) -> tuple[SaveResponse, ...]:
    """Returns the write that saves a refusal: a repeat gets it again, whatever has changed since."""
    saved = {"kind": type(refusal).__name__, "message": refusal.message, "fields": refusal.fields}
    return save_response(idempotency_key, {REFUSED: saved})


def saved_so_far(deps: Deps, idempotency_key: IdempotencyKey | None) -> dict[str, Any] | None:
    """The response saved under the key so far. Raises ``KeyReused``."""
    return None if idempotency_key is None else idempotency_key.replay(deps.store.saved_response(idempotency_key))


def save_first_response(deps: Deps, idempotency_key: IdempotencyKey, answer: dict[str, Any]) -> dict[str, Any]:
    """Saves the response to a call that is done in steps, each of which may be repeated. Returns the response that a
    concurrent call with the same key saved first, if there is one. Raises ``KeyReused``."""

    def attempt() -> dict[str, Any]:
        saved = saved_so_far(deps, idempotency_key)
        if saved is None:
            deps.store.commit(idempotency_key.principal.workspace, *save_response(idempotency_key, answer))
        return answer if saved is None else saved

    return retry_on_conflict(deps, attempt)


def apply_once(deps: Deps, idempotency_key: IdempotencyKey, writes: Iterable[Write]) -> bool:
    """Commits ``writes`` once, for as long as a repeat is possible. False if that was done before."""

    def attempt() -> bool:
        saved = SaveResponse(idempotency_key, {}, deps.clock.now() + 2 * REPLAY_WINDOW)
        try:
            deps.store.commit(idempotency_key.principal.workspace, *writes, saved)
        except errors.KeyTaken:
            return False
        return True

    return retry_on_conflict(deps, attempt)


def apply_once_per_edit(
    deps: Deps, by: Principal, what: str, seen: page_changes.PageSnapshot, writes: Iterable[Write]
) -> bool:
    """Commits ``writes`` once per edit of a page, however often the edit is seen. False if that was done before."""
    edit = f"{seen.page_id} {times.rfc3339(seen.edited_at)} {seen.status} {seen.in_trash}"
    return apply_once(deps, IdempotencyKey(by, what, edit, ""), list(writes))
