"""Sessions in the store: tokens that end with the token they were opened with, and codes that open one."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from baton.domain.access.principal import PrincipalKind
from baton.domain.access.session import OpenSessions, SessionCode
from baton.domain.access.token import Token
from baton.domain.errors import Conflict, TokenRefused
from baton.ports.store import Store
from support.clock import NOON
from support.values.records import a_session, a_token
from support.worlds.world import WORKSPACE, human

PARENT = a_token().id
NOBODYS = OpenSessions(WORKSPACE, PARENT)
CODE = SessionCode(digest="c" * 64, workspace=WORKSPACE, token_id=a_token().id, expires_at=NOON + timedelta(seconds=60))


def opened(store: Store) -> tuple[Token, Token]:
    """A token and its session."""
    parent, session = a_token(kind=PrincipalKind.HUMAN, subject="bob"), a_session()
    store.tokens.add_token(parent)
    store.sessions.add_session(session, NOBODYS.and_one(session.id))
    return parent, session


def test_a_session_is_found_and_listed_as_a_token_and_by_its_human(store: Store) -> None:
    parent, session = opened(store)
    assert store.tokens.token(session.id) == session
    assert store.tokens.tokens_of([session.id, parent.id, "01nobody"]) == {session.id: session, parent.id: parent}
    assert store.tokens.tokens_of([]) == {}
    assert store.tokens.listed(WORKSPACE, 10, None).items == (replace(session, digest=""), replace(parent, digest=""))
    assert store.sessions.open_sessions(WORKSPACE, PARENT) == OpenSessions(WORKSPACE, PARENT, (session.id,), 1)
    assert store.sessions.open_sessions(WORKSPACE, "01nobody").ids == ()


def test_a_revoked_token_has_revoked_its_sessions_wherever_they_are_shown(store: Store) -> None:
    parent, session = opened(store)
    store.tokens.save_revocation(parent.revoked(human(), NOON))
    revoked = session.revoked(human(), NOON)
    assert store.tokens.token(session.id) == store.tokens.tokens_of([session.id])[session.id] == revoked
    assert replace(revoked, digest="") in store.tokens.listed(WORKSPACE, 10, None).items


def test_a_session_without_its_token_is_none(store: Store) -> None:
    session = a_session()
    store.sessions.add_session(session, NOBODYS.and_one(session.id))
    assert store.tokens.token(session.id) is None
    assert store.tokens.tokens_of([session.id]) == {}


def test_a_renewal_holds_wherever_the_session_is_shown_and_none_shortens_it(store: Store) -> None:
    _, session = opened(store)
    later = replace(session, expires_at=NOON + timedelta(hours=1))
    assert store.sessions.renew_session(later) == later
    assert store.sessions.renew_session(replace(session, expires_at=NOON + timedelta(minutes=50))) == later
    assert store.sessions.renew_session(later) == later
    assert store.tokens.token(session.id) == later
    assert replace(later, digest="") in store.tokens.listed(WORKSPACE, 10, None).items


def test_a_revoked_session_is_not_renewed(store: Store) -> None:
    _, session = opened(store)
    store.tokens.save_revocation(session.revoked(human(), NOON))
    with pytest.raises(TokenRefused):
        store.sessions.renew_session(replace(session, expires_at=NOON + timedelta(hours=1)))
    with pytest.raises(TokenRefused):
        store.sessions.renew_session(a_session(9))
    assert store.tokens.token(session.id) == session.revoked(human(), NOON)


def test_a_list_that_was_changed_since_refuses_the_next_session(store: Store) -> None:
    _, session = opened(store)
    other = a_session(4)
    with pytest.raises(Conflict):
        store.sessions.add_session(other, NOBODYS.and_one(other.id))
    assert store.tokens.token(other.id) is None
    assert store.sessions.open_sessions(WORKSPACE, PARENT).ids == (session.id,)


def test_a_code_opens_one_session(store: Store) -> None:
    store.tokens.add_token(a_token(kind=PrincipalKind.HUMAN, subject="bob"))
    store.sessions.add_session_code(CODE)
    assert store.sessions.session_code(CODE.digest) == CODE
    assert store.sessions.session_code("d" * 64) is None
    first, second = a_session(), a_session(4)
    store.sessions.add_session(first, NOBODYS.and_one(first.id), CODE)
    assert store.sessions.session_code(CODE.digest) == replace(CODE, session_id=first.id)
    with pytest.raises(Conflict):
        store.sessions.add_session(second, store.sessions.open_sessions(WORKSPACE, PARENT).and_one(second.id), CODE)
    assert store.tokens.token(second.id) is None


def test_a_code_that_is_gone_opens_nothing(store: Store) -> None:
    session = a_session()
    store.tokens.add_token(a_token(kind=PrincipalKind.HUMAN, subject="bob"))
    with pytest.raises(Conflict):
        store.sessions.add_session(session, NOBODYS.and_one(session.id), CODE)
    assert store.tokens.token(session.id) is None
