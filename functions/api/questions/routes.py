"""Asking people in the middle of the work, and their answers."""

from __future__ import annotations

from api.questions import requests, views
from baton.ports.deps import Deps
from baton.services.questions.answer_question import answer_question, use_approval
from baton.services.questions.ask_question import ask_question
from baton.services.questions.list_questions import find_question, list_open_questions, questions_of_task
from baton.services.questions.wait_for_answers import wait_for_answers
from rest import answers, models, pages, routing
from rest.tasks import views as task_views

routes = routing.Routes()


@routes.post("/tasks/{task_id}/ask", body=models.strict(requests.Asking), answers={201: views.QuestionView})
def ask(deps: Deps, call: routing.Call[requests.Asking, None]) -> answers.Answer:
    """Ask people, under a claim, which goes on: a question, or whether an action may be done."""
    _, question_id = ask_question(deps, call.under(call.body.claim_id), call.body.asked())
    question = deps.store.questions.question(call.by.workspace, call.task_id, question_id)
    return answers.created(views.question_view(question, deps.clock.now()))


@routes.get("/questions", query=models.query(models.PageQuery), answers={200: views.QuestionPage})
def list_open(deps: Deps, call: routing.Call[None, models.PageQuery]) -> answers.Answer:
    """Questions that wait for people, the oldest first."""
    page, now = list_open_questions(deps, call.by, call.query.limit, pages.cursor_of(call)), deps.clock.now()
    return answers.ok(pages.listing(call, page, lambda each: views.question_view(each, now)))


@routes.get("/tasks/{task_id}/questions", answers={200: views.QuestionsOfTask})
def list_of_task(deps: Deps, call: routing.Call[None, None]) -> answers.Answer:
    """The task's questions with what people said, the oldest first."""
    now = deps.clock.now()
    found = questions_of_task(deps, call.by, call.task_id)
    return answers.ok({"items": [views.question_view(each, now) for each in found]})


@routes.get("/tasks/{task_id}/questions/{question_id}", answers={200: views.QuestionView})
def get_question(deps: Deps, call: routing.Call[None, None]) -> answers.Answer:
    """One question, with what people said."""
    question = find_question(deps, call.by, call.task_id, call.params["question_id"])
    return answers.ok(views.question_view(question, deps.clock.now()))


@routes.post(
    "/tasks/{task_id}/questions/{question_id}/answer",
    body=models.strict(requests.Answering),
    answers={200: views.QuestionView},
    is_idempotent=False,
)
def answer(deps: Deps, call: routing.Call[requests.Answering, None]) -> answers.Answer:
    """Approve the action, answer the question, or refuse it. For humans; never who asked. The same answer again changes
    nothing."""
    question_id = call.params["question_id"]
    question = answer_question(deps, call.by, call.task_id, question_id, call.body.given())
    return answers.ok(views.question_view(question, deps.clock.now()))


@routes.post(
    "/tasks/{task_id}/questions/{question_id}/use",
    body=models.strict(requests.Using),
    answers={200: views.QuestionView},
)
def use(deps: Deps, call: routing.Call[requests.Using, None]) -> answers.Answer:
    """Begin the action that was approved: exactly once, for exactly those arguments, under the task's claim."""
    worker = call.under(call.body.claim_id)
    question = use_approval(deps, worker, call.params["question_id"], call.body.digest)
    return answers.ok(views.question_view(question, deps.clock.now()))


@routes.post(
    "/tasks/{task_id}/wait-for-answers",
    body=models.strict(requests.Waiting),
    answers={200: task_views.ChangedTask},
)
def wait(deps: Deps, call: routing.Call[requests.Waiting, None]) -> answers.Answer:
    """Give the claim up until people have answered these questions, or their time is over. It costs no attempt; the
    task comes back to its agent with the answers, and its checkpoint."""
    waiting = wait_for_answers(deps, call.under(call.body.claim_id), call.body.questions)
    return answers.ok(task_views.changed_task(deps, waiting))
