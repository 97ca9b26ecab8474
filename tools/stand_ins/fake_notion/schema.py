"""The properties of a database: their types, options and wire form."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

STATUS = "status"
SELECT = "select"
TYPES = {"title", "rich_text", STATUS, SELECT, "multi_select", "date", "relation", "number", "checkbox", "url"}
GROUPS = {"To-do": "gray", "In progress": "blue", "Complete": "green"}
STATUS_OPTIONS = ["Not started", "In progress", "Done", "Cancelled", "Failed"]
_ENDED = {"done", "closed", "complete", "completed", "cancelled", "canceled", "failed", "resolved"}


@dataclass
class Option:
    id: str
    name: str
    color: str = "default"
    group: str = ""

    def wire(self) -> dict[str, Any]:
        return {"id": self.id, "name": self.name, "color": self.color}


@dataclass
class Property:
    name: str
    type: str
    id: str
    options: list[Option] = field(default_factory=list)
    related: str = ""

    def option(self, name: str) -> Option | None:
        return next((option for option in self.options if option.name == name), None)

    def option_by_id(self, option_id: str) -> Option | None:
        return next((option for option in self.options if option.id == option_id), None)

    def add_option(self, name: str, color: str = "default", group: str = "") -> Option:
        """The option of this name, made if it isn't there."""
        if found := self.option(name):
            return found
        group = (group or _group_of(name, first=not self.options)) if self.type == STATUS else ""
        made = Option(_short_id(f"{self.name}/{name}", 8), name, color, group)
        self.options.append(made)
        return made

    def wire(self) -> dict[str, Any]:
        return {"id": self.id, "name": self.name, "type": self.type, "description": None, self.type: self._config()}

    def _config(self) -> dict[str, Any]:
        if self.type in (SELECT, "multi_select"):
            return {"options": [option.wire() | {"description": None} for option in self.options]}
        if self.type == STATUS:
            return {
                "options": [option.wire() | {"description": None} for option in self.options],
                "groups": _groups(self),
            }
        if self.type == "relation":
            return {"data_source_id": self.related, "type": "single_property", "single_property": {}}
        if self.type == "number":
            return {"format": "number"}
        return {}


def _groups(prop: Property) -> list[dict[str, Any]]:
    return [
        {
            "id": _short_id(group, 8),
            "name": group,
            "color": color,
            "option_ids": [option.id for option in prop.options if option.group == group],
        }
        for group, color in GROUPS.items()
    ]


def _group_of(name: str, *, first: bool) -> str:
    if name.casefold() in _ENDED:
        return "Complete"
    return "To-do" if first else "In progress"


def _short_id(name: str, length: int) -> str:
    return hashlib.sha256(name.encode()).hexdigest()[:length]


def default_properties(status_type: str) -> dict[str, dict[str, Any]]:
    return {
        "Name": {"type": "title"},
        "Status": {"type": status_type, "options": STATUS_OPTIONS},
        "Priority": {"type": SELECT, "options": ["🔴 High", "🟡 Medium", "🟢 Low"]},
        "Due": {"type": "date"},
        "Client": {"type": "relation"},
        "Project": {"type": "relation"},
        "Task ID": {"type": "rich_text"},
    }


def build(described: Mapping[str, Mapping[str, Any]], new_id: Callable[[], str]) -> dict[str, Property]:
    """Properties as described, `{name: {"type": ..., "options": [name | {"name", "color", "group"}]}}`.

    A database has one title always: "Name" is added when none is described.
    Raises ValueError for a type that this stand-in doesn't know.
    """
    made: dict[str, Property] = {}
    if not any(described[name]["type"] == "title" for name in described):
        described = {"Name": {"type": "title"}, **described}
    for name, config in described.items():
        if config["type"] not in TYPES:
            raise ValueError(f"{name}: no such type here: {config['type']}")
        prop_id = "title" if config["type"] == "title" else _short_id(name, 4)
        prop = made[name] = Property(name, config["type"], prop_id, related=config.get("data_source_id") or new_id())
        for option in config.get("options", []):
            prop.add_option(**({"name": option} if isinstance(option, str) else option))
    return made
