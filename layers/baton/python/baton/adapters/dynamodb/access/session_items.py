"""Sessions as items. Those that are over are deleted by their ``ttl``."""

from __future__ import annotations

from baton.adapters.dynamodb import items, keys
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
    expires_at = times.rfc3339(code.expires_at)
    values = {"workspace": code.workspace, "token_id": code.token_id, "expires_at": expires_at}
    return {**keys.session_code(code.digest)._asdict(), **values, "ttl": times.to_ms(code.expires_at) // 1_000 + _DAY}


def code_from(digest: str, item: Item) -> SessionCode:
    return SessionCode(
        digest=digest,
        workspace=item["workspace"],
        token_id=item["token_id"],
        expires_at=times.parse_rfc3339(item["expires_at"]),
        session_id=item.get("session_id"),
    )


def _end_of(session: Token) -> int:
    if session.ends_at is None:
        raise ValueError(f"{session.id} is no session")
    return times.to_ms(session.ends_at) // 1_000
