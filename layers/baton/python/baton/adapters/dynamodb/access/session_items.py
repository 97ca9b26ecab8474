"""Sessions as items. Those that are over are deleted by their ``ttl``."""

from __future__ import annotations

from baton.adapters.dynamodb import items, keys, records
from baton.adapters.dynamodb.item_writes import Item
from baton.domain import times
from baton.domain.access.session import OpenSessions, SessionCode
from baton.domain.access.token import Token

_DAY = 86_400
# A listed session goes before the token itself: whatever is listed can be read.
LISTED_SECONDS, KEPT_SECONDS = _DAY, 4 * _DAY


def session_item(session: Token) -> Item:
    return {**items.token_item(session), "ttl": _end_of(session) + KEPT_SECONDS}


def listed_session_item(session: Token) -> Item:
    return {**items.listed_token_item(session), "ttl": _end_of(session) + LISTED_SECONDS}


def open_sessions_item(sessions: OpenSessions) -> Item:
    key = keys.open_sessions(sessions.workspace, sessions.token_id)
    return {**key._asdict(), "ids": list(sessions.ids), "version": sessions.version}


def open_sessions_from(workspace: str, token_id: str, item: Item | None) -> OpenSessions:
    if item is None:
        return OpenSessions(workspace, token_id)
    return OpenSessions(workspace, token_id, tuple(item["ids"]), int(item["version"]))


def code_item(code: SessionCode) -> Item:
    values = {**records.written(code), "digest": None, "ttl": times.to_ms(code.expires_at) // 1_000 + _DAY}
    return {**keys.session_code(code.digest)._asdict(), **values}


def code_from(digest: str, item: Item) -> SessionCode:
    return records.read(SessionCode, item, digest=digest)


def _end_of(session: Token) -> int:
    if session.ends_at is None:
        raise ValueError(f"{session.id} is no session")
    return times.to_ms(session.ends_at) // 1_000
