"""Property values: from a request's JSON to what is kept, from that to an answer, and from a test's plain Python."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import datetime
from typing import Any

from tools.stand_ins.fake_notion.errors import failed, invalid, only
from tools.stand_ins.fake_notion.schema import SELECT, STATUS, Option, Property
from tools.stand_ins.fake_notion.texts import MAX_ITEMS, dashed, parse_rich_text, rich

MAX_NAME = 100
_DATE = re.compile(r"\d{4}-\d\d-\d\d(T\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:\d\d)?)?")


def parse(prop: Property, given: object, where: str, check_page: Callable[[str], None]) -> Any:
    """What is kept of a value in a request; nothing is changed yet.

    Raises NotionError (400; 404 from `check_page` for a relation's page).
    """
    fields = only(given, where, {"id", "name", "type", prop.type, *_other_types(given)})
    if prop.type not in fields:
        raise invalid(f"{prop.name} is expected to be {prop.type}.")
    value, where = fields[prop.type], f"{where}.{prop.type}"
    if prop.type in ("title", "rich_text"):
        return parse_rich_text(value, where)
    if prop.type == "relation":
        return _parse_relation(value, where, check_page)
    if value is None:
        return default(prop)
    if prop.type in (SELECT, STATUS):
        return _parse_option(prop, value, where)
    if prop.type == "multi_select":
        return [_parse_option(prop, item, f"{where}[{i}]") for i, item in enumerate(_array(value, where))]
    if prop.type == "date":
        return _parse_date(value, where)
    return _parse_plain(prop.type, value, where)


def default(prop: Property) -> Any:
    """An empty value. A status is never empty in Notion: it is its first option that is to do."""
    if prop.type == STATUS:
        first = next((option for option in prop.options if option.group == "To-do"), None)
        return first.name if first else None
    if prop.type == "checkbox":
        return False
    return [] if prop.type in ("title", "rich_text", "relation", "multi_select") else None


def render(prop: Property, value: Any) -> dict[str, Any]:
    kept: Any = value
    if prop.type in (SELECT, STATUS):
        kept = _option(prop, value)
    elif prop.type == "multi_select":
        kept = [_option(prop, name) for name in value or []]
    elif prop.type == "relation":
        kept = [{"id": page_id} for page_id in value or []]
    elif prop.type in ("title", "rich_text"):
        kept = value or []
    answer = {"id": prop.id, "type": prop.type, prop.type: kept}
    return answer | {"has_more": False} if prop.type == "relation" else answer


def from_plain(prop: Property, value: Any) -> Any:
    """What is kept of a test's plain value: text for texts and names, an ISO date, a list of page ids."""
    if prop.type in ("title", "rich_text"):
        return rich(value or "")
    if prop.type == "date":
        return {"start": value, "end": None, "time_zone": None} if value else None
    if prop.type in ("relation", "multi_select"):
        return list(value or [])
    return value if value != "" else None


def names_of(prop: Property, value: Any) -> list[str]:
    """The options that a kept value names: they are made if they aren't there."""
    if prop.type == "multi_select":
        return list(value or [])
    return [value] if prop.type in (SELECT, STATUS) and value else []


def _other_types(given: object) -> set[str]:
    return set(given) & {"title", "rich_text", STATUS, SELECT, "date", "relation"} if isinstance(given, dict) else set()


def _option(prop: Property, name: str | None) -> dict[str, Any] | None:
    return (prop.option(name) or Option("", name)).wire() if name else None


def _array(value: object, where: str) -> list[Any]:
    if not isinstance(value, list):
        raise failed(where, "an array", value)
    if len(value) > MAX_ITEMS:
        raise invalid(f"body failed validation: {where}.length should be ≤ `{MAX_ITEMS}`, instead was `{len(value)}`.")
    return value


def _parse_option(prop: Property, given: object, where: str) -> str:
    fields = only(given, where, {"name", "id", "color", "description"})
    name = fields.get("name")
    if name is None and (by_id := prop.option_by_id(str(fields.get("id")))):
        return by_id.name
    if not isinstance(name, str) or not name:
        raise failed(f"{where}.name", "a non-empty string", name)
    if prop.type == STATUS and prop.option(name) is None:
        raise invalid(f'Invalid status option. Status option "{name}" does not exist".')
    if len(name) > MAX_NAME:
        raise invalid(
            f"body failed validation: {where}.name.length should be ≤ `{MAX_NAME}`, instead was `{len(name)}`."
        )
    if "," in name:
        raise invalid(f"Invalid select option, commas not allowed: {name}")
    return name


def _parse_relation(value: object, where: str, check_page: Callable[[str], None]) -> list[str]:
    ids = []
    for i, item in enumerate(_array(value, where)):
        given = only(item, f"{where}[{i}]", {"id"}).get("id")
        if (page_id := dashed(given)) is None:
            raise failed(f"{where}[{i}].id", "a valid uuid", given)
        check_page(page_id)
        ids.append(page_id)
    return ids


def _parse_date(value: object, where: str) -> dict[str, Any]:
    fields = only(value, where, {"start", "end", "time_zone"})
    for name in ("start", "end"):
        given = fields.get(name)
        if (name == "end" and given is None) or _is_date(given):
            continue
        raise failed(f"{where}.{name}", "a valid ISO 8601 date string", given)
    return {"start": fields["start"], "end": fields.get("end"), "time_zone": fields.get("time_zone")}


def _is_date(given: object) -> bool:
    if not isinstance(given, str) or not _DATE.fullmatch(given):
        return False
    try:
        datetime.fromisoformat(given)
    except ValueError:
        return False
    return True


def _parse_plain(kind: str, value: object, where: str) -> Any:
    wanted: dict[str, tuple[type, ...]] = {"number": (int, float), "checkbox": (bool,), "url": (str,)}
    if not isinstance(value, wanted[kind]) or (kind == "number" and isinstance(value, bool)):
        raise failed(where, f"a {kind}", value)
    return value
