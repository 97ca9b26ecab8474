"""What people are asked: of a task, or all that waits in a workspace."""

from __future__ import annotations

from baton.domain.access.principal import Principal
from baton.domain.questions.approvers import Groups
from baton.domain.questions.question import Outcome, Question
from baton.ports.deps import Deps
from baton.ports.paging import Page
from baton.steps.access.read_rights import ReadRights, readable_task
from baton.steps.filtering import filtered

# To compare an action with: of the same agent and tool.
MAX_EARLIER = 20


def find_question(deps: Deps, by: Principal, task_id: str, question_id: str) -> tuple[Question, list[Question]]:
    """Returns the question. For an action, a human also gets the last ``MAX_EARLIER`` approved questions of the same
    agent and tool, the last approved first. Raises ``Unknown``."""
    readable_task(deps, by, task_id)
    question = deps.store.questions.question(by.workspace, task_id, question_id)
    if question.action is None or not by.is_human:
        return question, []
    tool, limit = question.action.tool, MAX_EARLIER + 1
    found = deps.store.questions.last_approved(by.workspace, question.agent, tool, limit)
    earlier = [each for each in found if each.id != question.id and each.outcome is Outcome.APPROVED]
    return question, sorted(earlier, key=lambda each: each.decisions[-1].at, reverse=True)[:MAX_EARLIER]


def groups_now(deps: Deps, by: Principal) -> Groups:
    """Who is in the groups that questions may be asked of."""
    return deps.store.settings.of(by.workspace).groups


def questions_of_task(deps: Deps, by: Principal, task_id: str, limit: int, cursor: str | None) -> Page:
    """Returns the task's questions, the oldest first. A page may be shorter than ``limit``. Raises ``Unknown``."""
    readable_task(deps, by, task_id)
    return deps.store.questions.page_of_task(by.workspace, task_id, limit, cursor)


def list_open_questions(deps: Deps, by: Principal, limit: int, cursor: str | None) -> Page:
    """Returns those whose tasks the caller may read and whose time isn't over, the oldest first. A page may be shorter
    than ``limit``."""
    rights, now = ReadRights(deps, by), deps.clock.now()
    return filtered(
        lambda size, at: deps.store.questions.open_questions(by.workspace, size, at),
        lambda each: each.expired(now).is_open and bool(rights.readable_among([each.task_id])),
        limit,
        cursor,
    )
