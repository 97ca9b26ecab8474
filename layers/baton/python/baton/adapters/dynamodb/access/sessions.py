"""The store's sessions: tokens with a human's list of them, and the codes that open them."""

from __future__ import annotations

from baton.adapters.dynamodb import items, keys
from baton.adapters.dynamodb.access import session_items
from baton.adapters.dynamodb.item_writes import Fitness, ItemWrite, KeyBar
from baton.adapters.dynamodb.puts import NOT_THERE_YET, put, put_version, update
from baton.adapters.dynamodb.table import ConditionFailed, Table
from baton.domain import errors, times
from baton.domain.access.session import OpenSessions, SessionCode
from baton.domain.access.token import Token

NOT_REVOKED_AND_SOONER = "attribute_exists(#pk) AND attribute_not_exists(#revoked_at) AND #expires_at < :expires_at"
NOT_USED = "attribute_exists(#pk) AND attribute_not_exists(#session_id)"


class Sessions:
    def __init__(self, table: Table) -> None:
        self._table = table

    def open_sessions(self, workspace: str, token_id: str) -> OpenSessions:
        found = self._table.get(keys.open_sessions(workspace, token_id))
        return session_items.open_sessions_from(workspace, token_id, found)

    def add_session(self, session: Token, sessions: OpenSessions, code: SessionCode | None = None) -> None:
        token = put(
            session_items.session_item(session),
            NOT_THERE_YET,
            lambda: errors.Conflict("session"),
            Fitness.LASTING,
            KeyBar(keys.token(session.id)),
        )
        listed = put(session_items.listed_session_item(session))
        all_of_them = put_version(session_items.open_sessions_item(sessions), sessions.version, "sessions")
        used = [] if code is None else [_use(code, session.id)]
        self._table.write([token, listed, all_of_them, *used])

    def renew_session(self, session: Token) -> Token:
        try:
            values = {":expires_at": times.rfc3339(session.expires_at or session.created_at)}
            item = self._table.update(
                keys.token(session.id), "SET #expires_at = :expires_at", NOT_REVOKED_AND_SOONER, values
            )
        except ConditionFailed as failed:
            if not failed.item or "revoked_at" in failed.item:
                raise errors.TokenRefused from failed
            item = failed.item  # another renewal was later
        return items.token_from(item)

    def add_session_code(self, code: SessionCode) -> None:
        refused, key = (lambda: errors.Conflict("session code")), keys.session_code(code.digest)
        self._table.write([put(session_items.code_item(code), NOT_THERE_YET, refused, Fitness.LASTING, KeyBar(key))])

    def session_code(self, digest: str) -> SessionCode | None:
        item = self._table.get(keys.session_code(digest))
        return None if item is None else session_items.code_from(digest, item)


def _use(code: SessionCode, session_id: str) -> ItemWrite:
    sets, values = "SET #session_id = :session_id", {":session_id": session_id}
    return update(keys.session_code(code.digest), sets, NOT_USED, values, lambda: errors.Conflict("session code"))
