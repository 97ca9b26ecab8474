"""The store's questions to people: in the partition of their task, and while they are open in the queue index."""

from __future__ import annotations

from baton.adapters.dynamodb import keys
from baton.adapters.dynamodb.questions.question_items import question_from
from baton.adapters.dynamodb.table import Table
from baton.domain import errors
from baton.domain.questions.question import MAX_OF_TASK, Question
from baton.ports.paging import Page


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
