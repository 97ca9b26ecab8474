"""The supervisor of a worker: it starts the threads that poll and run jobs, and stops them in stages."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntEnum
from threading import Condition, Thread

from baton_cli.worker.api_client import AnswerKind, ApiAnswer, post
from baton_cli.worker.job import Job, JobOutcome
from baton_cli.worker.log import Log
from baton_cli.worker.poller import Poller, PollResult
from baton_cli.worker.program_input import WorkerClaim
from baton_cli.worker.watchdog import now


class ShutdownStage(IntEnum):
    WORKING = 0
    FINISHING = 1  # nothing more is claimed
    STOPPING = 2  # programs get TERM, and their tasks are released
    KILLING = 3


@dataclass(frozen=True, slots=True)
class RunOptions:
    """``most``: the number of tasks to work on, None for any. ``idle_seconds``: the worker ends after so long without
    work. ``first_stop``: the stage that the first signal leads to."""

    most: int | None = None
    idle_seconds: float | None = None
    first_stop: ShutdownStage = ShutdownStage.FINISHING


class Supervisor:
    """``run`` returns when every job has ended; ``stop`` goes to the next stage."""

    def __init__(self, pollers: Sequence[Poller], options: RunOptions, log: Log) -> None:
        self._pollers, self._options, self._log = pollers, options, log
        self._changed = Condition()
        self.stage = ShutdownStage.WORKING
        self.outcomes = Counter[JobOutcome]()
        self.fatal: ApiAnswer | str | None = None
        self._jobs: set[Job] = set()
        self._begun = 0
        self._active_at = now()
        self._asked_for = set[str]()  # the agents of which a poll has ended: before, nothing is idle
        self._outage_began_at: float | None = None  # since when Baton hasn't answered
        self.is_cut_off = False  # it has ended because Baton didn't answer

    def run(self) -> None:
        slots = [
            Thread(target=self._run_slot, args=(poller,), name=f"{poller.work.agent} {number}")
            for poller in self._pollers
            for number in range(poller.work.concurrency)
        ]
        for slot in slots:
            slot.start()
        for slot in slots:
            slot.join()

    def stop(self) -> ShutdownStage:
        with self._changed:
            following = ShutdownStage(min(self.stage + 1, ShutdownStage.KILLING))
            self._enter(self._options.first_stop if self.stage is ShutdownStage.WORKING else following)
            return self.stage

    def _enter(self, stage: ShutdownStage) -> None:
        self.stage = max(self.stage, stage)
        for job in self._jobs:
            if self.stage >= ShutdownStage.KILLING:
                job.kill()
            elif self.stage is ShutdownStage.STOPPING:
                job.stop()
        for poller in self._pollers:
            if poller.bell is not None:
                poller.bell.stop()
        self._changed.notify_all()

    # The thread of a slot. An agent has as many slots as its ``concurrency``.

    def _run_slot(self, poller: Poller) -> None:
        try:
            while self.stage is ShutdownStage.WORKING:
                with poller.poll_lock:
                    job = self._next_job(poller) if self._may_poll() else None
                if job is not None:
                    self._run_job(job)
        except BaseException:  # whatever it was, this slot is gone: the worker must not go on with fewer
            self._give_up("a bug of the worker's: its trace is above")
            raise

    def _may_poll(self) -> bool:
        with self._changed:
            have_asked = len(self._asked_for) == len(self._pollers)
            is_idle = not self._jobs and have_asked and self._idle_left() <= 0
            self.is_cut_off = self.is_cut_off or (is_idle and self._outage_began_at is not None)
            has_enough = self._options.most is not None and self._begun >= self._options.most
            if is_idle or has_enough:
                self._enter(ShutdownStage.FINISHING)
            return self.stage is ShutdownStage.WORKING

    def _idle_left(self) -> float:
        """Returns the seconds until the worker ends as idle. An outage doesn't count as idle, as there may be work; but
        a worker for one task gives up in it."""
        if self._options.idle_seconds is None or (self._outage_began_at is not None and self._options.most != 1):
            return 1.0
        since = self._active_at if self._outage_began_at is None else self._outage_began_at
        return since + self._options.idle_seconds - now()

    def _next_job(self, poller: Poller) -> Job | None:
        poller.send_spooled(self._log)
        polled = poller.poll()
        self._asked_for.add(poller.work.agent)
        if polled.claim is None:
            self._pause(poller, polled)
            return None
        job = Job(poller, polled.claim, polled.asked_at, self._log)
        with self._changed:
            self._outage_began_at = None
            if self.stage is ShutdownStage.WORKING:
                self._jobs.add(job)
                self._begun += 1
                return job
        self._release(poller, polled.claim)
        return None

    def _pause(self, poller: Poller, result: PollResult) -> None:
        if poller.backoff.fatal:
            self._give_up(result.answer)
        elif result.answer.kind is not AnswerKind.DONE and poller.backoff.misses <= 1:
            self._log.about(agent=poller.work.agent)("no_claim", result.answer.said)
        with self._changed:
            self._note_outage(result)
        if result.answer.kind is AnswerKind.DONE and self._has_waited(poller):
            return
        with self._changed:
            self._changed.wait_for(lambda: self.stage is not ShutdownStage.WORKING, timeout=result.pause_seconds)

    def _has_waited(self, poller: Poller) -> bool:
        """Waits by the bell until it is time to look, and no shorter than a poll if nothing is rung. Returns False if
        there is none."""
        seconds = None if self._options.idle_seconds is None else max(self._idle_left(), poller.poll_seconds)
        return poller.bell is not None and poller.bell.wait(seconds)

    def _note_outage(self, result: PollResult) -> None:
        if result.answer.kind is AnswerKind.RETRY:
            self._outage_began_at = result.asked_at if self._outage_began_at is None else self._outage_began_at
        elif self._outage_began_at is not None:
            self._outage_began_at, self._active_at = None, now()

    def _run_job(self, job: Job) -> None:
        try:
            result = job.run()
        finally:
            with self._changed:
                self._jobs.discard(job)
                self._active_at = now()
        with self._changed:
            self.outcomes[result.outcome] += 1
        if result.fatal:
            self._give_up(result.fatal)

    def _release(self, poller: Poller, claim: WorkerClaim) -> None:
        """Releases a claim that came after the worker was told to stop."""
        body = {"claim_id": claim.claim_id, "reason": "The worker was stopped."}
        answer = post(poller.api, f"/tasks/{claim.task_id}/release", body, key=f"release-{poller.backoff.poll.key}")
        self._log.about(task_id=claim.task_id, agent=poller.work.agent)("released", answer.said)

    def _give_up(self, why: ApiAnswer | str) -> None:
        with self._changed:
            self.fatal = self.fatal or why
            self._enter(ShutdownStage.FINISHING)
