"""What a program says to Baton, written once: each verb is a flow, and what it is called on plays it, at once for
threads (``Threads``) or as a coroutine for tasks (``Tasks``)."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, Concatenate, Generic, Literal, ParamSpec, TypeVar, cast, overload

from baton_client import core, operations
from baton_client.core import Flow, Listen, Patience, Request
from baton_client.errors import Unreadable
from baton_client.polls import LongPoll

if TYPE_CHECKING:
    from baton_client import types as t

P = ParamSpec("P")
T = TypeVar("T")
V = TypeVar("V")
ENDED = frozenset({"done", "failed", "rejected", "cancelled"})
# A ring may be lost: so often is looked anyway.
LOOK_SECONDS = 300.0
Priority = Literal["P0", "P1", "P2"]


class Threads:
    def _played(self, flow: Flow[T]) -> T:
        raise NotImplementedError


class Tasks:
    async def _played(self, flow: Flow[T]) -> T:
        raise NotImplementedError


class verb(Generic[P, T]):  # noqa: N801 - a decorator
    """Makes a method of a flow: one that returns its result on ``Threads``, and one to be awaited on ``Tasks``."""

    def __init__(self, flow: Callable[Concatenate[Any, P], Flow[T]]) -> None:
        self.flow = flow
        self.__doc__ = flow.__doc__

    @overload
    def __get__(self, at: Threads, owner: type | None = None) -> Callable[P, T]: ...
    @overload
    def __get__(self, at: Tasks, owner: type | None = None) -> Callable[P, Coroutine[Any, Any, T]]: ...
    @overload
    def __get__(self, at: None, owner: type | None = None) -> verb[P, T]: ...
    def __get__(self, at: Any, owner: type | None = None) -> Any:
        return self if at is None else partial(_play, self.flow, at)


def _play(flow: Callable[..., Flow[Any]], at: Any, *args: Any, **more: Any) -> Any:
    return at._played(flow(at, *args, **more))


@dataclass(frozen=True, slots=True)
class Task:
    """A task as it was when it was read. ``failure`` is None unless it has failed. ``raw``: all that the API said."""

    id: str
    state: str
    title: str
    output: Any
    failure: Mapping[str, Any] | None
    url: str
    raw: Mapping[str, Any]

    @property
    def has_ended(self) -> bool:
        return self.state in ENDED

    @property
    def is_done(self) -> bool:
        return self.state == "done"


@dataclass(frozen=True, slots=True)
class Question:
    """What people have said so far. ``answer``: of a text, a choice or a form. ``arguments``: of an action, as they
    were approved, which need not be those that were asked for. ``reason``: of the last decision."""

    id: str
    outcome: str
    answer: Any
    arguments: Mapping[str, Any] | None
    reason: str | None
    raw: Mapping[str, Any]

    @property
    def is_open(self) -> bool:
        return self.outcome == "open"

    @property
    def is_approved(self) -> bool:
        return self.outcome == "approved"


class BatonVerbs:
    """The verbs of a client. ``agent``: who hands off, and whose work is claimed, if the call doesn't say."""

    url: str
    agent: str
    patience: Patience

    @verb
    def send(self, request: Request[V], *, seconds: float = core.TIMEOUT_SECONDS) -> Flow[V]:
        """Returns the answer to any operation (``baton_client.operations``)."""
        return core.call(request, self.patience, seconds)

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
        agent: str | None = None,
        key: str | None = None,
        **more: Any,
    ) -> Flow[Task]:
        """Gives work to another agent, and returns its task. ``to``: None for open work, or with ``work_type`` for whom
        the routes name. ``variables``: what the receiver is given. ``criteria``: what its completion has to report on.
        ``agent``: who hands off; by default the profile's agent, or else the token's principal. ``more``: other fields
        of ``HandoffRequest``, as they are."""
        body = handoff_request(agent or self.agent, to, reason, more, variables, criteria, priority)
        return handed_off(self.patience, body, key)

    @verb
    def escalate(
        self, /, to: str, reason: str, *, digest_url: str, priority: str = "high", key: str | None = None, **more: Any
    ) -> Flow[t.MarkerView]:
        """Asks another agent for help. The answer's ``handoff_block`` is to be pasted where the request came from."""
        body: Any = {"source_agent": self.agent, "target_agent": to, "escalation_reason": reason}
        body |= {"source_digest_url": digest_url, "task_priority": priority, **more}
        return core.call(operations.create_marker(body, key=key), self.patience)

    @verb
    def wait(self, task: Task | str, *, seconds: float | None = None, until: str = "ended") -> Flow[Task]:
        """Returns the task once it has ended, or is in the state ``until``; after so many seconds as it is then. An
        outage ends no wait before its seconds are over."""
        return waited(self.patience, task if isinstance(task, str) else task.id, until, seconds)

    @verb
    def remember(
        self, /, summary: str, *, kind: str = "finding", scope: str = "project", key: str | None = None, **more: Any
    ) -> Flow[t.WholeEntryView]:
        """Posts an entry for all others. ``kind``: its type. ``more``: ``detail``, ``tags``, ``rationale`` …"""
        body: Any = {"entry_type": kind, "summary": summary, "scope": scope, **more}
        return core.call(operations.create_entry(body, key=key), self.patience)

    @verb
    def recall(
        self, words: str, *, scope: str | None = None, kinds: Sequence[str] = (), limit: int | None = None
    ) -> Flow[list[t.RecalledView]]:
        """Returns the entries that fit the words best."""
        request = operations.recall_entries(q=words, scope=scope, entry_type=list(kinds) or None, limit=limit)
        return (yield from core.call(request, self.patience))["items"]


def handoff_request(
    source: str,
    to: str | None,
    reason: str,
    more: Mapping[str, Any],
    variables: Mapping[str, Any] | None,
    criteria: Sequence[str],
    priority: Priority | None,
) -> t.HandoffRequest:
    own = {"source": {"agent": source}} if source else {}  # else the token's principal
    body: Any = {**own, "target": {"agent": to, "reason": reason}, **more}
    if variables is not None:
        body["context"] = {**more.get("context", {}), "variables": dict(variables)}
    if criteria:
        wanted = {"type": "result", "description": reason, "acceptance_criteria": list(criteria)}
        body["expectations"] = {"deliverables": [wanted]}
    if priority:
        body["metadata"] = {**more.get("metadata", {}), "priority": priority}
    return body  # type: ignore[no-any-return]


def handed_off(patience: Patience, body: t.HandoffRequest, key: str | None) -> Flow[Task]:
    answer = yield from core.call(operations.create_a_handoff(body, key=key), patience)
    return task_of(read_object(answer, "task"))


def waited(patience: Patience, task_id: str, until: Any, seconds: float | None) -> Flow[Task]:
    look = operations.await_a_task(task_id, state=until, timeout=0)
    polls, left = LongPoll(patience), float("inf") if seconds is None else seconds
    answer, took = yield from core.timed_call(look, patience.lasting(left))
    left -= took
    while read(answer, "timed_out", bool) and left > 0:
        heard = yield Listen(f"task:{task_id}", min(left, LOOK_SECONDS))
        left -= heard.took
        if heard.status:
            answer, took = yield from core.timed_call(look, patience.lasting(left))
            left -= took
        elif left > 0:
            poll = min(left, core.POLL_SECONDS)
            answer, took = yield from polls.wait(
                operations.await_a_task(task_id, state=until, timeout=round(poll, 2)), look, poll, left
            )
            left -= took
    return task_of(answer)


def task_of(answer: Mapping[str, Any]) -> Task:
    failure: Any = answer.get("failure")
    return Task(
        read(answer, "id", str),
        read(answer, "state", str),
        read(answer, "title", str),
        answer.get("output"),
        cast("dict[str, Any]", failure) if isinstance(failure, dict) else None,
        str(answer.get("url") or ""),
        answer,
    )


def question_of(answer: Mapping[str, Any]) -> Question:
    outcome, decisions = read(answer, "outcome", str), cast("list[dict[str, Any]]", read(answer, "decisions", list))
    last = decisions[-1] if decisions and outcome != "open" else dict[str, Any]()
    approved = answer.get("approved_arguments")
    return Question(read(answer, "id", str), outcome, last.get("answer"), approved, last.get("reason"), answer)


def read(answer: Mapping[str, Any], name: str, kind: type[V]) -> V:
    """Returns a field of an answer. Raises ``Unreadable`` if it isn't of this kind."""
    found = answer.get(name)
    if not isinstance(found, kind):
        raise Unreadable("the answer isn't as Baton's are", f"{name} is no {kind.__name__}")
    return found


def read_object(answer: Mapping[str, Any], name: str) -> dict[str, Any]:
    return cast("dict[str, Any]", read(answer, name, dict))
