"""Finding and reading tasks."""

from __future__ import annotations

from functools import partial
from typing import Annotated

from pydantic import StringConstraints

from api.tasks import views
from baton.domain import errors
from baton.domain.rights.read_rights import may_see_rules
from baton.domain.task_state import State
from baton.domain.tasks.check_cursor import MAX_CURSOR
from baton.ports.deps import Deps
from baton.services.runs.list_model_calls import list_model_calls
from baton.services.tasks.await_task import EventRange, wait_for_events
from baton.services.tasks.list_held_back import list_held_back
from baton.services.tasks.list_notes import late_results_of_task, notes_of_task
from baton.services.tasks.list_tasks import TaskFilter, find_tasks
from baton.services.tasks.read_task import read_stamp, read_task, stamp_of
from baton.services.tasks.verify_trail import verify_trail
from baton.steps.questions.handoff_rules import rules_stamp
from rest import answers, etags, models, pages, routing
from rest.tasks import trail_views
from rest.tasks import views as task_views

routes = routing.Routes()


class TaskQuery(models.PageQuery):
    """By target agent, or by day of creation (UTC, today if neither is given). ``state``: only these; ``needs`` alone
    is the approval queue. ``held``: only ready work that approval rules hold back from an agent, nothing for a reader
    who may not read rules; can't be combined with the others."""

    agent: models.Slug | None = None
    day: models.Day | None = None
    state: frozenset[State] = frozenset()
    held: bool = False


class EventQuery(models.Query):
    after: models.EventNumber = 0
    limit: models.Limit = 25


@routes.get("/tasks", query=models.query(TaskQuery, "state"), answers={200: task_views.TaskPage}, made_of_tasks=True)
def list_tasks(deps: Deps, call: routing.Call[None, TaskQuery]) -> answers.Answer:
    """Tasks of an agent or of a day, newest first; with only `state=needs`, those for a human, most urgent first.

    A page may hold fewer than `limit` items, even none, and still have a `next_cursor`: continue until it is null.
    """
    options = call.query
    if options.held:
        if options.agent or options.day or options.state:
            raise errors.InvalidInput("held", "can't be combined with agent, day or state")
        page = list_held_back(deps, call.by, options.limit, pages.cursor_of(call))
        return answers.ok(pages.listing(call, page, partial(task_views.listed_task, deps, call.by)))
    filters = TaskFilter(agent=options.agent, day=options.day, states=options.state)
    page = find_tasks(deps, call.by, filters, options.limit, pages.cursor_of(call))
    return answers.ok(pages.listing(call, page, partial(task_views.listed_task, deps, call.by)))


def tag_of_task(deps: Deps, call: routing.Call[None, None]) -> str:
    """Reads what changes of a task, however much it holds."""
    rules = rules_stamp(deps, call.by.workspace)
    return etags.tag_of(call.by, deps.release, deps.public_url, read_stamp(deps, call.by, call.task_id), rules)


@routes.get("/tasks/{task_id}", answers={200: task_views.WholeTask}, tag=tag_of_task, page="/tasks/{task_id}")
def get_task(deps: Deps, call: routing.Call[None, None]) -> answers.Answer:
    """One task with its output, failure and recoveries, its input and its usage."""
    details, usage = read_task(deps, call.by, call.task_id)
    stamp = stamp_of(details.task, details.page_sync, usage)
    tag = etags.tag_of(call.by, deps.release, deps.public_url, stamp, rules_stamp(deps, call.by.workspace))
    return answers.ok(task_views.whole_task(deps, call.by, details, usage), tag=tag)


@routes.get("/tasks/{task_id}/events", query=models.query(EventQuery), answers={200: trail_views.Trail})
def list_events(deps: Deps, call: routing.Call[None, EventQuery]) -> answers.Answer:
    """The task's audit trail, oldest first, from the entry after `after` on."""
    after = call.query.after
    return answers.ok(
        trail_views.trail_view(
            wait_for_events(deps, call.by, call.task_id, EventRange(after, call.query.limit), 0),
            after,
            with_rules=may_see_rules(call.by),
        )
    )


class VerifyQuery(models.Query):
    """``cursor``: the ``next_cursor`` of the answer before."""

    cursor: Annotated[str, StringConstraints(pattern="^[A-Za-z0-9_-]+$", max_length=MAX_CURSOR)] | None = None


@routes.get("/tasks/{task_id}/events/verify", query=models.query(VerifyQuery), answers={200: views.TrailVerdict})
def verify_events(deps: Deps, call: routing.Call[None, VerifyQuery]) -> answers.Answer:
    """Whether the task's audit trail is complete and unaltered, and agrees with the task as it is.

    `tools/admin/verify_trail.py` checks an exported trail in the same way, without Baton.
    """
    return answers.ok(views.trail_verdict(verify_trail(deps, call.by, call.task_id, call.query.cursor)))


@routes.get(
    "/tasks/{task_id}/late-results", query=models.query(models.PageQuery), answers={200: trail_views.LateResults}
)
def list_late_results(deps: Deps, call: routing.Call[None, models.PageQuery]) -> answers.Answer:
    """Results that workers sent after their claim was over: refused, and kept once per claim; by the claim's fence."""
    page = late_results_of_task(deps, call.by, call.task_id, call.query.limit, pages.cursor_of(call))
    return answers.ok(pages.fitting(call, page, lambda result: str(result.claim_fence), trail_views.late_result_view))


@routes.get("/tasks/{task_id}/notes", query=models.query(models.PageQuery), answers={200: trail_views.NotePage})
def list_notes_of_task(deps: Deps, call: routing.Call[None, models.PageQuery]) -> answers.Answer:
    """Notes of its workers, and the requests that were prevented as its duplicates, newest first."""
    page = notes_of_task(deps, call.by, call.task_id, call.query.limit, pages.cursor_of(call))
    return answers.ok(pages.fitting(call, page, lambda note: note.id, trail_views.note_view))


@routes.get("/tasks/{task_id}/model-calls", query=models.query(models.PageQuery), answers={200: views.ModelCalls})
def list_task_model_calls(deps: Deps, call: routing.Call[None, models.PageQuery]) -> answers.Answer:
    """The replies of a model to a task that Baton runs, with the time and the tokens of each, oldest first.

    A page may hold fewer than `limit` items, even none, and still have a `next_cursor`: continue until it is null. A
    call that was begun and has no reply counts for the task's usage, and isn't in the list.
    """
    page = list_model_calls(deps, call.by, call.task_id, call.query.limit, pages.cursor_of(call))
    return answers.ok(pages.listing(call, page, views.model_call_view))
