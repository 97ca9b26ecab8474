"""Retries a failed handoff: a new handoff in the place of the first, from its last checkpoint (docs/spec/protocol.md §6
and §7)."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from baton.domain.errors import AlreadyRetried, HumanNeeded, LoopTripped, NotAllowed, Unknown
from baton.domain.handoffs.draft import HandoffDraft, lineage_beside
from baton.domain.handoffs.handoff import MAX_MESSAGE_BYTES, fits_in, time_of
from baton.domain.tasks.task import Kind, State
from baton.domain.tasks.trail import from_snapshot, snapshot
from baton.ports import HandoffQuery, NotCancelled, RetryOpened, SaveResponse, TaskDetails
from baton.steps.access.read_rights import refused_as_unknown
from baton.steps.agents.kill_switch import must_be_let_act
from baton.steps.agents.resolve_agents import active_agent, must_be_able, slugs_among
from baton.steps.handoffs.make_handoff import handoffs_counted, loop_refusal, make_handoff
from baton.steps.retrying import run_idempotently
from baton.steps.saved_refusals import raise_saved_refusal
from baton.steps.tasks.change_task import commit_and_notify, page_sync_of

if TYPE_CHECKING:
    from datetime import datetime

    from baton.domain.access.principal import Principal
    from baton.domain.handoffs.handoff import Message
    from baton.domain.idempotency import IdempotencyKey
    from baton.domain.tasks.task import Task
    from baton.ports import Deps

_RETRYABLE = frozenset({State.FAILED, State.REJECTED, State.CANCELLED})
# Chains are no deeper (``BOUNDS``), unless the loop guard is off; one transaction checks each.
MOST_ABOVE = 60
# Fields of the first handoff that the second gets anew.
_OWN = {"handoff_id", "kind", "timestamp", "hops", "rollback"}
_DEADLINE = {"deadline", "fail_on_deadline"}


def retry_handoff(
    deps: Deps, by: Principal, task_id: str, idempotency_key: IdempotencyKey | None = None
) -> TaskDetails:
    """Returns the new handoff and its task, linked to the first by ``retry_of``. For a human, or the agent that made
    the handoff. Only a human retries an escalation, a task below a cancelled one, or a task that was split. One retry
    at a time: raises ``AlreadyRetried``. Raises ``NotAllowed`` unless the first has ended without success,
    ``LoopTripped``, and the errors of ``create_handoff`` about its target."""

    def replay(saved: Message) -> TaskDetails:
        raise_saved_refusal(saved)
        retry = from_snapshot(saved)
        body = deps.store.bodies(by.workspace, [retry.id])[retry.id]
        return TaskDetails(task=retry, body=body, page_sync=page_sync_of(deps, retry))

    def attempt() -> TaskDetails:
        inputs = deps.store.handoff_inputs(
            by.workspace, HandoffQuery(parent_id=task_id, idempotency_key=idempotency_key)
        )
        saved = idempotency_key.replay(inputs.saved_response) if idempotency_key else None
        if saved is not None:
            return replay(saved)
        if inputs.parent is None:
            raise Unknown("handoff")
        first = inputs.parent.task
        _must_be_allowed(deps, by, first)
        if not by.is_human and "escalation_reason" in (inputs.parent.body or {}):
            # Its direction's breaker and cap count requests, and wouldn't see a retry (invariant 6).
            raise HumanNeeded("retry an escalation; whoever escalates it anew asks with POST /handoff-markers")
        above: list[NotCancelled] = [] if by.is_human else _not_cancelled_above(deps, first)
        opened = retry_opened(deps, first)
        whole = deps.store.read(by.workspace, first.id, with_body=True)
        return _retry(deps, by, whole, opened, above, idempotency_key)

    with refused_as_unknown(deps, by, task_id, "handoff"):
        return run_idempotently(deps, idempotency_key, replay, attempt)


def retry_opened(deps: Deps, first: Task, retry_id: str = "") -> RetryOpened:
    """Returns the extra write that records ``retry_id`` as the latest retry of the first task of its chain. Every retry
    is written with it. Raises ``AlreadyRetried`` if another retry is still open."""
    origin = _origin(deps, first)
    return RetryOpened(origin, retry_id, _latest(deps, first, origin))


def _must_be_allowed(deps: Deps, by: Principal, first: Task) -> None:
    if not by.is_human and by.key != first.source_agent:
        must_be_let_act(deps, by, by.acting_for(first.source_agent))
    if first.state not in _RETRYABLE:
        raise NotAllowed(first.id, "retry", first.state)
    if first.state is State.CANCELLED and first.successors and not by.is_human:
        raise HumanNeeded("retry what was split: it goes on in its parts")


def _origin(deps: Deps, first: Task) -> str:
    """The first task of a chain of retries: retries of retries are recorded there, so that there is one place to find
    them."""
    task = first
    while task.retry_of is not None:
        task = deps.store.tasks(first.workspace, [task.retry_of])[task.retry_of]
    return task.id


def _latest(deps: Deps, first: Task, origin: str) -> str | None:
    """The retry before this one. Raises ``AlreadyRetried`` if that is still open."""
    seen = deps.store.retry_of(first.workspace, origin)
    if seen is not None:
        latest = deps.store.tasks(first.workspace, [seen]).get(seen)
        if latest is not None and not latest.is_ended:
            raise AlreadyRetried(first.handoff_id, latest.id)
    return seen


def _not_cancelled_above(deps: Deps, task: Task) -> list[NotCancelled]:
    """The ancestors, which must not be cancelled before the retry is written: a later cancel finds the retry. Raises
    ``HumanNeeded`` if one is cancelled now."""
    parents = {each.task_id: each.parent_id for each in deps.store.workflow(task.workspace, task.workflow_id)}
    above: list[str] = []
    ancestor = parents.get(task.id)
    while ancestor is not None and len(above) < MOST_ABOVE:
        above.append(ancestor)
        ancestor = parents.get(ancestor)
    found = deps.store.tasks(task.workspace, above) if above else {}
    if any(each.state is State.CANCELLED for each in found.values()):
        raise HumanNeeded("retry what lies under a cancelled task")
    return [NotCancelled(each) for each in above]


def _retry(
    deps: Deps,
    by: Principal,
    whole: TaskDetails,
    opened: RetryOpened,
    above: list[NotCancelled],
    idempotency_key: IdempotencyKey | None,
) -> TaskDetails:
    """Commits the retry. ``opened``: the record of the latest retry, for the new task. ``above``: the tasks that must
    not be cancelled."""
    first, body = whole.task, whole.body or {}
    names = slugs_among(first.target_agent)
    inputs = deps.store.handoff_inputs(by.workspace, HandoffQuery(agents=names, workflow_id=first.workflow_id))
    agent = (
        active_agent(deps, by.workspace, inputs.agents, first.target_agent, "target.agent")
        if first.target_agent is not None
        else None
    )
    now = deps.clock.now()
    message = _message(whole, now)
    draft = HandoffDraft(
        kind=Kind.RETRY,
        source=first.source_agent,
        target=first.target_agent,
        message=message,
        lineage=lineage_beside(first, body),
        requires=first.requires,
        work_type=first.work_type,
        dispatch_rank=first.dispatch_rank,
        retry_of=first.id,
    )
    must_be_able(deps, by.workspace, agent, first.requires, first.source_agent)
    try:
        draft.check(inputs.settings, inputs.handoffs or 1, now)
    except LoopTripped as trip:
        raise loop_refusal(deps, by, draft, trip, now, idempotency_key) from trip
    new = make_handoff(deps, by, draft, agent, inputs.settings, now)
    extras = [*handoffs_counted(draft, inputs.settings), replace(opened, retry_id=new.change.task.id), *above]
    if idempotency_key:
        extras.append(SaveResponse(idempotency_key, snapshot(new.change.task)))
    commit_and_notify(deps, new.change, *new.along, *extras)
    if new.page_sync:
        deps.tracker_queue.notify(by.workspace, new.change.task.id)
    return new.details


def _message(whole: TaskDetails, now: datetime) -> Message:
    """The first message, with its outcome since."""
    body = whole.body or {}
    content: dict[str, Any] = {name: value for name, value in body.items() if name not in _OWN}
    if context := _restored(content.get("context") or {}, whole):
        content["context"] = context
    deadline = time_of(content, "expectations", "deadline")
    if deadline is not None and deadline <= now:  # else the retry would fail before it could be claimed
        content["expectations"] = {k: v for k, v in content["expectations"].items() if k not in _DEADLINE}
    metadata = dict(content.get("metadata") or {})
    metadata.pop("not_before", None)
    reason = str(body.get("escalation_reason") or whole.task.title)
    rollback = {"on_failure": (body.get("rollback") or {}).get("on_failure", whole.task.source_agent)}
    if whole.task.last_checkpoint_id:
        rollback["checkpoint_id"] = whole.task.last_checkpoint_id
    message = {
        **content,
        "target": {**(content.get("target") or {"reason": reason}), "agent": whole.task.target_agent},
        "metadata": {**metadata, "priority": str(whole.task.priority)},
        "rollback": rollback,
        "summary": content.get("summary") or whole.task.title,
        "retries": {
            "handoff_id": whole.task.handoff_id,
            "state": str(whole.task.state),
            "failure": whole.why,
            "checkpoint_id": whole.task.last_checkpoint_id,
        },
    }
    if not fits_in(message, MAX_MESSAGE_BYTES) and whole.why is not None:
        message["retries"]["failure"] = {name: whole.why[name] for name in ("type", "description")}
    return message if fits_in(message, MAX_MESSAGE_BYTES) else {**message, "context": body.get("context") or {}}


def _restored(context: Message, whole: TaskDetails) -> Message:
    """The context with the last checkpoint's state, unless both are too large to store; the message names the
    checkpoint in any case."""
    if whole.checkpoint is None:
        return context
    restored = {**context, "state": {**(context.get("state") or {}), **whole.checkpoint.state}}
    return restored if fits_in(restored) else context
