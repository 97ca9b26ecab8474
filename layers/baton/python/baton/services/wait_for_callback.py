"""A task waits for an answer from outside of Baton: a long research job, a person elsewhere (docs/spec/lifecycle.md
§6)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from baton.domain.callback import Callback, callback_of
from baton.domain.errors import CallbackUsed, InvalidInput, Unknown
from baton.domain.guardrails import checked
from baton.domain.numbers import fingerprint
from baton.domain.principal import CALLBACK, system
from baton.domain.task import State, Wait
from baton.domain.times import rfc3339, seconds
from baton.domain.transitions import transition
from baton.domain.verbs import Resume, WaitFor
from baton.services.change_task import commit_and_ring
from baton.services.end_claim import Ending, Word, end_claim
from baton.services.guarded import guarded
from baton.services.retrying import decided_again

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime

    from baton.domain.idempotency import Once
    from baton.domain.principal import Principal
    from baton.ports import Baton, Dossier, Facts

DEFAULT_WAIT_SECONDS = 7 * 86_400
MAX_WAIT_SECONDS = 30 * 86_400


def wait_for_callback(
    baton: Baton,
    by: Principal,
    task_id: str,
    claim_id: str,
    interaction_id: str,
    until: datetime | None,
    body_hash: str,
    once: Once | None = None,
) -> tuple[Dossier, str]:
    """Returns the task, and the token of the address that takes the one answer. ``until``: at most 30 days ahead, 7 by
    default; after it the task continues without an answer. Raises ``StaleClaim``."""
    request = Word(by=by, task_id=task_id, claim_id=claim_id, verb=WaitFor.name, body_hash=body_hash, once=once)
    key = baton.callback_key.get()  # before any write: without the key there is no address for the answer

    def decide(inputs: Facts, now: datetime) -> Ending:
        ends = until or now + seconds(DEFAULT_WAIT_SECONDS)
        if not now < ends <= now + seconds(MAX_WAIT_SECONDS):
            raise InvalidInput("until", "must be in the future, and at most 30 days ahead")
        waits = inputs.parent.task.waits if inputs.parent else 0
        name = checked({"interaction_id": interaction_id}, inputs.settings.guardrails, "")["interaction_id"]
        wait = Wait(number=waits + 1, since=now, alert_at=ends, interaction_id=name, until=ends)
        return Ending(verb=WaitFor(by=by, claim_id=claim_id, wait=wait))

    dossier = end_claim(baton, request, decide)
    callback = Callback(by.workspace, task_id, dossier.task.waits)
    return dossier, callback.token(key)


def answer_unread(baton: Baton, token: str, read: Callable[[], Any]) -> None:
    """Reads the posted content only at a valid address, as anybody may post. Raises the errors of ``answer_callback``
    and ``read``."""
    _callback_at(baton, token)
    answer_callback(baton, token, read())


def answer_callback(baton: Baton, token: str, content: Any) -> None:
    """Gives the posted content to the next claimer. An exact repeat of the accepted answer is accepted too. Raises
    ``Unknown`` for an invalid address, ``CallbackUsed`` and ``GuardrailRefused``."""
    callback = _callback_at(baton, token)

    def attempt() -> None:
        task, _ = baton.store.load(callback.workspace, callback.task_id)
        if task.state is not State.WAITING or task.wait is None or task.wait.number != callback.wait:
            return _must_be_a_repeat(baton, callback, content)
        now = baton.clock.now()
        # The content is the whole body, so fields are named from its top on.
        checked_content = guarded(
            baton, callback.workspace, content if isinstance(content, dict) else {"body": content}
        )
        resume_payload = {
            "wait": callback.wait,
            "callback": checked_content if isinstance(content, dict) else checked_content["body"],
            "interaction_id": task.wait.interaction_id,
            "at": rfc3339(now),
            "body_hash": fingerprint(content),
        }
        by = system(callback.workspace, CALLBACK)
        commit_and_ring(
            baton, transition(task, Resume(by=by, wait=callback.wait, how="callback", brought=resume_payload), now)
        )
        return None

    decided_again(baton.clock, attempt)


def _callback_at(baton: Baton, token: str) -> Callback:
    """Raises ``Unknown``."""
    callback = callback_of(token, baton.callback_key.get())
    if callback is None:
        raise Unknown("callback")
    return callback


def _must_be_a_repeat(baton: Baton, callback: Callback, content: Any) -> None:
    resume_payload = baton.store.read(callback.workspace, callback.task_id).brought or {}
    if resume_payload.get("wait") != callback.wait or resume_payload.get("body_hash") != fingerprint(content):
        raise CallbackUsed
