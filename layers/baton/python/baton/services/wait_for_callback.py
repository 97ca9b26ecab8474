"""A task waits for something outside of Baton: a long research job, a person elsewhere (docs/spec/lifecycle.md §6)."""

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
    """The task, and the token of the address on which the outside answers, once. ``until``: at most 30 days ahead, by
    default 7; after it the task goes on without. Raises ``StaleClaim``."""
    word = Word(by=by, task_id=task_id, claim_id=claim_id, verb=WaitFor.name, body_hash=body_hash, once=once)
    key = baton.callback_key.get()  # before anything is written: without it there would be no address to answer with

    def decide(facts: Facts, now: datetime) -> Ending:
        ends = until or now + seconds(DEFAULT_WAIT_SECONDS)
        if not now < ends <= now + seconds(MAX_WAIT_SECONDS):
            raise InvalidInput("until", "must be in the future, and at most 30 days ahead")
        waits = facts.parent.task.waits if facts.parent else 0
        name = checked({"interaction_id": interaction_id}, facts.settings.guardrails, "")["interaction_id"]
        wait = Wait(number=waits + 1, since=now, alert_at=ends, interaction_id=name, until=ends)
        return Ending(verb=WaitFor(by=by, claim_id=claim_id, wait=wait))

    dossier = end_claim(baton, word, decide)
    callback = Callback(by.workspace, task_id, dossier.task.waits)
    return dossier, callback.token(key)


def answer_unread(baton: Baton, token: str, read: Callable[[], Any]) -> None:
    """What is posted is ``read`` only at an address that is ours: anybody may post. Raises what ``answer_callback`` and
    ``read`` do."""
    _callback_at(baton, token)
    answer_callback(baton, token, read())


def answer_callback(baton: Baton, token: str, content: Any) -> None:
    """What is posted goes to the next claimer. The exact repeat of the answer that was taken is taken too. Raises
    ``Unknown`` for an address that isn't ours, ``CallbackUsed``, ``GuardrailRefused``."""
    callback = _callback_at(baton, token)

    def attempt() -> None:
        task, _ = baton.store.load(callback.workspace, callback.task_id)
        if task.state is not State.WAITING or task.wait is None or task.wait.number != callback.wait:
            return _must_be_a_repeat(baton, callback, content)
        now = baton.clock.now()
        # Fields are named from the body's top on: it is all that there is.
        said = guarded(baton, callback.workspace, content if isinstance(content, dict) else {"body": content})
        brought = {
            "wait": callback.wait,
            "callback": said if isinstance(content, dict) else said["body"],
            "interaction_id": task.wait.interaction_id,
            "at": rfc3339(now),
            "body_hash": fingerprint(content),
        }
        by = system(callback.workspace, CALLBACK)
        commit_and_ring(
            baton, transition(task, Resume(by=by, wait=callback.wait, how="callback", brought=brought), now)
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
    brought = baton.store.read(callback.workspace, callback.task_id).brought or {}
    if brought.get("wait") != callback.wait or brought.get("body_hash") != fingerprint(content):
        raise CallbackUsed
