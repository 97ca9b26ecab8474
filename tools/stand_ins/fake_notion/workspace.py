"""One Notion workspace: what it holds, who may see it, and how it changes. Every change makes its webhook events."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import Any, cast
from uuid import NAMESPACE_URL, uuid4, uuid5

from tools.stand_ins.fake_notion.model import Block, Comment, Connection, Database, Page, User, UserKind
from tools.stand_ins.fake_notion.texts import RichText, iso
from tools.stand_ins.fake_notion.values import names_of
from tools.stand_ins.fake_notion.webhooks import Event, Postman, Subscription

VERSION = "2026-03-11"


def utc_now() -> datetime:
    return datetime.now(UTC)


def new_id() -> str:
    return str(uuid4())


class Workspace:
    """The state. Its methods that change it are called while `changing()` is held."""

    def __init__(self, now: Callable[[], datetime], workspace_id: str, name: str) -> None:
        self.now, self.workspace_id, self.name = now, workspace_id, name
        self.users: dict[str, User] = {}
        self.databases: dict[str, Database] = {}
        self.pages: dict[str, Page] = {}
        self.connections: dict[str, Connection] = {}
        self.shares: dict[str, set[str]] = {}  # by id of a page, database or data source; absent: shared with all
        self.subscriptions: list[Subscription] = []
        self.events: list[Event] = []
        self.recording = True
        self.auto_deliver = True
        self.postman = Postman()
        self.on_change: Callable[[], None] = lambda: None
        self._lock = threading.RLock()
        self._outgoing: list[Event] = []
        self._changed = False

    @contextmanager
    def changing(self) -> Iterator[None]:
        """Alone with the state; events go out afterwards, when a receiver may call back."""
        with self._lock:
            yield
            outgoing, self._outgoing = self._outgoing, []
            if self._changed:
                self._changed = False
                self.on_change()
        if self.auto_deliver:
            for event in outgoing:
                self._send(event)

    # What is there

    def database_of(self, database_or_source_id: str) -> Database:
        """Raises KeyError."""
        for database in self.databases.values():
            if database_or_source_id in (database.id, database.data_source_id):
                return database
        raise KeyError(database_or_source_id)

    def sees(self, bot_id: str, thing: Page | Database) -> bool:
        if isinstance(thing, Page):
            return self._open(thing.id, bot_id) and (thing.database is None or self.sees(bot_id, thing.database))
        return self._open(thing.id, bot_id) and self._open(thing.data_source_id, bot_id)

    def _open(self, thing_id: str, bot_id: str) -> bool:
        return thing_id not in self.shares or bot_id in self.shares[thing_id]

    # What changes it

    def note_change(self) -> None:
        self._changed = True

    def new_user(self, user_id: str, kind: UserKind, name: str) -> User:
        self.users[user_id] = user = User(user_id, kind, name)
        self.note_change()
        return user

    def new_connection(self, token: str, bot_id: str, name: str) -> Connection:
        self.new_user(bot_id, "bot", name)
        self.connections[token] = connection = Connection(bot_id, str(uuid5(NAMESPACE_URL, bot_id)))
        return connection

    def create_page(
        self, database: Database | None, values: dict[str, Any], by: str, at: datetime | None = None
    ) -> Page:
        at = at or self.now()
        page = Page(new_id(), database, at, at, by, by, {})
        self._set_values(page, values)
        self.pages[page.id] = page
        if database:
            database.pages[page.id] = page
        self.emit("page.created", page, by)
        return page

    def change_values(self, page: Page, values: dict[str, Any], by: str) -> None:
        changed = [name for name, value in values.items() if page.values.get(name) != value]
        if not changed:
            return
        self._set_values(page, values)
        self._touch(page, by)
        ids = [page.database.properties[name].id if page.database else name for name in changed]
        self.emit("page.properties_updated", page, by, {"updated_properties": ids})

    def set_trash(self, page: Page, *, in_trash: bool, by: str) -> None:
        if page.in_trash == in_trash:
            return
        page.in_trash = in_trash
        self._touch(page, by)
        self.emit("page.deleted" if in_trash else "page.undeleted", page, by)

    def insert_blocks(self, page: Page, blocks: list[Block], by: str, index: int | None = None) -> None:
        place = len(page.blocks) if index is None else index
        page.blocks[place:place] = blocks
        self._touch(page, by)
        updated = [{"id": block.id, "type": "block"} for block in blocks]
        self.emit("page.content_updated", page, by, {"updated_blocks": updated})

    def add_comment(self, page: Page, text: RichText, by: str) -> Comment:
        comment = Comment(new_id(), new_id(), text, self.now(), by)
        page.comments.append(comment)
        self.emit("comment.created", page, by, {"page_id": page.id}, {"id": comment.id, "type": "comment"})
        return comment

    def _set_values(self, page: Page, values: dict[str, Any]) -> None:
        page.values.update(values)
        for prop in page.database.properties.values() if page.database else ():
            for name in names_of(prop, values.get(prop.name)):
                prop.add_option(name)

    def _touch(self, page: Page, by: str) -> None:
        page.last_edited_by, page.last_edited_time = by, self.now()

    # Events

    def emit(
        self,
        kind: str,
        page: Page,
        by: str,
        data: dict[str, Any] | None = None,
        entity: dict[str, str] | None = None,
    ) -> None:
        subscription = self.subscriptions[-1] if self.subscriptions else None
        author = self.users.get(by)
        event = {
            "id": new_id(),
            "timestamp": iso(self.now()),
            "workspace_id": self.workspace_id,
            "workspace_name": self.name,
            "subscription_id": subscription.id if subscription else None,
            "integration_id": subscription.integration_id if subscription else None,
            "authors": [{"id": by, "type": author.kind if author else "person"}],
            "attempt_number": 1,
            "api_version": VERSION,
            "entity": entity or {"id": page.id, "type": "page"},
            "type": kind,
            "data": {"parent": self._event_parent(page, kind), **(data or {})},
        }
        self._changed = True
        if self.recording:
            self.events.append(event)
        if self.subscriptions:
            self._outgoing.append(event | {"_page": page})

    def _event_parent(self, page: Page, kind: str) -> dict[str, str]:
        if kind.startswith("comment."):
            return {"id": page.id, "type": "page"}
        if page.database is None:
            return {"id": self.workspace_id, "type": "space"}
        return {"id": page.database.id, "type": "database", "data_source_id": page.database.data_source_id}

    def _send(self, event: Event) -> None:
        page = cast(Page, event.pop("_page"))
        for subscription in list(self.subscriptions):
            if self._concerns(subscription, page):
                self.postman.send(subscription, event)

    def _concerns(self, subscription: Subscription, page: Page) -> bool:
        if subscription.database_id and (page.database is None or page.database.id != subscription.database_id):
            return False
        return self.sees(subscription.bot_id, page)
