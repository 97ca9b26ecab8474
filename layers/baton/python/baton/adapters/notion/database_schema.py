"""The properties of a database, cached for ten minutes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from baton.adapters.notion import texts, troubles
from baton.adapters.notion.connection import Connection
from baton.domain.hidden import spelled_out
from baton.domain.settings.tracker_settings import TrackerSettings, folded
from baton.ports.system import Clock

KEPT = timedelta(minutes=10)
# The types that each of our properties may have, the usual one first.
TYPES = {
    "status": ("status", "select"),
    "priority": ("select", "status", "rich_text"),
    "due": ("date",),
    "client": ("relation",),
    "project": ("relation",),
    "task_id": ("rich_text",),
}
_DISPLAY_NAMES = {"rich_text": "Text", "multi_select": "Multi-select"}


@dataclass(frozen=True, slots=True)
class Lack:
    """The reason why a property can't be written, and the remedy."""

    problem: str
    what_to_do: str

    def __str__(self) -> str:
        return f"{self.problem}: {self.what_to_do}"


@dataclass(frozen=True, slots=True)
class Property:
    name: str
    type: str
    options: tuple[str, ...] = ()

    def option(self, word: str) -> str | None:
        """Returns the option in its own spelling: Notion takes another spelling for another option."""
        same = [option for option in self.options if folded(option) == folded(word)]
        return word if word in same else next(iter(same), None)


@dataclass(frozen=True, slots=True)
class DatabaseSchema:
    """The data source of a database."""

    data_source_id: str
    properties: tuple[Property, ...]
    sources: tuple[str, ...]  # names of all data sources of the database; the first is used
    created_by: str

    @property
    def title(self) -> Property | None:
        return next((p for p in self.properties if p.type == "title"), None)

    def find(self, role: str, settings: TrackerSettings) -> Property | Lack:
        """Returns the configured property, if its type is one that Baton writes."""
        name, types = settings.properties[role], TYPES[role]
        named = [p for p in self.properties if folded(p.name) == folded(name)]
        fit = sorted((p for p in named if p.type in types), key=lambda p: p.name != name)
        if fit:
            return fit[0]
        wanted = " or ".join(map(spoken, types))
        if named:
            what_to_do = f"change it to {wanted}, or name another in tracker.properties.{role}."
            return Lack(f'"{spelled_out(named[0].name)}" is of type {spoken(named[0].type)}', what_to_do)
        what_to_do = f"add one of type {wanted}, or name yours in tracker.properties.{role}."
        return Lack(f'the database has no property "{spelled_out(name)}"', what_to_do)


class Schemas:
    """The cache of this process."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._kept: dict[tuple[str, str], tuple[datetime, DatabaseSchema]] = {}

    def get(
        self, workspace: str, database_id: str, read: Callable[[], DatabaseSchema], *, afresh: bool = False
    ) -> DatabaseSchema:
        key, now = (workspace, database_id), self._clock.now()
        kept = self._kept.pop(key, None)
        if kept is None or afresh or now - kept[0] >= KEPT:
            kept = (now, read())
        self._kept[key] = kept
        return kept[1]


def spoken(kind: str) -> str:
    """Returns a type's name in Notion's interface."""
    return _DISPLAY_NAMES.get(kind, kind.capitalize())


def dashed(hexadecimal: str) -> str:
    return str(UUID(hexadecimal))


def read_schema(notion: Connection, database_id: str) -> DatabaseSchema:
    """Reads a database's schema. ``database_id`` is the id of a database or of one of its data sources. Raises
    ``TrackerDenies`` if it is neither."""
    if not database_id:
        raise troubles.Denied(
            troubles.DATABASE, "No database is configured", "PUT /workspace/settings with tracker.database."
        )
    known = dashed(database_id)
    try:
        database = notion.read(notion.api.databases.retrieve, known)
    except (troubles.NotThere, troubles.RequestRefused):  # a 400 says that it is something else
        return _schema(_data_source(notion, known))
    _refuse_trashed(database)
    listed = database.get("data_sources") or []
    if not listed:
        raise troubles.Denied(
            troubles.DATABASE,
            "The database has no data source of its own that the connection may see",
            "give the id of the original database, not of a linked view, and share it with the connection.",
        )
    names = tuple(str(source.get("name", "")) for source in listed)
    return _schema(_data_source(notion, listed[0]["id"]), names)


def _data_source(notion: Connection, known: str) -> dict[str, Any]:
    try:
        source = notion.read(notion.api.data_sources.retrieve, known)
    except (troubles.NotThere, troubles.RequestRefused) as exc:
        raise _not_found(notion, known) from exc
    _refuse_trashed(source)
    if not isinstance(source.get("properties"), dict):
        raise troubles.of_nonsense(writes=False)
    return source


def _not_found(notion: Connection, known: str) -> troubles.Denied:
    try:
        notion.read(notion.api.pages.retrieve, known)
    except (troubles.NotThere, troubles.RequestRefused):
        return troubles.Denied(
            troubles.DATABASE,
            f"Notion finds no database {known}, or it isn't shared with the connection",
            "open the database in Notion and add the connection under ••• → Connections, or correct tracker.database.",
        )
    what_to_do = "open the database itself as a full page and give its id or URL as tracker.database."
    return troubles.Denied(troubles.DATABASE, f"{known} is a page, not a database", what_to_do)


def _refuse_trashed(thing: dict[str, Any]) -> None:
    if thing.get("in_trash"):
        raise troubles.Denied(
            troubles.DATABASE,
            "The database is in Notion's trash",
            "restore it there, or give another tracker.database.",
        )


def _schema(source: dict[str, Any], names: tuple[str, ...] = ()) -> DatabaseSchema:
    return DatabaseSchema(
        data_source_id=source["id"],
        properties=tuple(_property(name, described) for name, described in source["properties"].items()),
        sources=names or (texts.read(source.get("title")),),
        created_by=str((source.get("created_by") or {}).get("id", "")),
    )


def _property(name: str, described: dict[str, Any]) -> Property:
    kind = str(described.get("type", ""))
    options = (described.get(kind) or {}).get("options") or []
    return Property(name, kind, tuple(str(option["name"]) for option in options))
