"""Records a change of the workspace with the old and the new value, for the transaction of the change."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields, is_dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any

from baton.domain import times
from baton.domain.access.principal import Principal
from baton.domain.access.workspace_change import ChangeSubject, Difference, WorkspaceChange, change_of, difference
from baton.domain.canonical_json import canonical_json, digest_of
from baton.ports.deps import Deps

# The longest value of an agent, tool or route that is recorded whole. A longer one is recorded by its digest.
MAX_WHOLE = 40_000
# Fields that change with every edit, or that identify the thing.
_LEFT_OUT = {"workspace", "version", "created_at", "updated_at", "updated_by", "removed"}


def new_change(deps: Deps, by: Principal, what: Difference) -> WorkspaceChange:
    """Returns the change as the principal makes it now. Raises ``TooLarge``."""
    now = deps.clock.now()
    return change_of(deps.ids.new("chg", now), by, now, what)


def recorded_edit(
    deps: Deps, by: Principal, subject: ChangeSubject, name: str, values: Sequence[Mapping[str, Any] | None]
) -> WorkspaceChange | None:
    """Returns the record of an agent's, tool's or route's edit; None if nothing differs. ``values``: the old and the
    new fields as ``plain`` returns them; None for a thing that is new, or gone."""
    before, after = (None if each is None else _shortened(each) for each in values)
    what = difference(subject, (name,), before, after)
    return None if what.before == what.after else new_change(deps, by, what)


def plain(value: Any) -> dict[str, Any]:
    """Returns the fields of a domain value in JSON's types."""
    return {each.name: _plain(getattr(value, each.name)) for each in fields(value) if each.name not in _LEFT_OUT}


def _plain(value: Any) -> Any:
    match value:
        case datetime():
            return times.rfc3339(value)
        case StrEnum():
            return str(value)
        case Mapping():
            return {str(name): _plain(each) for name, each in value.items()}
        case frozenset() | set():
            return sorted(map(_plain, value))
        case list() | tuple():
            return list(map(_plain, value))
        case _ if is_dataclass(value):
            return {each.name: _plain(getattr(value, each.name)) for each in fields(value)}
    return value


def _shortened(values: Mapping[str, Any]) -> dict[str, Any]:
    return {name: _short(value) for name, value in values.items()}


def _short(value: Any) -> Any:
    length = len(canonical_json(value))
    return value if length <= MAX_WHOLE else {"characters": length, "sha256": digest_of(value)}
