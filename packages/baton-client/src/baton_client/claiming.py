"""How a worker comes by work: it asks until there is some, by the bell where it rings."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, cast

from baton_client import core, operations
from baton_client.core import Flow, Listen, Patience, Pause, Request, Send
from baton_client.errors import NotClaimable
from baton_client.lease import now
from baton_client.polls import LongPoll
from baton_client.verbs import LOOK_SECONDS

if TYPE_CHECKING:
    from baton_client import types as t

LOOK_AGAIN_SECONDS, MOST_SECONDS = 1.0, 4.0
# A task in one of these states may become claimable.
COMING = frozenset({"needs", "delegated", "next", "waiting"})


@dataclass(frozen=True, slots=True)
class ClaimOrder:
    """What is asked for: work of an agent, or one task of its."""

    agent: str
    lease_seconds: int
    worker: str | None = None
    task_id: str | None = None

    def look(self, key: str) -> Request[t.ClaimAnswer | None]:
        if self.task_id is not None:
            named = cast("t.NamedClaimRequest", self._body | {"agent": self.agent})
            return cast("Request[t.ClaimAnswer | None]", operations.claim(self.task_id, named, key=key))
        return operations.claim_the_next(self.agent, cast("t.ClaimRequest", self._body), key=key)

    def poll(self, key: str, seconds: float) -> Request[t.ClaimAnswer | None]:
        body = cast("t.WaitingClaimRequest", self._body)
        return operations.wait_for_a_claim(self.agent, body, timeout=round(seconds, 2), key=key)

    @property
    def _body(self) -> dict[str, Any]:
        body: dict[str, Any] = {"lease_seconds": self.lease_seconds}
        return body | ({"worker": self.worker} if self.worker else {})


@dataclass(frozen=True, slots=True)
class Claimed:
    """``since``: so many seconds ago the claim was asked for at the earliest."""

    answer: t.ClaimAnswer
    since: float


@dataclass(slots=True)
class Claiming:
    """Asks for work until there is some. An attempt whose answer was lost may have made a claim: its repeat, under the
    same key, gets that one. So a key is kept until it has brought a claim. For one flow at a time."""

    order: ClaimOrder
    patience: Patience
    polls: LongPoll = field(init=False)
    due_at: str = ""  # as the latest empty answer said
    _keys: dict[bool, str] = field(default_factory=dict[bool, str])  # of polls and of looks
    _unclear_at: dict[bool, float] = field(
        default_factory=dict[bool, float]
    )  # when a request without an answer was sent

    def __post_init__(self) -> None:
        self.polls = LongPoll(self.patience)

    def within(self, seconds: float | None, *, by_bell: bool) -> Flow[Claimed | None]:
        """Returns None once the seconds are over. A task that is named is waited for until it is ready. Raises
        ``Refused``. An outage is waited out; if it lasts for all of the seconds, and for those of ``Patience``, raises
        ``NoAnswer`` or ``ServerFailed``."""
        left, is_first = float("inf") if seconds is None else seconds, True
        while True:
            poll = 0.0 if is_first or by_bell or self.order.task_id else max(0.0, min(left, core.POLL_SECONDS))
            if by_bell and not is_first:
                heard = yield Listen(f"work:{self.order.agent}", min(left, LOOK_SECONDS), self.due_at)
                left -= heard.took
                poll = 0.0 if heard.status else max(0.0, min(left, core.POLL_SECONDS))
            try:
                found, took = yield from self._asked(poll, left)
            except NotClaimable as refused:
                pause = min(_until_ready(refused), left)
                if pause <= 0:
                    raise
                left -= (yield Pause(pause)).took
                continue
            left -= took
            if found is not None or left <= 0 or self.order.task_id:
                return found
            is_first = False

    def _asked(self, poll: float, left: float) -> Flow[tuple[Claimed | None, float]]:
        is_poll, took, since, misses, remarks = poll > 0, 0.0, 0.0, 0, core.Remarks()
        if poll and self.polls.pause:
            yield Pause(self.polls.pause)
            took = self.polls.pause
        while True:
            key, sent_at = self._keys.setdefault(is_poll, core.new_key()), now()
            answer = yield Send(self.order.poll(key, poll) if poll else self.order.look(key), poll + 15.0)
            took, since = took + answer.took, since + answer.took
            if answer.status == 0:
                self._unclear_at.setdefault(is_poll, sent_at)
            if poll and core.is_refused(answer.code, answer.foreign):
                self.polls.pause = self.polls.backoff.pause_after_refusal(answer.retry_after)
                return None, took
            if answer.code == "claim_over":  # that of an attempt whose answer was lost for long
                since = 0.0
                self._forget(is_poll)
                continue
            misses += 1
            is_late = took >= max(left, self.patience.seconds) and misses >= self.patience.attempts
            if answer.is_settled or is_late:
                break
            bound = min(self.patience.base_seconds * 2 ** min(misses - 1, 10), self.patience.longest_pause)
            pause = max(answer.retry_after, bound * self.patience.drawn(1.0, 1.25))
            yield Pause(pause, remarks.about(answer, took))
            took, since = took + pause, since + pause
        self.due_at = answer.headers.get("baton-due-at", "")
        if poll:
            self.polls.pause = self.polls.backoff.pause_after_wait(poll, answer.took)
        body = core.body_of(answer)
        asked_at = self._unclear_at.pop(is_poll, None)
        if body is None:
            return None, took
        self._forget(is_poll)
        return Claimed(body, since if asked_at is None else max(since, now() - asked_at)), took

    def _forget(self, is_poll: bool) -> None:
        del self._keys[is_poll]
        self._unclear_at.pop(is_poll, None)


def _until_ready(refused: NotClaimable) -> float:
    """Returns the seconds until another attempt at a task that may become claimable; 0 if it can't."""
    if refused.problem.get("state") not in COMING:
        return 0.0
    try:
        left = datetime.fromisoformat(str(refused.problem.get("ready_at"))) - datetime.now(UTC)
    except ValueError:
        return LOOK_AGAIN_SECONDS
    return min(max(LOOK_AGAIN_SECONDS, left.total_seconds()), MOST_SECONDS)  # the clocks may differ
