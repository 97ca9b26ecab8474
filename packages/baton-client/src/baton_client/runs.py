"""A framework's run under a claim: it is put down while others work or people decide, and goes on in any process.

An adapter tells ``wait_for`` the run's state and the tool calls that it waits for. The state is saved before anything
is asked. So whatever dies, and whoever claims the task next, ``go_on`` has each call asked once."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any, Literal, TypeVar, cast

from baton_client import core, operations
from baton_client.claims import WorkVerbs
from baton_client.core import Flow
from baton_client.errors import (
    Conflict,
    Invalid,
    LoopGuard,
    Misused,
    OwnHandoff,
    QuestionOver,
    Refused,
    TooManyQuestions,
)
from baton_client.verbs import Question, Tasks, Threads, question_of, read, read_object, verb

if TYPE_CHECKING:
    from baton_client.asynchronous import AsyncWork
    from baton_client.synchronous import Work

T = TypeVar("T")
Kind = Literal["hand_off", "approve", "ask"]
SAVED_AS = "run"  # the step's name of a run's checkpoint
FORM = "baton.run/1"
# A question may close while it is being waited for; each look after the first means that one has.
_MOST_LOOKS = 12
# What is wrong with a call, and not with the run: its model is told.
_OF_THE_CALL = (Invalid, LoopGuard, OwnHandoff, TooManyQuestions)


@dataclass(frozen=True, slots=True)
class Call:
    """A tool call that a run waits for. ``call_id``: the framework's own, unique in the run. ``fields``: of the branch
    of a delegation (``target`` …), or of the question (``tool``, ``arguments``, ``options`` …)."""

    call_id: str
    kind: Kind
    text: str
    fields: Mapping[str, Any] = field(default_factory=dict[str, Any])

    @classmethod
    def hand_off(
        cls,
        call_id: str,
        to: str,
        reason: str,
        *,
        variables: Mapping[str, Any] | None = None,
        criteria: Sequence[str] = (),
        **more: Any,
    ) -> Call:
        """Another agent does a part of this work. ``more``: other fields of ``BranchRequest``."""
        fields: dict[str, Any] = {"target": {"agent": to, "reason": reason}, **more}
        if variables:
            fields["context"] = {**more.get("context", {}), "variables": dict(variables)}
        if criteria:
            wanted = {"type": "result", "description": reason, "acceptance_criteria": list(criteria)}
            fields["expectations"] = {"deliverables": [wanted]}
        return cls(call_id, "hand_off", reason, fields)

    @classmethod
    def approve(cls, call_id: str, tool: str, arguments: Mapping[str, Any], why: str = "", **more: Any) -> Call:
        """People say whether an action may be done. ``more``: ``people``, ``group``, ``needed``, ``until``."""
        return cls(
            call_id, "approve", why or f"May {tool} be done?", {"tool": tool, "arguments": dict(arguments), **more}
        )

    @classmethod
    def ask(cls, call_id: str, text: str, *, options: Sequence[str] = (), **more: Any) -> Call:
        """People answer a question. ``more``: ``form``, ``people``, ``group``, ``needed``, ``until``."""
        return cls(call_id, "ask", text, {**({"options": list(options)} if options else {}), **more})

    @property
    def _question(self) -> dict[str, Any]:
        kind = "form" if self.fields.get("form") else "choice" if self.fields.get("options") else "text"
        return {"kind": "action" if self.kind == "approve" else kind, "text": self.text, **self.fields}

    def _is_asked_by(self, question: Mapping[str, Any]) -> bool:
        return all(question.get(name) == value for name, value in self._question.items() if name in _CONTENT)


_CONTENT = {"kind", "text", "tool", "arguments", "options", "form"}


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of a call. ``value``: the colleague's output, the answer, or the arguments that were approved.
    ``said``: the same, or why not, for a model. ``question_id`` and ``digest``: of what people decided."""

    call_id: str
    kind: Kind
    is_good: bool
    value: Any
    said: str
    question_id: str = ""
    digest: str = ""


class RunVerbs:
    """A run under a claim. ``state``: what its framework saved last; None at the beginning. ``calls``: what it waited
    for then."""

    def __init__(self, work: WorkVerbs) -> None:
        self._work = work
        saved = work.checkpoint or {}
        is_run = saved.get("form") == FORM
        self.state: Any = saved.get("state") if is_run else None
        self.calls = tuple(Call(**each) for each in saved["calls"]) if is_run else ()
        self._outcomes = {key: Outcome(**each) for key, each in saved["outcomes"].items()} if is_run else {}
        self._asked: dict[str, str] = dict(saved["asked"]) if is_run else {}
        self._known: list[str] = list(saved["known"]) if is_run else []

    @property
    def lost(self) -> bool:
        """Stop: others may be at work."""
        return self._work.lost

    @verb
    def save(self, state: Any) -> Flow[None]:
        """Keeps progress while nothing is waited for."""
        self.state, self.calls = state, ()
        self._outcomes, self._asked = {}, {}
        yield from self._saved()

    @verb
    def wait_for(self, state: Any, calls: Sequence[Call]) -> Flow[dict[str, Outcome] | None]:
        """Saves the state, and asks. Returns the outcomes by the calls' ids if all are there at once; else None: the
        claim is given up, and the task comes back, to any process, when they are. What Baton refuses of a call is its
        outcome, which isn't good. Raises ``Misused`` for two calls of one id."""
        if len({each.call_id for each in calls}) != len(calls):
            raise Misused("two calls have one id", "an outcome wouldn't know whose it is", "give each its own")
        self.state, self.calls = state, tuple(calls)
        self._known = [*self._known, *self._asked.values()]
        self._outcomes, self._asked = {}, {}
        yield from self._saved()
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

    def _settled(self) -> Flow[dict[str, Outcome] | None]:
        for _ in range(_MOST_LOOKS):
            self._take_results()
            opened = yield from self._open_questions()
            missing = [each for each in self.calls if each.kind == "hand_off" and each.call_id not in self._outcomes]
            if not missing and not opened:
                yield from self._saved()
                return dict(self._outcomes)
            yield from self._saved()
            if missing:
                branches = [{"call_id": _plain(each.call_id), **each.fields} for each in missing]
                body: Any = {"claim_id": self._work.claim_id, "branches": branches}
                try:
                    yield from self._work._ending(operations.delegate(self._work.task_id, body))
                except _OF_THE_CALL as refused:
                    self._refuse(_named(missing, refused), refused)
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
        """What colleagues did; it is in the answer of the claim."""
        waited_for = {_plain(each.call_id): each.call_id for each in self.calls if each.kind == "hand_off"}
        for each in cast("list[dict[str, Any]]", self._work.raw.get("results") or []):
            call_id = waited_for.get(each["call_id"])
            if call_id is not None and call_id not in self._outcomes:
                self._outcomes[call_id] = _done(call_id, each)

    def _open_questions(self) -> Flow[list[str]]:
        """Asks what wasn't asked yet. Returns the ids of those that are open, and keeps what came of the others."""
        wanted = [each for each in self.calls if each.kind != "hand_off" and each.call_id not in self._outcomes]
        opened: list[str] = []
        if not wanted:
            return opened
        there: list[dict[str, Any]] = yield from self._questions()
        found = {each["id"]: each for each in there}
        taken = {*self._known, *self._asked.values()}
        for call in wanted:
            question = found.get(self._asked.get(call.call_id, ""))
            if question is None:  # asked by an attempt that died before it could save the question's id?
                question = next((q for q in there if q["id"] not in taken and call._is_asked_by(q)), None)
            if question is None:
                body: Any = {"claim_id": self._work.claim_id, **call._question}
                try:
                    question = yield from self._work._said(operations.ask_people(self._work.task_id, body))
                except _OF_THE_CALL as refused:
                    self._refuse([call], refused)
                    continue
            asked = question_of(question)
            self._asked[call.call_id] = asked.id
            taken.add(asked.id)
            if asked.is_open:
                opened.append(asked.id)
            else:
                self._outcomes[call.call_id] = _decided(call, asked)
        return opened

    def _refuse(self, calls: Sequence[Call], refused: Refused) -> None:
        for each in calls:
            self._outcomes[each.call_id] = Outcome(each.call_id, each.kind, False, None, f"refused by Baton: {refused}")

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
            "outcomes": {key: asdict(each) for key, each in self._outcomes.items()},
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


def _plain(call_id: str) -> str:
    """Returns the id as a branch may have it: some models' have other characters, or hundreds of them."""
    return call_id if re.fullmatch(r"[A-Za-z0-9_-]{1,64}", call_id) else hashlib.sha256(call_id.encode()).hexdigest()


def _named(branches: Sequence[Call], refused: Refused) -> Sequence[Call]:
    """Returns the branches that the refusal names; all, if it names none."""
    found = [re.match(r"branches\W(\d+)", str(each.get("field"))) for each in refused.errors]
    numbers = {int(each[1]) for each in found if each}
    return [each for number, each in enumerate(branches) if number in numbers] or branches


def _done(call_id: str, result: Mapping[str, Any]) -> Outcome:
    is_good = result["state"] == "done"
    failure = read_object(result, "failure") if result.get("failure") else {}
    why = failure.get("description") or (failure.get("failure") or {}).get("description") or "it doesn't say why"
    said = f"{result['agent'] or 'nobody'}: {result['state']}" + ("" if is_good else f", {why}")
    return Outcome(call_id, "hand_off", is_good, result.get("output"), said)


def _decided(call: Call, question: Question) -> Outcome:
    if question.is_approved:
        digest = str(question.raw.get("approved_digest") or "")
        return Outcome(call.call_id, call.kind, True, question.arguments, "approved", question.id, digest)
    if question.outcome == "answered":
        return Outcome(call.call_id, call.kind, True, question.answer, "answered", question.id)
    words = {"refused": "refused by a person", "expired": "nobody decided in time", "revoked": "taken back by a person"}
    why = f": {question.reason}" if question.reason else ""
    said = words.get(question.outcome, question.outcome) + why
    return Outcome(call.call_id, call.kind, False, None, said, question.id)
