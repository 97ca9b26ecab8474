"""The steps that the commands ending a claim share. The exact repeat of a command gets the first answer again
(invariant 3). A result that comes too late is refused, and kept outside of the trail."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from baton.domain.errors import GuardrailRefused, KeyTaken, StaleClaim, Unknown
from baton.domain.events import from_snapshot, snapshot
from baton.domain.guardrails import MASK, MAX_ITEMS, Guardrails, checked
from baton.domain.idempotency import Remembered, forgotten_at
from baton.domain.task import Claim, State
from baton.domain.transitions import transition
from baton.domain.workflow import LateResult
from baton.ports import Dossier, EndedClaim, LateKept, Output, Remember, Wanted
from baton.services.change_task import commit_and_ring, ring, row_of
from baton.services.kill_switch import must_be_let_act
from baton.services.reading import knows_claim, refused_as_unknown
from baton.services.remembered_refusals import must_not_be_refused
from baton.services.retrying import decided_again, decided_once

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime

    from baton.domain.idempotency import Once
    from baton.domain.principal import Principal
    from baton.domain.task import Task
    from baton.domain.verbs import WorkerVerb
    from baton.ports import Baton, Extra, Facts, Json
    from baton.services.make_handoff import New

Message = dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Word:
    """A worker's request to end its claim."""

    by: Principal
    task_id: str
    claim_id: str
    verb: str
    body_hash: str  # tells an exact repeat from a second, different request
    once: Once | None = None
    said: Message = field(default_factory=dict)  # the part that is kept if the request comes too late
    told: tuple[Extra, ...] = ()  # extra writes, committed with whatever the outcome is
    while_off: bool = False  # also accepted from an agent that is switched off

    @property
    def fingerprint(self) -> str:
        return f"{self.verb} {self.by.key} {self.body_hash}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Ending:
    """The outcome of a request to end a claim."""

    verb: WorkerVerb
    output: Json = None  # saved, and part of the answer
    completion: Message | None = None  # saved, and part of the answer
    failure: Message | None = None  # saved, and part of the answer
    # the fields of a failure that Baton added; a repeat is answered with them
    computed: Message = field(default_factory=dict)
    children: tuple[New, ...] = ()  # new handoffs that follow from it
    extras: tuple[Extra, ...] = ()


def end_claim(
    baton: Baton,
    word: Word,
    decide: Callable[[Facts, datetime], Ending],
    wanted: Wanted | None = None,
) -> Dossier:
    """Ends the claim that ``word`` names. ``decide`` gets the task in its present state, and the other items that
    ``wanted`` names. Raises ``StaleClaim`` for every other request under a claim that is over, and the errors of
    ``decide``."""
    by, workspace = word.by, word.by.workspace

    def replay(saved: Message) -> Dossier:
        must_not_be_refused(saved)
        return _replayed(baton, word, saved)

    def attempt() -> Dossier:
        inputs = baton.store.handoff_facts(workspace, _with_task(wanted, word))
        saved = word.once.recall(inputs.remembered) if word.once else None
        if saved is not None:
            return replay(saved)
        task = _task(inputs).task
        claim = task.current_claim(word.claim_id, by)
        if not word.while_off:
            must_be_let_act(baton, by, claim.agent)
        now = baton.clock.now()
        outcome = decide(inputs, now)
        change = transition(task, outcome.verb, now)
        answer = {**snapshot(change.task), "computed": outcome.computed}
        extras: list[Extra] = [
            EndedClaim(word.claim_id, Remembered(word.fingerprint, answer, forgotten_at(now))),
            *outcome.extras,
            *word.told,
        ]
        extras += [child.also for child in outcome.children]
        if outcome.output is not None or outcome.completion:
            extras.append(Output(outcome.output, outcome.completion))
        if word.once:
            extras.append(Remember(word.once, answer))
        commit_and_ring(baton, change, extras)
        _notify_children(baton, outcome.children)
        return Dossier(
            task=change.task,
            output=outcome.output,
            completion=outcome.completion,
            failure=outcome.failure or _earlier_failure(baton, change.task),
            mirror=row_of(baton, change.task),
        )

    with refused_as_unknown(baton, by, word.task_id, unless=knows_claim(word.claim_id)):
        try:
            return decided_once(baton, word.once, replay, attempt)
        except StaleClaim:
            return _replay_or_stale(baton, word)


def _earlier_failure(baton: Baton, task: Task) -> Message | None:
    """The failure of an earlier attempt. Read from the store, as it is rare."""
    is_shown = task.has_failure and task.state is not State.DONE
    return baton.store.read(task.workspace, task.id).failure if is_shown else None


def _with_task(wanted: Wanted | None, request: Word) -> Wanted:
    more = wanted or Wanted()
    return Wanted(agents=more.agents, parent_id=request.task_id, once=request.once)


def _task(inputs: Facts) -> Dossier:
    if inputs.parent is None:
        raise Unknown("task")
    return inputs.parent


def _replay_or_stale(baton: Baton, request: Word) -> Dossier:
    """Returns the first answer for the exact repeat of the request that ended the claim. Raises ``StaleClaim``
    otherwise."""
    first = baton.store.ended_claim(request.by.workspace, request.task_id, request.claim_id)
    if isinstance(first, Claim) and first.principal == request.by.key and request.said:
        _keep_late(baton, request, first)
    if not isinstance(first, Remembered) or first.body_hash != request.fingerprint or first.is_over(baton.clock.now()):
        raise StaleClaim(request.task_id)
    return _replayed(baton, request, first.answer)


def _keep_late(baton: Baton, request: Word, claim: Claim) -> None:
    """Keeps the first late result under the claim; a repeat is only refused. The workspace's settings aren't read:
    secrets are always masked. If the guardrails refuse the payload, the result is kept without it."""
    try:
        payload = checked(request.said, Guardrails(secrets=MASK, max_items=MAX_ITEMS), "")
    except GuardrailRefused as refusal:
        payload = {"left_out": refusal.rule}
    result = LateResult(claim.fence, claim.agent, baton.clock.now(), request.verb, payload)
    extras = [LateKept(request.task_id, request.claim_id, result)]

    def attempt() -> None:
        with suppress(KeyTaken):
            baton.store.commit(request.by.workspace, None, extras)

    decided_again(baton.clock, attempt)


def _replayed(baton: Baton, request: Word, first: Message) -> Dossier:
    """Returns the first answer. The items of an ended task don't change, so they are read from the store. For a task
    that isn't ended, the failure is taken from this repeat."""
    task, computed = from_snapshot(first), first.get("computed", {})
    if task.is_ended:
        items = baton.store.read(task.workspace, task.id)
        return Dossier(
            task=task,
            output=items.output,
            completion=items.completion,
            failure=items.failure,
            mirror=row_of(baton, task),
        )
    failure = {**request.said, **computed} if computed else _earlier_failure(baton, task)
    return Dossier(task=task, failure=failure, mirror=row_of(baton, task))


def _notify_children(baton: Baton, children: tuple[New, ...]) -> None:
    for child in children:
        if child.change.ring:
            ring(baton, child.change.task)
        if child.mirror:
            baton.tracker_bell.ring(child.change.task.workspace, child.change.task.id)
