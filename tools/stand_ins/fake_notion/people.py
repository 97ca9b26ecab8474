"""What people do in Notion's own app, and what a test sets up."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any
from uuid import uuid4

from tools.stand_ins.fake_notion import schema
from tools.stand_ins.fake_notion.blocks import parse_blocks
from tools.stand_ins.fake_notion.model import Database, Page, UserKind
from tools.stand_ins.fake_notion.texts import rich
from tools.stand_ins.fake_notion.values import default, from_plain
from tools.stand_ins.fake_notion.webhooks import Deliver, Event, Subscription
from tools.stand_ins.fake_notion.workspace import Workspace, new_id


class People(Workspace):
    def __init__(self, now: Callable[[], datetime], workspace_id: str, name: str) -> None:
        super().__init__(now, workspace_id, name)
        self.person = self.add_user("person", "Robin Person")

    def add_user(self, kind: UserKind = "person", name: str = "Somebody") -> str:
        with self.changing():
            return self.new_user(new_id(), kind, name).id

    # Databases and pages

    def add_database(
        self,
        title: str = "Tasks",
        properties: Mapping[str, Mapping[str, Any]] | None = None,
        status_type: str = schema.STATUS,
        shared: bool = True,
    ) -> Database:
        """`properties` take the place of all the usual ones (see schema.build)."""
        described = schema.default_properties(status_type) if properties is None else properties
        with self.changing():
            made = Database(new_id(), new_id(), title, schema.build(described, new_id), self.now(), self.person)
            self.databases[made.id] = made
            if not shared:
                self.shares[made.id] = set()
            self.note_change()
            return made

    def add_page(
        self,
        data_source_id: str | None = None,
        title: str = "",
        status: str | None = None,
        by: str | None = None,
        created_at: datetime | None = None,
        shared: bool = True,
        **more: Any,
    ) -> str:
        """A page that a person makes, in a data source (or database), or by itself; `more` as for `edit`."""
        with self.changing():
            database = self.database_of(data_source_id) if data_source_id else None
            values = {prop.name: default(prop) for prop in database.properties.values()} if database else {}
            values |= _values(database, {"title": title, "status": status, **more})
            page = self.create_page(database, values, by or self.person, created_at)
            if not shared:
                self.shares[page.id] = set()
            return page.id

    def edit(self, page_id: str, by: str | None = None, **changes: Any) -> None:
        """Change a page as a person does: `title`, `status`, `priority`, `due`, `task_id`, and
        `properties` ({name: plain value}). None leaves a value, "" clears it. An option that isn't there is made.
        """
        with self.changing():
            page = self.pages[page_id]
            if values := _values(page.database, changes):
                self.change_values(page, values, by or self.person)

    def write(self, page_id: str, text: str, by: str | None = None) -> None:
        """Add a paragraph."""
        with self.changing():
            by = by or self.person
            blocks = parse_blocks([{"paragraph": {"rich_text": rich(text)}}], self.now(), by)
            self.insert_blocks(self.pages[page_id], blocks, by)

    def comment(self, page_id: str, text: str, by: str | None = None) -> None:
        with self.changing():
            self.add_comment(self.pages[page_id], rich(text), by or self.person)

    def trash(self, page_id: str, by: str | None = None) -> None:
        with self.changing():
            self.set_trash(self.pages[page_id], in_trash=True, by=by or self.person)

    def restore(self, page_id: str, by: str | None = None) -> None:
        with self.changing():
            self.set_trash(self.pages[page_id], in_trash=False, by=by or self.person)

    def delete(self, page_id: str) -> None:
        """For good, as when the trash is emptied."""
        with self.changing():
            page = self.pages.pop(page_id)
            if page.database:
                del page.database.pages[page_id]
            self.note_change()

    def pages_of(self, data_source_id: str) -> list[Page]:
        """All pages of a data source (or database), the oldest first, those in the trash too."""
        return list(self.database_of(data_source_id).pages.values())

    # Sharing

    def share(self, thing_id: str, *bot_ids: str) -> None:
        """With these bots, besides those that see it already; with all, if none is named."""
        with self.changing():
            if not bot_ids:
                self.shares.pop(thing_id, None)
            elif thing_id in self.shares:
                self.shares[thing_id] |= set(bot_ids)
            self.note_change()

    def unshare(self, thing_id: str, *bot_ids: str) -> None:
        """From these bots; from all, if none is named."""
        with self.changing():
            everyone = {connection.bot_id for connection in self.connections.values()}
            self.shares[thing_id] = self.shares.get(thing_id, everyone) - set(bot_ids) if bot_ids else set()
            self.note_change()

    # Webhooks

    def subscribe(
        self,
        target: str | Deliver,
        *,
        host: str | None = None,
        database_id: str | None = None,
        bot_id: str | None = None,
    ) -> Subscription:
        """Send the handshake, and from then on every event (of one database, if given) that the bot may see."""
        integrations = {connection.bot_id: connection.integration_id for connection in self.connections.values()}
        bot_id = bot_id or next(iter(integrations))
        token = f"secret_{uuid4().hex}"
        made = Subscription(new_id(), token, target, host, database_id, bot_id, integrations[bot_id])
        with self.changing():
            self.subscriptions.append(made)
            self.note_change()
        self.postman.send(made, None)
        return made

    def unsubscribe(self, subscription_id: str) -> None:
        with self.changing():
            self.subscriptions = [kept for kept in self.subscriptions if kept.id != subscription_id]
            self.note_change()

    @property
    def verification_token(self) -> str:
        """Of the latest subscription."""
        return self.subscriptions[-1].verification_token

    def signed(
        self, event: Event, subscription: Subscription | None = None, attempt: int = 1
    ) -> tuple[bytes, dict[str, str]]:
        """An event as it is sent: body and headers, for a test to deliver by hand."""
        return (subscription or self.subscriptions[-1]).signed(event, attempt)


def _values(database: Database | None, given: Mapping[str, Any]) -> dict[str, Any]:
    values: dict[str, Any] = {}
    plain = {name: value for name, value in given.items() if value is not None}
    for name, value in plain.pop("properties", {}).items():
        if database is None:
            raise ValueError("a page by itself has only a title")
        values[name] = from_plain(database.properties[name], value)
    for name, value in plain.items():
        if database is None:
            values[name] = rich(value)
            continue
        prop = database.title_property if name == "title" else database.named(name.replace("_", " "))
        if prop is None:
            raise ValueError(f"{database.title} has no property for {name}")
        values[prop.name] = from_plain(prop, value)
    return values
