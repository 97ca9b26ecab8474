"""The store of questions to people."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Protocol

from baton.domain.questions.question import Question
from baton.domain.questions.standing_answer import Refusals, StandingAnswer
from baton.ports.paging import Page


class QuestionStore(Protocol):
    """A question whose time is over is told as open until the sweeper has found it: who reads it says what has become
    of it (``Question.expired``)."""

    def question(self, workspace: str, task_id: str, question_id: str) -> Question:
        """Returns the question. One read. Raises ``Unknown``."""

    def of_task(self, workspace: str, task_id: str) -> list[Question]:
        """Returns the task's questions, the oldest first. One read per MB."""

    def some(self, workspace: str, task_id: str, question_ids: Sequence[str]) -> list[Question]:
        """Returns those of these that there are, at most 100. One read."""

    def page_of_task(self, workspace: str, task_id: str, limit: int, cursor: str | None) -> Page:
        """Returns the task's questions, the oldest first, as many as fit into 1 MB. One read."""

    def standing_answers(self, workspace: str, agent: str, tool: str) -> list[StandingAnswer]:
        """Returns those of an agent's tool in any spelling, the oldest first, also those that are over, for a day. One
        read."""

    def last_refusals(self, workspace: str, agent: str, tool: str, digests: Iterable[str]) -> Refusals:
        """Returns those of any action of an agent's tool in any spelling and of these, for 8 days. ``digests``: of
        their values. One read."""

    def all_standing_answers(self, workspace: str, limit: int, cursor: str | None) -> Page:
        """Returns those of a workspace, by agent and tool, also those that are over."""

    def last_approved(self, workspace: str, agent: str, tool: str, limit: int) -> list[Question]:
        """Returns the approved questions about this agent's tool, the last asked first. An approval may have been
        revoked since. Two reads. ``limit`` also counts questions about tools that look like this one."""

    def approved_like(self, workspace: str, agent: str, tool: str) -> frozenset[str]:
        """Returns the names of this agent's tools that look like ``tool`` and were approved lately, itself among them.
        One read."""

    def approved_since(self, workspace: str, first_id: str, limit: int, cursor: str | None) -> Page:
        """Returns the approved questions of all agents and tools, asked since ``first_id``. An approval may have been
        used or revoked since. At most 20 reads, and one more for the questions: a page may be shorter than ``limit``,
        also empty."""

    def open_questions(self, workspace: str, limit: int, cursor: str | None) -> Page:
        """Returns questions that nobody has closed, the oldest first. From an index, which lags, and the items."""
