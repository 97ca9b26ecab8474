"""A job: the work on one claim from its beginning to its end. The program runs, and Baton gets heartbeats, checkpoints
and a report."""

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
from baton_cli.worker.api_client import TIMEOUT_SECONDS, AnswerKind, ApiAnswer, get, post
from baton_cli.worker.lease import limits
from baton_cli.worker.log import Log
from baton_cli.worker.poller import Poller
from baton_cli.worker.program import Launch, Program, ProgramExit
from baton_cli.worker.program_input import WorkerClaim, effect_key, environment, standard_input
from baton_cli.worker.report import CUT_OFF, SWITCHED_OFF, ClaimReport, after_refusal, report_of, shortened
from baton_cli.worker.report_spool import SpooledReport
from baton_cli.worker.request_schedule import KeyedRequest, RequestKind, RequestSchedule
from baton_cli.worker.watchdog import now
from baton_client.lease import FIRST_PAUSE_SECONDS, Lease

# So long a worker that was told to stop tries to send its report.
FINAL_REPORT_SECONDS = 10.0
# What the program needs is read again for so long, as in every request of the client, and at most so long a pause is.
READ_SECONDS, LONGEST_READ_PAUSE = 40.0, 4.0


class JobOutcome(Enum):
    DONE = "done"
    FAILED = "failed"
    RELEASED = "released"
    LOST = "lost"  # another worker has the task, or it goes back when the lease is over


_OUTCOME_OF_VERB = {
    "complete": JobOutcome.DONE,
    "transfer": JobOutcome.DONE,
    "delegate": JobOutcome.DONE,
    "release": JobOutcome.RELEASED,
}


@dataclass(frozen=True, slots=True)
class JobResult:
    """``fatal``: the reason why the worker can't go on, or None."""

    outcome: JobOutcome
    fatal: ApiAnswer | str | None = None


class Job:
    """``run`` is for one thread; ``stop`` and ``kill`` are for any."""

    def __init__(self, poller: Poller, claim: WorkerClaim, asked_at: float, log: Log) -> None:
        work = poller.work
        self._api, self._spool, self._work, self._claim = poller.api, poller.spool, work, claim
        self._log = log.about(task_id=claim.task_id, agent=work.agent)
        self._schedule = RequestSchedule(Lease.taken(claim.lease_seconds, asked_at))
        self._limit_at = work.limit_at(now())
        self._changed = Condition()
        self._ended: ProgramExit | None = None
        self._result: JobResult | None = None
        self._is_lost = False
        self._is_off = False
        self._give_up_at = math.inf  # from then on nothing more is sent
        self._spooled_report: SpooledReport | None = None  # the report as it was sent first
        self._program: Program | None = None
        self._refusal: ApiAnswer | None = None  # the answer that refused the token

    def run(self, given: Mapping[str, str] = os.environ) -> JobResult:
        """Returns once the program has ended, and Baton has its report or the task back."""
        self._log("claimed", f"attempt {self._claim.attempt}: {self._claim.title}")
        program = self._prepared(given)
        if program is None:
            while self._result is None:
                self._step()
            return self._result
        thread = Thread(target=self._run_program, args=(program,), name=f"program {self._claim.task_id}")
        with self._changed:
            self._program = program
            is_stopped = self._give_up_at < math.inf
        thread.start()
        if is_stopped:
            program.stop()
        while self._result is None:
            self._step()
        thread.join()
        return self._result

    def _prepared(self, given: Mapping[str, str]) -> Program | None:
        """Returns the program. Returns None if it can't be started under this claim: the task is then given back."""
        key = effect_key(self._read, self._claim)
        self._hold()  # the claim's answer may have come late
        if key is None or self._schedule.lease.misses:
            self._schedule.report = CUT_OFF
            self._ended = ProgramExit(code=1)
            return None
        launch = Launch(
            command=self._work.command,
            environment=environment(self._work, self._claim, key, given),
            directory=self._work.directory,
            task=standard_input(self._claim, key, is_text=self._work.is_text),
            limits=limits(self._schedule.lease, self._limit_at, self._work.grace_seconds),
            grace_seconds=self._work.grace_seconds,
        )
        return Program(launch, self._on_checkpoint, self._on_error if self._work.is_verbose else None)

    def _read(self, path: str) -> ApiAnswer:
        """Returns the answer to a GET, which is sent again while Baton doesn't answer, for ``READ_SECONDS``. Heartbeats
        continue."""
        answer, until, pause = get(self._api, path), now() + READ_SECONDS, FIRST_PAUSE_SECONDS
        while answer.kind is AnswerKind.RETRY and now() < until and self._is_wanted:
            self._hold()
            with self._changed:
                self._changed.wait(pause)
            answer, pause = get(self._api, path), min(2 * pause, LONGEST_READ_PAUSE)
        return answer

    def _hold(self) -> None:
        """Sends a heartbeat if one is due, again and again until Baton has answered or a program would be stopped."""
        while now() >= self._schedule.lease.heartbeat_at and self._is_wanted:
            self._send_heartbeat()
            with self._changed:
                if self._schedule.lease.misses and self._is_wanted:
                    self._changed.wait(max(0.0, self._schedule.lease.heartbeat_at - now()))

    @property
    def _is_wanted(self) -> bool:
        """False once the claim or its lease is lost, or the worker is told to stop."""
        term_at = limits(self._schedule.lease, self._limit_at, self._work.grace_seconds).term_at
        return not (self._is_lost or self._is_off or self._give_up_at < math.inf or now() >= term_at)

    def stop(self) -> None:
        """Sends TERM to the program. The task is released, unless the program completes it in its grace."""
        self._end_soon(lambda program: program.stop(), self._work.grace_seconds)

    def kill(self) -> None:
        self._end_soon(lambda program: program.kill(), 0.0)

    def _end_soon(self, order: Callable[[Program], None], grace_seconds: float) -> None:
        with self._changed:
            self._give_up_by(now() + grace_seconds + FINAL_REPORT_SECONDS)
            if self._program is not None:
                order(self._program)
            self._changed.notify()

    def _give_up_by(self, moment: float) -> None:
        self._give_up_at = min(self._give_up_at, moment)

    # The program's thread

    def _run_program(self, program: Program) -> None:
        ended = ProgramExit(code=1, start_error="the worker has failed")
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
            self._schedule.checkpoints.append(KeyedRequest(found, uuid4().hex))
            self._changed.notify()

    def _on_error(self, line: bytes | None) -> None:
        self._log("said", "" if line is None else line.decode("utf-8", "replace"))

    # The job's own thread

    def _step(self) -> None:
        with self._changed:
            self._check_ended()
            if self._result is not None:
                return
            kind, seconds = self._schedule.next(now())
            if self._is_lost or kind is RequestKind.WAIT:
                self._changed.wait(None if self._is_lost else seconds)
                return
            report = self._schedule.report
        if kind is RequestKind.HEARTBEAT:
            self._send_heartbeat()
        elif kind is RequestKind.CHECKPOINT:
            self._send_checkpoint()
        elif report is not None:
            self._send_report(report)

    def _check_ended(self) -> None:
        """Makes the report once the program has ended; ends the job if the claim is lost or there is no time left."""
        if self._ended is None:
            return
        if self._is_lost:
            self._end(JobOutcome.LOST, "the claim is lost: the program was killed, and nothing is sent")
        elif now() >= self._give_up_at:
            self._end(JobOutcome.LOST, "no heartbeat or report got through: the task goes back when the lease is over")
        elif self._schedule.report is None:
            self._schedule.report = self._report_of(self._ended)

    def _report_of(self, ended: ProgramExit) -> ClaimReport:
        if ended.code != 0 and self._is_off:
            return SWITCHED_OFF
        if ended.code != 0 and ended.why == "due" and now() < self._limit_at:
            self._give_up_by(self._schedule.lease.held_until)
            return CUT_OFF
        return report_of(ended, self._work.reading)

    def _send_heartbeat(self) -> None:
        sent_at = now()
        answer = self._post("heartbeat", {}, None, timeout=self._schedule.lease.answer_seconds)
        with self._changed:
            if answer.kind is AnswerKind.DONE:
                self._schedule.lease = self._schedule.lease.renewed(sent_at)
                if self._program is not None:
                    self._program.keep_to(limits(self._schedule.lease, self._limit_at, self._work.grace_seconds))
                return
            self._schedule.lease = self._schedule.lease.missed(now(), answer.retry_after, answer.foreign)
            if self._schedule.lease.misses == 1:
                self._log("heartbeat_missed", answer.said)
            if answer.code == "inactive_agent":
                self._switched_off()
            elif answer.kind in {AnswerKind.CLAIM_OVER, AnswerKind.DENIED}:
                self._lose(answer)

    def _send_checkpoint(self) -> None:
        checkpoint = self._schedule.checkpoints[0]
        answer = self._post("checkpoints", checkpoint.body, checkpoint.key)
        with self._changed:
            is_missed = answer.kind is AnswerKind.RETRY
            if is_missed and not self._schedule.missed(now(), answer.retry_after, answer.foreign):
                return
            self._schedule.answered()
            if self._schedule.checkpoints and self._schedule.checkpoints[0] is checkpoint:
                self._schedule.checkpoints.popleft()
            if answer.kind in {AnswerKind.CLAIM_OVER, AnswerKind.DENIED}:
                self._lose(answer)
            elif answer.kind is AnswerKind.REFUSED or is_missed:
                self._log("checkpoint_refused", answer.said)

    def _send_report(self, report: ClaimReport) -> None:
        entry, sent_at = self._spooled_report or self._spooled(report), now()
        answer = post(self._api, entry.path, entry.body, key=entry.key)
        if answer.kind is AnswerKind.RETRY:
            self._report_missed(report, entry, answer, sent_at)
            return
        with self._changed:
            self._spool.remove(entry)
            self._spooled_report = None
            if answer.kind is AnswerKind.DONE:
                self._end(_OUTCOME_OF_VERB.get(report.verb, JobOutcome.FAILED), _said(report))
            elif answer.kind is AnswerKind.REFUSED and (following := after_refusal(report, answer.json)):
                self._log("report_refused", f"{report.verb}: {answer.said}")
                self._schedule.report = following
                self._schedule.answered()
            else:
                self._lose(answer)
                self._end(JobOutcome.LOST, f"{report.verb}: {answer.said}")

    def _report_missed(self, report: ClaimReport, entry: SpooledReport, answer: ApiAnswer, sent_at: float) -> None:
        """Decides on a report without an answer: it is sent again until the lease is over, and once after. If a program
        between refuses it for long, and lets other requests through, a short one is sent in its place."""
        with self._changed:
            is_in_vain = self._schedule.missed(now(), answer.retry_after, answer.foreign) and not report.is_plain
        seen = get(self._api, f"/tasks/{self._claim.task_id}") if is_in_vain else answer
        with self._changed:
            if seen.kind is AnswerKind.DONE and seen.json["state"] == "claimed":
                self._shorten(report, entry, answer)
            elif seen.kind is AnswerKind.DONE:
                self._end_unheard(report, entry, str(seen.json["state"]))
            elif sent_at >= self._schedule.lease.held_until:
                self._leave(report, entry, answer)

    def _end_unheard(self, report: ClaimReport, entry: SpooledReport, state: str) -> None:
        """Ends the job of a report that has taken effect, as the task's state shows. Its answer was lost."""
        is_done = report.verb in {"complete", "transfer"}
        if state == "cancelled" or (state == "done") is not is_done:
            self._end(JobOutcome.LOST, f"{report.verb}: the task is {state}")
            return
        self._spool.remove(entry)
        self._end(_OUTCOME_OF_VERB.get(report.verb, JobOutcome.FAILED), _said(report))

    def _leave(self, report: ClaimReport, entry: SpooledReport, answer: ApiAnswer) -> None:
        """Ends the job without an answer to its report, which stays in the spool for later polls. Sends a report again
        that isn't in the spool."""
        left = None if report.verb == "release" else self._spool.leave(entry)
        if left is not None:
            self._end(JobOutcome.LOST, f"{report.verb}: {answer.said}; {left} is sent later")
        elif report.verb == "release":
            self._end(JobOutcome.LOST, f"release: {answer.said}; the task goes back as the lease is over")

    def _shorten(self, report: ClaimReport, entry: SpooledReport, answer: ApiAnswer) -> None:
        """Keeps a report for people that a program between refuses. Makes a short one in its place."""
        kept = self._spool.keep(entry)
        self._spooled_report = None
        self._log("report_refused", f"{report.verb}: {answer.said}; {f'kept as {kept}' if kept else 'not kept'}")
        self._schedule.report = shortened(report, "" if kept is None else kept.name, answer.foreign)
        self._schedule.answered()

    def _spooled(self, report: ClaimReport) -> SpooledReport:
        """Returns the report as a request, and keeps it in the spool: if this worker is killed, the next one sends it.
        A release isn't kept, as the end of the lease has the same effect."""
        body = {**report.body, "claim_id": self._claim.claim_id}
        path = f"/tasks/{self._claim.task_id}/{report.verb}"
        self._spooled_report = SpooledReport(self._work.profile.url, self._work.agent, path, body, uuid4().hex)
        if report.verb != "release" and not self._spool.add(self._spooled_report):
            self._log("not_kept", "the report is in memory alone: its folder can't be written, or isn't yours alone")
        return self._spooled_report

    def _post(self, verb: str, body: dict[str, Any], key: str | None, timeout: float = TIMEOUT_SECONDS) -> ApiAnswer:
        path, named = f"/tasks/{self._claim.task_id}/{verb}", {**body, "claim_id": self._claim.claim_id}
        return post(self._api, path, named, key=key, timeout=min(timeout, TIMEOUT_SECONDS))

    def _lose(self, answer: ApiAnswer) -> None:
        """Notes that the claim is over. Nothing more is sent under it, and its program is killed at once."""
        self._is_lost = True
        self._refusal = answer if answer.kind is AnswerKind.DENIED else None
        if self._program is not None:
            self._program.kill()

    def _switched_off(self) -> None:
        if not self._is_off and self._program is not None:
            self._log("switched_off", "the agent is switched off: the program is stopped")
            self._program.stop()
        self._is_off = True

    def _end(self, outcome: JobOutcome, said: str) -> None:
        self._log(outcome.value, said)
        start_error = None if self._ended is None else self._ended.start_error
        self._result = JobResult(outcome, start_error or self._refusal)


def _said(report: ClaimReport) -> str:
    failure = report.body.get("failure") or {}
    return str(failure.get("description") or report.body.get("reason") or report.verb).partition("\n")[0]
