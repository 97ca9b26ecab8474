"""Work under a claim, written once for threads and tasks: what its worker says (``WorkVerbs``), and how a worker comes
by it (``Claiming``)."""

from __future__ import annotations

import weakref
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, cast

from baton_client import core, operations
from baton_client.core import Answer, Flow, Listen, Patience, Pause, Request, Send
from baton_client.errors import BatonError, ClaimLost
from baton_client.heartbeats import Heartbeats, Signal
from baton_client.lease import Lease, now
from baton_client.polls import LongPoll
from baton_client.verbs import (
    LOOK_SECONDS,
    Priority,
    Question,
    Task,
    handed_off,
    handoff_request,
    question_of,
    read,
    read_object,
    verb,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from baton_client import types as t

MOST_WORDS = 2000
LONGEST_PAUSE_SECONDS = 4.0
NOBODY_ENDED_IT = "The program left the work without an end."


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
    same key, gets that one. For one flow at a time."""

    order: ClaimOrder
    patience: Patience
    polls: LongPoll = field(init=False)
    due_at: str = ""  # as the latest empty answer said

    def __post_init__(self) -> None:
        self.polls = LongPoll(self.patience)

    def within(self, seconds: float | None, *, by_bell: bool) -> Flow[Claimed | None]:
        """Returns None once the seconds are over. Raises ``Refused``. An outage is waited out; if it lasts for all of
        the seconds, raises ``NoAnswer`` or ``ServerFailed``."""
        left, is_first = float("inf") if seconds is None else seconds, True
        while True:
            poll = 0.0 if is_first or by_bell or self.order.task_id else max(0.0, min(left, core.POLL_SECONDS))
            if by_bell and not is_first:
                heard = yield Listen(f"work:{self.order.agent}", min(left, LOOK_SECONDS), self.due_at)
                left -= heard.took
                poll = 0.0 if heard.status else max(0.0, min(left, core.POLL_SECONDS))
            found, took = yield from self._asked(poll, left)
            left -= took
            if found is not None or left <= 0 or self.order.task_id:
                return found
            is_first = False

    def _asked(self, poll: float, left: float) -> Flow[tuple[Claimed | None, float]]:
        key, took, since, misses = core.new_key(), 0.0, 0.0, 0
        if poll and self.polls.pause:
            yield Pause(self.polls.pause)
            took = self.polls.pause
        while True:
            answer = yield Send(self.order.poll(key, poll) if poll else self.order.look(key), poll + 15.0)
            took, since = took + answer.took, since + answer.took
            if poll and core.is_refused(answer.status, answer.code):
                self.polls.pause = self.polls.backoff.pause_after_refusal(answer.retry_after)
                return None, took
            if answer.code == "claim_over":  # that of an attempt whose answer was lost for long
                key, since = core.new_key(), 0.0
                continue
            misses += 1
            is_clear = answer.status not in {0, 408, *core.AGAIN}
            if is_clear or (took >= left and misses >= self.patience.attempts):
                break
            bound = min(self.patience.base_seconds * 2 ** min(misses - 1, 10), LONGEST_PAUSE_SECONDS)
            pause = max(answer.retry_after, bound * self.patience.drawn(1.0, 1.25))
            yield Pause(pause, f"the API answers {answer.status}" if answer.status else f"{answer.url} doesn't answer")
            took, since = took + pause, since + pause
        self.due_at = answer.headers.get("baton-due-at", "")
        if poll:
            self.polls.pause = self.polls.backoff.pause_after_wait(poll, answer.took)
        body = core.body_of(answer)
        return (None if body is None else Claimed(body, since)), took


class WorkVerbs:
    """A claimed task. ``lost`` is True once the claim isn't held any more: stop, others may be at work. Heartbeats go
    on in a thread of their own until it has ended."""

    _patience: Patience

    def __init__(
        self, claimed: Claimed, agent: str, patience: Patience, beat: Callable[[Request[Any], float], Answer]
    ) -> None:
        """``beat``: sends a request in the thread of the heartbeats."""
        self.raw, self.agent, self._patience = claimed.answer, agent, patience
        self.task_id, self.claim_id = read(self._task, "id", str), read(self.raw, "claim_id", str)
        self.fence, self.ended = read(self.raw, "fence", int), Signal()
        self._lost = Signal()
        lease = Lease.taken(float(read(self.raw, "lease_seconds", int)), now() - claimed.since)
        request = operations.heartbeat(self.task_id, {"claim_id": self.claim_id})
        self._heartbeats = Heartbeats(lambda seconds: beat(request, seconds), lease, self._lost, self.task_id)
        self._lost.call(self.ended.set)
        weakref.finalize(self, self._heartbeats.stop)  # work that is forgotten isn't held

    @property
    def _task(self) -> Mapping[str, Any]:
        return read_object(cast("Mapping[str, Any]", self.raw), "task")

    @property
    def lost(self) -> bool:
        return self._lost.is_set

    def when_lost(self, callback: Callable[[], object]) -> None:
        """Has it called, in the thread of the heartbeats, when the claim is lost."""
        self._lost.call(callback)

    @property
    def brief(self) -> Mapping[str, Any]:
        """The handoff message: ``target``, ``context``, ``expectations`` …"""
        return self.raw["body"]

    @property
    def reason(self) -> str:
        return str(_object(self.brief.get("target")).get("reason") or self._task.get("title") or "")

    @property
    def variables(self) -> Mapping[str, Any]:
        return _object(_object(self.brief.get("context")).get("variables"))

    @property
    def checkpoint(self) -> Mapping[str, Any] | None:
        """The state that the last attempt saved, or None."""
        found = self.raw.get("checkpoint")
        return found["state"] if found else None

    @verb
    def save(self, state: Mapping[str, Any], step: str = "progress") -> Flow[t.SavedCheckpoint]:
        """Keeps progress that the next attempt goes on from."""
        body: Any = {"claim_id": self.claim_id, "step_name": step, "state": dict(state)}
        return self._said(operations.checkpoint(self.task_id, body))

    @verb
    def complete(
        self, /, output: Any = None, *, met: Mapping[str, str | bool] | None = None, key: str | None = None, **more: Any
    ) -> Flow[t.CompletedAndNext]:
        """``met``: each criterion with its evidence, or with whether it is met. ``more``: other fields of
        ``CompletionRequest``, as they are."""
        body: Any = {"claim_id": self.claim_id, "output": output, **more}
        if met is not None:
            reports = [_report(criterion, said) for criterion, said in met.items()]
            body["verification"] = {**more.get("verification", {}), "acceptance_criteria_met": reports}
        return self._ending(operations.complete(self.task_id, body, key=key))

    @verb
    def fail(
        self, description: str, *, kind: str = "error", retryable: bool = False, key: str | None = None
    ) -> Flow[t.FailedAndNext]:
        """``kind``: ``blocker``, ``error``, ``timeout``, ``validation`` or ``capability``. ``retryable``: another
        attempt may do better."""
        failure = {"type": kind, "description": description[:MOST_WORDS]}
        body: Any = {"claim_id": self.claim_id, "failure": failure, "retryable": retryable}
        return self._ending(operations.fail(self.task_id, body, key=key))

    @verb
    def release(self, reason: str | None = None, *, not_before: str | None = None) -> Flow[t.ChangedTask]:
        """Gives the task back, to be claimed by whoever is next."""
        body: Any = {"claim_id": self.claim_id, "reason": reason, "not_before": not_before}
        return self._ending(operations.release(self.task_id, body))

    @verb
    def hand_off(
        self,
        /,
        to: str | None,
        reason: str,
        *,
        variables: Mapping[str, Any] | None = None,
        criteria: Sequence[str] = (),
        priority: Priority | None = None,
        key: str | None = None,
        **more: Any,
    ) -> Flow[Task]:
        """Gives work to another agent, as part of this one. See ``Baton.hand_off``."""
        fields = {"claim_id": self.claim_id, **more}
        body = handoff_request(self.agent, to, reason, fields, variables, criteria, priority)
        return handed_off(self._patience, body, key)

    @verb
    def ask(self, /, text: str, *, seconds: float | None = None, key: str | None = None, **more: Any) -> Flow[Question]:
        """Asks people, and returns the question once it is closed; after so many seconds as it is then. ``more``:
        ``options`` of a choice, ``form``, ``tool`` and ``arguments`` of an action, ``people``, ``group``, ``needed``,
        ``until``."""
        kinds = {"tool": "action", "form": "form", "options": "choice"}
        kind = more.pop("kind", None) or next((kinds[each] for each in kinds if more.get(each)), "text")
        body: Any = {"claim_id": self.claim_id, "kind": kind, "text": text, **more}
        asked = yield from self._said(operations.ask_people(self.task_id, body, key=key))
        if seconds == 0:
            return question_of(asked)
        return (yield from self._closed(question_of(asked), seconds))

    @verb
    def answer_to(self, question: Question, *, seconds: float | None = None) -> Flow[Question]:
        """Returns a question once it is closed; after so many seconds as it is then."""
        return self._closed(question, seconds)

    @verb
    def use(self, question: Question) -> Flow[Question]:
        """Uses the approval of an action up, just before doing it. Raises ``Refused`` if it was used before."""
        body: Any = {"claim_id": self.claim_id, "digest": question.raw.get("approved_digest")}
        return question_of((yield from self._said(operations.use_an_approval(self.task_id, question.id, body))))

    @verb
    def wait_for_answers(self, *questions: Question) -> Flow[t.ChangedTask]:
        """Ends the claim without an end of the task: it comes back, to any worker, once the questions are closed. Save
        first."""
        body: Any = {"claim_id": self.claim_id, "questions": [each.id for each in questions]}
        return self._ending(operations.wait_answers(self.task_id, body))

    def _closed(self, question: Question, seconds: float | None) -> Flow[Question]:
        look = operations.get_question(self.task_id, question.id)
        polls, left, after = LongPoll(self._patience), float("inf") if seconds is None else seconds, 0
        while question.is_open and left > 0 and not self.lost:
            heard = yield Listen(f"task:{self.task_id}", min(left, LOOK_SECONDS))
            left -= heard.took
            if not heard.status and left > 0:
                poll = min(left, core.POLL_SECONDS)
                wait = operations.wait_for_more_events(self.task_id, after=after, timeout=round(poll, 2))
                trail, took = yield from polls.wait(wait, operations.list_events(self.task_id, after=after), poll)
                after, left = read(cast("Mapping[str, Any]", trail), "next_after", int), left - took
            question = question_of(cast("Mapping[str, Any]", (yield from core.call(look, self._patience))))
        return question

    def _said(self, request: Request[Any]) -> Flow[Any]:
        try:
            return (yield from core.call(request, self._patience))
        except ClaimLost:
            self._heartbeats.stop()
            self._lost.set()
            raise

    def _ending(self, request: Request[Any]) -> Flow[Any]:
        answer = yield from self._said(request)
        self._heartbeats.stop()
        self.ended.set()
        return answer

    def _left(self, error: BaseException | None) -> Flow[None]:
        """Ends what the program has left: after an exception as a failure that may be retried, after an interrupt as a
        release."""
        if self.ended.is_set:
            return
        try:
            if error is None or isinstance(error, Exception):
                said = NOBODY_ENDED_IT if error is None else f"{type(error).__name__}: {error}"
                yield from WorkVerbs.fail.flow(self, said, retryable=True)
            else:
                yield from WorkVerbs.release.flow(self, f"The program was interrupted ({type(error).__name__}).")
        except BatonError:
            if error is None:
                raise
        finally:
            self._heartbeats.stop()
            self.ended.set()


def _object(found: Any) -> dict[str, Any]:
    return cast("dict[str, Any]", found) if isinstance(found, dict) else {}


def _report(criterion: str, said: str | bool) -> dict[str, Any]:
    return {"criterion": criterion, "met": bool(said)} | ({"evidence": said} if isinstance(said, str) else {})
