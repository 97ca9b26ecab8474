"""Asking people in the middle of the work, and their answers."""

from __future__ import annotations

from api.questions import requests, views
from baton.domain.access.principal import Principal
from baton.domain.access.rights import Deed
from baton.domain.questions.question import Question
from baton.domain.questions.standing_answer import StandingAnswer
from baton.domain.rights.read_rights import may_see_rules
from baton.ports.deps import Deps
from baton.services.questions.answer_question import answer_question, revoke_approval, use_approval
from baton.services.questions.ask_question import ask_question
from baton.services.questions.list_questions import find_question, groups_now, list_open_questions, questions_of_task
from baton.services.questions.standing_answers import list_standing_answers, revoke_standing_answer
from baton.services.questions.wait_for_answers import wait_for_answers
from baton.steps.questions.standing import is_for_agent
from rest import answers, models, pages, routing
from rest.tasks import views as task_views

routes = routing.Routes()


@routes.post("/tasks/{task_id}/ask", body=models.strict(requests.Asking), answers={201: views.QuestionView})
def ask_people(deps: Deps, call: routing.Call[requests.Asking, None]) -> answers.Answer:
    """Ask people, under a claim, which goes on: a question, or whether an action may be done."""
    question = ask_question(deps, call.under(call.body.claim_id), call.body.asked())
    return answers.created(_shown(deps, call.by, question))


@routes.get("/questions", query=models.query(models.PageQuery), answers={200: views.QuestionPage})
def list_questions(deps: Deps, call: routing.Call[None, models.PageQuery]) -> answers.Answer:
    """Questions that wait for people, the oldest first."""
    page = list_open_questions(deps, call.by, call.query.limit, pages.cursor_of(call))
    return answers.ok(pages.listing(call, page, lambda each: views.in_a_list(_shown(deps, call.by, each))))


@routes.get("/tasks/{task_id}/questions", query=models.query(models.PageQuery), answers={200: views.QuestionPage})
def list_task_questions(deps: Deps, call: routing.Call[None, models.PageQuery]) -> answers.Answer:
    """The task's questions with what people said, the oldest first."""
    page = questions_of_task(deps, call.by, call.task_id, call.query.limit, pages.cursor_of(call))
    return answers.ok(pages.listing(call, page, lambda each: _shown(deps, call.by, each)))


@routes.get(
    "/tasks/{task_id}/questions/{question_id}",
    answers={200: views.WholeQuestion},
    page="/approvals?question={question_id}&of={task_id}",
)
def get_question(deps: Deps, call: routing.Call[None, None]) -> answers.Answer:
    """One question with people's answers and, for comparison, the last approvals of its tool."""
    question, found = find_question(deps, call.by, call.task_id, call.params["question_id"])
    earlier = views.earlier_views(found)
    return answers.ok({**_shown(deps, call.by, question), "before": next(iter(earlier), None), "earlier": earlier})


@routes.post(
    "/tasks/{task_id}/questions/{question_id}/answer",
    body=models.strict(requests.Answering),
    answers={200: views.QuestionView},
    only=routing.human(Deed.ANSWER),
    is_idempotent=False,
)
def give_answer(deps: Deps, call: routing.Call[requests.Answering, None]) -> answers.Answer:
    """Approve the action, answer the question, or refuse it; never by who asked. The same answer again changes nothing.

    409 `agent_changed` for an answer with `standing`: a service or a member has changed the agent since it asked."""
    question_id = call.params["question_id"]
    question = answer_question(deps, call.by, call.task_id, question_id, call.body.given())
    return answers.ok(_shown(deps, call.by, question))


@routes.post(
    "/tasks/{task_id}/questions/{question_id}/revoke",
    body=models.strict(requests.Revoking),
    answers={200: views.QuestionView},
    only=routing.human(Deed.REVOKE_APPROVAL),
    is_idempotent=False,
)
def revoke_an_approval(deps: Deps, call: routing.Call[requests.Revoking, None]) -> answers.Answer:
    """Take the approval of an action back, before it is used. Again, it changes nothing."""
    question = revoke_approval(deps, call.by, call.task_id, call.params["question_id"], call.body.reason)
    return answers.ok(_shown(deps, call.by, question))


@routes.get(
    "/standing-answers",
    query=models.query(models.PageQuery),
    answers={200: views.StandingAnswerPage},
    only=routing.human(Deed.LIST_STANDING_ANSWERS),
)
def list_standing(deps: Deps, call: routing.Call[None, models.PageQuery]) -> answers.Answer:
    """Standing answers that allow something, by agent and tool: also what is used up and wasn't begun."""
    page = list_standing_answers(deps, call.by, call.query.limit, pages.cursor_of(call))
    return answers.ok(pages.listing(call, page, lambda each: _standing(deps, each)))


@routes.delete(
    "/standing-answers/{standing_id}",
    answers={200: views.StandingAnswerView},
    only=routing.human(Deed.REVOKE_STANDING_ANSWER),
)
def revoke_standing(deps: Deps, call: routing.Call[None, None]) -> answers.Answer:
    """Revoke a standing answer at once: also what it has approved and wasn't begun. Again, it changes nothing."""
    revoked = revoke_standing_answer(deps, call.by, call.params["standing_id"])
    return answers.ok(_standing(deps, revoked))


@routes.post(
    "/tasks/{task_id}/questions/{question_id}/use",
    body=models.strict(requests.Using),
    answers={200: views.QuestionView},
)
def use_an_approval(deps: Deps, call: routing.Call[requests.Using, None]) -> answers.Answer:
    """Begin the action that was approved: exactly once, for exactly those arguments, under the task's claim.

    Do the `tool` with the `approved_arguments` of this answer, and nothing else. Make a new random `Idempotency-Key`
    for each execution, and keep it in memory. Repeat the key only to receive an answer that was lost. Each repeat gets
    the first answer again, so a key that another process can repeat allows the action twice."""
    worker = call.under(call.body.claim_id)
    question = use_approval(deps, worker, call.params["question_id"], call.body.digest)
    return answers.ok(_shown(deps, call.by, question))


@routes.post(
    "/tasks/{task_id}/wait-for-answers",
    body=models.strict(requests.Waiting),
    answers={200: task_views.ChangedTask},
)
def wait_answers(deps: Deps, call: routing.Call[requests.Waiting, None]) -> answers.Answer:
    """Give the claim up until people have answered these questions, or their time is over. It costs no attempt; the
    task comes back to its agent with the answers, and its checkpoint."""
    waiting = wait_for_answers(deps, call.under(call.body.claim_id), call.body.questions)
    return answers.ok(task_views.changed_task(deps, call.by, waiting))


def _standing(deps: Deps, answer: StandingAnswer) -> views.StandingAnswerView:
    return views.standing_answer_view(answer, is_suspended=not is_for_agent(deps, answer))


def _shown(deps: Deps, by: Principal, question: Question) -> views.QuestionView:
    return views.question_view(question, deps.clock.now(), groups_now(deps, by), with_rules=may_see_rules(by))
