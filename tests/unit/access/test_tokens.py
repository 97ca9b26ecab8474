"""Bearer tokens: their form, whom they admit, until when, and that a secret is shown once."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from baton.domain.access.principal import ACT_AS, Principal, PrincipalKind
from baton.domain.access.token import Credentials, Token, credentials_from, digest, spell
from baton.domain.errors import HumanNeeded, InvalidInput, KeyReused, SecretAlreadyShown, Unknown
from baton.domain.idempotency import IdempotencyKey
from baton.services.access.issue_token import TokenRequest, issue_token
from baton.services.access.revoke_token import revoke_token
from support.faults.hooked_store import HookedStore
from support.values import tokens
from support.values.tasks import ACTING_SERVICE, MS, TARGET
from support.worlds.world import WORKSPACE, World, agent, human

SECRET = "0123456789abcdef" * 4


def issue(
    world: World, kind: PrincipalKind = PrincipalKind.AGENT, subject: str = "auditor", **values: Any
) -> tuple[Token, str]:
    return issue_token(world.deps, human(), TokenRequest(kind=kind, subject=subject, **values))


def who(world: World, text: str, scheme: str = "Bearer") -> Principal | None:
    """In a process that may know the token, and in one that doesn't: both say the same."""
    anew = World(store=world.store, clock=world.clock)
    known = tokens.who(world.deps, f"{scheme} {text}")
    assert known == tokens.who(anew.deps, f"{scheme} {text}")
    return known


# Form


def test_a_token_is_baton_its_id_and_64_hexadecimal_digits(world: World) -> None:
    token, text = issue(world)
    prefix, token_id, secret = text.split("_")
    assert (prefix, token_id, len(secret)) == ("baton", token.id, 64)
    assert credentials_from(f"Bearer {text}") == Credentials(token.id, digest(secret))
    assert spell(token.id, secret) == text


@pytest.mark.parametrize("header", ["Bearer {}", "bearer {}", "BEARER   {}  ", "  Bearer {}"])
def test_the_scheme_is_read_in_any_case(header: str) -> None:
    assert credentials_from(header.format(f"baton_abcdefgh_{SECRET}")) == Credentials("abcdefgh", digest(SECRET))


@pytest.mark.parametrize(
    "header",
    [
        "",
        "Bearer",
        "Bearer ",
        f"baton_abcdefgh_{SECRET}",
        f"Basic baton_abcdefgh_{SECRET}",
        f"Bearer xbaton_abcdefgh_{SECRET}",
        f"Bearer baton_abcdefg_{SECRET}",
        f"Bearer baton_{'a' * 41}_{SECRET}",
        f"Bearer baton_ABCDEFGH_{SECRET}",
        f"Bearer baton_abcdefgh_{SECRET[:-1]}",
        f"Bearer baton_abcdefgh_{SECRET}0",
        f"Bearer baton_abcdefgh_{SECRET.upper()}",
        f"Bearer baton_abcdefgh_{SECRET}\nx",
        f"Bearer baton_abcd#efgh_{SECRET}",
        f"Bearer baton_abcdefgh_{SECRET} baton_abcdefgh_{SECRET}",
    ],
)
def test_anything_else_is_none_of_ours(world: World, header: str) -> None:
    assert credentials_from(header) is None
    assert tokens.who(world.deps, header) is None


# Whom it admits


def test_a_token_speaks_for_its_subject_with_its_scopes(world: World) -> None:
    _, text = issue(world)
    assert who(world, text) == agent("auditor")
    _, text = issue(world, PrincipalKind.SERVICE, "ci", scopes=frozenset({ACT_AS}))
    assert who(world, text) == Principal(WORKSPACE, PrincipalKind.SERVICE, "ci", frozenset({ACT_AS}))
    _, text = issue(world, PrincipalKind.HUMAN, "bob")
    assert who(world, text) == Principal(WORKSPACE, PrincipalKind.HUMAN, "bob")


def test_a_wrong_secret_or_an_unknown_id_is_nobody(world: World) -> None:
    token, text = issue(world)
    other, other_text = issue(world)
    assert who(world, text[:-1] + ("0" if text[-1] != "0" else "1")) is None
    assert who(world, spell(other.id, text.rpartition("_")[2])) is None
    assert who(world, spell("nosuchtoken", text.rpartition("_")[2])) is None
    assert who(world, other_text) == who(world, text) == token.principal


def test_a_token_expires_to_the_millisecond(world: World) -> None:
    token, text = issue(world, expires_at=world.clock.now() + timedelta(seconds=60))
    world.clock.advance(60, milliseconds=-1)
    assert who(world, text) == agent("auditor")
    assert token.state(world.clock.now()) == "active"
    world.clock.advance(milliseconds=1)
    assert who(world, text) is None
    assert token.state(world.clock.now()) == "expired"


def test_a_revoked_token_is_refused_with_the_next_request_and_for_good(world: World) -> None:
    token, text = issue(world)
    revoked = revoke_token(world.deps, human(), token.id)
    assert who(world, text) is None
    assert (revoked.revoked_at, revoked.revoked_by) == (world.clock.now(), "human:alice")
    assert revoked.state(world.clock.now()) == "revoked at 2026-11-18T12:00:00.000Z"
    world.clock.advance(60)
    assert revoke_token(world.deps, human(name="bob"), token.id) == revoked
    assert world.store.tokens.token(token.id) == revoked


def test_two_revocations_at_once_keep_the_first() -> None:
    store = HookedStore()
    world = World(store=store).settle()
    token, _ = issue(world)
    store.before["save_revocation"] = lambda: revoke_token(world.deps, human(name="bob"), token.id)
    revoke_token(world.deps, human(), token.id)
    held = world.store.tokens.token(token.id)
    assert held is not None
    assert held.revoked_by == "human:bob"


def test_only_a_digest_is_kept_and_no_listing_shows_even_that(world: World) -> None:
    token, text = issue(world)
    secret = text.rpartition("_")[2]
    held = world.store.tokens.token(token.id)
    assert held is not None
    assert held.digest == digest(secret) != secret
    assert secret not in repr(held)
    assert secret not in repr(world.logged)
    (listed,) = world.store.tokens.listed(WORKSPACE, 10, None).items
    assert listed.id == token.id
    assert secret not in repr(listed)


# Who makes them, and for whom


@pytest.mark.parametrize("by", [TARGET, ACTING_SERVICE])
def test_only_humans_make_and_revoke_tokens(world: World, by: Principal) -> None:
    token, text = issue(world)
    with pytest.raises(HumanNeeded):
        issue_token(world.deps, by, TokenRequest(kind=PrincipalKind.HUMAN, subject="me"))
    with pytest.raises(HumanNeeded):
        revoke_token(world.deps, by, token.id)
    assert who(world, text)
    assert len(world.store.tokens.listed(WORKSPACE, 10, None).items) == 1


@pytest.mark.parametrize(
    ("values", "field"),
    [
        ({"subject": "Auditor"}, "subject"),
        ({"subject": "nobody"}, "subject"),
        ({"subject": ""}, "subject"),
        ({"subject": "a#b", "kind": PrincipalKind.HUMAN}, "subject"),
        ({"scopes": frozenset({ACT_AS})}, "scopes"),
        ({"scopes": frozenset({"root"}), "kind": PrincipalKind.SERVICE}, "scopes"),
        ({"expires_at": 0}, "expires_at"),
    ],
)
def test_a_token_for_nothing_sensible_is_refused(world: World, values: dict[str, Any], field: str) -> None:
    if "expires_at" in values:
        values = {"expires_at": world.clock.now()}
    with pytest.raises(InvalidInput) as refused:
        issue(world, **values)
    assert refused.value.field == field
    assert world.store.tokens.listed(WORKSPACE, 10, None).items == ()


def test_a_token_may_expire_in_a_millisecond(world: World) -> None:
    _, text = issue(world, expires_at=world.clock.now() + MS)
    assert who(world, text)


def test_another_workspaces_token_answers_like_one_that_does_not_exist(world: World) -> None:
    token, text = issue(world)
    messages = set()
    for token_id in (token.id, "nosuchtoken"):
        with pytest.raises(Unknown) as refused:
            revoke_token(world.deps, human("other"), token_id)
        messages.add(refused.value.message)
    assert len(messages) == 1
    assert who(world, text)
    assert world.store.tokens.listed("other", 10, None).items == ()


# Repeats


def test_a_repeat_with_the_same_key_never_shows_the_secret_again_and_makes_no_second_token(world: World) -> None:
    idempotency_key = IdempotencyKey(human(), "/tokens", "k", "h")
    request = TokenRequest(kind=PrincipalKind.AGENT, subject="auditor")
    token, _ = issue_token(world.deps, human(), request, idempotency_key)
    with pytest.raises(SecretAlreadyShown) as refused:
        issue_token(world.deps, human(), request, idempotency_key)
    assert refused.value.fields == {"token_id": token.id}
    with pytest.raises(KeyReused):
        issue_token(world.deps, human(), request, IdempotencyKey(human(), "/tokens", "k", "h2"))
    assert len(world.store.tokens.listed(WORKSPACE, 10, None).items) == 1


def test_two_askings_at_once_with_one_key_make_one_token() -> None:
    store = HookedStore()
    world = World(store=store).settle()
    idempotency_key = IdempotencyKey(human(), "/tokens", "k", "h")
    request = TokenRequest(kind=PrincipalKind.AGENT, subject="auditor")
    store.before["add_token"] = lambda: issue_token(world.deps, human(), request, idempotency_key)
    with pytest.raises(SecretAlreadyShown):
        issue_token(world.deps, human(), request, idempotency_key)
    assert len(world.store.tokens.listed(WORKSPACE, 10, None).items) == 1
