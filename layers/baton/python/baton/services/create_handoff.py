"""Hands work from one agent to another (docs/spec/protocol.md §1 to §3)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from baton.domain.draft import Draft, Lineage, under
from baton.domain.errors import ClaimRequired, InvalidInput, LoopTripped, StaleClaim
from baton.domain.events import from_snapshot, snapshot
from baton.domain.guardrails import checked
from baton.domain.handoff import merged, must_be_ahead, requires_of
from baton.domain.principal import Kind as Who
from baton.domain.route import Mode
from baton.domain.task import Kind
from baton.domain.workflow import ANY_AGENT, Roots
from baton.ports import Dossier, Facts, Remember, RootsCounted, UnderClaim, Wanted
from baton.services.change_task import commit_and_ring, row_of
from baton.services.kill_switch import must_be_let_act
from baton.services.make_handoff import counted, make, stopped
from baton.services.remembered_refusals import must_not_be_refused
from baton.services.retrying import decided_once
from baton.services.who_takes_it import must_be_able, named, registered, slugs_among, speaker

if TYPE_CHECKING:
    from collections.abc import Callable

    from baton.domain.agent import Agent
    from baton.domain.handoff import Message
    from baton.domain.idempotency import Once
    from baton.domain.principal import Principal
    from baton.domain.task import Task
    from baton.domain.workflow import Held
    from baton.ports import Baton, Extra
    from baton.services.make_handoff import New

# The kinds that a caller may ask for. Baton creates the other kinds itself.
ASKABLE = (Kind.TRANSFER, Kind.DELEGATION, Kind.CONTINUATION, Kind.ROLLBACK)


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """A request for a new handoff."""

    message: Message  # as it was sent
    kind: Kind = Kind.TRANSFER
    claim_id: str | None = None  # of the claim that it is made under; None for a root
    work_type: str | None = None  # decides the route if no target is named
    told: Callable[[New], tuple[Extra, ...]] = lambda _: ()  # extra writes for the new task

    @property
    def source(self) -> str:
        return str(self.message["source"]["agent"])

    @property
    def target(self) -> str | None:
        target: str | None = self.message["target"].get("agent")
        return target

    @property
    def on_failure(self) -> str | None:
        back_to: str | None = (self.message.get("rollback") or {}).get("on_failure")
        return back_to

    @property
    def workflow_id(self) -> str | None:
        given: str | None = (self.message.get("metadata") or {}).get("workflow_id")
        return given


def create_handoff(baton: Baton, by: Principal, asked: Asked, once: Once | None = None) -> Dossier:
    """Returns the handoff (as the body) and its task. It is durable, or nothing was written. Raises ``NotYourAgent``,
    ``ScopeNeeded``, ``UnknownAgent``, ``TargetInactive``, ``CapabilityMismatch``, ``ClaimRequired``, ``StaleClaim``,
    ``GuardrailRefused``, ``TooLarge``, ``KeyReused``, and ``LoopTripped``, which leaves an entry for a human."""

    def attempt() -> Dossier:
        source = speaker(baton, by, asked.source)
        held = _held(baton, by, asked, source)
        inputs = baton.store.handoff_facts(by.workspace, _wanted(asked, source, held, once))
        saved = once.recall(inputs.remembered) if once else None
        if saved is not None:
            return _replayed(baton, by.workspace, saved)
        source = registered(baton, by, inputs.agents, source)
        must_be_let_act(baton, by, source, inputs.agents)
        return _hand_off(baton, by, asked, source, held, _routed(baton, by.workspace, asked, source, inputs), once)

    return decided_once(baton, once, lambda first: _replayed(baton, by.workspace, first), attempt)


def _routed(baton: Baton, workspace: str, request: Asked, source: str, inputs: Facts) -> Facts:
    """Adds the agent that a route names to the inputs, with one more read."""
    if request.target is not None or inputs.route is None:
        return inputs
    target = inputs.route.agent
    more = baton.store.handoff_facts(workspace, Wanted(agents=frozenset({target}), roots=(source, target)))
    return replace(inputs, agents={**inputs.agents, **more.agents}, roots=more.roots)


def _held(baton: Baton, by: Principal, request: Asked, source: str) -> tuple[Held, ...]:
    """The source's live claims. None for a human who names no claim: a human answers for handoffs outside of them."""
    if request.claim_id is None and by.is_human:
        return ()
    return baton.store.held(by.workspace, source)


def _wanted(request: Asked, source: str, held: tuple[Held, ...], once: Once | None) -> Wanted:
    claim = _named_claim(request, held)
    target = request.target or ANY_AGENT
    return Wanted(
        agents=slugs_among(source, request.target, request.on_failure),
        work_type=request.work_type,
        once=once,
        parent_id=claim.task_id if claim else None,
        workflow_id=claim.workflow_id if claim else request.workflow_id,
        roots=None if claim else (source, target),
    )


def _named_claim(request: Asked, held: tuple[Held, ...]) -> Held | None:
    return next((each for each in held if each.claim_id == request.claim_id), None)


def _hand_off(
    baton: Baton, by: Principal, request: Asked, source: str, held: tuple[Held, ...], inputs: Facts, once: Once | None
) -> Dossier:
    parent = _parent(by, request, source, held, inputs)
    if parent is None and by.kind is not Who.HUMAN and request.claim_id is None and held:
        raise ClaimRequired(source)
    start = _so_far(baton, by, request, parent, inputs)
    draft, agent = _draft(baton, by, request, source, parent, inputs)
    now = baton.clock.now()
    is_agents_root = parent is None and by.kind is not Who.HUMAN
    extras: list[Extra] = []
    try:
        if is_agents_root:
            # Counted for the agent that it goes to in the end: the route's, if no target was named. A stopped handoff
            # counts too: otherwise nothing limits the entries that it leaves for humans.
            extras.append(RootsCounted(_roots(baton, by.workspace, draft, inputs).one_more(now, inputs.settings)))
        draft.check(inputs.settings, start, now)
    except LoopTripped as trip:
        raise stopped(baton, by, draft, trip, now, once, extras) from trip
    new = make(baton, by, draft, agent, inputs.settings, now)
    if parent is not None or request.workflow_id is not None:
        extras += counted(draft, inputs.settings, start=start, is_first=start == 0)
    if parent is not None and request.claim_id is not None:
        extras.append(UnderClaim(parent.id, request.claim_id))
    if once:
        extras.append(Remember(once, snapshot(new.change.task)))
    commit_and_ring(baton, new.change, [*new.along, *extras, *request.told(new)])
    if new.mirror:
        baton.tracker_bell.ring(by.workspace, new.change.task.id)
    return new.dossier


def _parent(by: Principal, request: Asked, source: str, held: tuple[Held, ...], inputs: Facts) -> Task | None:
    """The task under whose claim the handoff is made. Raises ``StaleClaim`` for a claim that is another caller's, or
    over."""
    if request.claim_id is None:
        return None
    claim = _named_claim(request, held)
    if claim is None or inputs.parent is None:
        raise StaleClaim(None)
    task = inputs.parent.task
    current = task.current_claim(request.claim_id, by)
    if current.agent != source:
        raise StaleClaim(task.id)
    if request.workflow_id not in {None, task.workflow_id}:
        raise InvalidInput("metadata.workflow_id", "must be left out, or that of the task that is handed off from")
    return task


def _draft(
    baton: Baton, by: Principal, request: Asked, source: str, parent: Task | None, inputs: Facts
) -> tuple[Draft, Agent | None]:
    message = checked(request.message, inputs.settings.guardrails, "")
    must_be_ahead(message, baton.clock.now())
    mode, rank = Mode.DISPATCH, None
    target = request.target
    if target is None and request.work_type is not None:
        if inputs.route is None or inputs.route.removed:
            raise InvalidInput("work_type", f"has no route, and no target is named: {request.work_type}")
        target, mode, rank = inputs.route.agent, inputs.route.mode, inputs.route.dispatch_rank
    agent = named(baton, by.workspace, inputs.agents, target, "target.agent") if target is not None else None
    requires = requires_of(message)
    must_be_able(baton, by.workspace, agent, requires, source)
    body = inputs.parent.body if inputs.parent else None
    lineage = _lineage(baton, request, parent, body)
    return (
        Draft(
            kind=request.kind,
            source=source,
            target=agent.slug if agent else None,
            message=_with_context(baton, by, message, request, body, inputs),
            lineage=lineage,
            requires=requires,
            mode=mode,
            work_type=request.work_type,
            dispatch_rank=rank,
        ),
        agent,
    )


def _lineage(baton: Baton, request: Asked, parent: Task | None, body: Message | None) -> Lineage:
    if parent is not None:
        return under(parent, body)
    return Lineage(workflow_id=request.workflow_id or baton.ids.new("wf", baton.clock.now()))


def _with_context(
    baton: Baton, by: Principal, message: Message, request: Asked, body: Message | None, inputs: Facts
) -> dict[str, Any]:
    """The message with the parent's context merged in, and with the canonical name of the agent that a failure goes
    back to."""
    context = merged((body or {}).get("context"), message.get("context"))
    completed = {**message, **({"context": context} if context else {})}
    if request.on_failure is not None:
        back_to = named(baton, by.workspace, inputs.agents, request.on_failure, "rollback.on_failure")
        completed["rollback"] = {**message["rollback"], "on_failure": back_to.slug}
    return completed


def _so_far(baton: Baton, by: Principal, request: Asked, parent: Task | None, inputs: Facts) -> int:
    """The number of the workflow's handoffs so far; 0 if it begins with this one. Raises ``InvalidInput`` if another
    principal began it."""
    if parent is not None:
        return inputs.handoffs or 1
    if request.workflow_id is None:
        return 0
    members = baton.store.workflow(by.workspace, request.workflow_id)
    if members and not by.is_human:
        _must_have_begun(baton, by, [each.task_id for each in members if each.parent_id is None])
    return inputs.handoffs or len(members)


def _must_have_begun(baton: Baton, by: Principal, ids: list[str]) -> None:
    """Raises ``InvalidInput`` unless the caller began the workflow. Otherwise a stranger that learns its name could
    fill it, spend its budget, and appear in its conversation. Later roots are humans' or the first principal's own, so
    any root of the caller proves it."""
    found = baton.store.tasks(by.workspace, ids).values()
    if not any(task.is_root and task.created_by == by.key for task in found):
        message = "is of a workflow that somebody else began: leave it out, or name the claim that you hold in it"
        raise InvalidInput("metadata.workflow_id", message)


def _roots(baton: Baton, workspace: str, draft: Draft, inputs: Facts) -> Roots:
    target = draft.target or ANY_AGENT
    if inputs.roots is not None and inputs.roots.target == target:
        return inputs.roots
    found = baton.store.handoff_facts(workspace, Wanted(roots=(draft.source, target))).roots
    return found or Roots(draft.source, target)


def _replayed(baton: Baton, workspace: str, first: dict[str, Any]) -> Dossier:
    must_not_be_refused(first)
    task = from_snapshot(first)
    body = baton.store.bodies(workspace, [task.id])[task.id]
    return Dossier(task=task, body=body, mirror=row_of(baton, task))
