"""The backoff of a poller: the pause after each answer, and the idempotency key of the next poll."""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from uuid import uuid4

from baton_cli.worker.api_client import AnswerKind, ApiAnswer

FIRST_PAUSE_SECONDS = 0.5
# With its jitter, at most 5 s: so soon the end of an outage is noticed.
LONGEST_PAUSE_SECONDS = 4.0
OFF_PAUSE_SECONDS = 15.0  # while the agent is switched off
# A poll that is answered sooner without work didn't wait at Baton.
SHORTEST_POLL_SECONDS = 0.5


@dataclass(slots=True)
class PollBackoff:
    """``key``: the next poll's. It changes once it has brought a claim: if the answer of a poll was lost, the poll may
    have made a claim, which its repeat gets. ``unclear_since``: when the first of the latest polls without a clear
    answer was sent; None if the last poll had one. ``fatal``: why polling is of no use any more, or empty."""

    key: str = field(default_factory=lambda: uuid4().hex)
    misses: int = 0
    unclear_since: float | None = None
    fatal: str = ""

    def asked_at(self, now: float) -> float:
        """Returns the earliest moment at which a claim may have been made that a poll of ``now`` is answered with."""
        return now if self.unclear_since is None else self.unclear_since

    def pause_after(self, answer: ApiAnswer, sent_at: float, now: float) -> float:
        """Returns the seconds to wait before the next request."""
        if answer.kind is AnswerKind.RETRY:
            self.unclear_since = self.asked_at(sent_at)
            self.misses += 1
            pause: float = min(FIRST_PAUSE_SECONDS * 2 ** min(self.misses - 1, 10), LONGEST_PAUSE_SECONDS)
            pause = max(answer.retry_after, pause)
            return pause * random.uniform(1.0, 1.25)  # noqa: S311
        self.misses, self.unclear_since = 0, None
        if answer.kind is AnswerKind.DONE:
            if answer.json is not None:
                self._next_key()
                return 0.0
            return max(0.0, SHORTEST_POLL_SECONDS - (now - sent_at))
        if answer.code == "claim_over":
            self._next_key()
            return 0.0
        if answer.code == "inactive_agent":
            return OFF_PAUSE_SECONDS
        self.fatal = answer.said
        return 0.0

    def _next_key(self) -> None:
        self.key = uuid4().hex
