"""The backoff of a poller: the pause after each answer, and the idempotency keys of its requests."""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from uuid import uuid4

from baton_cli.worker.api_client import AnswerKind, ApiAnswer
from baton_client.polls import WaitBackoff

FIRST_PAUSE_SECONDS = 0.5
# With its jitter, at most 5 s: so soon the end of an outage is noticed.
LONGEST_PAUSE_SECONDS = 4.0
OFF_PAUSE_SECONDS = 15.0  # while the agent is switched off
# A poll that is answered sooner without work didn't wait at Baton.
SHORTEST_POLL_SECONDS = 0.5


@dataclass(slots=True)
class ClaimRequest:
    """A request for a claim that is sent until it brings one. ``key`` changes then: if the answer of an attempt was
    lost, the attempt may have made a claim, which its repeat gets. ``unclear_since``: when the first of the latest
    attempts without a clear answer was sent; None if the last one had one."""

    key: str = field(default_factory=lambda: uuid4().hex)
    unclear_since: float | None = None

    def asked_at(self, now: float) -> float:
        """Returns the earliest moment at which a claim may have been made that an attempt of ``now`` is answered
        with."""
        return now if self.unclear_since is None else self.unclear_since

    def note(self, answer: ApiAnswer, sent_at: float) -> None:
        self.unclear_since = self.asked_at(sent_at) if answer.kind is AnswerKind.RETRY else None
        if (answer.kind is AnswerKind.DONE and answer.json is not None) or answer.code == "claim_over":
            self.key = uuid4().hex


@dataclass(slots=True)
class PollBackoff:
    """``poll`` waits; ``look`` doesn't: with a bell, and in the place of a poll that is refused as too many wait.
    ``misses``: the latest requests in a row without a clear answer. ``asked_seconds``: how long a poll waits, if many
    wait a shorter time. ``fatal``: why polling is of no use any more, or empty."""

    poll: ClaimRequest = field(default_factory=ClaimRequest)
    look: ClaimRequest = field(default_factory=ClaimRequest)
    waits: WaitBackoff = field(default_factory=WaitBackoff)
    asked_seconds: float = 0.0
    misses: int = 0
    fatal: str = ""

    def pause_after(
        self, answer: ApiAnswer, sent_at: float, now: float, refusal: ApiAnswer | None = None, *, is_look: bool = False
    ) -> float:
        """Returns the seconds to wait before the next request. ``is_look``: ``answer`` is the look's, as it is with a
        ``refusal`` of the poll, which began nothing, so what is unclear of earlier polls stays as it was."""
        is_look = is_look or refusal is not None
        (self.look if is_look else self.poll).note(answer, sent_at)
        crowded = 0.0 if refusal is None else self.waits.pause_after_refusal(refusal.retry_after)
        if answer.kind is AnswerKind.RETRY:
            self.misses += 1
            pause: float = min(FIRST_PAUSE_SECONDS * 2 ** min(self.misses - 1, 10), LONGEST_PAUSE_SECONDS)
            pause = max(answer.retry_after, pause) * random.uniform(1.0, 1.25)  # noqa: S311
            return max(crowded, pause)
        self.misses = 0
        if not is_look:
            crowded = self.waits.pause_after_wait(self.asked_seconds, now - sent_at)
            crowded = max(crowded, SHORTEST_POLL_SECONDS - (now - sent_at))
        if answer.kind is AnswerKind.DONE:
            return crowded if answer.json is None else 0.0
        if answer.code == "claim_over":
            return 0.0
        if answer.code == "inactive_agent":
            return OFF_PAUSE_SECONDS
        self.fatal = answer.said
        return 0.0
