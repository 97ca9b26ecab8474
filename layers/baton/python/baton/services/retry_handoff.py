"""What has failed is tried anew: another handoff in the place of the first, from its last checkpoint (spec/protocol.md
§6 and §7)."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from baton.domain.draft import Draft, beside
from baton.domain.errors import AlreadyRetried, HumanNeeded, LoopTripped, NotAllowed, TaskEnded, Unknown
from baton.domain.events import from_snapshot, snapshot
from baton.domain.handoff import MAX_MESSAGE_BYTES, fits
from baton.domain.task import Kind, State
from baton.domain.verbs import Cancel
from baton.ports import Dossier, Remember, RetryOpened, Wanted
from baton.services.change_task import change_task, commit_and_ring, row_of
from baton.services.make_handoff import counted, make, must_not_be_refused, stopped
from baton.services.retrying import decided_again
from baton.services.who_takes_it import must_be_able, named, slugs_among

if TYPE_CHECKING:
    from baton.domain.handoff import Message
    from baton.domain.idempotency import Once
    from baton.domain.principal import Principal
    from baton.domain.task import Task
    from baton.ports import Baton

_AGAIN = frozenset({State.FAILED, State.REJECTED, State.CANCELLED})
# Chains are no deeper (``BOUNDS``), unless nobody guards them.
MOST_ABOVE = 100
# Of the first handoff, and said anew of the second.
_OWN = {"handoff_id", "kind", "timestamp", "hops", "rollback"}


def retry_handoff(baton: Baton, by: Principal, task_id: str, once: Once | None = None) -> Dossier:
    """The new handoff and its task, linked to the first by ``retry_of``. By a human, or by the agent that handed it
    off; what lies under a cancelled task, only a human retries. One at a time: ``AlreadyRetried``. Raises
    ``NotAllowed`` unless the first has ended without success, ``LoopTripped`` and what ``create_handoff`` raises about
    its target."""

    def attempt() -> Dossier:
        facts = baton.store.handoff_facts(by.workspace, Wanted(parent_id=task_id, once=once))
        first_answer = once.recall(facts.remembered) if once else None
        if first_answer is not None:
            must_not_be_refused(first_answer)
            again = from_snapshot(first_answer)
            body = baton.store.bodies(by.workspace, [again.id])[again.id]
            return Dossier(task=again, body=body, mirror=row_of(baton, again))
        if facts.parent is None:
            raise Unknown("handoff")
        first = facts.parent.task
        _must_be_allowed(by, first)
        if not by.is_human and _cancelled_above(baton, first) is not None:
            raise HumanNeeded("retry what lies under a cancelled task")
        origin = _origin(baton, first)
        seen = _latest(baton, first, origin)
        whole = baton.store.read(by.workspace, first.id, with_body=True)
        return _retried(baton, by, whole, origin, seen, once)

    dossier = decided_again(baton.clock, attempt)
    return dossier if by.is_human else _taken_along(baton, by, dossier)


def _must_be_allowed(by: Principal, first: Task) -> None:
    if not by.is_human and by.key != first.source_agent:
        by.acting_for(first.source_agent)
    if first.state not in _AGAIN:
        raise NotAllowed(first.id, "retry", first.state)


def _origin(baton: Baton, first: Task) -> str:
    """What was tried first of all: retries of retries are retries of it, so that there is one place to see them."""
    task = first
    while task.retry_of is not None:
        task = baton.store.tasks(first.workspace, [task.retry_of])[task.retry_of]
    return task.id


def _latest(baton: Baton, first: Task, origin: str) -> str | None:
    """The retry before this one. Raises ``AlreadyRetried`` while that is under way."""
    seen = baton.store.retry_of(first.workspace, origin)
    if seen is not None:
        latest = baton.store.tasks(first.workspace, [seen]).get(seen)
        if latest is not None and not latest.is_ended:
            raise AlreadyRetried(first.handoff_id, latest.id)
    return seen


def _cancelled_above(baton: Baton, task: Task) -> Task | None:
    if task.parent_id is None:
        return None
    parents = {each.task_id: each.parent_id for each in baton.store.workflow(task.workspace, task.workflow_id)}
    above, at = [], parents.get(task.id)
    while at is not None:
        above.append(at)
        at = parents.get(at)
    found = baton.store.tasks(task.workspace, above[:MOST_ABOVE])
    return next((each for each in found.values() if each.state is State.CANCELLED), None)


def _taken_along(baton: Baton, by: Principal, dossier: Dossier) -> Dossier:
    """A cancel above that came meanwhile has looked for what is open before this was: it goes along all the same."""
    ancestor = None if dossier.task.is_ended else _cancelled_above(baton, dossier.task)
    if ancestor is None:
        return dossier
    verb = Cancel(by=by, reason="what it came of is cancelled", ancestor=ancestor.id)
    with suppress(TaskEnded):
        change_task(baton, by.workspace, dossier.task.id, lambda _: verb)
    task, _ = baton.store.load(by.workspace, dossier.task.id)
    return replace(dossier, task=task)


def _retried(baton: Baton, by: Principal, whole: Dossier, origin: str, seen: str | None, once: Once | None) -> Dossier:
    first, body = whole.task, whole.body or {}
    names = slugs_among(first.target_agent)
    facts = baton.store.handoff_facts(by.workspace, Wanted(agents=names, workflow_id=first.workflow_id))
    agent = (
        named(baton, by.workspace, facts.agents, first.target_agent, "target.agent")
        if first.target_agent is not None
        else None
    )
    message = _message(whole)
    draft = Draft(
        kind=Kind.RETRY,
        source=first.source_agent,
        target=first.target_agent,
        message=message,
        lineage=beside(first, body),
        requires=first.requires,
        work_type=first.work_type,
        dispatch_rank=first.dispatch_rank,
        retry_of=first.id,
    )
    must_be_able(baton, by.workspace, agent, first.requires, first.source_agent)
    now = baton.clock.now()
    try:
        draft.check(facts.settings, facts.handoffs or 1, now)
    except LoopTripped as trip:
        raise stopped(baton, by, draft, trip, now, once) from trip
    new = make(baton, by, draft, agent, facts.settings, now)
    extras = [*counted(draft, facts.settings), RetryOpened(origin, new.change.task.id, seen)]
    if once:
        extras.append(Remember(once, snapshot(new.change.task)))
    commit_and_ring(baton, new.change, [*new.along, *extras])
    if new.mirror:
        baton.tracker_bell.ring(by.workspace, new.change.task.id)
    return new.dossier


def _message(whole: Dossier) -> Message:
    """What was said the first time, with what has become of it since."""
    body = whole.body or {}
    said: dict[str, Any] = {name: value for name, value in body.items() if name not in _OWN}
    if context := _restored(said.get("context") or {}, whole):
        said["context"] = context
    metadata = dict(said.get("metadata") or {})
    metadata.pop("not_before", None)
    reason = str(body.get("escalation_reason") or whole.task.title)
    rollback = {"on_failure": (body.get("rollback") or {}).get("on_failure", whole.task.source_agent)}
    if whole.task.last_checkpoint_id:
        rollback["checkpoint_id"] = whole.task.last_checkpoint_id
    message = {
        **said,
        "target": {**(said.get("target") or {"reason": reason}), "agent": whole.task.target_agent},
        "metadata": {**metadata, "priority": str(whole.task.priority)},
        "rollback": rollback,
        "summary": said.get("summary") or whole.task.title,
        "retries": {
            "handoff_id": whole.task.handoff_id,
            "state": str(whole.task.state),
            "failure": whole.why,
            "checkpoint_id": whole.task.last_checkpoint_id,
        },
    }
    if not fits(message, MAX_MESSAGE_BYTES) and whole.why is not None:
        message["retries"]["failure"] = {name: whole.why[name] for name in ("type", "description")}
    return message


def _restored(context: Message, whole: Dossier) -> Message:
    """With the state of the last checkpoint, unless both are too large to keep: the checkpoint is named in any case."""
    if whole.checkpoint is None:
        return context
    restored = {**context, "state": {**(context.get("state") or {}), **whole.checkpoint.state}}
    return restored if fits(restored) else context
