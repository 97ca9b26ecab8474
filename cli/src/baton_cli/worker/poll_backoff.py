"""The backoff of a poller: the pause after each answer, and the idempotency key of the next poll."""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from uuid import uuid4

from baton_cli.worker.api_client import AnswerKind, ApiAnswer

FIRST_PAUSE_SECONDS = 0.5
# With its jitter, an outage is noticed to be over within 5 s.
LONGEST_PAUSE_SECONDS = 4.0
OFF_PAUSE_SECONDS = 15.0  # between two looks whether the agent is on again
# A poll that comes back sooner without work didn't wait.
SHORTEST_POLL_SECONDS = 0.5


@dataclass(slots=True)
class PollBackoff:
    """``key`` stays until it has brought a claim: a request whose answer was lost may have made one, and its repeat
    brings it. ``unclear_since``: when the first of such requests was sent, if the last one was one. ``fatal``: why
    there is no use in asking again."""

    key: str = field(default_factory=lambda: uuid4().hex)
    misses: int = 0
    unclear_since: float | None = None
    fatal: str = ""

    def asked_at(self, now: float) -> float:
        """Returns when a claim that is answered to a request of now may have been made: not before that."""
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
