"""Takes one task for a claimer. The condition behind it is ``version_unchanged`` on the task's HEAD. If the lease of a
claim is over, the claim is swept first, in the same commit (docs/spec/lifecycle.md §3)."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from baton.domain import errors
from baton.domain.access.principal import SWEEPER, Principal, system
from baton.domain.agents.agent import Agent
from baton.domain.idempotency import IdempotencyKey
from baton.domain.memory.snapshot import ClaimMemory
from baton.domain.rights.read_rights import may_see_rules
from baton.domain.task_state import State
from baton.domain.tasks import commands
from baton.domain.tasks.change import Change
from baton.domain.tasks.task import DEFAULT_LEASE_SECONDS, Claim, Recovery, Task
from baton.domain.tasks.transitions import transition
from baton.ports.deps import Deps
from baton.ports.details import TaskDetails
from baton.ports.queues import ReadyTask
from baton.steps import idempotency
from baton.steps.claims.held_claims import count_claims_besides
from baton.steps.claims.others_parts import without_others
from baton.steps.guardrails.apply_guardrails import apply_guardrails_to_name
from baton.steps.memory.claim_memory import claim_memory
from baton.steps.questions.handoff_rules import is_guarded, remember_refusal, rules_for_claim
from baton.steps.tasks.change_task import commit, page_sync_of

# A claim that is refused for what the task, the agent or the claimer is: the sweep of a lost lease is due all the same.
NOT_FOR_THE_CLAIMER = (
    errors.AlreadyClaimed,
    errors.ApprovalNeeded,
    errors.AtCapacity,
    errors.CapabilityMismatch,
    errors.InactiveAgent,
    errors.NotClaimable,
    errors.NotYourAgent,
    errors.OwnHandoff,
    errors.TaskEnded,
)


@dataclass(frozen=True, slots=True)
class Claimed:
    """A claimed task with its items. No other answer shows the claim's id. ``withheld``: the parts of the answer that
    no person has approved for this agent: others left them on the task, or posted them after it was made.
    ``sees_own``: the claimer gets what its own agent left alone."""

    details: TaskDetails
    claim_id: str
    memory: ClaimMemory | None = None  # None if neither the handoff nor the claimer has asked for it
    withheld: tuple[str, ...] = ()
    sees_own: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Claimer:
    """The agent that ``by`` claims for, with the worker's name and the lease."""

    by: Principal
    agent: str
    worker: str
    lease_seconds: int = DEFAULT_LEASE_SECONDS
    memories: int = 0  # so many entries that fit the work come with the claim
    first_lease_seconds: int | None = None  # of a claim that is made after a wait, until its first verb
    resumes: int | None = None  # the fence of its own claim that it goes on with


@dataclass(frozen=True, slots=True)
class _Candidate:
    """A task as it was read for a claim at ``now``. ``swept``: what the sweeper would change first, as the lease of the
    agent's own claim is over, or the agent was changed since the approval."""

    details: TaskDetails
    agent: Agent | None
    now: datetime
    swept: Change | None

    @property
    def task(self) -> Task:
        return self.details.task if self.swept is None else self.swept.task

    @property
    def lost(self) -> Claim | None:
        return None if self.swept is None else self.details.task.claim

    @property
    def recoveries(self) -> tuple[Recovery, ...]:
        recovery = None if self.swept is None else self.swept.recovery
        return self.details.recoveries if recovery is None else (*self.details.recoveries, recovery)


def take_task(
    deps: Deps,
    claimer: Claimer,
    wanted: str | ReadyTask,
    idempotency_key: IdempotencyKey | None,
    known: TaskDetails | None = None,
) -> Claimed:
    """Claims a task by its id, or as a queue has shown it. A task whose lease is over is swept and claimed in one
    commit. A task that was approved before a service or a member changed the agent is swept to a human. If the sweep
    leaves nothing to claim, it is committed alone, and the refusal of the claim is raised. ``known``: a task that was
    just read for a claim; if it is another one, the wanted one is read."""
    found = _read(deps, claimer, wanted if isinstance(wanted, str) else wanted.task_id, known)
    try:
        if isinstance(wanted, ReadyTask):
            _must_be_in_queue(found, wanted)
        slot = _slot(deps, claimer, found, is_likely=True)
        try:
            return _claimed(deps, claimer, found, slot, idempotency_key)
        except errors.SlotTaken:
            return _claimed(deps, claimer, found, _slot(deps, claimer, found, is_likely=False), idempotency_key)
    except NOT_FOR_THE_CLAIMER as refusal:
        if isinstance(refusal, errors.ApprovalNeeded):
            remember_refusal(deps, claimer.agent, found.task)
            if not may_see_rules(claimer.by):
                refusal = errors.ApprovalNeeded(found.task.id, claimer.agent, [])
        if found.swept is not None:
            commit(deps, found.swept)
        raise refusal from None


def _read(deps: Deps, claimer: Claimer, task_id: str, known: TaskDetails | None) -> _Candidate:
    workspace = claimer.by.workspace
    if known is None or known.task.id != task_id:
        known = deps.store.tasks.read_for_claim(workspace, task_id)
    details, agent = known, deps.store.agents.agent(workspace, claimer.agent)
    task, now, sweeper = details.task, deps.clock.now(), system(workspace, SWEEPER)
    swept: Change | None = None
    if claimer.resumes is None and task.is_lapsed(claimer.agent, now):
        swept = transition(task, commands.Sweep(by=sweeper, agent=agent), now)
        task = swept.task
    if agent is not None and not task.is_approved_for(agent):
        back = transition(task, commands.SendBack(by=sweeper, target=agent), now)
        swept = back if swept is None else swept.followed_by(back)
    return _Candidate(details, agent, now, swept)


def _must_be_in_queue(found: _Candidate, ready: ReadyTask) -> None:
    """Raises ``NotClaimable`` for a task that is claimed by its id alone, or came back otherwise than by its mark."""
    came_back = ready.lapsed_claim is not None and found.swept is None
    if found.task.state is State.NEXT or came_back:
        raise errors.NotClaimable(found.task.id, found.task.state, None)


def _slot(deps: Deps, claimer: Claimer, found: _Candidate, *, is_likely: bool) -> int | None:
    """Returns a slot of the agent's; None if it has no limit, or keeps the slot of the claim that is resumed. The slot
    of the claim that was lost, or a random one, is mostly free, and needs no read: ``is_likely``. Raises
    ``InactiveAgent`` and ``AtCapacity``."""
    agent, lost = found.agent, found.lost
    if agent is None or not agent.active:
        raise errors.InactiveAgent(claimer.agent)
    if claimer.resumes is not None or agent.max_concurrent is None:
        return None
    if agent.limit_was_lowered or not is_likely:
        return _free_slot(deps, agent, lost)
    if lost is not None and lost.slot is not None and lost.slot < agent.max_concurrent:
        return lost.slot
    return random.randrange(agent.max_concurrent)  # noqa: S311 - no secret


def _free_slot(deps: Deps, agent: Agent, lost: Claim | None) -> int:
    """A slot that no live claim holds. Raises ``AtCapacity``. The claim that was lost gives its slot back with the
    commit that takes one."""
    limit, gone = agent.max_concurrent or 0, None if lost is None else lost.claim_id
    taken = deps.store.claims.taken_slots(agent.workspace, agent.slug)
    live = [slot for slot, claim_id in taken.items() if claim_id != gone]
    without_slot = 0
    if agent.limit_was_lowered:
        without_slot = count_claims_besides(deps, agent.workspace, agent.slug, {*taken.values(), gone})
    free = [slot for slot in range(_room(limit, live, without_slot)) if slot not in live]
    if not free:
        raise errors.AtCapacity(agent.slug, limit)
    return random.choice(free)  # noqa: S311 - no secret


def _room(limit: int, live: Sequence[int], without_slot: int) -> int:
    """Returns how many of the first slots may be filled, as claims beyond them count as well: those from before the
    limit was lowered. These only get fewer, and no two claimers fill the same slot. So whatever claimers see at the
    same time, all of them stay within the limit."""
    rooms = range(limit, 0, -1)
    return next((room for room in rooms if room + sum(slot >= room for slot in live) + without_slot <= limit), 0)


def _claimed(
    deps: Deps, claimer: Claimer, found: _Candidate, slot: int | None, idempotency_key: IdempotencyKey | None
) -> Claimed:
    command = commands.ClaimTask(
        by=claimer.by,
        agent=claimer.agent,
        worker=apply_guardrails_to_name(deps, claimer.by.workspace, "worker", claimer.worker),
        claim_id=deps.ids.new("clm", found.now),
        lease_seconds=claimer.lease_seconds,
        skills=found.agent,
        slot=slot,
        first_lease_seconds=claimer.first_lease_seconds,
        resumes=claimer.resumes,
        rules=rules_for_claim(deps, replace(found.details, task=found.task), claimer.agent),
    )
    change = transition(found.task, command, found.now)
    if found.swept is not None:
        change = found.swept.followed_by(change)
    answer = {"task_id": change.task.id, "claim_id": command.claim_id}
    commit(deps, change, *idempotency.save_response(idempotency_key, answer))
    page_sync = page_sync_of(deps, change.task)
    details = replace(found.details, task=change.task, recoveries=found.recoveries, page_sync=page_sync)
    return claimed_with_memory(deps, claimer, details, command.claim_id)


def claimed_with_memory(deps: Deps, claimer: Claimer, details: TaskDetails, claim_id: str) -> Claimed:
    """Returns the claim with what its claimer gets of earlier attempts, and of the memory, read now. A claim by
    approvals has no entries that others posted after the task was made."""
    agent, memory = claimer.agent, claim_memory(deps, details, claimer.memories)
    approved = None if memory is None else memory.as_of(details.task.created_at, agent)
    withheld: tuple[str, ...] = ()
    sees_own = bool(set(details.task.takers) - {agent}) and is_guarded(deps, details, agent)
    if sees_own:
        details, withheld = without_others(details, agent)
    if approved != memory and is_guarded(deps, details, agent):
        memory, withheld = approved, (*withheld, "memory")
    return Claimed(details, claim_id, memory, tuple(sorted(withheld)), sees_own)
