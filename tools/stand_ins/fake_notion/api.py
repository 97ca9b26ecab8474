"""Notion's REST API over a workspace: one function per endpoint, found by `answer`."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from typing import Any

from tools.stand_ins.fake_notion import query
from tools.stand_ins.fake_notion.blocks import parse_blocks
from tools.stand_ins.fake_notion.errors import NotionError, failed, invalid, not_found, only
from tools.stand_ins.fake_notion.model import Database, Page, User
from tools.stand_ins.fake_notion.texts import dashed, parse_rich_text
from tools.stand_ins.fake_notion.values import default, parse
from tools.stand_ins.fake_notion.workspace import Workspace

Json = dict[str, Any]
IN_TRASH = "Can't edit page that is in the trash. You must restore the page before editing."


class Api:
    """The workspace as the connection with this bot sees it. Every method raises NotionError."""

    def __init__(self, workspace: Workspace, bot_id: str, index_lag: timedelta) -> None:
        self._workspace, self._bot_id, self._index_lag = workspace, bot_id, index_lag

    def answer(self, method: str, parts: Sequence[str], asked: dict[str, str], body: Json) -> Json:
        match [method, *parts]:
            case ["GET", "users", "me"]:
                return self._me()
            case ["GET", "users", user_id]:
                return self._user(_id(user_id, "user_id"))
            case ["GET", "databases", database_id]:
                return self._database(_id(database_id, "database_id")).wire()
            case ["GET", "data_sources", source_id]:
                return self._source(_id(source_id, "data_source_id")).wire_data_source()
            case ["POST", "data_sources", source_id, "query"]:
                return self._query(self._source(_id(source_id, "data_source_id")), body)
            case ["POST", "pages"]:
                return self._create_page(body)
            case ["GET", "pages", page_id]:
                return self._page(_id(page_id, "page_id")).wire()
            case ["PATCH", "pages", page_id]:
                return self._update_page(self._page(_id(page_id, "page_id")), body)
            case ["GET", "blocks", block_id, "children"]:
                page = self._page(_id(block_id, "block_id"), "block")
                return _listed("block", [block.wire(page) for block in page.blocks], asked)
            case ["PATCH", "blocks", block_id, "children"]:
                return self._append(self._page(_id(block_id, "block_id"), "block"), body)
            case ["POST", "comments"]:
                return self._comment(body)
            case ["GET", "comments"]:
                page = self._page(_id(asked.get("block_id"), "block_id"), "block")
                return _listed("comment", [comment.wire(page) for comment in page.comments], asked)
        raise NotionError(400, "Invalid request URL.", "invalid_request_url")

    # Users, databases, data sources

    def _me(self) -> Json:
        owner = {"owner": {"type": "workspace", "workspace": True}}
        names = {"workspace_name": self._workspace.name, "workspace_id": self._workspace.workspace_id}
        return _user_wire(self._workspace.users[self._bot_id]) | {"bot": owner | names}

    def _user(self, user_id: str) -> Json:
        if user_id not in self._workspace.users:
            raise not_found("user", user_id)
        return _user_wire(self._workspace.users[user_id])

    def _database(self, database_id: str) -> Database:
        found = self._workspace.databases.get(database_id)
        if found is None or not self._workspace.sees(self._bot_id, found):
            raise not_found("database", database_id)
        return found

    def _source(self, source_id: str) -> Database:
        for database in self._workspace.databases.values():
            if database.data_source_id == source_id and self._workspace.sees(self._bot_id, database):
                return database
        raise not_found("data source", source_id)

    def _query(self, database: Database, body: Json) -> Json:
        fields = only(body, "body", {"filter", "sorts", "start_cursor", "page_size", "in_trash", "result_type"})
        newest = self._workspace.now() - self._index_lag if self._index_lag else None

        def hidden(page: Page) -> bool:
            unindexed = newest is not None and page.created_time > newest
            return unindexed or not self._workspace.sees(self._bot_id, page)

        pages, cursor = query.run(database, fields, hidden)
        return _list("page_or_data_source", [page.wire() for page in pages], cursor)

    # Pages

    def _page(self, page_id: str, kind: str = "page") -> Page:
        found = self._workspace.pages.get(page_id)
        if found is None or not self._workspace.sees(self._bot_id, found):
            raise not_found(kind, page_id)
        return found

    def _check_page(self, page_id: str) -> None:
        self._page(page_id)

    def _create_page(self, body: Json) -> Json:
        fields = only(body, "body", {"parent", "properties", "children", "icon", "cover"})
        database = self._parent(fields.get("parent"))
        values = {prop.name: default(prop) for prop in database.properties.values()}
        values |= self._values(database, fields.get("properties"))
        blocks = parse_blocks(fields.get("children", []), self._workspace.now(), self._bot_id)
        page = self._workspace.create_page(database, values, self._bot_id)
        page.blocks.extend(blocks)
        return page.wire()

    def _parent(self, given: object) -> Database:
        fields = only(given, "body.parent", {"type", "data_source_id", "database_id"})
        if "data_source_id" in fields:
            return self._source(_id(fields["data_source_id"], "parent.data_source_id", "body"))
        if "database_id" in fields:
            return self._database(_id(fields["database_id"], "parent.database_id", "body"))
        raise failed("body.parent.data_source_id", "defined", None)

    def _values(self, database: Database | None, given: object) -> Json:
        if not isinstance(given, dict):
            raise failed("body.properties", "defined" if given is None else "an object", given)
        values = {}
        for name, value in given.items():
            prop = database.find(name) if database else None
            if prop is None:
                raise invalid(f"{name} is not a property that exists.")
            values[prop.name] = parse(prop, value, f"body.properties.{name}", self._check_page)
        return values

    def _update_page(self, page: Page, body: Json) -> Json:
        fields = only(body, "body", {"properties", "in_trash", "icon", "cover", "is_locked"})
        trash = fields.get("in_trash")
        if not isinstance(trash, bool | None):
            raise failed("body.in_trash", "a boolean", trash)
        stays = page.in_trash if trash is None else trash
        values = self._values(page.database, fields.get("properties", {}))
        if page.in_trash and stays:
            raise invalid(IN_TRASH)
        self._workspace.set_trash(page, in_trash=stays, by=self._bot_id)
        if values:
            self._workspace.change_values(page, values, self._bot_id)
        return page.wire()

    # Blocks and comments

    def _append(self, page: Page, body: Json) -> Json:
        fields = only(body, "body", {"children", "position"})
        blocks = parse_blocks(fields.get("children"), self._workspace.now(), self._bot_id)
        index = _index(page, fields.get("position", {"type": "end"}))
        if page.in_trash:
            raise invalid(IN_TRASH)
        self._workspace.insert_blocks(page, blocks, self._bot_id, index)
        return _list("block", [block.wire(page) for block in blocks], None)

    def _comment(self, body: Json) -> Json:
        fields = only(body, "body", {"parent", "rich_text"})
        parent = only(fields.get("parent"), "body.parent", {"type", "page_id"})
        page = self._page(_id(parent.get("page_id"), "parent.page_id", "body"))
        text = parse_rich_text(fields.get("rich_text"), "body.rich_text")
        if page.in_trash:
            raise invalid(IN_TRASH)
        return self._workspace.add_comment(page, text, self._bot_id).wire(page)


def _id(given: object, name: str, where: str = "path") -> str:
    if (found := dashed(given)) is None:
        shown = f"`{given}`" if given is not None else "undefined"
        raise invalid(f"{where} failed validation: {where}.{name} should be a valid uuid, instead was {shown}.")
    return found


def _index(page: Page, given: object) -> int:
    position = only(given, "body.position", {"type", "after_block"})
    match position.get("type"):
        case "start":
            return 0
        case "end":
            return len(page.blocks)
        case "after_block":
            after = only(position.get("after_block"), "body.position.after_block", {"id"}).get("id")
            for i, block in enumerate(page.blocks):
                if block.id == dashed(after):
                    return i + 1
            raise not_found("block", str(after))
    raise failed("body.position.type", "`start`, `end` or `after_block`", position.get("type"))


def _listed(kind: str, items: list[Json], asked: dict[str, str]) -> Json:
    """The part of a list that a GET asks for with `start_cursor` and `page_size`."""
    given = asked.get("page_size")
    size = query.page_size(int(given) if given and given.isdecimal() else given, "query")
    start, cursor = 0, asked.get("start_cursor")
    if cursor is not None:
        start = next((i for i, item in enumerate(items) if item["id"] == cursor), -1)
        if start < 0:
            raise invalid(f"The start_cursor provided is invalid: {cursor}")
    rest = items[start:]
    return _list(kind, rest[:size], rest[size]["id"] if len(rest) > size else None)


def _list(kind: str, results: list[Json], cursor: str | None) -> Json:
    has_more = cursor is not None
    return {"object": "list", "results": results, "next_cursor": cursor, "has_more": has_more, "type": kind, kind: {}}


def _user_wire(user: User) -> Json:
    kind = "person" if user.kind == "person" else "bot"
    return {"object": "user", "id": user.id, "name": user.name, "avatar_url": None, "type": kind, kind: {}}
