"""Attack ``m5_cookie_other_port``: a program at another port of the console's host receives the cookie. It is half of
the secret, and gives no access."""

from __future__ import annotations

from dataclasses import replace

import pytest

from baton.domain.access.token import digest
from support.gateway import Gateway
from support.values.tokens import token_of
from support.worlds.cookie_browser import Browser
from support.worlds.operations import WITH_TOKEN, Operation
from support.worlds.populated_workspace import populated_workspace
from support.worlds.world import World, human

ALICE, BOB = human(), human(name="bob")
ZEROS = "0" * 64
# A program writes the headers that only browsers send.
FORGED = {"sec_fetch_site": "same-origin", "origin": "https://baton.example"}


@pytest.fixture
def browser(gateway: Gateway) -> Browser:
    return Browser(gateway)


def stolen(browser: Browser) -> Browser:
    """A program that has the browser's cookies, and nothing of the page's storage."""
    program = Browser(browser.gateway)
    program.cookies = dict(browser.cookies)
    return program


def test_a_stolen_cookie_admits_nobody(browser: Browser) -> None:
    session = browser.sign_in(ALICE)
    cookie = browser.cookies[f"__Host-baton-{session}"]
    for shown in (session, f"{session}.", f"{session}.{ZEROS}", f"{session}.{cookie}", f"{session}.{digest(cookie)}"):
        assert stolen(browser).ask("GET", "/tokens", baton_session=shown, **FORGED).status in {401, 403}
    for form in (f"baton_{session}_{cookie}", f"baton_{session}_{cookie}{ZEROS}", cookie):
        assert stolen(browser).ask("GET", "/tokens", authorization=f"Bearer {form}").code == "token_refused"
    assert browser.as_session(session).status == 200


def test_the_page_s_half_alone_admits_nobody(browser: Browser) -> None:
    session = browser.sign_in(ALICE)
    program = Browser(browser.gateway)
    program.keys = dict(browser.keys)
    assert program.as_session(session, **FORGED).code == "not_authenticated"
    program.cookies[f"__Host-baton-{session}"] = program.keys[session]
    assert program.as_session(session, **FORGED).code == "token_refused"
    text = f"Bearer baton_{session}_{program.keys[session]}"
    assert Browser(browser.gateway).ask("GET", "/tokens", authorization=text).code == "token_refused"


def test_neither_half_renews_ends_or_opens_anything(browser: Browser) -> None:
    session = browser.sign_in(ALICE)
    asked = [("POST", "/sessions/renew"), ("DELETE", f"/tokens/{session}"), ("POST", "/bell/tickets")]
    for method, path in asked:
        assert stolen(browser).as_session(session, path, method, **FORGED).code == "not_authenticated"
        key_alone = Browser(browser.gateway)
        key_alone.keys = dict(browser.keys)
        assert key_alone.as_session(session, path, method, **FORGED).code == "not_authenticated"
    assert browser.as_session(session).status == 200


def test_halves_of_two_sessions_are_no_secret(browser: Browser) -> None:
    one, other = browser.sign_in(ALICE), browser.sign_in(ALICE)
    assert browser.ask("GET", "/tokens", baton_session=f"{one}.{browser.keys[other]}").code == "token_refused"


def test_baton_stores_a_digest_of_both_halves_and_neither_of_them(browser: Browser, world: World) -> None:
    session = browser.sign_in(ALICE)
    cookie, key = browser.cookies[f"__Host-baton-{session}"], browser.keys[session]
    stored, token = repr(world.stored()), world.store.tokens.token(session)
    assert token is not None
    assert token.digest == digest(cookie + key)
    assert [half for half in (cookie, key, digest(cookie), digest(key)) if half in stored] == []


def test_a_session_of_the_release_before_has_to_sign_in_again(browser: Browser, world: World) -> None:
    """Its cookie is its whole secret. The browser forgets it."""
    session = browser.sign_in(ALICE)
    token = world.store.tokens.token(session)
    assert token is not None
    before = replace(token, id="oldsession0001", digest=digest(ZEROS))
    sessions = world.store.sessions.open_sessions(token.workspace, token_of(ALICE).id)
    world.store.sessions.add_session(before, sessions.and_one(before.id), None)
    browser.cookies["__Host-baton-oldsession0001"] = ZEROS
    assert browser.as_session("oldsession0001").code == "not_authenticated"
    assert list(browser.cookies) == [f"__Host-baton-{session}"]


def test_a_refused_page_loses_its_useless_cookie_and_other_origins_drop_none(browser: Browser) -> None:
    session = browser.sign_in(ALICE)
    for site in ("same-site", "cross-site", "none"):
        assert browser.ask("GET", "/tokens", baton_session=session, sec_fetch_site=site).code == "foreign_origin"
        assert browser.last == []
    refused = browser.as_session(session, authorization="Bearer nonsense")
    assert (refused.code, browser.last) == ("token_refused", [])
    assert browser.ask("GET", "/tokens", baton_session=session).code == "not_authenticated"
    assert browser.last == [f"__Host-baton-{session}=; Path=/; Secure; HttpOnly; SameSite=Strict; Max-Age=0"]
    assert browser.cookies == {}


@pytest.mark.parametrize("named", ["x\r\nSet-Cookie: a=b", "a; Domain=evil.example", "", "new", "Z" * 20])
def test_a_made_up_name_writes_no_cookie(browser: Browser, named: str) -> None:
    assert browser.ask("GET", "/tokens", baton_session=named).status == 401
    assert browser.last == []


def test_no_operation_is_answered_to_a_stolen_cookie() -> None:
    assert {each.id: answered(each) for each in WITH_TOKEN} == {each.id: 401 for each in WITH_TOKEN}


def answered(operation: Operation) -> int:
    workspace = populated_workspace().of_its_own(operation)
    browser = Browser(workspace.gateway)
    session, path = browser.sign_in(ALICE), operation.path.format_map(workspace.ids())
    return stolen(browser).as_session(session, path, operation.method, **FORGED).status
