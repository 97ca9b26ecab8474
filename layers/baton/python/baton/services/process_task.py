"""A bell rings: the best ready task of the agent is claimed, run and ended under its fence."""

from __future__ import annotations

import hashlib
from concurrent.futures import Future
from concurrent.futures import TimeoutError as NotYet
from dataclasses import dataclass, replace
from enum import StrEnum
from itertools import islice
from threading import Thread
from typing import TYPE_CHECKING

from baton.domain.errors import (
    AlreadyClaimed,
    AtCapacity,
    Busy,
    CapabilityMismatch,
    InactiveAgent,
    InvalidInput,
    NotClaimable,
    StaleClaim,
    TaskEnded,
    Unknown,
)
from baton.domain.events import canonical_json
from baton.domain.principal import PROCESS_TASK, Principal, system
from baton.domain.task import State
from baton.domain.times import seconds
from baton.run_ports import Done, Left, NotDone, Work
from baton.services.change_task import ring
from baton.services.claim_task import Claimed, Claimer, claim_if_any, claim_task
from baton.services.complete_task import complete_task
from baton.services.fail_task import fail_task
from baton.services.join_branches import join_branches
from baton.services.renew_claim import renew_claim

if TYPE_CHECKING:
    from collections.abc import Callable

    from baton.domain.agent import Agent
    from baton.ports import Baton
    from baton.run_ports import AgentRunner

# A task that has been ready for longer than any bell takes: its own bell was lost.
FORGOTTEN_SECONDS = 30
MAX_OUTPUT_BYTES = 262_144
MAX_DESCRIPTION = 2_000


class Handled(StrEnum):
    """What became of a bell. Each of them means that the message may go."""

    RAN = "ran"
    NOTHING = "nothing_to_claim"
    LATER = "rung_again"
    LOST = "claim_lost"
    JOINED = "joined"


@dataclass(frozen=True, slots=True, kw_only=True)
class Bell:
    workspace: str
    agent: str
    task_id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Shift:
    """How long a task may be worked on here. ``lease_seconds`` is longer than this function can live, so that a lease
    only runs out when the function has died. ``time_left``: seconds until the function is stopped."""

    lease_seconds: int
    time_left: Callable[[], float]
    margin_seconds: float = 10.0
    # A runner stops that much earlier, so that there is time to say so (docs/spec/tools.md §3).
    run_margin_seconds: float = 30.0

    @property
    def beat_seconds(self) -> float:
        return self.lease_seconds / 3

    @property
    def least_seconds(self) -> float:
        """With less than that, nothing is begun: it would be given back at once."""
        return self.run_margin_seconds + self.margin_seconds

    def time_left_to_work(self) -> float:
        return self.time_left() - self.run_margin_seconds


def process_task(baton: Baton, runner: AgentRunner, bell: Bell, shift: Shift) -> Handled:
    """Handles one bell. Raises ``Busy`` if the store doesn't answer: the bell must come again then. Everything else
    that goes wrong is the task's: it fails, is tried again, or comes back by the sweeper."""
    if shift.time_left() < shift.least_seconds:
        baton.doorbell.ring(bell.workspace, bell.agent, bell.task_id)
        return Handled.LATER
    task, agent = baton.store.read_bell(bell.workspace, bell.task_id, bell.agent)
    if task is not None and task.state is State.WAITING:
        return Handled.JOINED if join_branches(baton, bell.workspace, task.id) else Handled.NOTHING
    if agent is None or not (agent.is_run and agent.active):
        return Handled.NOTHING  # switched on again, it is rung for what has waited (services/register_agent.py)
    by = system(bell.workspace, PROCESS_TASK)
    claimed = _claim(
        baton, Claimer(by=by, agent=agent.slug, worker=PROCESS_TASK, lease_seconds=shift.lease_seconds), bell
    )
    if isinstance(claimed, Handled):
        return claimed
    handled = _run(baton, runner, by, agent, claimed, shift)
    _pass_on(baton, agent)
    return handled


def _claim(baton: Baton, claimer: Claimer, bell: Bell) -> Claimed | Handled:
    """The best ready task; the named one if the index doesn't show it yet. One that isn't due yet is rung for again."""
    try:
        claimed = claim_if_any(baton, claimer)
        if claimed is not None:
            return claimed
        task, _ = baton.store.load(bell.workspace, bell.task_id)
        if task.target_agent == claimer.agent and task.is_ready(baton.clock.now()):
            return claim_task(baton, claimer, task.id)
        if task.state is State.DELEGATED and not task.is_ready(baton.clock.now()):
            ring(baton, task)
            return Handled.LATER
    except (AlreadyClaimed, NotClaimable, TaskEnded, InactiveAgent, AtCapacity, CapabilityMismatch, Unknown):
        pass
    return Handled.NOTHING


def _run(baton: Baton, runner: AgentRunner, by: Principal, agent: Agent, claimed: Claimed, shift: Shift) -> Handled:
    task_id = claimed.dossier.task.id
    work = Work(
        dossier=claimed.dossier, agent=agent, by=by, claim_id=claimed.claim_id, time_left=shift.time_left_to_work
    )
    outcome = _started(baton, runner, work, task_id)
    try:
        result = _attended(baton, by, task_id, claimed.claim_id, outcome, shift)
        if isinstance(result, Done):
            _complete(baton, by, task_id, claimed.claim_id, result)
        elif isinstance(result, NotDone):
            _fail(baton, by, task_id, claimed.claim_id, result)
    except StaleClaim:
        baton.log("the claim was lost while working", action="claim_lost", task_id=task_id)
        return Handled.LOST
    return Handled.RAN


def _complete(baton: Baton, by: Principal, task_id: str, claim_id: str, done: Done) -> None:
    """A result that the handoff or the workspace's rules don't take is a failure: nobody would report better."""
    try:
        body_hash = _hash([done.output, done.completion])
        complete_task(baton, by, task_id, claim_id, done.output, body_hash, completion=done.completion)
    except InvalidInput as refusal:
        failure = {"type": "validation", "description": refusal.message[:MAX_DESCRIPTION]}
        fail_task(baton, by, task_id, claim_id, failure, _hash(failure), retryable=False)


def _fail(baton: Baton, by: Principal, task_id: str, claim_id: str, not_done: NotDone) -> None:
    """Also where the workspace's rules don't take its words: it has failed, whatever may be told of it."""
    failure, retryable = not_done.failure, not_done.retryable
    try:
        fail_task(baton, by, task_id, claim_id, failure, _hash(failure), retryable=retryable, told=not_done.told)
    except InvalidInput as refusal:
        told = {"type": "validation", "description": refusal.message[:MAX_DESCRIPTION]}
        fail_task(baton, by, task_id, claim_id, told, _hash(told), retryable=retryable)


def _started(baton: Baton, runner: AgentRunner, work: Work, task_id: str) -> Future[Done | NotDone | Left]:
    """The runner at work in a thread of its own, so that this one can send heartbeats."""
    outcome: Future[Done | NotDone | Left] = Future()

    def work_on() -> None:
        try:
            outcome.set_result(_checked(runner.run(work)))
        except StaleClaim as exc:
            outcome.set_exception(exc)
        except Exception as exc:  # noqa: BLE001 - whatever a runner raises is a failed attempt, never a lost task
            baton.log("the runner raised", action="runner_raised", task_id=task_id, error=type(exc).__name__)
            # What broke is ours to read, in the log: its name would tell nobody else anything.
            failure = {"type": "error", "description": "The run broke off inside of Baton."}
            outcome.set_result(NotDone(failure, retryable=True))

    Thread(target=work_on, name=f"run {task_id}", daemon=True).start()
    return outcome


def _attended(
    baton: Baton, by: Principal, task_id: str, claim_id: str, outcome: Future[Done | NotDone | Left], shift: Shift
) -> Done | NotDone | Left:
    """The runner's result, with a heartbeat every third of the lease until it comes. Raises ``StaleClaim``."""
    while True:
        left = shift.time_left() - shift.margin_seconds
        if left <= 0:
            failure = {"type": "timeout", "description": "The function's time ran out before the work was done."}
            return NotDone(failure, retryable=True)
        try:
            return outcome.result(timeout=min(shift.beat_seconds, left))
        except NotYet:
            _beat(baton, by, task_id, claim_id)


def _beat(baton: Baton, by: Principal, task_id: str, claim_id: str) -> None:
    """Raises ``StaleClaim``. If the store doesn't answer there is another beat before the lease is over."""
    try:
        renew_claim(baton, by, task_id, claim_id)
    except Busy:
        baton.log("a heartbeat met a busy store", action="heartbeat_missed", task_id=task_id)


def _checked(result: Done | NotDone | Left) -> Done | NotDone | Left:
    """What a runner answered, small enough to keep. Raises whatever comes of it if it isn't one, or isn't JSON."""
    if isinstance(result, Left):
        return result
    what, kept = ("output", result.output) if isinstance(result, Done) else ("failure", result.failure)
    if len(canonical_json(kept).encode()) <= MAX_OUTPUT_BYTES:
        return result
    failure = {"type": "validation", "description": f"The {what} is larger than {MAX_OUTPUT_BYTES} bytes."}
    return NotDone(failure) if isinstance(result, Done) else replace(result, failure=failure)


def _hash(value: object) -> str:
    return hashlib.sha256(canonical_json(value).encode()).hexdigest()


def _pass_on(baton: Baton, agent: Agent) -> None:
    """Rings for work whose own bell must have been lost, so that a backlog drains without waiting for the sweeper: a
    handled bell begets at most one, and the last one finds nothing."""
    now = baton.clock.now()
    _, waiting = baton.store.ready(agent.workspace, agent.slug, now)
    for ready in islice(waiting, 10):
        if now - ready.ready_at > seconds(FORGOTTEN_SECONDS):
            baton.doorbell.ring(agent.workspace, agent.slug, ready.task_id)
            return
