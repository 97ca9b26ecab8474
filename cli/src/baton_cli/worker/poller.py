"""The poller of one agent: it asks Baton for the agent's work."""

from __future__ import annotations

from dataclasses import dataclass, field
from threading import BoundedSemaphore, Lock
from urllib.parse import quote

from baton_cli.worker.agent_work import AgentWork
from baton_cli.worker.api_client import AnswerKind, Api, ApiAnswer, post
from baton_cli.worker.log import Log
from baton_cli.worker.poll_backoff import PollBackoff
from baton_cli.worker.program_input import WorkerClaim
from baton_cli.worker.report_spool import ReportSpool, SpooledReport
from baton_cli.worker.request_schedule import REFUSED_SECONDS, TOO_LARGE, is_refusal
from baton_cli.worker.watchdog import now
from baton_client.bell import Bell
from baton_client.core import is_refused

# A worker that is told to stop waits for the answer to its last poll, which may bring a claim. A container is killed
# ten seconds after it was told to stop.
POLL_SECONDS = 8.0
# Baton lets five polls of one principal wait at once if the workspace says nothing else (docs/limits.md); one is left
# to other programs.
POLLS_OF_A_TOKEN = 4
MARGIN_SECONDS = 15.0
# What is due so soon may not have been rung yet, as indexes and streams lag; of the rest a ring tells.
SOON_SECONDS = 10.0


@dataclass(frozen=True, slots=True)
class PollResult:
    """``claim``: the claim that the poll brought, or None. ``asked_at``: the claim was made after it.
    ``pause_seconds``: before the next poll."""

    answer: ApiAnswer
    claim: WorkerClaim | None
    asked_at: float
    pause_seconds: float


@dataclass(slots=True)
class Poller:
    """``poll_lock``: one of the threads that wait for this agent's work polls at a time. ``poll_slots``: the polls that
    may wait at Baton at once, shared by the pollers of one token. ``bell``: what the worker waits by where it can; None
    for one that doesn't wait. ``task_id``: the only task to claim, or None for the agent's next one.
    ``too_large_since``: the key of a spooled report → since when a program between has refused it as too large."""

    api: Api
    work: AgentWork
    poll_slots: BoundedSemaphore
    spool: ReportSpool
    poll_seconds: float = POLL_SECONDS
    task_id: str | None = None
    bell: Bell | None = None
    poll_lock: Lock = field(default_factory=Lock)
    backoff: PollBackoff = field(default_factory=PollBackoff)
    too_large_since: dict[str, float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.backoff.asked_seconds = 0.0 if self.task_id else self.poll_seconds

    def send_spooled(self, log: Log) -> None:
        """Sends the reports that killed workers have left, so that finished work isn't done again."""
        for entry in self.spool.left_by_others(self.work.profile.url, self.work.agent):
            answer = post(self.api, entry.path, entry.body, key=entry.key)
            if is_refusal(answer.foreign):  # of this report; others may get through
                self._refused(entry, answer, log)
                continue
            if answer.kind in {AnswerKind.RETRY, AnswerKind.DENIED}:
                return
            self.spool.remove(entry)
            log.about(agent=self.work.agent)("told_late", f"{entry.path}: {answer.said}")

    def _refused(self, entry: SpooledReport, answer: ApiAnswer, log: Log) -> None:
        """Keeps a report for people that is too large for a program between, for long: no repeat would get through."""
        if answer.foreign != TOO_LARGE:
            self.too_large_since.pop(entry.key, None)
        elif now() - self.too_large_since.setdefault(entry.key, now()) >= REFUSED_SECONDS:
            kept = self.spool.keep(entry)
            log.about(agent=self.work.agent)("report_refused", f"{entry.path}: {answer.said}; kept as {kept}")

    def poll(self) -> PollResult:
        """Polls once. With a bell, or if too many wait, it looks without waiting. For the thread that holds
        ``poll_lock``."""
        if self.bell is not None and not self.bell.is_away:
            result = self._look()
            self.bell.expect(result.answer.due_at, SOON_SECONDS)
            return result
        request, timeout = self.backoff.poll, self.poll_seconds + MARGIN_SECONDS
        with self.poll_slots:
            sent_at = now()
            answer = post(self.api, self._path, self._body, key=request.key, timeout=timeout)
        if self.task_id is None and is_refused(answer.code, answer.foreign):
            return self._look(answer)
        asked_at = request.asked_at(sent_at)
        return _result(answer, asked_at, self.backoff.pause_after(answer, sent_at, now()))

    def _look(self, refusal: ApiAnswer | None = None) -> PollResult:
        request, sent_at = self.backoff.look, now()
        answer = post(self.api, f"/agents/{quote(self.work.agent, safe='')}/claims", self._body, key=request.key)
        asked_at = request.asked_at(sent_at)
        return _result(answer, asked_at, self.backoff.pause_after(answer, sent_at, now(), refusal, is_look=True))

    @property
    def _path(self) -> str:
        if self.task_id is not None:
            return f"/tasks/{quote(self.task_id, safe='')}/claim"
        return f"/agents/{quote(self.work.agent, safe='')}/claims/wait?timeout={self.poll_seconds:g}"

    @property
    def _body(self) -> dict[str, object]:
        work = self.work
        body: dict[str, object] = {"worker": work.worker, "lease_seconds": work.lease_seconds}
        body |= {"auto_memories": work.memories} if work.memories else {}
        return body if self.task_id is None else {**body, "agent": work.agent}


def _result(answer: ApiAnswer, asked_at: float, pause_seconds: float) -> PollResult:
    return PollResult(answer, WorkerClaim(answer.json) if answer.status == 200 else None, asked_at, pause_seconds)


def poll_seconds(pollers_of_the_token: int) -> float:
    """Returns how long a poll waits at Baton. If more agents share a token than polls may wait at once, each poll waits
    for a shorter time."""
    return max(1.0, POLL_SECONDS * min(1.0, POLLS_OF_A_TOKEN / pollers_of_the_token))
