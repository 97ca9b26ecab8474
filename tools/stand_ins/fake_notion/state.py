"""Keeping a fake in a file: its whole state as JSON, written anew after each change."""

from __future__ import annotations

import json
import os
from dataclasses import asdict
from datetime import datetime
from pathlib import Path
from typing import Any

from tools.stand_ins.fake_notion.fake import FakeNotion
from tools.stand_ins.fake_notion.model import Block, Comment, Database, Page, User
from tools.stand_ins.fake_notion.schema import Option, Property
from tools.stand_ins.fake_notion.webhooks import Subscription

Json = dict[str, Any]


def open_kept(path: Path | None) -> FakeNotion:
    """The fake as it was left in the file, or a new one with a Tasks database; without a path it is kept nowhere."""
    if path is not None and path.exists():
        fake = _load(json.loads(path.read_text()))
    else:
        fake = FakeNotion(any_token=True)
        fake.add_database()
    if path is not None:
        kept_at = path
        fake.on_change = lambda: _save(fake, kept_at)
        fake.on_change()
    return fake


def _save(fake: FakeNotion, path: Path) -> None:
    """Whole or not at all, and readable by its owner only: it has the subscriptions' tokens."""
    text = json.dumps(_dump(fake), default=datetime.isoformat)
    path.parent.mkdir(parents=True, exist_ok=True)
    beside = path.with_name(f"{path.name}.new")
    beside.unlink(missing_ok=True)
    with os.fdopen(os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
        file.write(text)
    beside.replace(path)


def _dump(fake: FakeNotion) -> Json:
    return {
        "workspace_id": fake.workspace_id,
        "bot_id": fake.bot_id,
        "person": fake.person,
        "users": [asdict(user) for user in fake.users.values()],
        "databases": [_fields(database, "pages") for database in fake.databases.values()],
        "pages": [_page(page) for page in fake.pages.values()],
        "shares": {thing_id: sorted(bots) for thing_id, bots in fake.shares.items()},
        "subscriptions": [asdict(kept) for kept in fake.subscriptions if isinstance(kept.target, str)],
    }


def _load(saved: Json) -> FakeNotion:
    fake = FakeNotion(any_token=True, bot_id=saved["bot_id"], workspace_id=saved["workspace_id"])
    fake.person = saved["person"]
    fake.users = {fields["id"]: User(**fields) for fields in saved["users"]}
    for fields in saved["databases"]:
        properties = {name: _property(given) for name, given in fields.pop("properties").items()}
        database = Database(**_timed(fields), properties=properties)
        fake.databases[database.id] = database
    for fields in saved["pages"]:
        database_id = fields.pop("database_id")
        blocks = [Block(**_timed(block)) for block in fields.pop("blocks")]
        comments = [Comment(**_timed(comment)) for comment in fields.pop("comments")]
        home = fake.databases[database_id] if database_id else None
        page = Page(**_timed(fields), database=home, blocks=blocks, comments=comments)
        fake.pages[page.id] = page
        if home:
            home.pages[page.id] = page
    fake.shares = {thing_id: set(bots) for thing_id, bots in saved["shares"].items()}
    fake.subscriptions = [Subscription(**fields) for fields in saved["subscriptions"]]
    return fake


def _page(page: Page) -> Json:
    fields = _fields(page, "database", "blocks", "comments")
    return fields | {
        "database_id": page.database.id if page.database else None,
        "blocks": [asdict(block) for block in page.blocks],
        "comments": [asdict(comment) for comment in page.comments],
    }


def _fields(kept: Database | Page, *left_out: str) -> Json:
    """As `asdict`, but it doesn't follow what is left out."""
    shown = {name: value for name, value in vars(kept).items() if name not in left_out}
    if isinstance(kept, Database):
        shown["properties"] = {name: asdict(prop) for name, prop in kept.properties.items()}
    return shown


def _property(fields: Json) -> Property:
    return Property(**{**fields, "options": [Option(**option) for option in fields["options"]]})


def _timed(fields: Json) -> Json:
    times = ("created_time", "last_edited_time")
    return {name: datetime.fromisoformat(value) if name in times else value for name, value in fields.items()}
