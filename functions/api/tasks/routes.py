"""Finding and reading tasks."""

from __future__ import annotations

from api.tasks.views import TrailVerdict, trail_verdict
from baton.domain.tasks.task import State
from baton.ports.deps import Deps
from baton.ports.details import TaskDetails
from baton.services.tasks.await_task import EventRange, wait_for_events
from baton.services.tasks.list_notes import late_results_of_task, notes_of_task
from baton.services.tasks.list_tasks import TaskFilter, find_tasks
from baton.services.tasks.read_task import read_task
from baton.services.tasks.verify_trail import verify_trail
from rest.answers import Answer, ok
from rest.models import Day, EventNumber, Limit, PageQuery, Query, Slug, query
from rest.pages import cursor_of, fitting, listing
from rest.routing import Call, Routes
from rest.tasks.trail_views import LateResults, NotePage, Trail, late_result_view, note_view, trail
from rest.tasks.views import ListedTask, TaskPage, WholeTask, listed_task, whole_task

routes = Routes()


class TaskQuery(PageQuery):
    """By target agent, or by day of creation (UTC, today if neither is given). ``state``: only these; ``needs`` alone
    is the approval queue."""

    agent: Slug | None = None
    day: Day | None = None
    state: frozenset[State] = frozenset()


class EventQuery(Query):
    after: EventNumber = 0
    limit: Limit = 25


@routes.get("/tasks", query=query(TaskQuery, "state"), answers={200: TaskPage})
def list_tasks(deps: Deps, call: Call[None, TaskQuery]) -> Answer:
    """Tasks of an agent or of a day, newest first; with only `state=needs`, those for a human, most urgent first.

    A page may hold fewer than `limit` items, even none, and still have a `next_cursor`: continue until it is null.
    """
    options = call.query
    filters = TaskFilter(agent=options.agent, day=options.day, states=options.state)
    page = find_tasks(deps, call.by, filters, options.limit, cursor_of(call))

    def view(details: TaskDetails) -> ListedTask:
        return listed_task(deps, details)

    return ok(listing(call, page, view))


@routes.get("/tasks/{task_id}", answers={200: WholeTask})
def get_task(deps: Deps, call: Call[None, None]) -> Answer:
    """One task with its output, failure and recoveries, its input and its usage."""
    details, usage = read_task(deps, call.by, call.task_id)
    return ok(whole_task(deps, details, usage))


@routes.get("/tasks/{task_id}/events", query=query(EventQuery), answers={200: Trail})
def list_events(deps: Deps, call: Call[None, EventQuery]) -> Answer:
    """The task's audit trail, oldest first, from the entry after `after` on."""
    after = call.query.after
    return ok(trail(wait_for_events(deps, call.by, call.task_id, EventRange(after, call.query.limit), 0), after))


@routes.get("/tasks/{task_id}/events/verify", answers={200: TrailVerdict})
def verify_events(deps: Deps, call: Call[None, None]) -> Answer:
    """Whether the task's audit trail is complete and unaltered, and agrees with the task as it is.

    `scripts/verify_trail.py` checks an exported trail in the same way, without Baton.
    """
    return ok(trail_verdict(verify_trail(deps, call.by, call.task_id)))


@routes.get("/tasks/{task_id}/late-results", query=query(PageQuery), answers={200: LateResults})
def list_late_results(deps: Deps, call: Call[None, PageQuery]) -> Answer:
    """Results that workers sent after their claim was over: refused, and kept once per claim; by the claim's fence."""
    page = late_results_of_task(deps, call.by, call.task_id, call.query.limit, cursor_of(call))
    return ok(fitting(call, page, lambda result: str(result.claim_fence), late_result_view))


@routes.get("/tasks/{task_id}/notes", query=query(PageQuery), answers={200: NotePage})
def list_notes_of_task(deps: Deps, call: Call[None, PageQuery]) -> Answer:
    """Notes of its workers, and the requests that were prevented as its duplicates, newest first."""
    page = notes_of_task(deps, call.by, call.task_id, call.query.limit, cursor_of(call))
    return ok(fitting(call, page, lambda note: note.id, note_view))
