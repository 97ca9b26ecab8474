"""A framework's run under a claim: it is put down while others work or people decide, and goes on in any process.

An adapter tells ``wait_for`` the run's state and the tool calls that it waits for. The state is saved before anything
is asked. So whatever dies, and whoever claims the task next, ``go_on`` has each call asked once."""

# The modules of this package share what its users don't see.
# pyright: reportPrivateUsage=false

from __future__ import annotations

import base64
import json
import lzma
from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any, TypeVar, cast

from baton_client import core, operations
from baton_client.calls import Call, Outcome, branch_id, named_by, outcome_of_question, outcome_of_result
from baton_client.claims import WorkVerbs
from baton_client.core import Flow
from baton_client.errors import ClaimLost, Conflict, Invalid, Misused, QuestionOver, Refused
from baton_client.verbs import Tasks, Threads, question_of, read, verb

if TYPE_CHECKING:
    from baton_client.asynchronous import AsyncWork
    from baton_client.synchronous import Work

T = TypeVar("T")
SAVED_AS = "run"  # the step's name of a run's checkpoint
FORM = "baton.run/1"
# A question may close while it is being waited for; each look after the first means that one has.
_MOST_LOOKS = 12


def packed(state: Any) -> str:
    """Returns JSON as a text that takes less of a checkpoint's 256 KB: for a state that has each text several times.
    Guardrails don't see into it."""
    return base64.b64encode(lzma.compress(json.dumps(state).encode(), preset=1)).decode()


def unpacked(state: str) -> Any:
    return json.loads(lzma.decompress(base64.b64decode(state)))


class RunVerbs:
    """A run under a claim. ``state``: what its framework saved last; None at the beginning. ``calls``: what it waited
    for then. ``outcomes``: what came of them so far, by their ids."""

    def __init__(self, work: WorkVerbs) -> None:
        self._work = work
        saved = work.checkpoint or {}
        is_run = saved.get("form") == FORM
        self.state: Any = saved.get("state") if is_run else None
        self.calls = tuple(Call(**each) for each in saved["calls"]) if is_run else ()
        self.outcomes = {key: Outcome(**each) for key, each in saved["outcomes"].items()} if is_run else {}
        self._asked: dict[str, str] = dict(saved["asked"]) if is_run else {}
        self._known: list[str] = list(saved["known"]) if is_run else []
        # What colleagues did: it is in the answer of the claim, and of the calls that were waited for before it.
        self._results = cast("list[dict[str, Any]]", work.raw.get("results") or [])

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
        """Returns the outcomes of ``calls``, which is empty for a new run and for one that waits for nothing; None if
        it has to wait on, which gives the claim up. After a death it may have been seen before: the same again."""
        return (yield from self._settled())

    @verb
    def begin(self, outcome: Outcome) -> Flow[bool]:
        """Uses an approval up, just before its action is done. False where it isn't approved, and if it was used
        before, by an attempt that died, or was taken back: whether the action was done only its target knows."""
        if not outcome.digest:
            return False
        body: Any = {"claim_id": self._work.claim_id, "digest": outcome.digest}
        request = operations.use_an_approval(self._work.task_id, outcome.question_id, body)
        try:
            yield from self._work._said(request)
        except Conflict as refused:
            if refused.code != "receipt_refused":
                raise
            return False
        return True

    def _turn_to(self, state: Any, calls: Sequence[Call]) -> None:
        """What was asked and done before is no call's of now, were it the same word for word."""
        self.state, self.calls = state, tuple(calls)
        self._known = [*self._known, *self._asked.values()]
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
            if question is None:  # asked by an attempt that died before it could save the question's id?
                question = next((q for q in there if q["id"] not in taken and call.is_asked_by(q)), None)
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
        state: dict[str, Any] = {
            "form": FORM,
            "state": self.state,
            "calls": [asdict(each) for each in self.calls],
            "outcomes": {key: asdict(each) for key, each in self.outcomes.items()},
            "asked": self._asked,
            "known": self._known,
        }
        yield from WorkVerbs.save.flow(self._work, state, SAVED_AS)


class Run(RunVerbs, Threads):
    """A run for threads."""

    def __init__(self, work: Work) -> None:
        super().__init__(work)
        self.work = work

    def _played(self, flow: Flow[T]) -> T:
        return self.work._played(flow)


class AsyncRun(RunVerbs, Tasks):
    """A run for tasks."""

    def __init__(self, work: AsyncWork) -> None:
        super().__init__(work)
        self.work = work

    async def _played(self, flow: Flow[T]) -> T:
        return await self.work._played(flow)
