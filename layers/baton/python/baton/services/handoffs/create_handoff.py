"""Hands work from one agent to another (docs/spec/protocol.md §1 to §3)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from baton.domain import errors
from baton.domain.access.principal import Principal
from baton.domain.access.principal import PrincipalKind as Who
from baton.domain.access.rights import Deed
from baton.domain.agents.route import Mode
from baton.domain.guardrails.guardrails import checked
from baton.domain.handoffs import handoff_message
from baton.domain.handoffs.handoff_draft import HandoffDraft, Lineage, lineage_under
from baton.domain.handoffs.workflow import ANY_AGENT, HeldClaim, RootHandoffs
from baton.domain.idempotency import IdempotencyKey, SavedResponse
from baton.domain.tasks import trail
from baton.domain.tasks.task import Kind, Task
from baton.ports.deps import Deps
from baton.ports.details import TaskDetails
from baton.ports.handoffs import HandoffInputs, HandoffQuery
from baton.ports.writes import Require, UnderClaim, Write
from baton.steps import idempotency
from baton.steps.agents import resolve_agents
from baton.steps.agents.kill_switch import must_be_let_act
from baton.steps.claims.held_claims import find_claim, holds_claims
from baton.steps.guardrails.apply_guardrails import checked_message
from baton.steps.handoffs.begin_handoff import (
    NewHandoff,
    PlannedHandoff,
    Terms,
    begin_handoffs,
    begun_or_refused,
    commit_handoff,
)
from baton.steps.memory.snapshots import with_snapshot
from baton.steps.tasks.change_task import page_sync_of


@dataclass(frozen=True, slots=True)
class _Read:
    """What a handoff is decided on."""

    source: str
    claim: HeldClaim | None  # the claim that was named, if the source holds it
    is_holder: bool  # the source holds claims, and none was named
    inputs: HandoffInputs


@dataclass(frozen=True, slots=True, kw_only=True)
class CreateHandoff:
    """A request for a new handoff."""

    message: handoff_message.HandoffMessage  # as it was sent
    kind: Kind = Kind.TRANSFER
    claim_id: str | None = None  # of the claim that it is made under; None for a root
    worker: str | None = None  # who hands off: only its own claims have to be named. None: any of the agent's
    work_type: str | None = None  # decides the route if no target is named
    extra_writes: Callable[[NewHandoff], tuple[Write, ...]] = lambda _: ()  # writes for the new task

    @property
    def source(self) -> str | None:
        """As it was named; None for the caller itself."""
        return self.message.source.agent

    @property
    def target(self) -> str | None:
        return self.message.target.agent

    @property
    def on_failure(self) -> str | None:
        return self.message.rollback.on_failure

    @property
    def workflow_id(self) -> str | None:
        return self.message.metadata.workflow_id


def create_handoff(
    deps: Deps, by: Principal, asked: CreateHandoff, idempotency_key: IdempotencyKey | None = None
) -> TaskDetails:
    """Returns the handoff (as the body) and its task. It is durable, or nothing was written. Raises ``NotYourAgent``,
    ``ScopeNeeded``, ``UnknownAgent``, ``TargetInactive``, ``CapabilityMismatch``, ``ClaimRequired``, ``StaleClaim``,
    ``GuardrailRefused``, ``TooLarge``, ``KeyReused``, and ``LoopTripped``, which leaves an entry for a human."""
    by.must_have(Deed.HAND_OFF)

    def read() -> tuple[_Read, SavedResponse | None]:
        source = by.own_source if asked.source is None else resolve_agents.source_of(deps, by, asked.source)
        claim = None if asked.claim_id is None else find_claim(deps, by.workspace, source, asked.claim_id)
        is_holder = _must_name_one(by, asked) and holds_claims(deps, by.workspace, source, asked.worker)
        inputs = deps.store.handoffs.handoff_inputs(by.workspace, _wanted(asked, source, claim, idempotency_key))
        return _Read(source, claim, is_holder, inputs), inputs.saved_response

    def decide(read: _Read) -> TaskDetails:
        source = resolve_agents.canonical_source(deps, by, read.inputs.agents, read.source)
        must_be_let_act(deps, by, source, read.inputs.agents)
        inputs = _routed(deps, by.workspace, asked, source, read.inputs)
        return _hand_off(deps, by, asked, replace(read, source=source, inputs=inputs), idempotency_key)

    return idempotency.run_idempotently(
        deps, idempotency_key, read, decide, lambda first: _replayed(deps, by.workspace, first)
    )


def _routed(deps: Deps, workspace: str, request: CreateHandoff, source: str, inputs: HandoffInputs) -> HandoffInputs:
    """Adds the agent that a route names to the inputs, with one more read."""
    if request.target is not None or inputs.route is None:
        return inputs
    target = inputs.route.agent
    more = deps.store.handoffs.handoff_inputs(
        workspace, HandoffQuery(agents=frozenset({target}), roots=(source, target))
    )
    return replace(inputs, agents={**inputs.agents, **more.agents}, roots=more.roots)


def _must_name_one(by: Principal, request: CreateHandoff) -> bool:
    """True if the caller has to name a claim while the source holds any. A human answers for handoffs outside of
    them."""
    return request.claim_id is None and not by.is_human


def _wanted(
    request: CreateHandoff, source: str, claim: HeldClaim | None, idempotency_key: IdempotencyKey | None
) -> HandoffQuery:
    target = request.target or ANY_AGENT
    return HandoffQuery(
        agents=resolve_agents.slugs_among(source, request.target, request.on_failure),
        work_type=request.work_type,
        idempotency_key=idempotency_key,
        parent_id=claim.task_id if claim else None,
        workflow_id=claim.workflow_id if claim else request.workflow_id,
        roots=None if claim else (source, target),
    )


def _hand_off(
    deps: Deps, by: Principal, request: CreateHandoff, read: _Read, idempotency_key: IdempotencyKey | None
) -> TaskDetails:
    inputs = read.inputs
    parent = _parent(by, request, read)
    if read.is_holder:
        raise errors.ClaimRequired(read.source, request.worker)
    start = _so_far(deps, by, request, parent, inputs)
    planned = _planned(deps, by, request, read, parent)
    is_agents_root = parent is None and by.kind is not Who.HUMAN
    terms = Terms(
        settings=inputs.settings,
        now=deps.clock.now(),
        handoffs=start,
        # Counted for the agent that it goes to in the end: the route's, if no target was named.
        roots=_roots(deps, by.workspace, planned.draft, inputs) if is_agents_root else None,
        own_roots=_own_roots(read),
        is_counted=parent is not None or request.workflow_id is not None,
    )
    begun = begun_or_refused(deps, by, begin_handoffs(deps, by, [planned], terms), idempotency_key)
    saved = idempotency.save_response(idempotency_key, trail.snapshot(begun.only.task))
    return commit_handoff(deps, begun, *_under(parent, request, terms.now), *saved, *request.extra_writes(begun.only))


def _own_roots(read: _Read) -> int | None:
    source = read.inputs.agents.get(read.source)
    return source.root_handoffs_per_hour if source else None


def _under(parent: Task | None, request: CreateHandoff, now: datetime) -> list[Write]:
    """The claim is still current, and is extended."""
    if parent is None or parent.claim is None or request.claim_id is None:
        return []
    extended = parent.claim.renewed(now, None, parent.hard_deadline)
    return [Require(UnderClaim(parent.id, request.claim_id, extended=extended))]


def _parent(by: Principal, request: CreateHandoff, read: _Read) -> Task | None:
    """The task under whose claim the handoff is made. Raises ``StaleClaim`` for a claim that is another caller's, or
    over."""
    if request.claim_id is None:
        return None
    if read.claim is None or read.inputs.parent is None:
        raise errors.StaleClaim(None)
    task = read.inputs.parent.task
    current = task.current_claim(request.claim_id, by)
    if current.agent != read.source:
        raise errors.StaleClaim(task.id)
    if request.workflow_id not in {None, task.workflow_id}:
        raise errors.InvalidInput(
            "metadata.workflow_id", "must be left out, or that of the task that is handed off from"
        )
    return task


def _planned(deps: Deps, by: Principal, request: CreateHandoff, read: _Read, parent: Task | None) -> PlannedHandoff:
    source, inputs = read.source, read.inputs
    message = checked_message(request.message, inputs.settings.guardrails)
    if request.worker is not None:
        checked({"worker": request.worker}, inputs.settings.guardrails, "")
    message.must_be_ahead(deps.clock.now())
    message = with_snapshot(deps, by.workspace, message)
    mode, rank = Mode.DISPATCH, None
    target = request.target
    if target is None and request.work_type is not None:
        if inputs.route is None or inputs.route.removed:
            raise errors.InvalidInput("work_type", f"has no route, and no target is named: {request.work_type}")
        target, mode, rank = inputs.route.agent, inputs.route.mode, inputs.route.dispatch_rank
    agent = resolve_agents.active_target(deps, by.workspace, inputs.agents, target, "target.agent")
    resolve_agents.must_be_able(deps, by.workspace, agent, message.requires, source)
    draft = HandoffDraft(
        kind=request.kind,
        source=source,
        target=agent.slug if agent else None,
        message=_completed(deps, by, message, request, inputs),
        lineage=_lineage(deps, request, parent, inputs),
        requires=message.requires,
        mode=mode,
        work_type=request.work_type,
        dispatch_rank=rank,
    )
    return PlannedHandoff(draft, agent)


def _lineage(deps: Deps, request: CreateHandoff, parent: Task | None, inputs: HandoffInputs) -> Lineage:
    if parent is not None and inputs.parent is not None:
        return lineage_under(parent, inputs.parent.message)
    return Lineage(workflow_id=request.workflow_id or deps.ids.new("wf", deps.clock.now()))


def _completed(
    deps: Deps, by: Principal, message: handoff_message.HandoffMessage, request: CreateHandoff, inputs: HandoffInputs
) -> handoff_message.HandoffMessage:
    """The message with the parent's context merged in, and with the canonical name of the agent that a failure goes
    back to."""
    before = inputs.parent.message.context if inputs.parent else handoff_message.ContextPart()
    completed = message.with_context(before.merged_with(message.context))
    if request.on_failure is None:
        return completed
    back_to = resolve_agents.active_agent(deps, by.workspace, inputs.agents, request.on_failure, "rollback.on_failure")
    return replace(completed, rollback=message.rollback.having(on_failure=back_to.slug))


def _so_far(deps: Deps, by: Principal, request: CreateHandoff, parent: Task | None, inputs: HandoffInputs) -> int:
    """The number of the workflow's handoffs so far; 0 if it begins with this one. Raises ``InvalidInput`` if another
    principal began it."""
    if parent is not None:
        return inputs.handoffs or 1
    if request.workflow_id is None:
        return 0
    members = deps.store.workflows.members(by.workspace, request.workflow_id)
    if members and not by.is_human:
        _must_have_begun(deps, by, [each.task_id for each in members if each.parent_id is None])
    return inputs.handoffs or len(members)


def _must_have_begun(deps: Deps, by: Principal, ids: list[str]) -> None:
    """Raises ``InvalidInput`` unless the caller began the workflow. Otherwise a stranger that learns its name could
    fill it, spend its budget, and appear in its conversation. Later roots are humans' or the first principal's own, so
    any root of the caller proves it."""
    found = deps.store.tasks.many(by.workspace, ids).values()
    if not any(task.is_root and task.created_by == by.key for task in found):
        message = "is of a workflow that somebody else began: leave it out, or name the claim that you hold in it"
        raise errors.InvalidInput("metadata.workflow_id", message)


def _roots(deps: Deps, workspace: str, draft: HandoffDraft, inputs: HandoffInputs) -> RootHandoffs:
    target = draft.target or ANY_AGENT
    if inputs.roots is not None and inputs.roots.target == target:
        return inputs.roots
    found = deps.store.handoffs.handoff_inputs(workspace, HandoffQuery(roots=(draft.source, target))).roots
    return found or RootHandoffs(draft.source, target)


def _replayed(deps: Deps, workspace: str, first: dict[str, Any]) -> TaskDetails:
    task = trail.from_snapshot(first)
    body = deps.store.tasks.bodies(workspace, [task.id])[task.id]
    return TaskDetails(task=task, body=body, page_sync=page_sync_of(deps, task))
