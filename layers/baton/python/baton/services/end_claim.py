"""What the verbs that end a claim have in common: the exact repeat of one gets the first answer again (invariant 3),
and a word that comes too late is refused, and kept beside the trail."""

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
    """What a worker sends to end its claim. ``body_hash`` tells an exact repeat from a second, different word;
    ``said``: what of it is kept if it comes too late; ``told``: written along with whatever it comes to; ``while_off``:
    taken for an agent that is switched off."""

    by: Principal
    task_id: str
    claim_id: str
    verb: str
    body_hash: str
    once: Once | None = None
    said: Message = field(default_factory=dict)
    told: tuple[Extra, ...] = ()
    while_off: bool = False

    @property
    def fingerprint(self) -> str:
        return f"{self.verb} {self.by.key} {self.body_hash}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Ending:
    """What a word comes to. ``output``, ``completion``, ``failure``: what is kept and answered; ``computed``: what of
    a failure Baton added, and a repeat is to be answered with; ``children``: handoffs that come of it."""

    verb: WorkerVerb
    output: Json = None
    completion: Message | None = None
    failure: Message | None = None
    computed: Message = field(default_factory=dict)
    children: tuple[New, ...] = ()
    extras: tuple[Extra, ...] = ()


def end_claim(
    baton: Baton,
    word: Word,
    decide: Callable[[Facts, datetime], Ending],
    wanted: Wanted | None = None,
) -> Dossier:
    """``decide`` gets the task as it is now, under the claim that ``word`` names, and what else was ``wanted``. Raises
    ``StaleClaim`` for every other use of a claim that is over, and what ``decide`` raises."""
    by, workspace = word.by, word.by.workspace

    def again(first_answer: Message) -> Dossier:
        must_not_be_refused(first_answer)
        return _again(baton, word, first_answer)

    def attempt() -> Dossier:
        facts = baton.store.handoff_facts(workspace, _with_task(wanted, word))
        first_answer = word.once.recall(facts.remembered) if word.once else None
        if first_answer is not None:
            return again(first_answer)
        task = _task(facts).task
        claim = task.current_claim(word.claim_id, by)
        if not word.while_off:
            must_be_let_act(baton, by, claim.agent)
        now = baton.clock.now()
        ending = decide(facts, now)
        change = transition(task, ending.verb, now)
        answer = {**snapshot(change.task), "computed": ending.computed}
        extras: list[Extra] = [
            EndedClaim(word.claim_id, Remembered(word.fingerprint, answer, forgotten_at(now))),
            *ending.extras,
            *word.told,
        ]
        extras += [child.also for child in ending.children]
        if ending.output is not None or ending.completion:
            extras.append(Output(ending.output, ending.completion))
        if word.once:
            extras.append(Remember(word.once, answer))
        commit_and_ring(baton, change, extras)
        _ring_for(baton, ending.children)
        return Dossier(
            task=change.task,
            output=ending.output,
            completion=ending.completion,
            failure=ending.failure or _earlier_failure(baton, change.task),
            mirror=row_of(baton, change.task),
        )

    with refused_as_unknown(baton, by, word.task_id, unless=knows_claim(word.claim_id)):
        try:
            return decided_once(baton, word.once, again, attempt)
        except StaleClaim:
            return _first_answer(baton, word)


def _earlier_failure(baton: Baton, task: Task) -> Message | None:
    """What an earlier attempt left behind: rare, and not worth carrying."""
    is_shown = task.has_failure and task.state is not State.DONE
    return baton.store.read(task.workspace, task.id).failure if is_shown else None


def _with_task(wanted: Wanted | None, word: Word) -> Wanted:
    more = wanted or Wanted()
    return Wanted(agents=more.agents, parent_id=word.task_id, once=word.once)


def _task(facts: Facts) -> Dossier:
    if facts.parent is None:
        raise Unknown("task")
    return facts.parent


def _first_answer(baton: Baton, word: Word) -> Dossier:
    """Raises ``StaleClaim`` unless this is the exact repeat of the word that ended the claim."""
    first = baton.store.ended_claim(word.by.workspace, word.task_id, word.claim_id)
    if isinstance(first, Claim) and first.principal == word.by.key and word.said:
        _keep_late(baton, word, first)
    if not isinstance(first, Remembered) or first.body_hash != word.fingerprint or first.is_over(baton.clock.now()):
        raise StaleClaim(word.task_id)
    return _again(baton, word, first.answer)


def _keep_late(baton: Baton, word: Word, claim: Claim) -> None:
    """The first one: whoever repeats itself is refused as before. No rule of the workspace was asked, so secrets are
    masked whatever it says; what can't be masked isn't kept, and is no less late for that."""
    try:
        said = checked(word.said, Guardrails(secrets=MASK, max_items=MAX_ITEMS), "")
    except GuardrailRefused as refusal:
        said = {"left_out": refusal.rule}
    result = LateResult(claim.fence, claim.agent, baton.clock.now(), word.verb, said)
    kept = [LateKept(word.task_id, word.claim_id, result)]

    def attempt() -> None:
        with suppress(KeyTaken):
            baton.store.commit(word.by.workspace, None, kept)

    decided_again(baton.clock, attempt)


def _again(baton: Baton, word: Word, first: Message) -> Dossier:
    """As it was answered: what lies beside an ended task stays as it is; what a task that goes on was told is what is
    said again now."""
    task, computed = from_snapshot(first), first.get("computed", {})
    if task.is_ended:
        kept = baton.store.read(task.workspace, task.id)
        return Dossier(
            task=task, output=kept.output, completion=kept.completion, failure=kept.failure, mirror=row_of(baton, task)
        )
    failure = {**word.said, **computed} if computed else _earlier_failure(baton, task)
    return Dossier(task=task, failure=failure, mirror=row_of(baton, task))


def _ring_for(baton: Baton, children: tuple[New, ...]) -> None:
    for child in children:
        if child.change.ring:
            ring(baton, child.change.task)
        if child.mirror:
            baton.tracker_bell.ring(child.change.task.workspace, child.change.task.id)
