"""Views that people save: pages of the console with their filters, for oneself or for the workspace."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import AfterValidator, Field, StringConstraints
from typing_extensions import TypedDict

from baton.domain.access.rights import Deed
from baton.domain.access.saved_view import SavedView, ViewPlace, ViewScope
from baton.ports.deps import Deps
from baton.services.access.keep_view import drop_view, keep_view, views_for
from rest import answers, models, routing
from rest.shape import ViewShape

MAX_FILTERS = 20
MAX_VIEW_TITLE = 60
MAX_ADDRESS = 1_000

routes = routing.Routes()


def _few_characters(query: dict[str, str]) -> dict[str, str]:
    if sum(len(name) + len(value) for name, value in query.items()) > MAX_ADDRESS:
        raise ValueError(f"must have at most {MAX_ADDRESS:,} characters together")
    return query


FilterName = Annotated[str, StringConstraints(pattern="^[a-z_]{1,30}$")]
FilterValue = Annotated[str, StringConstraints(min_length=1, max_length=200)]
Filters = Annotated[
    dict[FilterName, FilterValue],
    Field(max_length=MAX_FILTERS, json_schema_extra={"additionalProperties": False}),
    AfterValidator(_few_characters),
]


class ViewRequest(models.Changes):
    """``scope``: whose it is. ``page``: a page of the console. ``query``: the filters in its address. ``version``: the
    version that the change is based on (0: must not exist yet)."""

    scope: ViewScope = ViewScope.MINE
    title: Annotated[str, StringConstraints(min_length=1, max_length=MAX_VIEW_TITLE, pattern=models.SAYS_SOMETHING)]
    page: Annotated[str, StringConstraints(pattern="^/[a-z][a-z-]{0,30}$")]
    query: Filters


class ViewQuery(models.Query):
    """``scope``: whose view. ``version``: the version that is meant; any other current version refuses it."""

    scope: ViewScope = ViewScope.MINE
    version: models.EventNumber | None = None


class ViewOfPage(TypedDict):
    """``updated_by``: who changed it last."""

    scope: Literal["mine", "workspace"]
    name: str
    title: str
    page: str
    query: dict[str, str]
    version: int
    updated_at: str
    updated_by: str


class ViewsView(TypedDict):
    items: list[ViewOfPage]


_VIEW = ViewShape(ViewOfPage, SavedView, "scope query")


def _view(scope: ViewScope, view: SavedView) -> ViewOfPage:
    return _VIEW(view, scope=scope.value, query=dict(view.query))


@routes.get("/views", answers={200: ViewsView}, only=routing.human(Deed.READ_VIEWS))
def list_views(deps: Deps, call: routing.Call[None, None]) -> answers.Answer:
    """The workspace's views, then one's own, by name: at most 50 of each."""
    return answers.ok({"items": [_view(scope, view) for scope, view in views_for(deps, call.by)]})


@routes.put(
    "/views/{view}",
    body=models.strict(ViewRequest),
    answers={200: ViewOfPage, 201: ViewOfPage},
    only=routing.human(Deed.SAVE_VIEW),
)
def put_view(deps: Deps, call: routing.Call[ViewRequest, None]) -> answers.Answer:
    """Save a page of the console with its filters, for oneself or for the workspace."""
    values = {"title": call.body.title, "page": call.body.page, "query": call.body.query}
    at = ViewPlace(call.body.scope, call.params["view"])
    view, is_new = keep_view(deps, call.by, at, values, call.body.expected_version)
    shown = _view(at.scope, view)
    return answers.created(shown, call.path) if is_new else answers.ok(shown)


@routes.delete(
    "/views/{view}", query=models.query(ViewQuery), answers={204: None}, only=routing.human(Deed.DELETE_VIEW)
)
def delete_view(deps: Deps, call: routing.Call[None, ViewQuery]) -> answers.Answer:
    """Delete a saved view."""
    drop_view(deps, call.by, ViewPlace(call.query.scope, call.params["view"]), call.query.version)
    return answers.nothing()
