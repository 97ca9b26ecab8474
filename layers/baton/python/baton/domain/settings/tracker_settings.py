"""A workspace's tracker settings: the database of its tasks and the words that the database uses
(docs/spec/marker.md §4)."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any
from urllib.parse import parse_qs, urlsplit

from baton.domain import errors
from baton.domain.priority import Priority
from baton.domain.task_state import ENDED, State

MAX_WORD = 100
MAX_WORDS = 20
MAX_RIGHTS = 500
# The rights of people who act in the tracker, from the lowest. No deed of an administrator is done there.
TRACKER_RIGHTS = ("reader", "member", "approver")
USUAL_TRACKER_RIGHT = TRACKER_RIGHTS[-1]
MAX_DATABASE = 2_000
PROPERTIES = {
    "status": "Status",
    "priority": "Priority",
    "due": "Due",
    "client": "Client",
    "project": "Project",
    "task_id": "Task ID",
}
STATUSES = {
    State.NEEDS: "Not started",
    State.DELEGATED: "Not started",
    State.NEXT: "Not started",
    State.CLAIMED: "In progress",
    State.WAITING: "In progress",
    State.DONE: "Done",
    State.FAILED: "Failed",
    State.REJECTED: "Rejected",
    State.CANCELLED: "Cancelled",
}
PRIORITIES = {Priority.P0: "🔴 High", Priority.P1: "🟡 Medium", Priority.P2: "🟢 Low"}
_ID = re.compile(r"[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}\Z")
_USER_ID = re.compile(r"[a-z0-9_]{1,64}\Z")
_MAPS: dict[str, Mapping[Any, str]] = {"properties": PROPERTIES, "statuses": STATUSES, "priorities": PRIORITIES}
_LISTS = ("closed_statuses", "cancelled_statuses")


@dataclass(frozen=True, slots=True, kw_only=True)
class TrackerSettings:
    """A workspace's tracker settings. Words are compared without case. The title's column is found by its type."""

    database: str = ""  # the id or URL of a database or data source, as it was sent
    # Names of the columns, and the words that Baton writes for a state and a priority.
    properties: Mapping[str, str] = field(default_factory=lambda: dict(PROPERTIES))
    statuses: Mapping[str, str] = field(default_factory=lambda: {str(k): v for k, v in STATUSES.items()})
    priorities: Mapping[str, str] = field(default_factory=lambda: {str(k): v for k, v in PRIORITIES.items()})
    # The words by which a person ends a task as done or as cancelled.
    closed_statuses: tuple[str, ...] = ("Done", "Closed", "Complete")
    cancelled_statuses: tuple[str, ...] = ("Cancelled", "Canceled")
    rights: Mapping[str, str] = field(default_factory=dict)  # the tracker's id of a person → their right

    def right_of(self, user_id: str) -> str:
        """Returns the right of a person who acts in the tracker."""
        return self.rights.get(plain_user_id(user_id), USUAL_TRACKER_RIGHT)

    @property
    def rights_differ(self) -> bool:
        return any(right != USUAL_TRACKER_RIGHT for right in self.rights.values())

    @property
    def database_id(self) -> str:
        """32 hexadecimal digits."""
        return id_in(self.database) or ""

    def changed(self, values: Mapping[str, Any]) -> TrackerSettings:
        """Returns a copy with the given fields; maps keep their other entries. Raises ``InvalidInput``."""
        given = dict(values)
        if "rights" in given:
            given["rights"] = {plain_user_id(user_id): str(right) for user_id, right in given["rights"].items()}
        for name in _MAPS.keys() & given.keys():
            given[name] = {**getattr(self, name), **given[name]}
        after = replace(self, **given)
        _check_rights(after.rights)
        if len(after.database) > MAX_DATABASE or not after.database_id:
            raise errors.InvalidInput(
                "tracker.database", "must be the id or the URL of a Notion database or data source"
            )
        for name, known in _MAPS.items():
            _check_map(f"tracker.{name}", getattr(after, name), known)
        for name in _LISTS:
            _check_words(f"tracker.{name}", getattr(after, name))
        after._check_meanings()
        return after

    def status_for(self, state: State) -> str:
        return self.statuses[str(state)]

    def meaning(self, status: str | None) -> State | None:
        """Returns ``done`` or ``cancelled`` for a status that ends the task, None for any other, also a missing one."""
        request = folded(status)
        if request in map(folded, self.cancelled_statuses):
            return State.CANCELLED
        return State.DONE if request in map(folded, self.closed_statuses) else None

    @property
    def ending_words(self) -> dict[str, State]:
        """The folded words for ending a task, each with its meaning."""
        words = map(folded, (*self.closed_statuses, *self.cancelled_statuses))
        return {word: state for word in words if (state := self.meaning(word))}

    def public(self) -> dict[str, Any]:
        plain = {f.name: getattr(self, f.name) for f in fields(self)}
        return {name: list(value) if isinstance(value, tuple) else value for name, value in plain.items()}

    def _check_meanings(self) -> None:
        """Raises ``InvalidInput`` if Baton would write a closing status for a live task: that would end the task."""
        for state in State:
            status = self.status_for(state)
            if state not in ENDED and self.meaning(status):
                raise errors.InvalidInput(f"tracker.statuses.{state}", f"must not be {status!r}, which closes a task")


def from_public(values: Mapping[str, Any]) -> TrackerSettings:
    """The inverse of ``public``."""
    known = {f.name for f in fields(TrackerSettings)}
    kept: dict[str, Any] = {name: tuple(v) if isinstance(v, list) else v for name, v in values.items() if name in known}
    defaults = TrackerSettings()
    for name in _MAPS.keys() & kept.keys():
        kept[name] = {**getattr(defaults, name), **kept[name]}
    return TrackerSettings(**kept)


def folded(request: str | None) -> str:
    """Returns the form in which names of the tracker are compared: without case, in one normal form (NFC), with a plain
    space for each run of white space, as no-break spaces look like plain ones."""
    return unicodedata.normalize("NFC", " ".join((request or "").split()).casefold())


def id_in(text: str) -> str | None:
    """Returns an id's 32 hexadecimal digits, from the id or from a page's URL (not those of the view); else None."""
    text = text.strip().lower()
    try:
        parts = urlsplit(text)
    except ValueError:
        return None
    if parts.scheme in {"http", "https"}:
        query = parse_qs(parts.query)
        candidates = [parts.path.rstrip("/").rsplit("/", 1)[-1], *query.get("database_id", []), *query.get("p", [])]
        found = next(filter(None, map(_ID.search, candidates)), None)  # the page's title comes before its id
        return found[0].replace("-", "") if found else None
    return text.replace("-", "") if _ID.fullmatch(text) else None


def _check_map(name: str, values: Mapping[str, str], known: Mapping[Any, str]) -> None:
    unknown = sorted(set(values) - set(map(str, known)))
    if unknown:
        raise errors.InvalidInput(
            f"{name}.{unknown[0][:MAX_WORD]}", f"is not one of: {', '.join(sorted(map(str, known)))}"
        )
    for key, request in values.items():
        _check_word(f"{name}.{key}", request)


def plain_user_id(user_id: str) -> str:
    """Returns a user's id in the tracker in the one form in which ids are compared."""
    return user_id.replace("-", "").lower()


def _check_rights(rights: Mapping[str, str]) -> None:
    if len(rights) > MAX_RIGHTS:
        raise errors.InvalidInput("tracker.rights", f"must name at most {MAX_RIGHTS} people")
    for user_id, right in rights.items():
        if not _USER_ID.fullmatch(user_id):
            raise errors.InvalidInput("tracker.rights", "must name people by their ids in the tracker")
        if right not in TRACKER_RIGHTS:
            raise errors.InvalidInput(f"tracker.rights.{user_id}", f"must be one of: {', '.join(TRACKER_RIGHTS)}")


def _check_words(name: str, words: tuple[str, ...]) -> None:
    if len(words) > MAX_WORDS:
        raise errors.InvalidInput(name, f"must be at most {MAX_WORDS} names")
    for request in words:
        _check_word(name, request)


def _check_word(name: str, request: str) -> None:
    is_bare = all(unicodedata.category(each)[0] in "CZ" for each in request)
    # Joined emoji and scripts from right to left need format characters.
    has_controls = any(unicodedata.category(each) in {"Cc", "Cs", "Zl", "Zp"} for each in request)
    if is_bare or has_controls or len(request) > MAX_WORD:
        raise errors.InvalidInput(name, f"must be 1 to {MAX_WORD} characters, without control characters")
