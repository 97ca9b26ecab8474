"""One agent's place in the worker: what asks for its work."""

from __future__ import annotations

from dataclasses import dataclass, field
from threading import BoundedSemaphore, Lock

from baton_cli.worker.door import Answer, Api, Heard, ask
from baton_cli.worker.guard import now
from baton_cli.worker.journal import Journal
from baton_cli.worker.log import Log
from baton_cli.worker.pace import Pace
from baton_cli.worker.work import Claim, Work

# A worker that is told to stop waits for the poll under way, which may bring a claim: less than the ten seconds that
# containers are given.
POLL_SECONDS = 8.0
# Baton lets five polls of one principal wait at once (docs/limits.md); one is left to others.
POLLS_OF_A_TOKEN = 4
MARGIN_SECONDS = 15.0


@dataclass(frozen=True, slots=True)
class Look:
    """``claim``: if there is one by now, made after ``asked_at``. ``pause_seconds``: before the next look."""

    answer: Answer
    claim: Claim | None
    asked_at: float
    pause_seconds: float


@dataclass(slots=True)
class Station:
    """``turn``: of all who wait for this agent's work, one asks. ``places``: shared by the stations of one token.
    ``task_id``: the one task to take, if so."""

    api: Api
    work: Work
    places: BoundedSemaphore
    journal: Journal
    poll_seconds: float = POLL_SECONDS
    task_id: str | None = None
    turn: Lock = field(default_factory=Lock)
    pace: Pace = field(default_factory=Pace)

    def settle(self, log: Log) -> None:
        """Makes the reports of workers that were killed: work that is done isn't done again."""
        for entry in self.journal.left(self.work.profile.url, self.work.agent):
            answer = ask(self.api, entry.path, entry.body, key=entry.key)
            if answer.heard in {Heard.AGAIN, Heard.DENIED}:
                return
            self.journal.drop(entry)
            log.about(agent=self.work.agent)("told_late", f"{entry.path}: {answer.said}")

    def look(self) -> Look:
        """Asks once. Only for who has the turn."""
        timeout = self.poll_seconds + MARGIN_SECONDS
        with self.places:
            sent_at = now()
            answer = ask(self.api, self._path, self._body, key=self.pace.key, timeout=timeout)
        asked_at = self.pace.asked_at(sent_at)
        pause = self.pace.after(answer, sent_at, now())
        return Look(answer, Claim(answer.json) if answer.status == 200 else None, asked_at, pause)

    @property
    def _path(self) -> str:
        if self.task_id is not None:
            return f"/tasks/{self.task_id}/claim"
        return f"/agents/{self.work.agent}/claims/wait?timeout={self.poll_seconds:g}"

    @property
    def _body(self) -> dict[str, object]:
        work = self.work
        body: dict[str, object] = {"worker": work.worker, "lease_seconds": work.lease_seconds}
        body |= {"auto_memories": work.memories} if work.memories else {}
        return body if self.task_id is None else {**body, "agent": work.agent}


def poll_seconds(stations_of_the_token: int) -> float:
    """Where more agents share a token than may wait at once, each waits for less and comes round sooner."""
    return max(1.0, POLL_SECONDS * min(1.0, POLLS_OF_A_TOKEN / stations_of_the_token))
