"""The store's questions to people: in the partition of their task, and while they are open in the queue index."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from baton.adapters.dynamodb import keys
from baton.adapters.dynamodb.item_writes import Item
from baton.adapters.dynamodb.questions.question_items import (
    last_refusal_from,
    question_from,
    standing_answer_from,
)
from baton.adapters.dynamodb.table import Table
from baton.domain import errors, times
from baton.domain.questions.question import MAX_OF_TASK, Question
from baton.domain.questions.standing_answer import LastRefusal, Refusals, StandingAnswer
from baton.ports.paging import Page

# Of one agent and tool, those that are over included, which the table deletes later.
MOST = 1_000
# Approvals among which the tools that look alike are sought.
MOST_ALIKE = 50
# Agents' tools with earlier approvals that one page passes over.
MOST_JUMPS = 20


class Questions:
    def __init__(self, table: Table) -> None:
        self._table = table

    def question(self, workspace: str, task_id: str, question_id: str) -> Question:
        item = self._table.get(keys.question(workspace, task_id, question_id))
        if item is None:
            raise errors.Unknown("question")
        return question_from(item)

    def of_task(self, workspace: str, task_id: str) -> list[Question]:
        first, last = keys.QUESTIONS
        found = self._table.query(keys.task(workspace, task_id), MAX_OF_TASK, first=first, last=last)
        return [question_from(item) for item in found]

    def some(self, workspace: str, task_id: str, question_ids: Sequence[str]) -> list[Question]:
        found = self._table.get_many([keys.question(workspace, task_id, each) for each in question_ids])
        return [question_from(item) for item in found.values()]

    def page_of_task(self, workspace: str, task_id: str, limit: int, cursor: str | None) -> Page:
        first, last = keys.QUESTIONS
        after = keys.question(workspace, task_id, cursor).sk if cursor else first
        found, has_more = self._table.query_page(keys.task(workspace, task_id), limit, after=after, last=last)
        questions = tuple(question_from(item) for item in found)
        return Page(questions, questions[-1].id if has_more and questions else None)

    def standing_answers(self, workspace: str, agent: str, tool: str) -> list[StandingAnswer]:
        first, last = keys.standing_answers_of(agent, tool)
        partition = keys.standing_answers(workspace)
        return [standing_answer_from(item) for item in self._table.query(partition, MOST, first=first, last=last)]

    def last_refusals(self, workspace: str, agent: str, tool: str, digests: Iterable[str]) -> Refusals:
        known: dict[str | None, LastRefusal] = {
            digest: LastRefusal(agent=agent, tool=tool, changed_at=times.EPOCH, digest=digest)
            for digest in (None, *digests)
        }
        wanted = {keys.last_refusal(workspace, each): digest for digest, each in known.items()}
        found = {wanted[key]: last_refusal_from(item) for key, item in self._table.get_many(list(wanted)).items()}
        return Refusals({**known, **found})

    def all_standing_answers(self, workspace: str, limit: int, cursor: str | None) -> Page:
        found = self._table.query(keys.standing_answers(workspace), limit, after=cursor)
        following = found[-1]["sk"] if len(found) == limit else None
        return Page(tuple(standing_answer_from(item) for item in found), following)

    def last_approved(self, workspace: str, agent: str, tool: str, limit: int) -> list[Question]:
        named = [each for each in self._last_approvals(workspace, agent, tool, limit) if each["tool"] == tool]
        wanted = dict.fromkeys(keys.question(workspace, each["task_id"], each["question_id"]) for each in named)
        items = self._table.get_many(list(wanted))
        return [question_from(items[key]) for key in wanted if key in items]

    def approved_like(self, workspace: str, agent: str, tool: str) -> frozenset[str]:
        return frozenset(str(each["tool"]) for each in self._last_approvals(workspace, agent, tool, MOST_ALIKE))

    def _last_approvals(self, workspace: str, agent: str, tool: str, limit: int) -> list[Item]:
        first, last = keys.last_approvals_of(agent, tool)
        return self._table.query(keys.last_approvals(workspace), limit, newest_first=True, first=first, last=last)

    def approved_since(self, workspace: str, first_id: str, limit: int, cursor: str | None) -> Page:
        """The partition is in the order of agents and tools, then of questions: earlier questions are jumped over."""
        wanted: list[keys.Key] = []
        for _ in range(MOST_JUMPS):
            size = limit - len(wanted)
            found = self._table.query(keys.last_approvals(workspace), size, after=cursor)
            for each in found:
                cursor = each["sk"]
                if each["question_id"] < first_id:
                    cursor = keys.before_last_approval(cursor, first_id)
                    break
                wanted.append(keys.question(workspace, each["task_id"], each["question_id"]))
            else:
                if len(found) < size:
                    cursor = None
            if cursor is None or len(wanted) == limit:
                break
        items = self._table.get_many(list(dict.fromkeys(wanted)))
        return Page(tuple(map(question_from, items.values())), cursor)

    def open_questions(self, workspace: str, limit: int, cursor: str | None) -> Page:
        partition = keys.open_questions(workspace)
        found = self._table.query(partition, limit, index=keys.QUEUE_INDEX, after=cursor or keys.EARLIEST)
        wanted = [
            keys.question(workspace, task_id, question_id)
            for question_id, task_id in (keys.parse_question(entry["queue_sk"]) for entry in found)
        ]
        items = self._table.get_many(wanted)
        questions = (question_from(items[key]) for key in wanted if key in items)
        following = found[-1]["queue_sk"] if len(found) == limit else None
        return Page(tuple(each for each in questions if each.is_open), following)
