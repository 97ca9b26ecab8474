"""The worker from its start to its end: who asks for work, what runs, and how all of it stops."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntEnum
from threading import Condition, Thread

from baton_cli.worker.door import Answer, Heard, ask
from baton_cli.worker.guard import now
from baton_cli.worker.job import Job, Outcome
from baton_cli.worker.log import Log
from baton_cli.worker.station import Look, Station
from baton_cli.worker.work import Claim


class Stage(IntEnum):
    WORKING = 0
    FINISHING = 1  # nothing new is begun
    STOPPING = 2  # programs get TERM, and their tasks are released
    KILLING = 3


@dataclass(frozen=True, slots=True)
class Plan:
    """``most``: how many tasks to work on, None for all. ``idle_seconds``: without work, until the worker ends.
    ``first_stop``: what the first signal leads to."""

    most: int | None = None
    idle_seconds: float | None = None
    first_stop: Stage = Stage.FINISHING


class Shift:
    """``run`` returns when everything has ended; ``stop`` goes one stage on."""

    def __init__(self, stations: Sequence[Station], plan: Plan, log: Log) -> None:
        self._stations, self._plan, self._log = stations, plan, log
        self._changed = Condition()
        self.stage = Stage.WORKING
        self.outcomes = Counter[Outcome]()
        self.fatal: Answer | str | None = None
        self._jobs: set[Job] = set()
        self._begun = 0
        self._active_at = now()
        self._unheard_at: float | None = None  # since when Baton hasn't answered
        self.is_cut_off = False  # it ended as Baton didn't answer

    def run(self) -> None:
        slots = [
            Thread(target=self._serve, args=(station,), name=f"{station.work.agent} {number}")
            for station in self._stations
            for number in range(station.work.concurrency)
        ]
        for slot in slots:
            slot.start()
        for slot in slots:
            slot.join()

    def stop(self) -> Stage:
        with self._changed:
            first = self._plan.first_stop if self.stage is Stage.WORKING else Stage(min(self.stage + 1, Stage.KILLING))
            self._move_to(first)
            return self.stage

    def _move_to(self, stage: Stage) -> None:
        self.stage = max(self.stage, stage)
        for job in self._jobs:
            if self.stage >= Stage.KILLING:
                job.kill()
            elif self.stage is Stage.STOPPING:
                job.stop()
        self._changed.notify_all()

    # A slot's thread

    def _serve(self, station: Station) -> None:
        try:
            while self.stage is Stage.WORKING:
                with station.turn:
                    job = self._next_job(station) if self._may_look() else None
                if job is not None:
                    self._work(job)
        except BaseException:  # this slot is gone whatever it was: the others mustn't go on as if it weren't
            self._give_up("a bug of the worker's: its trace is above")
            raise

    def _may_look(self) -> bool:
        with self._changed:
            is_idle = not self._jobs and self._idle_left() <= 0
            self.is_cut_off = self.is_cut_off or (is_idle and self._unheard_at is not None)
            has_enough = self._plan.most is not None and self._begun >= self._plan.most
            if is_idle or has_enough:
                self._move_to(Stage.FINISHING)
            return self.stage is Stage.WORKING

    def _idle_left(self) -> float:
        """An outage isn't idleness: there may be work. Only a worker for one task gives up then."""
        if self._plan.idle_seconds is None or (self._unheard_at is not None and self._plan.most != 1):
            return 1.0
        since = self._active_at if self._unheard_at is None else self._unheard_at
        return since + self._plan.idle_seconds - now()

    def _next_job(self, station: Station) -> Job | None:
        station.settle(self._log)
        look = station.look()
        if look.claim is None:
            self._rest(station, look)
            return None
        job = Job(station, look.claim, look.asked_at, self._log)
        with self._changed:
            self._unheard_at = None
            if self.stage is Stage.WORKING:
                self._jobs.add(job)
                self._begun += 1
                return job
        self._give_back(station, look.claim)
        return None

    def _rest(self, station: Station, look: Look) -> None:
        if station.pace.fatal:
            self._give_up(look.answer)
        elif look.answer.heard is not Heard.DONE and station.pace.misses <= 1:
            self._log.about(agent=station.work.agent)("no_claim", look.answer.said)
        with self._changed:
            self._hear(look)
            self._changed.wait_for(lambda: self.stage is not Stage.WORKING, timeout=look.pause_seconds)

    def _hear(self, look: Look) -> None:
        if look.answer.heard is Heard.AGAIN:
            self._unheard_at = look.asked_at if self._unheard_at is None else self._unheard_at
        elif self._unheard_at is not None:
            self._unheard_at, self._active_at = None, now()

    def _work(self, job: Job) -> None:
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

    def _give_back(self, station: Station, claim: Claim) -> None:
        """A claim that came while the worker was told to stop."""
        body = {"claim_id": claim.claim_id, "reason": "The worker was stopped."}
        answer = ask(station.api, f"/tasks/{claim.task_id}/release", body, key=f"release-{station.pace.key}")
        self._log.about(task_id=claim.task_id, agent=station.work.agent)("released", answer.said)

    def _give_up(self, why: Answer | str) -> None:
        with self._changed:
            self.fatal = self.fatal or why
            self._move_to(Stage.FINISHING)
