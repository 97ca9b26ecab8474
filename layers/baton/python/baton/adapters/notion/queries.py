"""Queries for pages, and the tasks that a page names."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import datetime
from typing import Any

from notion_client.helpers import is_full_page

from baton.adapters.notion import texts
from baton.adapters.notion.connection import Connection
from baton.adapters.notion.database_schema import DatabaseSchema
from baton.domain import times

Condition = dict[str, Any]

CREATED, EDITED = "created_time", "last_edited_time"
OPEN = "Open in Baton"
_TASK = re.compile(r"(?<![0-9A-Za-z_])task_[0-9a-hjkmnp-tv-z]{26}(?![0-9A-Za-z_])")


def title(schema: DatabaseSchema, how: str, text: str) -> Condition:
    return {"property": schema.title.name if schema.title else "title", "title": {how: text}}


def since(timestamp: str, at: datetime) -> Condition:
    """Returns the condition for pages from this time on, in whole minutes: Notion rounds its times down to them."""
    return {"timestamp": timestamp, timestamp: {"on_or_after": times.rfc3339(at.replace(second=0, microsecond=0))}}


def both(*conditions: Condition) -> Condition:
    return {"and": list(conditions)}


def pages(notion: Connection, schema: DatabaseSchema, condition: Condition, sort: str) -> Iterator[dict[str, Any]]:
    """Yields the pages that aren't in the trash, the oldest by ``sort`` first."""
    found: Iterator[Any] = notion.read_all(
        notion.api.data_sources.query,
        schema.data_source_id,
        filter=condition,
        sorts=[{"timestamp": sort, "direction": "ascending"}],
    )
    return (page for page in found if isinstance(page, dict) and is_full_page(page) and not page.get("in_trash"))


def tasks_named(notion: Connection, page_id: str) -> set[str]:
    """Returns the tasks that a page's body names: the one in its line to Baton if it still has that line, else any in
    the text. Reads the first hundred blocks; ours are among the first three."""
    answer = notion.read(notion.api.blocks.children.list, page_id, page_size=texts.MAX_ELEMENTS)
    lines = [_line(block) for block in answer.get("results") or ()]
    signed = [named[-1] for line in lines if line.startswith(OPEN) and (named := _TASK.findall(line))]
    return {signed[-1]} if signed else {one for line in lines for one in _TASK.findall(line)}


def _line(block: dict[str, Any]) -> str:
    return texts.read((block.get(str(block.get("type"))) or {}).get("rich_text"))
