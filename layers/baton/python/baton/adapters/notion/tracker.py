"""The port ``Tracker`` on a Notion database."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import Any

from notion_client.helpers import is_full_page

from baton.adapters.notion import page_properties, queries, texts, troubles
from baton.adapters.notion.connection import Connection
from baton.adapters.notion.database_schema import DatabaseSchema, Lack, Property, Schemas, dashed, read_schema
from baton.adapters.notion.health import ERROR, WARNING, problems_of
from baton.adapters.notion.page_draft import PageDraft
from baton.adapters.notion.people import People
from baton.domain import errors
from baton.domain.settings.tracker_settings import TrackerSettings, id_in
from baton.domain.tracker import page_changes
from baton.domain.tracker.page_fields import PageFields
from baton.domain.tracker.page_sync import PageRef
from baton.ports.tracker import Tracker, TrackerProblem, WrittenPage

# The most that our clock and Notion's may differ, besides Notion's rounding.
_SLACK = timedelta(minutes=10)


class NotionTracker:
    def __init__(
        self, workspace: str, settings: TrackerSettings, notion: Connection, schemas: Schemas, people: People
    ) -> None:
        self._workspace, self._settings, self._notion = workspace, settings, notion
        self._schemas, self._people = schemas, people
        self._api = notion.api

    def create(self, page_fields: PageFields) -> WrittenPage:
        draft = PageDraft(page_fields, self._schema(), self._settings)
        while True:
            try:
                page = self._notion.write(self._api.pages.create, **draft.request())
            except (troubles.RequestRefused, troubles.NotThere) as exc:
                healed = draft.healed(exc, lambda: self._schema(afresh=True))
                if healed is None:
                    raise errors.PageRefused(exc.message) from exc
                draft = healed
            else:
                return self._made(page, draft.without, is_denied=bool(draft.unshared))

    def find(self, page_fields: PageFields) -> tuple[PageRef, ...]:
        """Searches by the task's id if the database has a property for it. If that finds nothing, searches by title and
        creation time, as the property may be younger than the page."""
        schema = self._schema()
        task_id = schema.find("task_id", self._settings)
        if isinstance(task_id, Property):
            condition = {"property": task_id.name, "rich_text": {"equals": page_fields.task_id}}
            if named := tuple(map(page_properties.page_ref, self._pages(schema, condition, queries.CREATED))):
                return named
        alike = queries.both(
            queries.title(schema, "equals", texts.as_written(page_fields.title)),
            queries.since(queries.CREATED, page_fields.created_at - _SLACK),
        )
        ranked = [(self._rank(page, page_fields.task_id), page) for page in self._pages(schema, alike, queries.CREATED)]
        return tuple(page_properties.page_ref(page) for wanted in (0, 1) for rank, page in ranked if rank == wanted)

    def update(self, page_id: str, page_fields: PageFields) -> WrittenPage:
        """Writes only the status: the rest never changes in a task's life, and people may have edited it."""
        schema = self._schema()
        try:
            return self._show(page_id, page_fields, schema)
        except troubles.RequestRefused as exc:
            current = self._usable(page_id)
            if (again := self._schema(afresh=True)) == schema:
                return self._made(current, (f"The status was left as it is. {exc.message}",))
        return self._show(page_id, page_fields, again)

    def comment(self, page_id: str, text: str, *, unless_there: bool) -> None:
        known = _known(page_id)
        try:
            if unless_there and self._has_comment(known, text):
                return
            self._notion.write(self._api.comments.create, parent={"page_id": known}, rich_text=texts.rich_text(text))
        except troubles.NotThere as exc:
            raise self._gone() from exc
        except troubles.Restricted as exc:
            raise _no_comments() from exc

    def tasks_named(self, page_id: str) -> frozenset[str]:
        try:
            return frozenset(queries.tasks_named(self._notion, _known(page_id)))
        except troubles.NotThere as exc:
            raise self._gone() from exc

    def reach(self) -> None:
        self._schema(afresh=True)

    def look(self, page_id: str) -> page_changes.PageSnapshot:
        return self._snapshot(self._page(page_id))

    def who(self, user_id: str) -> page_changes.Editor:
        return self._people.who(self._notion, self._workspace, user_id)

    def changed_since(self, since: datetime) -> Iterator[page_changes.PageSnapshot]:
        yield from self._snapshots(self._pages(self._schema(), queries.since(queries.EDITED, since), queries.EDITED))

    def created_since(self, since: datetime, title: str) -> Iterator[page_changes.PageSnapshot]:
        schema = self._schema()
        condition = queries.both(queries.title(schema, "starts_with", title), queries.since(queries.CREATED, since))
        yield from self._snapshots(self._pages(schema, condition, queries.CREATED))

    def problems(self) -> tuple[TrackerProblem, ...]:
        try:
            self._people.us(self._notion)
            schema = self._schema(afresh=True)
            return (*problems_of(schema, self._settings), *self._problems_of_capabilities(schema))
        except errors.TrackerAway as exc:
            return (TrackerProblem("tracker", ERROR, exc.message, "Try again in a minute; see status.notion.com."),)
        except troubles.Denied as exc:
            return (TrackerProblem(exc.about, ERROR, exc.problem, exc.what_to_do),)
        except errors.TrackerTrouble as exc:
            return (TrackerProblem(troubles.DATABASE, ERROR, exc.message, "check tracker.database."),)

    def _schema(self, *, afresh: bool = False) -> DatabaseSchema:
        database_id = self._settings.database_id
        return self._schemas.get(
            self._workspace, database_id, lambda: read_schema(self._notion, database_id), afresh=afresh
        )

    def _show(self, page_id: str, page_fields: PageFields, schema: DatabaseSchema) -> WrittenPage:
        status = page_properties.status(page_fields, schema, self._settings)
        if isinstance(status, Lack):
            return self._made(self._usable(page_id), (f"The status was left as it is: {status}",))
        found, value = status
        try:
            page = self._notion.write(self._api.pages.update, _known(page_id), properties={found.name: value})
        except troubles.NotThere as exc:
            raise self._gone() from exc
        return self._made(_untrashed(page))

    def _made(self, page: dict[str, Any], without: tuple[str, ...] = (), *, is_denied: bool = False) -> WrittenPage:
        return WrittenPage(
            page_properties.page_ref(page), page_properties.status_of(page, self._settings), without, is_denied
        )

    def _usable(self, page_id: str) -> dict[str, Any]:
        return _untrashed(self._page(page_id))

    def _page(self, page_id: str) -> dict[str, Any]:
        try:
            page = self._notion.read(self._api.pages.retrieve, _known(page_id))
        except troubles.NotThere as exc:
            raise self._gone() from exc
        if not is_full_page(page):
            what_to_do = "give it the capability to read content in Notion."
            raise troubles.Denied(troubles.DATABASE, "The connection may not read pages", what_to_do)
        return page

    def _gone(self) -> errors.PageGone:
        """Returns the error for a missing page. Raises ``TrackerDenies`` instead if the whole database can't be
        seen."""
        self._schema(afresh=True)
        return errors.PageGone(
            "The page isn't in Notion any more, or isn't shared with the connection: restore or share it."
        )

    def _pages(self, schema: DatabaseSchema, condition: dict[str, Any], sort: str) -> Iterator[dict[str, Any]]:
        try:
            yield from queries.pages(self._notion, schema, condition, sort)
        except (troubles.NotThere, troubles.RequestRefused) as exc:
            # This read raises ``TrackerDenies`` if the database is gone. A property may have been renamed.
            if self._schema(afresh=True) == schema:
                raise errors.PageRefused(exc.message) from exc
            raise errors.TrackerAway("The database's properties have just changed.", retry_after=1) from exc

    def _rank(self, page: dict[str, Any], task_id: str) -> int | None:
        """Returns 0 if the page is this task's, 1 if it is no task's, None if it is another task's."""
        written = page_properties.task_id_of(page, self._settings).strip()
        try:
            named = {written} if written else queries.tasks_named(self._notion, page["id"])
        except (troubles.NotThere, troubles.RequestRefused):
            return None  # deleted since the query
        if task_id in named:
            return 0
        return None if named else 1

    def _has_comment(self, page_id: str, text: str) -> bool:
        wanted = texts.as_written(text).split()
        try:
            comments = self._notion.read_all(self._api.comments.list, block_id=page_id)
            return any(texts.read(comment.get("rich_text")).split() == wanted for comment in comments)
        except troubles.Restricted as exc:
            raise _no_comments() from exc

    def _snapshots(self, pages: Iterator[dict[str, Any]]) -> Iterator[page_changes.PageSnapshot]:
        for page in pages:
            try:
                snapshot = self._snapshot(page)
            except (AttributeError, KeyError, TypeError, ValueError):
                continue  # one malformed page must not hide all the others
            yield snapshot

    def _snapshot(self, page: dict[str, Any]) -> page_changes.PageSnapshot:
        return page_properties.seen(page, self._settings, self._people.us(self._notion))

    def _problems_of_capabilities(self, schema: DatabaseSchema) -> Iterator[TrackerProblem]:
        """Yields missing capabilities other than reading and writing pages, which every request would show."""
        for attempt in (lambda: self.who(schema.created_by), lambda: self._has_comment(schema.data_source_id, "")):
            try:
                attempt()
            except troubles.Denied as exc:
                yield TrackerProblem(exc.about, WARNING, exc.problem, exc.what_to_do)
            except (errors.PageGone, errors.PageRefused):
                pass  # a database has no comments; this refusal shows that the connection may ask for them


def _known(page_id: str) -> str:
    known = id_in(page_id)
    if known is None:
        raise errors.PageGone("This is no id of a Notion page.")
    return dashed(known)


def _no_comments() -> troubles.Restricted:
    what_to_do = "give it the capabilities to read and to insert comments in Notion."
    return troubles.Restricted(troubles.CONNECTION, "The connection may not comment", what_to_do)


def _untrashed(page: dict[str, Any]) -> dict[str, Any]:
    if page.get("in_trash"):
        raise errors.PageRefused("The page is in Notion's trash: restore it there, or cancel the task in Baton.")
    return page


_tracker: type[Tracker] = NotionTracker
