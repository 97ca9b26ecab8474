"""The users who edit pages, each read once per process."""

from __future__ import annotations

from typing import Any

from notion_client.helpers import is_full_user

from baton.adapters.notion import troubles
from baton.adapters.notion.connection import Connection
from baton.adapters.notion.database_schema import dashed
from baton.domain.settings.tracker_settings import id_in
from baton.domain.tracker import page_changes

_MAX_KEPT = 10_000


class People:
    def __init__(self) -> None:
        self._editors: dict[tuple[str, str], page_changes.Editor] = {}
        self._own_ids: dict[str, str] = {}

    def who(self, notion: Connection, workspace: str, user_id: str) -> page_changes.Editor:
        """Returns the editor. The cache is per workspace: a connection must not learn about users of another one
        here."""
        key = (workspace, user_id)
        if key not in self._editors:
            if len(self._editors) >= _MAX_KEPT:
                self._editors.clear()
            try:
                self._editors[key] = _read_editor(notion, user_id)
            except troubles.NotThere:  # not cached: the user may be known tomorrow
                return page_changes.Editor(user_id, is_person=False)
        return self._editors[key]

    def us(self, notion: Connection) -> str:
        """Returns the id of the user that the token stands for."""
        if notion.token() not in self._own_ids:
            own_id = str(notion.read(notion.api.users.me).get("id", ""))
            self._own_ids[notion.token()] = own_id  # the request may have fetched a newer token
        return self._own_ids[notion.token()]


def _read_editor(notion: Connection, user_id: str) -> page_changes.Editor:
    known = id_in(user_id)
    if known is None:
        return page_changes.Editor(user_id, is_person=False)
    try:
        user: Any = notion.read(notion.api.users.retrieve, dashed(known))
    except troubles.Restricted as exc:
        raise _no_users() from exc
    # Without the capability Notion may return the id alone; a person must not be taken for a bot then.
    if not isinstance(user, dict) or not is_full_user(user) or user["type"] not in {"person", "bot"}:
        raise _no_users()
    return page_changes.Editor(user_id, is_person=user["type"] == "person", name=str(user.get("name") or ""))


def _no_users() -> troubles.Restricted:
    problem = "The connection may not read users, so nobody can tell who closed a page"
    return troubles.Restricted(
        troubles.CONNECTION, problem, "give it the capability to read user information in Notion."
    )
