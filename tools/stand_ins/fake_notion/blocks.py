"""Blocks of a page as a request describes them. Flat: this stand-in knows no blocks within blocks."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from tools.stand_ins.fake_notion.errors import failed, invalid, only
from tools.stand_ins.fake_notion.model import Block
from tools.stand_ins.fake_notion.texts import MAX_ITEMS, parse_rich_text
from tools.stand_ins.fake_notion.workspace import new_id

_EXTRAS: dict[str, set[str]] = {
    "paragraph": {"color", "icon"},
    "heading_1": {"color", "is_toggleable"},
    "heading_2": {"color", "is_toggleable"},
    "heading_3": {"color", "is_toggleable"},
    "bulleted_list_item": {"color"},
    "numbered_list_item": {"color"},
    "to_do": {"color", "checked"},
    "quote": {"color"},
    "callout": {"color", "icon"},
    "code": {"language", "caption"},
    "divider": set(),
}


def parse_blocks(given: object, at: datetime, by: str) -> list[Block]:
    """Raises NotionError (400)."""
    if not isinstance(given, list):
        raise failed("body.children", "an array", given)
    if len(given) > MAX_ITEMS:
        raise invalid(
            f"body failed validation: body.children.length should be ≤ `{MAX_ITEMS}`, instead was `{len(given)}`."
        )
    return [_parse(item, f"body.children[{i}]", at, by) for i, item in enumerate(given)]


def _parse(given: object, where: str, at: datetime, by: str) -> Block:
    fields: dict[str, Any] = only(given, where, {"object", "type", *_EXTRAS})
    kinds = [name for name in fields if name in _EXTRAS]
    if len(kinds) != 1 or fields.get("type", kinds[0]) != kinds[0]:
        raise failed(where, f"a block of one of these types: {', '.join(_EXTRAS)}", fields.get("type"))
    kind = kinds[0]
    if kind == "divider":
        return Block(new_id(), kind, [], only(fields[kind], f"{where}.{kind}", set()), at, by)
    content = only(fields[kind], f"{where}.{kind}", {"rich_text", *_EXTRAS[kind]})
    text = parse_rich_text(content.get("rich_text"), f"{where}.{kind}.rich_text")
    extra = {name: value for name, value in content.items() if name != "rich_text"}
    return Block(new_id(), kind, text, extra, at, by)
