"""A framework's run under a claim: it is suspended while others work or people decide, and resumes in any process.

An adapter gives ``wait_for`` the run's state and the tool calls that it waits for. The state is saved and signed before
anything is asked. So ``go_on`` has each call asked once, after any crash and for any next claimer.

A saved state decides no action. Outcomes of questions are read from Baton each time, and an adapter executes what
``begin`` returns (docs/decisions/106-a-runs-state-is-signed.md)."""

# The modules of this package share what its users don't see.
# pyright: reportPrivateUsage=false

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict
from typing import TYPE_CHECKING, Any, TypeVar, cast

from baton_client import core, operations
from baton_client.briefing import MAY_BE_DONE
from baton_client.calls import Call, Outcome, Receipt, branch_id, named_by, outcome_of_question, outcome_of_result
from baton_client.canonical import action_digest, digest_of, plain
from baton_client.claims import WorkVerbs
from baton_client.core import Flow
from baton_client.errors import ClaimLost, Conflict, Invalid, Misused, QuestionOver, Refused
from baton_client.run_keys import Keys, signature
from baton_client.saved_runs import loaded, packed
from baton_client.verbs import Tasks, Threads, question_of, read, verb

if TYPE_CHECKING:
    from baton_client.asynchronous import AsyncWork
    from baton_client.synchronous import Work

T = TypeVar("T")
# A question may close while it is being waited for; each look after the first means that one has.
_MOST_LOOKS = 12
NOT_THIS_CALL = "Not done: people approved another call. People are alerted. Don't ask for it in another form."


class RunVerbs:
    """A run under a claim. ``state``: what its framework saved last; None at the beginning. ``calls``: what it waited
    for then. ``outcomes``: what came of them so far, by their ids."""

    def __init__(self, work: WorkVerbs, keys: Keys) -> None:
        self._work, self._keys = work, keys
        found = loaded(cast("Mapping[str, Any]", work.raw), work.agent, work.task_id, keys)
        saved = found.state or {}
        self._refused, self._is_resumed = found.refused, found.state is not None
        self.state: Any = saved.get("state")
        self.calls = tuple(Call(**each) for each in saved.get("calls", ()))
        self.outcomes: dict[str, Outcome] = {}
        # Ids of questions: of ``calls``, and of earlier calls.
        self._asked: dict[str, str] = dict(saved.get("asked", {}))
        self._known: list[str] = list(saved.get("known", ()))
        # The colleagues' results: the claim's answer has the results of the last wait, the state all earlier ones.
        # A turn that ended took its own: a later call may have the id of an earlier one.
        self._taken: list[str] = list(saved.get("taken", ()))
        results = cast("list[dict[str, Any]]", work.raw.get("results") or [])
        new = [each for each in results if each["task_id"] not in self._taken]
        self._results: list[dict[str, Any]] = [*saved.get("results", ()), *new]

    @property
    def lost(self) -> bool:
        """Stop: others may be at work."""
        return self._work.lost

    def check(self) -> None:
        """Raises ``ClaimLost`` once others may be at work: before each call of a model."""
        if self.lost:
            raise ClaimLost(409, {"code": "claim_over", "title": "The claim isn't held any more"})

    @verb
    def save(self, state: Any) -> Flow[None]:
        """Keeps progress while nothing is waited for."""
        self._turn_to(state, ())
        yield from self._saved()

    @verb
    def wait_for(self, state: Any, calls: Sequence[Call]) -> Flow[dict[str, Outcome] | None]:
        """Saves the state, and asks. Returns the outcomes by the calls' ids if all are there at once; else None: the
        claim is given up, and the task comes back, to any process, when they are. What Baton refuses of a call is its
        outcome, which isn't good; of each, if state and calls are too large to be saved. Raises ``Misused`` for two
        calls of one id."""
        if len({each.call_id for each in calls}) != len(calls):
            raise Misused("two calls have one id", "an outcome wouldn't know whose it is", "give each its own")
        self._turn_to(state, calls)
        try:
            yield from self._saved()
        except (Invalid, Conflict) as refused:
            self._refuse(calls, refused)
            return dict(self.outcomes)
        return (yield from self._settled())

    @verb
    def go_on(self) -> Flow[dict[str, Outcome] | None]:
        """Returns the outcomes of ``calls``, which is empty for a new run and for a run that waits for nothing. Returns
        None once the claim has ended: the run has to wait on, or its saved state isn't this program's, which fails the
        attempt. After a death it may have been seen before: the same again."""
        if self._refused:
            yield from self._alerted("run-state-refused", "critical", self._refused, str(self._work.raw["run_state"]))
            yield from WorkVerbs.fail.flow(self._work, self._refused, kind="blocker", retryable=True)
            return None
        return (yield from self._settled())

    def take(self, call: Call) -> Outcome | None:
        """Returns the outcome of this call, once. Returns None for a call that differs from the asked call: a framework
        or a model may use the id of one call for another call, too."""
        asked = next((each for each in self.calls if each.call_id == call.call_id), None)
        is_asked = asked is not None and digest_of(asdict(asked)) == digest_of(asdict(call))
        return self.outcomes.pop(call.call_id, None) if is_asked else None

    @verb
    def begin(self, outcome: Outcome | None, tool: str, arguments: Mapping[str, Any]) -> Flow[Receipt]:
        """Uses an approval up, just before its action is done. ``tool`` and ``arguments``: the pending call's, as the
        framework has them. The caller executes the receipt's tool with the receipt's arguments, and nothing if it is a
        refusal. It is one if the action isn't approved, if an attempt that died has used the approval, if it was taken
        back, and if people approved another call, which alerts them."""
        if outcome is None or outcome.kind != "approve" or not outcome.question_id or not outcome.digest:
            return Receipt(tool, {}, "Not done: nobody has approved it.")
        body: Any = {"claim_id": self._work.claim_id, "digest": outcome.digest}
        request = operations.use_an_approval(self._work.task_id, outcome.question_id, body)
        try:
            used = cast("dict[str, Any]", (yield from self._work._said(request)))
        except Conflict as refused:
            if refused.code != "receipt_refused":
                raise
            return Receipt(tool, {}, MAY_BE_DONE)
        if not self._is_for(used, outcome.question_id, tool, arguments):
            yield from self._mismatched(outcome.question_id)
            return Receipt(tool, {}, NOT_THIS_CALL)
        is_changed = used["approved_digest"] != used["digest"]
        return Receipt(tool, plain(used["approved_arguments"]), "", is_changed, outcome.question_id)

    def _is_for(self, used: Mapping[str, Any], question_id: str, tool: str, arguments: Mapping[str, Any]) -> bool:
        """True if the receipt belongs to the pending call, and if it is whole: the allowed action has its digest."""
        approved: object = used.get("approved_arguments")
        is_this = (used.get("id"), used.get("task_id"), used.get("tool")) == (question_id, self._work.task_id, tool)
        is_asked = used.get("digest") == action_digest(tool, arguments)
        is_whole = isinstance(approved, dict) and used.get("approved_digest") == action_digest(
            tool, cast("dict[str, Any]", approved)
        )
        return is_this and is_asked and is_whole

    def _mismatched(self, question_id: str) -> Flow[None]:
        message = f"A run's pending call differs from its question {question_id}. The client executed nothing."
        yield from self._alerted("run-state-mismatch", "critical", message, question_id)

    def _alerted(self, kind: str, severity: Any, message: str, about: str) -> Flow[None]:
        """Alerts people once, however often it is found. A refused alert stops nothing. No other program with the
        token can compute the key, and use it up."""
        signed = signature(self._keys[0], self._work.task_id, kind, 0, about)
        key = hashlib.sha256(signed.encode()).hexdigest()
        body: Any = {"kind": kind, "severity": severity, "message": message, "task_id": self._work.task_id}
        with suppress(Refused):
            yield from core.call(operations.create_alert(body, key=key), self._work._patience)

    def _turn_to(self, state: Any, calls: Sequence[Call]) -> None:
        """What was asked and done before is no call's of now, were it the same word for word."""
        self.state, self.calls, self._is_resumed = state, tuple(calls), False
        self._known = [*self._known, *self._asked.values()]
        self._taken = [each["task_id"] for each in cast("list[Any]", self._work.raw.get("results") or [])]
        self.outcomes, self._asked, self._results = {}, {}, []

    def _settled(self) -> Flow[dict[str, Outcome] | None]:
        for _ in range(_MOST_LOOKS):
            self._take_results()
            opened = yield from self._open_questions()
            missing = [each for each in self.calls if each.kind == "hand_off" and each.call_id not in self.outcomes]
            if not missing and not opened:
                yield from self._saved()
                return dict(self.outcomes)
            yield from self._saved()
            if missing:
                branches = [{"call_id": branch_id(each.call_id), **each.fields} for each in missing]
                body: Any = {"claim_id": self._work.claim_id, "branches": branches}
                try:
                    yield from self._work._ending(operations.delegate(self._work.task_id, body))
                except (Invalid, Conflict) as refused:
                    self._refuse(named_by(missing, refused), refused)
                    continue
                return None
            try:
                waiting: Any = {"claim_id": self._work.claim_id, "questions": opened}
                yield from self._work._ending(operations.wait_answers(self._work.task_id, waiting))
            except QuestionOver:
                continue  # people were faster
            return None
        raise Misused("the questions close faster than they can be waited for", "", "run it again")

    def _take_results(self) -> None:
        waited_for = {branch_id(each.call_id): each.call_id for each in self.calls if each.kind == "hand_off"}
        for each in self._results:
            call_id = waited_for.get(each["call_id"])
            if call_id is not None and call_id not in self.outcomes:
                self.outcomes[call_id] = outcome_of_result(call_id, each)

    def _open_questions(self) -> Flow[list[str]]:
        """Asks what wasn't asked yet. Returns the ids of those that are open, and keeps what came of the others."""
        wanted = [each for each in self.calls if each.kind != "hand_off" and each.call_id not in self.outcomes]
        opened: list[str] = []
        if not wanted:
            return opened
        there: list[dict[str, Any]] = yield from self._questions()
        found = {each["id"]: each for each in there}
        taken = {*self._known, *self._asked.values()}
        for call in wanted:
            question = found.get(self._asked.get(call.call_id, ""))
            if question is not None and not self._is_asked_by(call, question):
                yield from self._mismatched(question["id"])
                self.outcomes[call.call_id] = Outcome(call.call_id, call.kind, False, None, NOT_THIS_CALL)
                continue
            if question is None and self._is_resumed:  # asked by an attempt that died before it saved the id?
                question = next((q for q in there if q["id"] not in taken and self._is_asked_by(call, q)), None)
            if question is None:
                body: Any = {"claim_id": self._work.claim_id, **call.question}
                try:
                    question = yield from self._work._said(operations.ask_people(self._work.task_id, body))
                except (Invalid, Conflict) as refused:
                    self._refuse([call], refused)
                    continue
            asked = question_of(question)
            self._asked[call.call_id] = asked.id
            taken.add(asked.id)
            if asked.is_open:
                opened.append(asked.id)
            else:
                self.outcomes[call.call_id] = outcome_of_question(call, asked)
        return opened

    def _is_asked_by(self, call: Call, question: Mapping[str, Any]) -> bool:
        """True for a question that this agent and principal asked, of the same people, with the same content."""
        asked = (question.get("asked_by"), question.get("agent"), question.get("asked_digest"))
        return asked == (self._work.raw["claimed_by"], self._work.agent, call.asked_digest)

    def _refuse(self, calls: Sequence[Call], refused: Refused) -> None:
        """A model may ask for nonsense: its calls have that as their outcome, and the others go on."""
        if isinstance(refused, ClaimLost):
            raise refused
        for each in calls:
            self.outcomes[each.call_id] = Outcome(each.call_id, each.kind, False, None, f"Baton refuses it: {refused}")

    def _questions(self) -> Flow[list[dict[str, Any]]]:
        found: list[dict[str, Any]] = []
        cursor: str | None = None
        while True:
            request = operations.list_task_questions(self._work.task_id, limit=100, cursor=cursor)
            page = cast("dict[str, Any]", (yield from core.call(request, self._work._patience)))
            found += read(page, "items", list)
            cursor = page.get("next_cursor")
            if cursor is None:
                return found

    def _saved(self) -> Flow[None]:
        if self._refused:
            raise Misused("this run's saved state was refused", self._refused, "call go_on first")
        work = self._work
        state = packed(
            {
                "state": self.state,
                "calls": [asdict(each) for each in self.calls],
                "asked": self._asked,
                "known": self._known,
                "results": self._results,
                "taken": self._taken,
            }
        )
        signed = signature(self._keys[0], work.task_id, work.agent, work.fence, state)
        body: Any = {"claim_id": work.claim_id, "state": state, "signature": signed}
        yield from work._said(operations.run_state(work.task_id, body))


class Run(RunVerbs, Threads):
    """A run for threads."""

    def __init__(self, work: Work) -> None:
        super().__init__(work, work.baton.run_keys)
        self.work = work

    def _played(self, flow: Flow[T]) -> T:
        return self.work._played(flow)


class AsyncRun(RunVerbs, Tasks):
    """A run for tasks."""

    def __init__(self, work: AsyncWork) -> None:
        super().__init__(work, work.baton.run_keys)
        self.work = work

    async def _played(self, flow: Flow[T]) -> T:
        return await self.work._played(flow)
