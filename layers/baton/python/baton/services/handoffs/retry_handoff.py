"""Retries a failed handoff: a new handoff in the place of the first, with its last checkpoint (docs/spec/protocol.md §6
and §7)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from baton.domain import errors, times
from baton.domain.access.principal import Principal
from baton.domain.access.rights import Deed
from baton.domain.agents.route import Mode
from baton.domain.handoffs import handoff_message
from baton.domain.handoffs.handoff_draft import HandoffDraft, lineage_beside
from baton.domain.idempotency import IdempotencyKey, SavedResponse
from baton.domain.task_state import State
from baton.domain.tasks import trail
from baton.domain.tasks.calls import Seen
from baton.domain.tasks.task import Kind, Task
from baton.domain.tasks.task_items import Retry
from baton.domain.tasks.transitions import agent_as_seen
from baton.ports.deps import Deps
from baton.ports.details import TaskDetails
from baton.ports.handoffs import HandoffInputs, HandoffQuery
from baton.ports.writes import NotCancelled, Replace, Require, Write
from baton.steps import idempotency
from baton.steps.access.read_rights import refused_as_unknown
from baton.steps.agents import resolve_agents
from baton.steps.agents.kill_switch import must_be_let_act
from baton.steps.handoffs.begin_handoff import PlannedHandoff, Terms, begin_handoffs, begun_or_refused, commit_handoff
from baton.steps.questions.handoff_rules import as_known_to, changed_for
from baton.steps.tasks.change_task import page_sync_of

_RETRYABLE = frozenset({State.FAILED, State.REJECTED, State.CANCELLED})
# Chains are no deeper (``BOUNDS``), unless the loop guard is off; one transaction checks each.
MOST_ABOVE = 60
# Fields of the first handoff that the second gets anew.
_OWN = {"handoff_id", "kind", "timestamp", "hops", "rollback"}
_SHORT = ("type", "description")  # of a failure that is too large for the message


def retry_handoff(
    deps: Deps,
    by: Principal,
    task_id: str,
    idempotency_key: IdempotencyKey | None = None,
    looked_at: Seen | None = None,
) -> TaskDetails:
    """Returns the new handoff and its task, linked to the first by ``retry_of``. For a human, or the agent that made
    the handoff. Only a human retries an escalation, a task below a cancelled one, or a task that was split. One retry
    at a time: raises ``AlreadyRetried``. Raises ``NotAllowed`` unless the first has ended without success,
    ``LoopTripped``, and the errors of ``create_handoff`` about its target. ``looked_at``: the agents' versions that a
    human names. Raises ``AgentChanged`` for one who may approve, if a service or a member has changed the agent since
    the first was approved, and they haven't named it as it is now."""
    by.must_have(Deed.HAND_OFF)

    def replay(saved: dict[str, Any]) -> TaskDetails:
        retry = trail.from_snapshot(saved)
        body = deps.store.tasks.bodies(by.workspace, [retry.id])[retry.id]
        return TaskDetails(task=retry, body=body, page_sync=page_sync_of(deps, retry))

    def read() -> tuple[HandoffInputs, SavedResponse | None]:
        query = HandoffQuery(parent_id=task_id, idempotency_key=idempotency_key)
        return idempotency.with_response(deps.store.handoffs.handoff_inputs(by.workspace, query))

    def decide(inputs: HandoffInputs) -> TaskDetails:
        if inputs.parent is None:
            raise errors.Unknown("handoff")
        first = inputs.parent.task
        _must_be_allowed(deps, by, first)
        if not by.is_human and _origin(deps, first).is_escalation:
            # Its direction's breaker and cap count requests, and wouldn't see a retry (invariant 6).
            raise errors.HumanNeeded("retry an escalation; whoever escalates it anew asks with POST /handoff-markers")
        above: list[Require] = [] if by.is_human else _not_cancelled_above(deps, first)
        opened = retry_opened(deps, first)
        whole = deps.store.tasks.read(by.workspace, first.id, with_body=True)
        seen = replace(looked_at or Seen(), digest=first.digest)
        asked = _Asked(by, seen, idempotency_key)
        return _retry(deps, asked, whole, lambda retry_id: [opened(retry_id), *above])

    with refused_as_unknown(deps, by, task_id, "handoff"):
        return idempotency.run_idempotently(deps, idempotency_key, read, decide, replay)


def retry_opened(deps: Deps, first: Task) -> Callable[[str], Replace]:
    """Returns the write that records a retry, by its id, as the latest one of the first task of its chain. Every retry
    is written with it. Raises ``AlreadyRetried`` if another retry is still open."""
    origin = _origin(deps, first).id
    latest = _latest(deps, first, origin)
    seen = None if latest is None else Retry(origin, latest)
    return lambda retry_id: Replace(Retry(origin, retry_id), seen)


def _must_be_allowed(deps: Deps, by: Principal, first: Task) -> None:
    if not by.is_human and by.key != first.source_agent:
        must_be_let_act(deps, by, by.acting_for(first.source_agent))
    if first.state not in _RETRYABLE:
        raise errors.NotAllowed(first.id, "retry", first.state)
    if first.state is State.CANCELLED and first.successors and not by.is_human:
        raise errors.HumanNeeded("retry what was split: it goes on in its parts")


def _origin(deps: Deps, first: Task) -> Task:
    """Returns the first task of a chain of retries: retries of retries are recorded there, so that there is one place
    to find them. An imported escalation is one by its kind alone."""
    task = first
    while task.retry_of is not None:
        task = deps.store.tasks.many(first.workspace, [task.retry_of])[task.retry_of]
    return task


def _latest(deps: Deps, first: Task, origin: str) -> str | None:
    """The retry before this one. Raises ``AlreadyRetried`` if that is still open."""
    seen = deps.store.workflows.retry_of(first.workspace, origin)
    if seen is not None:
        latest = deps.store.tasks.many(first.workspace, [seen]).get(seen)
        if latest is not None and not latest.is_ended:
            raise errors.AlreadyRetried(first.handoff_id, latest.id)
    return seen


def _not_cancelled_above(deps: Deps, task: Task) -> list[Require]:
    """The ancestors, which must not be cancelled before the retry is written: a later cancel finds the retry. Raises
    ``HumanNeeded`` if one is cancelled now."""
    parents = {each.task_id: each.parent_id for each in deps.store.workflows.members(task.workspace, task.workflow_id)}
    above: list[str] = []
    ancestor = parents.get(task.id)
    while ancestor is not None and len(above) < MOST_ABOVE:
        above.append(ancestor)
        ancestor = parents.get(ancestor)
    found = deps.store.tasks.many(task.workspace, above) if above else {}
    if any(each.state is State.CANCELLED for each in found.values()):
        raise errors.HumanNeeded("retry what lies under a cancelled task")
    return [Require(NotCancelled(each)) for each in above]


@dataclass(frozen=True, slots=True)
class _Asked:
    """A request for a retry. ``seen``: the content of the first task and the versions of its agents that a human has
    read."""

    by: Principal
    seen: Seen
    idempotency_key: IdempotencyKey | None


def _retry(deps: Deps, asked: _Asked, whole: TaskDetails, writes: Callable[[str], list[Write]]) -> TaskDetails:
    """Commits the retry. ``writes``: those that go with the new task's id: the record of the latest retry, and the
    ancestors that must not be cancelled."""
    first, by, idempotency_key = whole.task, asked.by, asked.idempotency_key
    names = resolve_agents.slugs_among(first.target_agent)
    query = HandoffQuery(agents=names, workflow_id=first.workflow_id, work_type=first.work_type)
    inputs = deps.store.handoffs.handoff_inputs(by.workspace, query)
    agent = resolve_agents.active_target(deps, by.workspace, inputs.agents, first.target_agent, "target.agent")
    known = as_known_to(deps, by, first) if by.may_do(Deed.APPROVE) else None
    now = deps.clock.now()
    draft = HandoffDraft(
        kind=Kind.RETRY,
        source=first.source_agent,
        target=first.target_agent,
        message=_message(whole, now),
        lineage=lineage_beside(first, whole.message),
        requires=first.requires,
        mode=_mode(whole, inputs),
        work_type=first.work_type,
        dispatch_rank=first.dispatch_rank,
        retry_of=first.id,
    )
    resolve_agents.must_be_able(deps, by.workspace, agent, first.requires, first.source_agent)
    terms = Terms(settings=inputs.settings, now=now, handoffs=inputs.handoffs)
    begun = begin_handoffs(
        deps, by, [PlannedHandoff(draft, agent, came_as=None if known is None else known.shown_as)], terms
    )
    begun = begun_or_refused(deps, by, begun, idempotency_key)
    if known is not None:  # the retry is approved by their request, with the roster that it has just read
        agent_as_seen(known, asked.seen, agent, changed_for(deps, by, first), {"retry_of": first.id})
    retry = begun.only.task
    saved = idempotency.save_response(idempotency_key, trail.snapshot(retry))
    return commit_handoff(deps, begun, *writes(retry.id), *saved)


def _mode(whole: TaskDetails, inputs: HandoffInputs) -> Mode:
    """Returns how the retry is approved: a part of a split by a human only, and work of a route as the route says."""
    if "part_of" in whole.message.more:
        return Mode.MANUAL
    route = inputs.route
    if route is None or route.removed:
        return Mode.DISPATCH
    # A route that people decide on may have another agent by now.
    is_its_own = route.agent == whole.task.target_agent or route.mode is Mode.MANUAL
    return route.mode if is_its_own else Mode.DISPATCH


def _message(whole: TaskDetails, now: datetime) -> handoff_message.HandoffMessage:
    """The first message, with its outcome since."""
    task, record = whole.task, whole.message
    content = handoff_message.message_from({name: value for name, value in record.plain().items() if name not in _OWN})
    deadline = content.expectations.deadline
    if deadline is not None and deadline <= now:  # else the retry would fail before it could be claimed
        content = replace(content, expectations=content.expectations.without(*handoff_message.ExpectationsPart.TIMES))
    target = (
        content.target
        if content.target.fields
        else handoff_message.TargetPart({"reason": record.escalation_reason or task.title})
    )
    rollback = handoff_message.RollbackPart({"on_failure": record.rollback.back_to(task.source_agent)})
    checkpoint_id, checkpoint = _left_by_worker(whole)
    if checkpoint_id:
        rollback = rollback.having(checkpoint_id=checkpoint_id)
    message = replace(
        content,
        target=target.having(agent=task.target_agent),
        metadata=content.metadata.without("not_before").having(priority=str(task.priority)),
        rollback=rollback,
        summary=content.summary or task.title,
    )
    retries = {
        "handoff_id": task.handoff_id,
        "state": str(task.state),
        "failure": whole.why,
        "checkpoint_id": checkpoint_id,
    }
    short = retries if whole.why is None else {**retries, "failure": {key: whole.why[key] for key in _SHORT}}
    restored = [] if checkpoint is None else [{**each, "checkpoint": checkpoint} for each in (retries, short)]
    forms = [message.having(retries=each) for each in (*restored, retries, short)]
    return next((each for each in forms if each.fits), forms[-1])


def _left_by_worker(whole: TaskDetails) -> tuple[str | None, dict[str, Any] | None]:
    """Returns the id of the last checkpoint, and the checkpoint as its worker's own; of a retry that saved none, those
    of the handoff that it retries. The context stays as it was approved."""
    saved = whole.checkpoint
    if saved is None:
        retries = whole.message.more.get("retries") or {}
        return whole.task.last_checkpoint_id or retries.get("checkpoint_id"), retries.get("checkpoint")
    at = times.rfc3339(saved.at)
    return saved.id, {"step_name": saved.step_name, "state": saved.state, "at": at, "by": saved.by}
