"""Sessions: whom they admit, how long, how many, what they may not do, and what opens and ends them."""

from __future__ import annotations

from datetime import timedelta

import pytest

from baton.domain.access.principal import ACT_AS, Principal, PrincipalKind, operator
from baton.domain.access.session import CODE_SECONDS, LONGEST_SESSION_SECONDS, MAX_SESSIONS, SESSION_SECONDS
from baton.domain.access.token import Token, credentials_from
from baton.domain.errors import (
    CodeRefused,
    HumanNeeded,
    NotASession,
    TokenNeeded,
    TokenRefused,
    TooManySessions,
    Unknown,
)
from baton.services.access.authenticate import admit
from baton.services.access.issue_token import TokenRequest, issue_token
from baton.services.access.open_session import (
    look_at_session_code,
    make_session_code,
    open_session,
    redeem_session_code,
)
from baton.services.access.renew_session import renew_session
from baton.services.access.revoke_token import revoke_token
from support.faults.threads import at_once
from support.values.tasks import ACTING_SERVICE, TARGET
from support.values.tokens import who
from support.worlds.world import WORKSPACE, World, human

BOB = Principal(WORKSPACE, PrincipalKind.HUMAN, "bob", frozenset({ACT_AS}))


def parent_of(world: World, lasts: float | None = None) -> Token:
    expires_at = None if lasts is None else world.clock.now() + timedelta(seconds=lasts)
    wanted = TokenRequest(kind=PrincipalKind.HUMAN, subject="bob", scopes=frozenset({ACT_AS}), expires_at=expires_at)
    return issue_token(world.deps, operator(WORKSPACE), wanted)[0]


def session_in(world: World, lasts: float | None = None) -> tuple[Token, str]:
    return open_session(world.deps, parent_of(world, lasts).principal)


def is_let_in(world: World, text: str) -> bool:
    """By a process that may know the session, and by one that doesn't: both say the same."""
    known = who(world.deps, f"Bearer {text}")
    assert known == who(World(store=world.store, clock=world.clock).deps, f"Bearer {text}")
    assert known in {None, BOB}
    return known is not None


# Whom, and how long


def test_a_session_is_its_human_with_the_tokens_scopes(world: World) -> None:
    session, text = session_in(world)
    assert who(world.deps, f"Bearer {text}") == BOB
    assert (session.created_by, session.session_of) == ("human:bob", session.session_of)
    assert text.startswith(f"baton_{session.id}_")


def test_it_lasts_until_it_is_not_renewed_to_the_millisecond(world: World) -> None:
    _, text = session_in(world)
    world.clock.advance(SESSION_SECONDS, milliseconds=-1)
    assert is_let_in(world, text)
    world.clock.advance(milliseconds=1)
    assert not is_let_in(world, text)


def test_a_renewed_session_goes_on_in_processes_that_remember_its_earlier_end(world: World) -> None:
    session, text = session_in(world)
    other = World(store=world.store, clock=world.clock)
    for _ in range(3):
        assert who(other.deps, f"Bearer {text}") == BOB
        world.clock.advance(SESSION_SECONDS - 1)
        renewed = renew_session(world.deps, session.principal)
        assert renewed.expires_at == world.clock.now() + timedelta(seconds=SESSION_SECONDS)
        world.clock.advance(10)
        for _ in range(2):
            assert who(other.deps, f"Bearer {text}") == BOB
        assert is_let_in(world, text)


@pytest.mark.parametrize(("lasts", "longest"), [(None, LONGEST_SESSION_SECONDS), (1_000, 1_000), (60, 60)])
def test_no_renewal_leads_beyond_twelve_hours_or_the_token_itself(
    world: World, lasts: float | None, longest: float
) -> None:
    session, text = session_in(world, lasts)
    begun = world.clock.now()
    assert session.ends_at == begun + timedelta(seconds=longest)
    while (left := longest - (world.clock.now() - begun).total_seconds()) > 1:
        world.clock.advance(min(left - 0.5, SESSION_SECONDS - 1))
        renewed = renew_session(world.deps, session.principal)
        assert renewed.expires_at is not None
        assert renewed.expires_at <= session.ends_at
    assert is_let_in(world, text)
    world.clock.advance(1)
    assert not is_let_in(world, text)


# What ends it


def test_a_revoked_session_is_refused_with_the_next_request_and_its_token_goes_on(world: World) -> None:
    session, text = session_in(world)
    assert is_let_in(world, text)
    revoke_token(world.deps, BOB, session.id)
    assert not is_let_in(world, text)
    with pytest.raises(TokenRefused):
        renew_session(world.deps, session.principal)
    parent = world.store.tokens.token(session.session_of or "")
    assert parent is not None
    assert open_session(world.deps, parent.principal)


def test_a_session_ends_with_its_token_in_every_process(world: World) -> None:
    session, text = session_in(world)
    another, other_text = session_in(world)
    assert is_let_in(world, text)
    other = World(store=world.store, clock=world.clock)
    assert who(other.deps, f"Bearer {text}") == BOB
    revoke_token(world.deps, human(name="carol"), session.session_of or "")
    assert who(other.deps, f"Bearer {text}") is None
    assert not is_let_in(world, text)
    assert is_let_in(world, other_text), "another token's"
    shown = {each.id: each for each in world.store.tokens.listed(WORKSPACE, 10, None).items}
    assert (shown[session.id].revoked_by, shown[another.id].revoked_by) == ("human:carol", None)


def test_a_session_is_no_more_renewed_once_its_token_is_revoked(world: World) -> None:
    session, text = session_in(world)
    _, by = admit(world.deps, credentials_from(f"Bearer {text}"))
    assert by.token_id == session.id
    revoke_token(world.deps, BOB, session.session_of or "")
    with pytest.raises(TokenRefused):
        admit(world.deps, credentials_from(f"Bearer {text}"))


# Who, and how many


@pytest.mark.parametrize("by", [TARGET, ACTING_SERVICE])
def test_agents_and_services_have_no_sessions(world: World, by: Principal) -> None:
    for act in (open_session, make_session_code, renew_session):
        with pytest.raises(HumanNeeded):
            act(world.deps, by)


def test_a_session_opens_no_session_and_makes_no_code_but_tokens(world: World) -> None:
    session, _ = session_in(world)
    for act in (open_session, make_session_code):
        with pytest.raises(TokenNeeded):
            act(world.deps, session.principal)
    token, _ = issue_token(world.deps, session.principal, TokenRequest(kind=PrincipalKind.AGENT, subject="auditor"))
    assert token.created_by == "human:bob"


def test_a_token_that_is_no_session_is_not_renewed(world: World) -> None:
    with pytest.raises(NotASession):
        renew_session(world.deps, parent_of(world).principal)


def test_a_token_has_so_many_sessions_and_one_more_when_one_is_over(world: World) -> None:
    parent = parent_of(world)
    opened = [open_session(world.deps, parent.principal)[0] for _ in range(MAX_SESSIONS)]
    with pytest.raises(TooManySessions):
        open_session(world.deps, parent.principal)
    revoke_token(world.deps, BOB, opened[3].id)
    open_session(world.deps, parent.principal)
    with pytest.raises(TooManySessions):
        open_session(world.deps, parent.principal)
    renew_session(world.deps, opened[0].principal)
    world.clock.advance(SESSION_SECONDS - 1)
    renewed = renew_session(world.deps, opened[0].principal)
    world.clock.advance(1)
    open_session(world.deps, parent.principal)
    sessions = world.store.sessions.open_sessions(WORKSPACE, parent.id)
    assert (len(sessions.ids), renewed.id in sessions.ids) == (2, True)


def test_no_more_of_them_are_opened_at_once_either(world: World) -> None:
    parent = parent_of(world)
    for _ in range(MAX_SESSIONS - 1):
        open_session(world.deps, parent.principal)
    answers = at_once(4, lambda: open_session(world.deps, parent.principal))
    assert sum(isinstance(each, tuple) for each in answers) == 1
    assert sum(isinstance(each, TooManySessions) for each in answers) == 3


# Codes


def test_a_look_at_a_code_says_whose_it_is_and_uses_nothing_up(world: World) -> None:
    parent = parent_of(world)
    made, code = make_session_code(world.deps, parent.principal)
    for _ in range(3):
        found, owner = look_at_session_code(world.deps, code)
        assert (found, owner.principal) == (made, BOB)
    assert world.store.sessions.open_sessions(WORKSPACE, parent.id).ids == ()
    redeem_session_code(world.deps, code)


@pytest.mark.parametrize("why", ["unknown", "used", "late", "revoked"])
def test_a_look_at_a_code_that_opens_nothing_is_refused_as_its_use_is(world: World, why: str) -> None:
    parent = parent_of(world)
    _, code = make_session_code(world.deps, parent.principal)
    if why == "used":
        redeem_session_code(world.deps, code)
    if why == "late":
        world.clock.advance(CODE_SECONDS)
    if why == "revoked":
        revoke_token(world.deps, BOB, parent.id)
    shown = "0" * 64 if why == "unknown" else code
    for act in (look_at_session_code, redeem_session_code):
        with pytest.raises(CodeRefused):
            act(world.deps, shown)


def test_a_code_opens_one_session_of_who_made_it(world: World) -> None:
    parent = parent_of(world)
    _, code = make_session_code(world.deps, parent.principal)
    session, text = redeem_session_code(world.deps, code)
    assert session.session_of == parent.id
    assert is_let_in(world, text)
    with pytest.raises(CodeRefused):
        redeem_session_code(world.deps, code)


def test_exactly_one_of_all_who_show_a_code_gets_in(world: World) -> None:
    for _ in range(3):
        _, code = make_session_code(world.deps, parent_of(world).principal)
        answers = at_once(6, lambda code=code: redeem_session_code(world.deps, code))  # type: ignore[misc]
        assert sum(isinstance(each, tuple) for each in answers) == 1
        assert sum(isinstance(each, CodeRefused) for each in answers) == 5


def test_a_code_is_good_for_a_minute_to_the_millisecond(world: World) -> None:
    parent = parent_of(world)
    codes = [make_session_code(world.deps, parent.principal)[1] for _ in range(2)]
    world.clock.advance(CODE_SECONDS, milliseconds=-1)
    assert redeem_session_code(world.deps, codes[0])
    world.clock.advance(milliseconds=1)
    with pytest.raises(CodeRefused):
        redeem_session_code(world.deps, codes[1])


@pytest.mark.parametrize("is_revoked", [True, False], ids=["revoked", "expired"])
def test_a_code_ends_with_its_token(world: World, *, is_revoked: bool) -> None:
    parent = parent_of(world, None if is_revoked else 30)
    _, code = make_session_code(world.deps, parent.principal)
    if is_revoked:
        revoke_token(world.deps, BOB, parent.id)
    world.clock.advance(30)
    with pytest.raises(CodeRefused):
        redeem_session_code(world.deps, code)


def test_a_full_list_leaves_a_code_good(world: World) -> None:
    parent = parent_of(world)
    opened = [open_session(world.deps, parent.principal)[0] for _ in range(MAX_SESSIONS)]
    _, code = make_session_code(world.deps, parent.principal)
    with pytest.raises(TooManySessions):
        redeem_session_code(world.deps, code)
    revoke_token(world.deps, BOB, opened[0].id)
    assert redeem_session_code(world.deps, code)


def test_only_digests_are_kept_and_nothing_is_logged(world: World) -> None:
    session, text = session_in(world)
    made, code = make_session_code(world.deps, parent_of(world).principal)
    kept = repr(world.stored()) + repr(world.logged) + repr((session, made))
    assert text.rpartition("_")[2] not in kept
    assert code not in kept


def test_another_workspaces_humans_revoke_no_session(world: World) -> None:
    session, text = session_in(world)
    with pytest.raises(Unknown):
        revoke_token(world.deps, human("other"), session.id)
    assert is_let_in(world, text)
