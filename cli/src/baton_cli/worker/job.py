"""One claim from its beginning to its end: the program works, and Baton is kept informed."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import Enum
from threading import Condition, Thread
from typing import Any
from uuid import uuid4

from baton_cli.worker import checkpoints
from baton_cli.worker.door import TIMEOUT_SECONDS, Answer, Heard, ask, look
from baton_cli.worker.duties import Duties, Duty, Keyed
from baton_cli.worker.guard import now
from baton_cli.worker.journal import Entry
from baton_cli.worker.lease import Lease
from baton_cli.worker.log import Log
from baton_cli.worker.program import Ended, Launch, Program
from baton_cli.worker.report import CUT_OFF, SWITCHED_OFF, Report, after_refusal, report_of
from baton_cli.worker.station import Station
from baton_cli.worker.work import Claim, effect_key, environment, standard_input

# How long a worker that was told to stop tries to say how its work ended.
LAST_WORDS_SECONDS = 10.0
# Between two tries to read what is needed before the program begins.
FEW_PAUSES = (0.5, 1.0, 2.0)


class Outcome(Enum):
    DONE = "done"
    FAILED = "failed"
    RELEASED = "released"
    LOST = "lost"  # the task is another's, or goes back when the lease is over


_OUTCOMES = {"complete": Outcome.DONE, "transfer": Outcome.DONE, "delegate": Outcome.DONE, "release": Outcome.RELEASED}


@dataclass(frozen=True, slots=True)
class Result:
    """``fatal``: why the worker can't go on, if so."""

    outcome: Outcome
    fatal: Answer | str | None = None


class Job:
    """``run`` belongs to one thread; ``stop`` and ``kill`` to any."""

    def __init__(self, station: Station, claim: Claim, asked_at: float, log: Log) -> None:
        work = station.work
        self._api, self._journal, self._work, self._claim = station.api, station.journal, work, claim
        self._log = log.about(task_id=claim.task_id, agent=work.agent)
        self._duties = Duties(Lease.taken(claim.lease_seconds, asked_at))
        self._limit_at = work.limit_at(now())
        self._changed = Condition()
        self._ended: Ended | None = None
        self._result: Result | None = None
        self._is_lost = False
        self._is_off = False
        self._give_up_at = math.inf  # when nothing more is tried
        self._entry: Entry | None = None  # the report, as it is sent
        self._program: Program | None = None
        self._refusal: Answer | None = None  # of the token

    def run(self, given: Mapping[str, str] = os.environ) -> Result:
        """Returns once the program is gone, and Baton knows how it ended or has the task back."""
        self._log("claimed", f"attempt {self._claim.attempt}: {self._claim.title}")
        program = self._prepared(given)
        if program is None:
            while self._result is None:
                self._turn()
            return self._result
        thread = Thread(target=self._run_program, args=(program,), name=f"program {self._claim.task_id}")
        with self._changed:
            self._program = program
            is_stopped = self._give_up_at < math.inf
        thread.start()
        if is_stopped:
            program.stop()
        while self._result is None:
            self._turn()
        thread.join()
        return self._result

    def _prepared(self, given: Mapping[str, str]) -> Program | None:
        """Returns the program, or None if the task can't be begun: then it is given back."""
        key = effect_key(self._read, self._claim)
        if now() >= self._duties.lease.beat_at:  # the claim's answer came late
            self._beat()
        if key is None or self._duties.lease.misses:
            self._duties.report = CUT_OFF
            self._ended = Ended(code=1)
            return None
        launch = Launch(
            command=self._work.command,
            environment=environment(self._work, self._claim, key, given),
            directory=self._work.directory,
            task=standard_input(self._claim, key, is_text=self._work.is_text),
            limits=self._duties.lease.limits(self._limit_at, self._work.grace_seconds),
            grace_seconds=self._work.grace_seconds,
        )
        return Program(launch, self._on_checkpoint, self._on_error if self._work.is_verbose else None)

    def _read(self, path: str) -> Answer:
        """Tries for a while."""
        answer = look(self._api, path)
        for pause in FEW_PAUSES:
            if answer.heard is not Heard.AGAIN:
                break
            with self._changed:
                self._changed.wait(pause)
            answer = look(self._api, path)
        return answer

    def stop(self) -> None:
        """The program gets TERM, and the task is released unless the program has done its work."""
        self._hurry(lambda program: program.stop(), self._work.grace_seconds)

    def kill(self) -> None:
        self._hurry(lambda program: program.kill(), 0.0)

    def _hurry(self, order: Callable[[Program], None], grace_seconds: float) -> None:
        with self._changed:
            self._give_up_by(now() + grace_seconds + LAST_WORDS_SECONDS)
            if self._program is not None:
                order(self._program)
            self._changed.notify()

    def _give_up_by(self, moment: float) -> None:
        self._give_up_at = min(self._give_up_at, moment)

    # The program's thread

    def _run_program(self, program: Program) -> None:
        ended = Ended(code=1, unfit="the worker has failed")
        try:
            ended = program.run()
        finally:
            with self._changed:
                self._ended = ended
                self._changed.notify()

    def _on_checkpoint(self, line: bytes | None) -> None:
        found = checkpoints.parsed(line)
        if isinstance(found, str):
            self._log("checkpoint_refused", found)
            return
        with self._changed:
            self._duties.checkpoints.append(Keyed(found, uuid4().hex))
            self._changed.notify()

    def _on_error(self, line: bytes | None) -> None:
        self._log("said", "" if line is None else line.decode("utf-8", "replace"))

    # The job's own thread

    def _turn(self) -> None:
        with self._changed:
            self._settle()
            if self._result is not None:
                return
            duty, seconds = self._duties.next(now())
            if self._is_lost or duty is Duty.WAIT:
                self._changed.wait(None if self._is_lost else seconds)
                return
            report = self._duties.report
        if duty is Duty.BEAT:
            self._beat()
        elif duty is Duty.SAVE:
            self._save()
        elif report is not None:
            self._tell(report)

    def _settle(self) -> None:
        """Once the program has ended, there is a report to make, or nothing to say any more."""
        if self._ended is None:
            return
        if self._is_lost:
            self._end(Outcome.LOST, "the claim is lost: the program was killed, and nothing is sent")
        elif now() >= self._give_up_at:
            self._end(Outcome.LOST, "no heartbeat or report got through: the task goes back when the lease is over")
        elif self._duties.report is None:
            self._duties.report = self._judged(self._ended)

    def _judged(self, ended: Ended) -> Report:
        if ended.code != 0 and self._is_off:
            return SWITCHED_OFF
        if ended.code != 0 and ended.why == "due" and now() < self._limit_at:
            self._give_up_by(self._duties.lease.held_until)
            return CUT_OFF
        return report_of(ended, self._work.reading)

    def _beat(self) -> None:
        sent_at = now()
        answer = self._post("heartbeat", {}, None, timeout=max(2.0, self._duties.lease.seconds / 4))
        with self._changed:
            if answer.heard is Heard.DONE:
                self._duties.lease = self._duties.lease.beaten(sent_at)
                if self._program is not None:
                    self._program.keep_to(self._duties.lease.limits(self._limit_at, self._work.grace_seconds))
                return
            self._duties.lease = self._duties.lease.missed(now(), answer.retry_after)
            if self._duties.lease.misses == 1:
                self._log("heartbeat_missed", answer.said)
            if answer.code == "inactive_agent":
                self._switched_off()
            elif answer.heard in {Heard.OVER, Heard.DENIED}:
                self._lose(answer)

    def _save(self) -> None:
        checkpoint = self._duties.checkpoints[0]
        answer = self._post("checkpoints", checkpoint.body, checkpoint.key)
        with self._changed:
            if answer.heard is Heard.AGAIN:
                self._duties.missed(now(), answer.retry_after)
                return
            self._duties.answered()
            if self._duties.checkpoints and self._duties.checkpoints[0] is checkpoint:
                self._duties.checkpoints.popleft()
            if answer.heard in {Heard.OVER, Heard.DENIED}:
                self._lose(answer)
            elif answer.heard is Heard.REFUSED:
                self._log("checkpoint_refused", answer.said)

    def _tell(self, report: Report) -> None:
        entry = self._entry or self._kept(report)
        answer = ask(self._api, entry.path, entry.body, key=entry.key)
        with self._changed:
            if answer.heard is Heard.AGAIN:
                self._duties.missed(now(), answer.retry_after)
                return
            self._journal.drop(entry)
            self._entry = None
            if answer.heard is Heard.DONE:
                self._end(_OUTCOMES.get(report.verb, Outcome.FAILED), _said(report))
            elif answer.heard is Heard.REFUSED and (following := after_refusal(report, answer.json)):
                self._log("report_refused", f"{report.verb}: {answer.said}")
                self._duties.report = following
                self._duties.answered()
            else:
                self._lose(answer)
                self._end(Outcome.LOST, f"{report.verb}: {answer.said}")

    def _kept(self, report: Report) -> Entry:
        """The report as it is sent. If this worker is killed, the next one sends it; a release needs nobody."""
        body = {**report.body, "claim_id": self._claim.claim_id}
        path = f"/tasks/{self._claim.task_id}/{report.verb}"
        self._entry = Entry(self._work.profile.url, self._work.agent, path, body, uuid4().hex)
        if report.verb != "release" and not self._journal.keep(self._entry):
            self._log("not_kept", "the report is in memory alone: its folder can't be written, or isn't yours alone")
        return self._entry

    def _post(self, verb: str, body: dict[str, Any], key: str | None, timeout: float = TIMEOUT_SECONDS) -> Answer:
        path, named = f"/tasks/{self._claim.task_id}/{verb}", {**body, "claim_id": self._claim.claim_id}
        return ask(self._api, path, named, key=key, timeout=min(timeout, TIMEOUT_SECONDS))

    def _lose(self, answer: Answer) -> None:
        """Nothing more is sent under a claim that is over, and its program is killed at once."""
        self._is_lost = True
        self._refusal = answer if answer.heard is Heard.DENIED else None
        if self._program is not None:
            self._program.kill()

    def _switched_off(self) -> None:
        if not self._is_off and self._program is not None:
            self._log("switched_off", "the agent is switched off: the program is stopped")
            self._program.stop()
        self._is_off = True

    def _end(self, outcome: Outcome, said: str) -> None:
        self._log(outcome.value, said)
        unfit = None if self._ended is None else self._ended.unfit
        self._result = Result(outcome, unfit or self._refusal)


def _said(report: Report) -> str:
    failure = report.body.get("failure") or {}
    return str(failure.get("description") or report.body.get("reason") or report.verb).partition("\n")[0]
