"""Searching the tasks of all days."""

from __future__ import annotations

from functools import partial
from typing import Annotated

from pydantic import AfterValidator, StringConstraints
from typing_extensions import TypedDict

from baton.domain import times
from baton.domain.priority import Priority
from baton.domain.task_state import State
from baton.domain.tasks.task import Kind
from baton.domain.tasks.task_search import TaskSearch
from baton.ports.deps import Deps
from baton.services.tasks.search_tasks import search_tasks
from rest import answers, models, pages, routing
from rest.tasks import views as task_views

routes = routing.Routes()

MAX_TEXT = 200
MAX_WORDS = 10
MAX_LABEL = 264


def _few_words(text: str) -> str:
    if len(text.split()) > MAX_WORDS:
        raise ValueError(f"must have at most {MAX_WORDS} words: leave the common ones out")
    return text


class SearchQuery(models.PageQuery):
    """``q``: words that a task has to have, each in one of its texts. ``label``: as a task in a list shows it.
    ``page``: the id of the tracker's page that shows the task. ``agent``: the target. ``by``: who asked, a slug or a
    principal (``human:alice``). ``since``: created then or later."""

    q: Annotated[str, StringConstraints(min_length=1, max_length=MAX_TEXT), AfterValidator(_few_words)] = ""
    label: Annotated[str, StringConstraints(min_length=1, max_length=MAX_LABEL)] | None = None
    page: models.Id | None = None
    agent: models.Slug | None = None
    by: Annotated[str, StringConstraints(min_length=1, max_length=MAX_TEXT)] | None = None
    kind: frozenset[Kind] = frozenset()
    priority: frozenset[Priority] = frozenset()
    state: frozenset[State] = frozenset()
    since: models.QueryInstant | None = None


class FoundTaskPage(TypedDict):
    """``searched_to``: all that is newer was looked at. ``next_cursor``: null only once all was looked at that is asked
    for, back to ``since`` or to the workspace's beginning."""

    items: list[task_views.ListedTask]
    searched_to: str
    next_cursor: str | None


@routes.get(
    "/tasks/search",
    query=models.query(SearchQuery, "kind", "priority", "state"),
    answers={200: FoundTaskPage},
)
def search_all_tasks(deps: Deps, call: routing.Call[None, SearchQuery]) -> answers.Answer:
    """Tasks of all days, newest first. Words are looked for in a task's title, agents, labels and ids, and in its
    output and completion message where these have up to 1,000 bytes together, whatever their case.

    A label is found by key, and an agent in its list; words are searched backwards in time. Each request looks at a
    bounded part: a page without items and with a `next_cursor` is usual, and `searched_to` says how far it got. A task
    of a release before labels were in lists isn't found by them.
    """
    asked = call.query
    search = TaskSearch(
        words=tuple(asked.q.split()),
        label=asked.label,
        page=asked.page,
        agent=asked.agent,
        asked_by=asked.by,
        kinds=asked.kind,
        priorities=asked.priority,
        states=asked.state,
        since=asked.since,
    )
    found = search_tasks(deps, call.by, search, asked.limit, pages.cursor_of(call))
    listing = pages.listing(call, found.page, partial(task_views.listed_task, deps, call.by))
    return answers.ok({**listing, "searched_to": times.rfc3339(found.searched_to)})
