"""What a workspace holds, and how Notion writes it on the wire."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, ClassVar, Literal

from tools.stand_ins.fake_notion.schema import SELECT, STATUS, Property
from tools.stand_ins.fake_notion.texts import RichText, address, iso, plain, rich, to_minute
from tools.stand_ins.fake_notion.values import render

UserKind = Literal["person", "bot", "agent"]


@dataclass
class User:
    id: str
    kind: UserKind
    name: str


@dataclass
class Connection:
    """What Notion calls a connection: a token, and the bot that acts with it."""

    bot_id: str
    integration_id: str


@dataclass
class Block:
    id: str
    type: str
    text: RichText
    extra: dict[str, Any]
    created_time: datetime
    created_by: str

    def wire(self, page: Page) -> dict[str, Any]:
        content = self.extra if self.type == "divider" else {"rich_text": self.text, "color": "default", **self.extra}
        return {
            "object": "block",
            "id": self.id,
            "parent": {"type": "page_id", "page_id": page.id},
            "created_time": iso(to_minute(self.created_time)),
            "last_edited_time": iso(to_minute(self.created_time)),
            "created_by": partial_user(self.created_by),
            "last_edited_by": partial_user(self.created_by),
            "has_children": False,
            "in_trash": False,
            "type": self.type,
            self.type: content,
        }


@dataclass
class Comment:
    id: str
    discussion_id: str
    rich_text: RichText
    created_time: datetime
    created_by: str

    @property
    def text(self) -> str:
        return plain(self.rich_text)

    def wire(self, page: Page) -> dict[str, Any]:
        return {
            "object": "comment",
            "id": self.id,
            "parent": {"type": "page_id", "page_id": page.id},
            "discussion_id": self.discussion_id,
            "created_time": iso(to_minute(self.created_time)),
            "last_edited_time": iso(to_minute(self.created_time)),
            "created_by": partial_user(self.created_by),
            "rich_text": self.rich_text,
        }


@dataclass
class Database:
    """A database with its one data source."""

    id: str
    data_source_id: str
    title: str
    properties: dict[str, Property]
    created_time: datetime
    created_by: str
    pages: dict[str, Page] = field(default_factory=dict, repr=False)

    @property
    def url(self) -> str:
        return f"https://www.notion.so/{self.id.replace('-', '')}"

    @property
    def title_property(self) -> Property:
        return next(prop for prop in self.properties.values() if prop.type == "title")

    def named(self, name: str) -> Property | None:
        """The property of this name, whatever its case."""
        return next((prop for prop in self.properties.values() if prop.name.casefold() == name.casefold()), None)

    @property
    def status_property(self) -> Property | None:
        prop = self.named("Status")
        return prop if prop and prop.type in (STATUS, SELECT) else None

    def find(self, name_or_id: object) -> Property | None:
        if isinstance(name_or_id, str) and name_or_id in self.properties:
            return self.properties[name_or_id]
        return next((prop for prop in self.properties.values() if prop.id == name_or_id), None)

    def wire(self) -> dict[str, Any]:
        return self._common("database", self.id) | {
            "data_sources": [{"id": self.data_source_id, "name": self.title}],
            "parent": {"type": "workspace", "workspace": True},
            "is_inline": False,
            "is_locked": False,
        }

    def wire_data_source(self) -> dict[str, Any]:
        return self._common("data_source", self.data_source_id) | {
            "parent": {"type": "database_id", "database_id": self.id},
            "database_parent": {"type": "workspace", "workspace": True},
            "properties": {prop.name: prop.wire() for prop in self.properties.values()},
        }

    def _common(self, kind: str, its_id: str) -> dict[str, Any]:
        return {
            "object": kind,
            "id": its_id,
            "title": rich(self.title),
            "description": [],
            "created_time": iso(to_minute(self.created_time)),
            "last_edited_time": iso(to_minute(self.created_time)),
            "created_by": partial_user(self.created_by),
            "last_edited_by": partial_user(self.created_by),
            "icon": None,
            "cover": None,
            "in_trash": False,
            "url": self.url,
            "public_url": None,
        }


@dataclass
class Page:
    """`values` are by property name: rich text, an option's name, page ids, or what JSON has for the rest. `served_at`:
    where the program answers, for addresses that open on this machine."""

    served_at: ClassVar[str] = ""

    id: str
    database: Database | None
    created_time: datetime
    last_edited_time: datetime
    created_by: str
    last_edited_by: str
    values: dict[str, Any]
    in_trash: bool = False
    blocks: list[Block] = field(default_factory=list)
    comments: list[Comment] = field(default_factory=list)

    @property
    def title(self) -> str:
        return plain(self.values[self.database.title_property.name if self.database else "title"])

    @property
    def status(self) -> str | None:
        prop = self.database.status_property if self.database else None
        return self.values.get(prop.name) if prop else None

    @property
    def priority(self) -> str | None:
        return self.value("Priority")  # type: ignore[no-any-return]

    @property
    def due(self) -> str | None:
        date = self.value("Due")
        return date["start"] if date else None

    @property
    def task_id(self) -> str:
        return plain(self.value("Task ID") or [])

    @property
    def relations(self) -> dict[str, list[str]]:
        properties = self.database.properties.values() if self.database else ()
        return {prop.name: list(self.values.get(prop.name) or []) for prop in properties if prop.type == "relation"}

    @property
    def texts(self) -> list[str]:
        return [plain(block.text) for block in self.blocks]

    @property
    def body(self) -> str:
        return "\n".join(self.texts)

    @property
    def comment_texts(self) -> list[str]:
        return [comment.text for comment in self.comments]

    @property
    def url(self) -> str:
        return f"{self.served_at}/ui/pages/{self.id}" if self.served_at else address(self.title, self.id)

    def value(self, name: str) -> Any:
        """The value of the property of this name, whatever its case."""
        prop = self.database.named(name) if self.database else None
        return self.values.get(prop.name) if prop else None

    def parent(self) -> dict[str, Any]:
        if self.database is None:
            return {"type": "workspace", "workspace": True}
        source, database = self.database.data_source_id, self.database.id
        return {"type": "data_source_id", "data_source_id": source, "database_id": database}

    def wire(self) -> dict[str, Any]:
        properties = self.database.properties.values() if self.database else (Property("title", "title", "title"),)
        return {
            "object": "page",
            "id": self.id,
            "created_time": iso(to_minute(self.created_time)),
            "last_edited_time": iso(to_minute(self.last_edited_time)),
            "created_by": partial_user(self.created_by),
            "last_edited_by": partial_user(self.last_edited_by),
            "cover": None,
            "icon": None,
            "parent": self.parent(),
            "in_trash": self.in_trash,
            "is_locked": False,
            "properties": {prop.name: render(prop, self.values.get(prop.name)) for prop in properties},
            "url": self.url,
            "public_url": None,
        }


def partial_user(user_id: str) -> dict[str, Any]:
    return {"object": "user", "id": user_id}
