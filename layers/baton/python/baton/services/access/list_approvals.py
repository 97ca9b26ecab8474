"""Lists a person's approvals and votes that may still be used."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from baton.domain import errors, times
from baton.domain.access.principal import Principal, PrincipalKind
from baton.domain.access.resting_approval import RestingApproval, RestingKind
from baton.domain.access.rights import Deed
from baton.domain.access.workspace_change import ChangeState
from baton.domain.ids import beginning_at
from baton.domain.questions.approvers import MAX_ANSWER_SECONDS
from baton.domain.questions.question import Outcome, Question
from baton.domain.questions.standing_answer import StandingAnswer
from baton.domain.tasks.task import Task
from baton.ports.deps import Deps
from baton.ports.paging import Page
from baton.steps.access.person_rights import is_given_still, still_may
from baton.steps.questions.standing import is_for_agent

# Pages of all sources that one request reads. Each is one to three calls of the table.
MAX_READS = 20
_CURSOR = re.compile(r"([0-9])#(.*)", re.DOTALL)


def list_approvals(deps: Deps, by: Principal, name: str, limit: int, cursor: str | None) -> Page:
    """Returns a page of the person's approvals, which may be shorter than ``limit``. Raises ``HumanNeeded``,
    ``RightNeeded`` and ``InvalidInput``."""
    by.must_have(Deed.READ_APPROVALS)
    place, after = _parsed(cursor)
    reader, found = _Reader(deps, by.workspace, name, deps.clock.now()), list[RestingApproval]()
    for _ in range(MAX_READS):
        page = reader.sources[place](limit - len(found), after)
        found += page.items
        place, after = (place, page.cursor) if page.cursor is not None else (place + 1, None)
        if place == len(reader.sources):
            return Page(tuple(found), None)
        if len(found) >= limit:
            break
    return Page(tuple(found), f"{place}#{after or ''}")


def _parsed(cursor: str | None) -> tuple[int, str | None]:
    matched = _CURSOR.fullmatch(cursor or "0#")
    if matched is None or int(matched[1]) >= _Reader.SOURCES:
        raise errors.InvalidInput("cursor", "is not one that was given out")
    return int(matched[1]), matched[2] or None


@dataclass(frozen=True, slots=True)
class _Reader:
    """Reads one source after the other; each returns at most a number of items, and often fewer."""

    deps: Deps
    workspace: str
    name: str
    now: datetime

    SOURCES = 8

    @property
    def sources(self) -> tuple[Callable[[int, str | None], Page], ...]:
        own = (self._changes, self._agents, self._tools, self._standing_answers)
        return (*own, self._questions, self._actions, self._handoffs, self._ready_work)

    def _changes(self, limit: int, cursor: str | None) -> Page:
        waiting = (
            (each, each.at if each.by == self._key else each.decided_at)
            for each in self.deps.store.changes.waiting(self.workspace)
            if self._key in {each.by, each.decided_by} and each.state_at(self.now) is not ChangeState.EXPIRED
        )
        kind, deed = RestingKind.CHANGE, Deed.DECIDE_CHANGE
        found = ((each.id, self._given(kind, deed, at, change_id=each.id)) for each, at in waiting)
        return _part(found, limit, cursor)

    def _agents(self, limit: int, cursor: str | None) -> Page:
        standing = ((each.slug, each.standing) for each in self.deps.store.agents.roster(self.workspace))
        return _part(self._stand(RestingKind.AGENT, standing), limit, cursor)

    def _tools(self, limit: int, cursor: str | None) -> Page:
        page = self.deps.store.tools.listed_tools(self.workspace, limit, cursor)
        found = self._stand(RestingKind.TOOL, ((each.name, each.standing) for each in page.items))
        return Page(tuple(each for _, each in found), page.cursor)

    def _standing_answers(self, limit: int, cursor: str | None) -> Page:
        page = self.deps.store.questions.all_standing_answers(self.workspace, limit, cursor)
        own = (each for each in page.items if each.by == self.name and each.allows_something(self.now))
        return Page(tuple(map(self._standing_answer, own)), page.cursor)

    def _standing_answer(self, answer: StandingAnswer) -> RestingApproval:
        kind, deed = RestingKind.STANDING_ANSWER, Deed.DECIDE_ACTION
        about = {"name": answer.agent, "task_id": answer.task_id, "question_id": answer.question_id}
        given = self._given(kind, deed, answer.since, standing_id=answer.id, **about)
        return replace(given, counts=given.counts and is_for_agent(self.deps, answer))

    def _questions(self, limit: int, cursor: str | None) -> Page:
        page = self.deps.store.questions.open_questions(self.workspace, limit, cursor)
        is_open = (each for each in page.items if each.expired(self.now).is_open)
        return Page(tuple(self._votes(RestingKind.QUESTION, is_open)), page.cursor)

    def _actions(self, limit: int, cursor: str | None) -> Page:
        """Nothing that was asked earlier than a question lasts can be used any more."""
        first = beginning_at("qst", self.now - times.seconds(MAX_ANSWER_SECONDS))
        page = self.deps.store.questions.approved_since(self.workspace, first, limit, cursor)
        unused = [each for each in page.items if self._is_usable(each)]
        tasks = self.deps.store.tasks.many(self.workspace, sorted({each.task_id for each in unused}))
        live = (each for each in unused if each.task_id in tasks and not tasks[each.task_id].is_ended)
        return Page(tuple(self._votes(RestingKind.ACTION, live)), page.cursor)

    def _is_usable(self, question: Question) -> bool:
        is_approved = question.outcome is Outcome.APPROVED and question.used_at is None
        return is_approved and self.now < question.until

    def _votes(self, kind: RestingKind, questions: Iterable[Question]) -> Iterable[RestingApproval]:
        for each in questions:
            voted = next((vote for vote in each.decisions if vote.by == self.name), None)
            if voted is not None:
                yield self._given(
                    *(kind, each.deed, voted.at), name=each.agent, task_id=each.task_id, question_id=each.id
                )

    def _handoffs(self, limit: int, cursor: str | None) -> Page:
        page = self.deps.store.queues.needs(self.workspace, limit, cursor)
        votes = ((task, each) for task in page.items if task.approval for each in task.approval.given)
        own = (self._task(RestingKind.HANDOFF, task, each.at) for task, each in votes if each.by == self.name)
        return Page(tuple(own), page.cursor)

    def _ready_work(self, limit: int, cursor: str | None) -> Page:
        guards = self.deps.store.agents.guards(self.workspace)
        if guards.are_none:
            return Page((), None)
        page = self.deps.store.queues.queued(self.workspace, guards.guarded(), limit, cursor)
        named = [each.task_id for each in page.items if any(given.by == self.name for given in each.approved_by)]
        tasks = self.deps.store.tasks.many(self.workspace, named).values()
        votes = ((task, each) for task in tasks if task.claim is None for each in task.ok_by)
        own = (self._task(RestingKind.READY_WORK, task, each.at) for task, each in votes if each.by == self.name)
        return Page(tuple(own), page.cursor)

    def _task(self, kind: RestingKind, task: Task, at: datetime | None) -> RestingApproval:
        return self._given(kind, Deed.APPROVE, at, name=task.target_agent, task_id=task.id)

    def _given(self, kind: RestingKind, deed: Deed, at: datetime | None, **about: str | None) -> RestingApproval:
        counts = still_may(self.deps, self.workspace, self.name, deed, at)
        return RestingApproval(kind=kind, at=at, counts=counts, **about)

    def _stand(
        self, kind: RestingKind, standing: Iterable[tuple[str, dict[str, Any] | None]]
    ) -> Iterable[tuple[str, RestingApproval]]:
        for name, each in standing:
            if each is not None and each["given_by"] == self._key:
                at = times.parse_rfc3339(each["given_at"]) if "given_at" in each else None
                counts = is_given_still(self.deps, self.workspace, each)
                yield name, RestingApproval(kind=kind, at=at, counts=counts, name=name)

    @property
    def _key(self) -> str:
        return f"{PrincipalKind.HUMAN}:{self.name}"


def _part(found: Iterable[tuple[str, RestingApproval]], limit: int, cursor: str | None) -> Page:
    """Returns the items after the cursor, by their keys."""
    left = sorted((each for each in found if each[0] > (cursor or "")), key=lambda each: each[0])
    shown = left[:limit]
    return Page(tuple(each for _, each in shown), shown[-1][0] if len(left) > limit else None)
