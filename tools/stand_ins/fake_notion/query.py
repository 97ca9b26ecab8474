"""Querying a data source: filters, sorts and pages of results."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import Any

from tools.stand_ins.fake_notion.errors import failed, invalid, only
from tools.stand_ins.fake_notion.model import Database, Page
from tools.stand_ins.fake_notion.schema import SELECT, STATUS, Property
from tools.stand_ins.fake_notion.texts import plain, to_minute

PAGE_SIZE = 100
MAX_DEPTH = 2
TIMESTAMPS = ("created_time", "last_edited_time")

Test = Callable[[Page], bool]

_DATES: dict[str, Callable[[Any, Any], bool]] = {
    "equals": lambda kept, wanted: kept == wanted,
    "before": lambda kept, wanted: kept < wanted,
    "after": lambda kept, wanted: kept > wanted,
    "on_or_before": lambda kept, wanted: kept <= wanted,
    "on_or_after": lambda kept, wanted: kept >= wanted,
}
_TEXTS: dict[str, Callable[[str, str], bool]] = {
    "equals": lambda kept, wanted: kept == wanted,
    "does_not_equal": lambda kept, wanted: kept != wanted,
    "contains": lambda kept, wanted: wanted in kept,
    "does_not_contain": lambda kept, wanted: wanted not in kept,
    "starts_with": lambda kept, wanted: kept.startswith(wanted),
    "ends_with": lambda kept, wanted: kept.endswith(wanted),
}
_SAME: dict[str, Callable[[Any, Any], bool]] = {
    "equals": lambda kept, wanted: kept == wanted,
    "does_not_equal": lambda kept, wanted: kept != wanted,
}
_MEMBERS: dict[str, Callable[[Any, Any], bool]] = {
    "contains": lambda kept, wanted: wanted in (kept or []),
    "does_not_contain": lambda kept, wanted: wanted not in (kept or []),
}


def page_size(given: object, where: str = "body") -> int:
    if given is None:
        return PAGE_SIZE
    if isinstance(given, bool) or not isinstance(given, int):
        raise failed(f"{where}.page_size", "a number", given)
    if given > PAGE_SIZE:
        raise failed(f"{where}.page_size", f"≤ `{PAGE_SIZE}`", given)
    if given < 1:
        raise failed(f"{where}.page_size", "≥ `1`", given)
    return given


def run(database: Database, body: dict[str, Any], hidden: Test) -> tuple[list[Page], str | None]:
    """The pages of one answer, newest first unless sorted, and the cursor of the next. `hidden` pages aren't found.

    Raises NotionError (400).
    """
    size = page_size(body.get("page_size"))
    matches = compile_filter(database, body["filter"]) if body.get("filter") else _every
    trash, cursor = bool(body.get("in_trash", False)), body.get("start_cursor")

    def wanted(page: Page) -> bool:
        return page.in_trash == trash and matches(page) and not hidden(page)

    # The page of the cursor keeps its place even if it no longer matches.
    found = [page for page in reversed(database.pages.values()) if page.id == cursor or wanted(page)]
    for sort in reversed(_sorts(body.get("sorts"))):
        _order(database, found, sort)
    if cursor is not None:
        start = next((i for i, page in enumerate(found) if page.id == cursor), None)
        if start is None:
            raise invalid(f"The start_cursor provided is invalid: {cursor}")
        found = found[start:] if wanted(found[start]) else found[start + 1 :]
    return found[:size], found[size].id if len(found) > size else None


def compile_filter(database: Database, given: object, depth: int = 0) -> Test:
    fields = only(given, "body.filter", {"and", "or", "property", "timestamp", "type", *_conditions(given)})
    for name, combine in (("and", all), ("or", any)):
        if name in fields:
            if depth == MAX_DEPTH or not isinstance(fields[name], list):
                raise failed(f"body.filter.{name}", "an array, nested at most two deep", fields[name])
            tests = [compile_filter(database, item, depth + 1) for item in fields[name]]
            return lambda page, combine=combine, tests=tests: combine(test(page) for test in tests)  # type: ignore[misc]
    if "timestamp" in fields:
        return _on_timestamp(fields)
    return _on_property(database, fields)


def _every(_page: Page) -> bool:
    return True


def _conditions(given: object) -> set[str]:
    kinds = {"title", "rich_text", STATUS, SELECT, "multi_select", "date", "number", "checkbox", "url", "relation"}
    return set(given) & {*kinds, *TIMESTAMPS} if isinstance(given, dict) else set()


def _on_timestamp(fields: dict[str, Any]) -> Test:
    name = fields["timestamp"]
    if name not in TIMESTAMPS or name not in fields:
        raise failed("body.filter.timestamp", "`created_time` or `last_edited_time`, with its condition", name)
    operator, operand = _condition(fields[name], _DATES)
    return lambda page: _dates(operator, to_minute(getattr(page, name)), operand)


def _on_property(database: Database, fields: dict[str, Any]) -> Test:
    prop = database.find(fields.get("property"))
    if prop is None:
        raise invalid(f"Could not find property with name or id: {fields.get('property')}")
    # Notion takes rich_text conditions for a title too.
    kind = prop.type if prop.type in fields or prop.type != "title" else "rich_text"
    if kind not in fields:
        asked = next((name for name in fields if name not in ("property", "type")), "nothing")
        raise invalid(f"database property {prop.type} does not match filter {asked}")
    condition, name = fields[kind], prop.name
    if isinstance(condition, dict) and (empty := _emptiness(condition)) is not None:
        return lambda page: (not page.values.get(name)) == empty
    if kind in ("title", "rich_text", "url"):
        operator, operand = _condition(condition, _TEXTS)
        return lambda page: _TEXTS[operator](_text(prop, page).casefold(), str(operand).casefold())
    if kind == "date":
        operator, operand = _condition(condition, _DATES)
        return lambda page: (
            bool(page.values.get(name)) and _dates(operator, _moment(page.values[name]["start"]), operand)
        )
    table = _MEMBERS if kind in ("multi_select", "relation") else _SAME
    operator, operand = _condition(condition, table)
    if kind in (STATUS, SELECT) and prop.option(operand) is None:
        raise invalid(f'{kind} option "{operand}" not found for property "{name}".')
    return lambda page: table[operator](page.values.get(name), operand)


def _emptiness(condition: dict[str, Any]) -> bool | None:
    for name, empty in (("is_empty", True), ("is_not_empty", False)):
        if condition == {name: True}:
            return empty
    return None


def _condition(given: object, known: dict[str, Any]) -> tuple[str, Any]:
    fields = only(given, "body.filter", set(known))
    if len(fields) != 1:
        raise failed("body.filter", "one condition", given)
    [(operator, operand)] = fields.items()
    if known is _DATES:
        try:
            return operator, _moment(operand)
        except (TypeError, ValueError):
            raise failed(f"body.filter.{operator}", "a valid ISO 8601 date string", operand) from None
    if known is not _SAME and not isinstance(operand, str):
        raise failed(f"body.filter.{operator}", "a string", operand)
    return operator, operand


def _moment(text: str) -> datetime | str:
    """A time, or a day as it stands."""
    if "T" not in text:
        return datetime.fromisoformat(text).date().isoformat()
    moment = datetime.fromisoformat(text)
    return moment if moment.tzinfo else datetime.fromisoformat(text + "Z")


def _dates(operator: str, kept: datetime | str, wanted: datetime | str) -> bool:
    """Compared as days if either of them is one."""
    if isinstance(kept, str) or isinstance(wanted, str):
        return _DATES[operator](str(kept)[:10], str(wanted)[:10])
    return _DATES[operator](kept, wanted)


def _on_date(kept: dict[str, Any] | None, operator: str, wanted: datetime | str) -> bool:
    return kept is not None and _dates(operator, _moment(kept["start"]), wanted)


def _text(prop: Property, page: Page) -> str:
    kept = page.values.get(prop.name)
    return (kept or "") if prop.type == "url" else plain(kept or [])


def _sorts(given: object) -> list[dict[str, Any]]:
    if not isinstance(given, list | None):
        raise failed("body.sorts", "an array", given)
    return [
        only(sort, f"body.sorts[{i}]", {"property", "timestamp", "direction"}) for i, sort in enumerate(given or [])
    ]


def _order(database: Database, pages: list[Page], sort: dict[str, Any]) -> None:
    """Sort in place; what is equal stays as it was, and what is empty comes last."""
    direction = sort.get("direction", "ascending")
    if direction not in ("ascending", "descending"):
        raise failed("body.sorts.direction", "`ascending` or `descending`", direction)
    down = direction == "descending"
    if sort.get("timestamp") in TIMESTAMPS:
        pages.sort(key=lambda page: to_minute(getattr(page, sort["timestamp"])), reverse=down)
        return
    prop = database.find(sort.get("property"))
    if prop is None:
        raise invalid(f"Could not find sort property with name or id: {sort.get('property')}")
    pages.sort(key=lambda page: _rank(prop, page), reverse=down)
    pages.sort(key=lambda page: not page.values.get(prop.name))


def _rank(prop: Property, page: Page) -> Any:
    kept = page.values.get(prop.name)
    if prop.type in (STATUS, SELECT):
        return next((i for i, option in enumerate(prop.options) if option.name == kept), -1)
    if prop.type == "date":
        return kept["start"] if kept else ""
    if prop.type == "number":
        return kept or 0
    return _text(prop, page).casefold() if prop.type in ("title", "rich_text", "url") else str(kept)
