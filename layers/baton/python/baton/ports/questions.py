"""The store of questions to people."""

from __future__ import annotations

from typing import Protocol

from baton.domain.questions.question import Question
from baton.ports.paging import Page


class QuestionStore(Protocol):
    """An expired question is told as it was stored: who reads it says what has become of it (``Question.expired``)."""

    def question(self, workspace: str, task_id: str, question_id: str) -> Question:
        """Returns the question. One read. Raises ``Unknown``."""

    def of_task(self, workspace: str, task_id: str) -> list[Question]:
        """Returns the task's questions, the oldest first. One read per MB."""

    def open_questions(self, workspace: str, limit: int, cursor: str | None) -> Page:
        """Returns questions that nobody has closed, the oldest first. From an index, which lags, and the items."""
