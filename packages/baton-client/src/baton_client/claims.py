"""Work under a claim, written once for threads and tasks: what its worker says."""

from __future__ import annotations

import weakref
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, cast

from baton_client import core, operations
from baton_client.claiming import Claimed
from baton_client.core import Flow, Listen, Patience, Request
from baton_client.errors import BatonError, ClaimLost, Refused
from baton_client.heartbeats import Heartbeats, Signal
from baton_client.lease import Lease, now
from baton_client.mended import mended
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
_WITHOUT_RESULT = ("/release", "/wait-for-answers", "/delegate")
NOBODY_ENDED_IT = "The program left the work without an end."


class WorkVerbs:
    """A claimed task. ``lost`` is True once the claim isn't held any more: stop, others may be at work. Heartbeats go
    on in a thread of their own until it has ended."""

    _patience: Patience

    def __init__(
        self,
        claimed: Claimed,
        agent: str,
        patience: Patience,
        heartbeats: Callable[[Request[Any], Lease, Signal, str], Heartbeats],
    ) -> None:
        """``heartbeats``: begins them; the request is one of them."""
        self.raw, self.agent, self._patience = claimed.answer, agent, patience
        self.task_id, self.claim_id = read(self._task, "id", str), read(self.raw, "claim_id", str)
        self.fence, self.ended = read(self.raw, "fence", int), Signal()
        self._lost, self._open_end = Signal(), cast("Request[Any] | None", None)
        self._lease_seconds = float(read(self.raw, "lease_seconds", int))
        lease = Lease.taken(self._lease_seconds, now() - claimed.since)
        request = operations.heartbeat(self.task_id, {"claim_id": self.claim_id})
        self._heartbeats = heartbeats(request, lease, self._lost, self.task_id)
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
        """Keeps progress that the next attempt goes on from. The state is repaired where the API would refuse it, as in
        ``complete``."""
        body: Any = {"claim_id": self.claim_id, "step_name": step, "state": mended(dict(state))[0]}
        return self._said(operations.checkpoint(self.task_id, body))

    @verb
    def complete(
        self, /, output: Any = None, *, met: Mapping[str, str | bool] | None = None, key: str | None = None, **more: Any
    ) -> Flow[t.CompletedAndNext]:
        """``met``: each criterion with its evidence, or with whether it is met. ``more``: other fields of
        ``CompletionRequest``, as they are. An output that the API would refuse is repaired (``mended.py``), and the
        ``notes`` say so."""
        output, notes = mended(output)
        body: Any = {"claim_id": self.claim_id, "output": output, **more}
        if notes:
            body["notes"] = [*more.get("notes", ()), *notes]
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
                events = operations.list_events(self.task_id, after=after)
                trail, took = yield from polls.wait(wait, events, poll, left)
                after, left = read(cast("Mapping[str, Any]", trail), "next_after", int), left - took
            patience = self._patience.lasting(max(left, self._patience.seconds))
            shown, took = yield from core.timed_call(look, patience)
            question, left = question_of(cast("Mapping[str, Any]", shown)), left - took
        return question

    def _said(self, request: Request[Any], patience: Patience | None = None) -> Flow[Any]:
        try:
            return (yield from core.call(request, patience or self._patience))
        except ClaimLost:
            self._heartbeats.stop()
            self._lost.set()
            raise

    def _ending(self, request: Request[Any]) -> Flow[Any]:
        """Sends an end under one key, for a whole lease. Until Baton has answered, the end may have taken effect: the
        program's repeat of it has the same key."""
        request = replace(request, body=request.content)  # later changes of the program's values are no part of it
        if self._open_end and (self._open_end.path, self._open_end.body) == (request.path, request.body):
            request = self._open_end
        self._open_end = request
        try:
            answer = yield from self._said(request, self._patience.lasting(self._lease_seconds))
        except Refused as refused:
            self._open_end = request if refused.asks_again else None
            raise
        self._heartbeats.stop()
        self.ended.set()
        return answer

    def _left(self, error: BaseException | None) -> Flow[None]:
        """Ends the work that the program has left: after an exception as a failure that may be retried, after an
        interrupt as a release. Sends nothing after an end that Baton hasn't answered: its work is done. Only an
        interrupted release, or wait for answers, is released again, so that nobody waits for the lease."""
        if self.ended.is_set:
            return
        is_interrupt = error is not None and not isinstance(error, Exception)
        if self._open_end is not None and not (is_interrupt and self._open_end.path.endswith(_WITHOUT_RESULT)):
            self._heartbeats.stop()
            self.ended.set()
            return
        try:
            if not is_interrupt:
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
