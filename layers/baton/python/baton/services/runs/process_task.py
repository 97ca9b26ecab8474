"""Handles a dispatch notice: claims the agent's best ready task, runs it, and ends it under its fence."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future
from concurrent.futures import TimeoutError as NotYet
from contextvars import copy_context
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import partial
from itertools import islice
from threading import Thread

from baton.domain import errors, times
from baton.domain.access.principal import PROCESS_TASK, system
from baton.domain.agents.agent import Agent
from baton.domain.canonical_json import canonical_json, digest_of
from baton.domain.task_state import State
from baton.ports import runs
from baton.ports.deps import Deps
from baton.ports.details import TaskDetails
from baton.services.claims.candidates import Look
from baton.services.claims.claim_task import claim_if_any, claim_task
from baton.services.claims.complete_task import CompletedWork, complete_task
from baton.services.claims.fail_task import FailedWork, fail_task
from baton.services.claims.join_branches import join_branches
from baton.services.claims.renew_claim import renew_claim
from baton.steps.claims.take_task import Claimed, Claimer
from baton.steps.tasks.change_task import notify_agent

# A task that has been ready for longer than a notice takes: its own notice was lost.
FORGOTTEN_SECONDS = 30
MAX_OUTPUT_BYTES = 262_144
MAX_DESCRIPTION = 2_000


class NoticeOutcome(StrEnum):
    """The outcome of a dispatch notice. Each of them means that the message can be deleted."""

    RAN = "ran"
    NOTHING = "nothing_to_claim"
    LATER = "rung_again"
    LOST = "claim_lost"
    JOINED = "joined"


@dataclass(frozen=True, slots=True, kw_only=True)
class DispatchNotice:
    workspace: str
    agent: str
    task_id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class TimeBudget:
    """The time budget for a task in this function."""

    lease_seconds: int  # longer than this function can live: a lease runs out only if the function has died
    time_left: Callable[[], float]  # seconds until the function is stopped
    margin_seconds: float = 10.0
    # A runner stops that much earlier, so that it has time to report (docs/spec/tools.md §3).
    run_margin_seconds: float = 30.0

    @property
    def beat_seconds(self) -> float:
        return self.lease_seconds / 3

    @property
    def least_seconds(self) -> float:
        """The least time to begin a task with: with less it would be given back at once."""
        return self.run_margin_seconds + self.margin_seconds

    def time_left_to_work(self) -> float:
        return self.time_left() - self.run_margin_seconds


def process_task(
    deps: Deps, runner: runs.AgentRunner, notice: DispatchNotice, time_budget: TimeBudget
) -> NoticeOutcome:
    """Handles one dispatch notice. Raises ``Busy`` if the store doesn't answer: the notice must be delivered again.
    Every other error is the task's: it fails, is tried again, or comes back by the sweeper."""
    if time_budget.time_left() < time_budget.least_seconds:
        deps.dispatch_queue.notify(notice.workspace, notice.agent, notice.task_id)
        return NoticeOutcome.LATER
    begun = _begin(deps.at_one_version(), notice, time_budget)
    if isinstance(begun, NoticeOutcome):
        return begun
    handled = _ClaimedRun(deps, runner, begun, time_budget).go()
    _notify_forgotten(deps, begun.agent)
    return handled


def _begin(deps: Deps, notice: DispatchNotice, time_budget: TimeBudget) -> runs.RunInput | NoticeOutcome:
    """Reads the notice's task once, and claims."""
    agent, details = deps.store.agents.agent(notice.workspace, notice.agent), _task_of(deps, notice)
    if details is not None and details.task.state is State.WAITING:
        return NoticeOutcome.JOINED if join_branches(deps, notice.workspace, notice.task_id) else NoticeOutcome.NOTHING
    if agent is None or not (agent.is_run and agent.active):
        # Switching it on sends notices for the tasks that wait (services/agents/register_agent.py).
        return NoticeOutcome.NOTHING
    by = system(notice.workspace, PROCESS_TASK)
    claimer = Claimer(by=by, agent=agent.slug, worker=PROCESS_TASK, lease_seconds=time_budget.lease_seconds)
    claimed = _claim(deps, claimer, details)
    if isinstance(claimed, NoticeOutcome):
        return claimed
    time_left = time_budget.time_left_to_work
    return runs.RunInput(claimed.details, agent, by, claimed.claim_id, time_left, claimed.memory, claimed.sees_own)


def _task_of(deps: Deps, notice: DispatchNotice) -> TaskDetails | None:
    try:
        return deps.store.tasks.read_for_claim(notice.workspace, notice.task_id)
    except errors.Unknown:
        return None


def _claim(deps: Deps, claimer: Claimer, known: TaskDetails | None) -> Claimed | NoticeOutcome:
    """Claims the best ready task, or the notice's own task if the index doesn't show it yet. A task that isn't due yet
    gets another notice. ``known``: the notice's task, as it was just read; None if there is none."""
    try:
        claimed = claim_if_any(deps, claimer, look=Look(known=known))
        if claimed is not None:
            return claimed
        if known is None:
            return NoticeOutcome.NOTHING
        task = known.task
        if task.target_agent == claimer.agent and task.is_ready(deps.clock.now()):
            return claim_task(deps, claimer, task.id)
        if task.state is State.DELEGATED and not task.is_ready(deps.clock.now()):
            notify_agent(deps, task)
            return NoticeOutcome.LATER
    except (
        errors.AlreadyClaimed,
        errors.ApprovalNeeded,
        errors.NotClaimable,
        errors.TaskEnded,
        errors.InactiveAgent,
        errors.AtCapacity,
        errors.CapabilityMismatch,
        errors.Unknown,
    ):
        pass
    return NoticeOutcome.NOTHING


@dataclass(frozen=True, slots=True)
class _ClaimedRun:
    """The run of one claimed task."""

    deps: Deps
    runner: runs.AgentRunner
    run_input: runs.RunInput
    time_budget: TimeBudget

    @property
    def task_id(self) -> str:
        return self.run_input.details.task.id

    def go(self) -> NoticeOutcome:
        outcome = self._start()
        try:
            result = self._await_result(outcome)
            if isinstance(result, runs.RunSucceeded):
                self._complete(result)
            elif isinstance(result, runs.RunFailed):
                self._fail(result)
        except errors.StaleClaim:
            self.deps.log("the claim was lost during the run", action="claim_lost", task_id=self.task_id)
            return NoticeOutcome.LOST
        return NoticeOutcome.RAN

    def _complete(self, done: runs.RunSucceeded) -> None:
        """Completes the task. A result that the handoff or the workspace's guardrails refuse is a failure: the agent
        can't report a better one."""
        try:
            call = self.run_input.call(digest_of([done.output, done.completion]))
            complete_task(self.deps, call, CompletedWork(output=done.output, completion=done.completion))
        except errors.InvalidInput as refusal:
            self._fail_invalid(refusal, retryable=False)

    def _fail(self, not_done: runs.RunFailed) -> None:
        """Fails the task, also if the workspace's guardrails refuse the failure's text: the record then holds the
        refusal instead."""
        work = FailedWork(failure=not_done.failure, retryable=not_done.retryable, extra_writes=not_done.extra_writes)
        try:
            fail_task(self.deps, self.run_input.call(digest_of(not_done.failure)), work)
        except errors.InvalidInput as refusal:
            self._fail_invalid(refusal, retryable=not_done.retryable)

    def _fail_invalid(self, refusal: errors.InvalidInput, *, retryable: bool) -> None:
        failure = {"type": "validation", "description": refusal.message[:MAX_DESCRIPTION]}
        work = FailedWork(failure=failure, retryable=retryable)
        fail_task(self.deps, self.run_input.call(digest_of(failure)), work)

    def _start(self) -> Future[runs.RunResult]:
        """Starts the runner in a thread of its own, so that this thread can send heartbeats."""
        outcome: Future[runs.RunResult] = Future()

        def run() -> None:
            try:
                outcome.set_result(_checked(self.runner.run(self.run_input)))
            except errors.StaleClaim as exc:
                outcome.set_exception(exc)
            except Exception as exc:  # noqa: BLE001 - a runner's error is a failed attempt, never a lost task
                error = type(exc).__name__
                self.deps.log("the runner raised an error", action="runner_raised", task_id=self.task_id, error=error)
                # The error's name is for our log: it means nothing to the reader of the failure.
                failure = {"type": "error", "description": "The run broke off inside of Baton."}
                outcome.set_result(runs.RunFailed(failure, retryable=True))

        # With this thread's context: what the run sends and logs belongs to the message that is handled here.
        Thread(target=partial(copy_context().run, run), name=f"run {self.task_id}", daemon=True).start()
        return outcome

    def _await_result(self, outcome: Future[runs.RunResult]) -> runs.RunResult:
        """Returns the runner's result, and sends a heartbeat every third of the lease until it comes. Raises
        ``StaleClaim``."""
        while True:
            seconds_left = self.time_budget.time_left() - self.time_budget.margin_seconds
            if seconds_left <= 0:
                failure = {"type": "timeout", "description": "The function's time ran out before the work was done."}
                return runs.RunFailed(failure, retryable=True)
            try:
                return outcome.result(timeout=min(self.time_budget.beat_seconds, seconds_left))
            except NotYet:
                self._send_heartbeat()

    def _send_heartbeat(self) -> None:
        """Renews the claim. Raises ``StaleClaim``. If the store doesn't answer, another heartbeat is sent before the
        lease is over."""
        try:
            renew_claim(self.deps, self.run_input.by, self.task_id, self.run_input.claim_id)
        except errors.Busy:
            self.deps.log("the store was busy at a heartbeat", action="heartbeat_missed", task_id=self.task_id)


def _checked(result: runs.RunResult) -> runs.RunResult:
    """Returns the runner's result if it is small enough to store, else a failure. Raises any error of a result that
    isn't one, or isn't JSON."""
    if isinstance(result, runs.RunExit):
        return result
    name, value = ("output", result.output) if isinstance(result, runs.RunSucceeded) else ("failure", result.failure)
    if len(canonical_json(value).encode()) <= MAX_OUTPUT_BYTES:
        return result
    failure = {"type": "validation", "description": f"The {name} is larger than {MAX_OUTPUT_BYTES} bytes."}
    return runs.RunFailed(failure) if isinstance(result, runs.RunSucceeded) else replace(result, failure=failure)


def _notify_forgotten(deps: Deps, agent: Agent) -> None:
    """Sends a notice for a ready task whose own notice must have been lost, so that a backlog drains without the
    sweeper. A handled notice sends at most one other, and the last one finds no task."""
    now = deps.clock.now()
    _, waiting = deps.store.queues.ready(agent.workspace, agent.slug, now)
    for ready in islice(waiting, 10):
        if ready.lapsed_claim is None and now - ready.ready_at > times.seconds(FORGOTTEN_SECONDS):
            deps.dispatch_queue.notify(agent.workspace, agent.slug, ready.task_id)
            return
