"""The properties of a page in Notion: made of a task's values, and read as such."""

from __future__ import annotations

from typing import Any
from urllib.parse import unquote

from baton.adapters.notion import texts
from baton.adapters.notion.database_schema import TYPES, DatabaseSchema, Lack, Property, dashed
from baton.domain import times
from baton.domain.one_line import one_line
from baton.domain.settings.tracker_settings import TrackerSettings, folded, id_in
from baton.domain.tracker import page_changes
from baton.domain.tracker.page_fields import PageFields, plain
from baton.domain.tracker.page_sync import PageRef

MAX_RELATED = 100
Value = dict[str, Any]


def wanted(page_fields: PageFields, settings: TrackerSettings) -> dict[str, Any]:
    """Returns the values to write by their roles, without relations."""
    return {
        "status": settings.status_for(page_fields.state),
        "priority": settings.priorities[str(page_fields.priority)],
        "due": page_fields.due_date.isoformat() if page_fields.due_date else None,
        "task_id": page_fields.task_id,
    }


def status(page_fields: PageFields, schema: DatabaseSchema, settings: TrackerSettings) -> tuple[Property, Value] | Lack:
    return value(
        schema, settings, "status", settings.status_for(page_fields.state), f"tracker.statuses.{page_fields.state}"
    )


def value(
    schema: DatabaseSchema, settings: TrackerSettings, role: str, word: str, setting: str = ""
) -> tuple[Property, Value] | Lack:
    """Returns a property and its value, or why it can't be written. ``setting`` names the setting that ``word`` comes
    from, for the remedy."""
    found = schema.find(role, settings)
    if isinstance(found, Lack):
        return found
    match found.type:
        case "date":
            return found, {"date": {"start": word}}
        case "rich_text":
            return found, {"rich_text": texts.rich_text(word)}
    option = found.option(word)
    if option is None and found.type == "status":
        what_to_do = f"add it in Notion, or name another in {setting}."
        return Lack(f'"{found.name}" has no option "{word}"', what_to_do)
    if option is None and "," in word:
        return Lack(f'Notion takes no comma in the option "{word}"', f"name another in {setting}.")
    return found, {found.type: {"name": option or word}}  # a select's new option is created by this write


def relation(ids: tuple[str, ...]) -> Value:
    return {"relation": [{"id": one} for one in ids[:MAX_RELATED]]}


def related_ids(page_fields: PageFields, role: str) -> tuple[str, ...]:
    """Returns the ids in Notion's dashed form, each once."""
    known = (id_in(one) for one in page_fields.relations.get(role, ()))
    return tuple(dict.fromkeys(dashed(one) for one in known if one))


def page_ref(page: dict[str, Any]) -> PageRef:
    """Returns the page's id and URL. A connection that may write but not read gets the id alone. Raises ``ValueError``
    if there is no id."""
    known = id_in(str(page.get("id")))
    if known is None:
        raise ValueError("a page without an id")
    page_id = dashed(known)
    return PageRef(page_id, page.get("url") or f"https://www.notion.so/{page_id.replace('-', '')}")


def status_of(page: dict[str, Any], settings: TrackerSettings) -> str | None:
    """Returns the status. The property's type is the page's, which may have been moved to another database."""
    found = _status(page, settings)
    content = found.get(str(found.get("type"))) or {}
    return one_line(plain(str(content.get("name") or ""))) or None


def _status_column(page: dict[str, Any], settings: TrackerSettings) -> str:
    """Returns the property's id as webhooks name it. Notion encodes it for URLs."""
    return unquote(str(_status(page, settings).get("id", ""))).replace(" ", "")


def _status(page: dict[str, Any], settings: TrackerSettings) -> dict[str, Any]:
    """Returns the status as a property of the page; an empty one if there is none."""
    named = _named(page, settings.properties["status"])
    return next((each for each in named if each.get("type") in TYPES["status"]), {})


def task_id_of(page: dict[str, Any], settings: TrackerSettings) -> str:
    return next(
        (
            texts.read(each.get("rich_text"))
            for each in _named(page, settings.properties["task_id"])
            if each.get("type") == "rich_text"
        ),
        "",
    )


def title_of(page: dict[str, Any]) -> str:
    properties = (page.get("properties") or {}).values()
    title = next((texts.read(content.get("title")) for content in properties if content.get("type") == "title"), "")
    return one_line(plain(title))


def seen(page: dict[str, Any], settings: TrackerSettings, us: str) -> page_changes.PageSnapshot:
    editor = str((page.get("last_edited_by") or {}).get("id", ""))
    ref = page_ref(page)
    return page_changes.PageSnapshot(
        page_id=ref.id,
        url=ref.url,
        title=title_of(page),
        status=status_of(page, settings),
        in_trash=bool(page.get("in_trash")),
        created_at=times.parse_rfc3339(page["created_time"]),
        edited_at=times.parse_rfc3339(page["last_edited_time"]),
        edited_by=editor,
        by_us=editor == us,
        task_id=task_id_of(page, settings).strip() or None,
        status_column=_status_column(page, settings),
        our_id=us,
    )


def _named(page: dict[str, Any], name: str) -> list[dict[str, Any]]:
    """Returns the properties with this name, the exact spelling first."""
    properties = page.get("properties") or {}
    names = sorted((n for n in properties if folded(n) == folded(name)), key=lambda n: n != name)
    return [properties[n] for n in names]
