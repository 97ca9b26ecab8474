"""Sessions that a browser keeps in a cookie, by each way to misuse one
(docs/decisions/101-a-session-that-no-page-can-read.md)."""

from __future__ import annotations

import json

import pytest

from baton.domain.access.session import COOKIE_SESSION_SECONDS, LONGEST_SESSION_SECONDS
from support.gateway import Gateway, gateway_event, route_of
from support.models.expected import EXPECTED
from support.values.bodies import QUERIES
from support.values.tokens import bearer
from support.worlds.cookie_browser import PAGE, Browser
from support.worlds.operations import WITH_TOKEN, Operation
from support.worlds.populated_workspace import populated_workspace
from support.worlds.world import World, agent, human

ALICE, BOB = human(), human(name="bob")


@pytest.fixture
def browser(gateway: Gateway) -> Browser:
    return Browser(gateway)


@pytest.mark.parametrize("in_headers", [False, True])
def test_a_session_is_kept_by_the_browser_and_in_no_answer(gateway: Gateway, in_headers: bool) -> None:
    browser = Browser(gateway, in_headers)
    gateway.admit(ALICE)
    opened = browser.ask("POST", "/sessions", {}, authorization=bearer(ALICE), baton_session="new")
    assert opened.json["session_token"] is None
    ((name, secret),) = browser.cookies.items()
    assert name == f"__Host-baton-{opened.json['session_id']}"
    assert secret not in opened.text
    assert opened.json["session_key"] not in browser.last[0]
    options = {each.strip() for each in browser.last[0].split(";")[1:]}
    assert options == {"Path=/", "Secure", "HttpOnly", "SameSite=Strict", f"Max-Age={LONGEST_SESSION_SECONDS}"}
    assert browser.as_session(opened.json["session_id"]).status == 200


def test_a_code_opens_one_in_a_cookie_as_well(gateway: Gateway, browser: Browser) -> None:
    code = gateway.post(ALICE, "/session-codes").json["code"]
    opened = browser.ask("POST", "/sessions/redeem", {"code": code}, baton_session="new")
    assert (opened.json["session_token"], len(browser.cookies)) == (None, 1)
    assert browser.as_session(opened.json["session_id"]).status == 200


def test_a_program_gets_a_token_and_no_cookie(gateway: Gateway) -> None:
    browser = Browser(gateway)
    gateway.admit(ALICE)
    opened = browser.ask("POST", "/sessions", {}, authorization=bearer(ALICE))
    assert opened.json["session_token"].startswith("baton_")
    assert browser.cookies == {}


def test_a_cookie_alone_says_nothing(browser: Browser) -> None:
    """Browsers send it by themselves; the header they don't."""
    browser.sign_in(ALICE)
    assert browser.ask("GET", "/tokens").code == "not_authenticated"


@pytest.mark.parametrize("site", ["cross-site", "same-site", "none", ""])
def test_what_no_page_of_the_console_sends_is_refused(browser: Browser, site: str) -> None:
    session = browser.sign_in(ALICE)
    assert browser.as_session(session, sec_fetch_site=site).code == "foreign_origin"
    assert browser.as_session(session, f"/tokens/{session}", "DELETE", sec_fetch_site=site).code == "foreign_origin"
    assert browser.as_session(session).status == 200


@pytest.mark.parametrize("path", ["/sessions", "/sessions/redeem"])
def test_no_other_page_plants_a_session(gateway: Gateway, path: str) -> None:
    browser, body = Browser(gateway), {}
    if path == "/sessions/redeem":
        body = {"code": gateway.post(BOB, "/session-codes").json["code"]}
    gateway.admit(BOB)
    shown = {"authorization": bearer(BOB)} if path == "/sessions" else {}
    refused = browser.ask("POST", path, body, sec_fetch_site="cross-site", baton_session="new", **shown)
    assert (refused.code, browser.cookies) == ("foreign_origin", {})


def test_two_people_in_one_browser_are_never_mixed(browser: Browser) -> None:
    alice, bob = browser.sign_in(ALICE), browser.sign_in(BOB)
    for session, name in ((alice, "alice"), (bob, "bob"), (alice, "alice")):
        renewed = browser.as_session(session, "/sessions/renew", "POST")
        assert renewed.json["session_id"] == session
        made = browser.ask(
            "POST",
            "/alerts",
            {"kind": "it-is", "severity": "info", "message": "x"},
            baton_session=browser.named(session),
        )
        assert made.json["raised_by"] == f"human:{name}"


def test_a_cookie_that_was_planted_under_a_session_s_name_doesn_t_change_whose_it_is(browser: Browser) -> None:
    alice, bob = browser.sign_in(ALICE), browser.sign_in(BOB)
    browser.cookies[f"__Host-baton-{alice}"] = browser.cookies[f"__Host-baton-{bob}"]
    assert browser.as_session(alice).code == "token_refused"


def test_of_two_cookies_of_a_name_none_is_taken(gateway: Gateway, browser: Browser) -> None:
    session = browser.sign_in(ALICE)
    ((name, value),) = browser.cookies.items()
    event = gateway_event(None, "GET", "/tokens", headers=PAGE | {"baton-session": browser.named(session)})
    event["cookies"] = [f"{name}={value}", f"{name}={'0' * 64}"]
    assert gateway.handle(route_of("GET", "/tokens"), event)["statusCode"] == 401


@pytest.mark.parametrize("named", ["", "new", "x" * 50, "../..", "0123456789", "a\r\nb"])
def test_a_session_that_isn_t_there_is_nobody_s(browser: Browser, named: str) -> None:
    browser.sign_in(ALICE)
    assert browser.as_session(named).status == 401


def test_its_secret_is_no_token_and_a_token_is_no_cookie(gateway: Gateway, browser: Browser) -> None:
    """What was read off the wire in one form isn't good in the other."""
    session = browser.sign_in(ALICE)
    text = f"Bearer baton_{session}_{browser.cookies[f'__Host-baton-{session}']}"
    assert Browser(gateway).ask("GET", "/tokens", authorization=text).code == "token_refused"
    opened = gateway.post(ALICE, "/sessions", {}).json
    secret = opened["session_token"].rpartition("_")[2]
    browser.cookies[f"__Host-baton-{opened['session_id']}"] = secret
    browser.keys[opened["session_id"]] = secret
    assert browser.as_session(opened["session_id"]).code == "token_refused"


def test_a_token_goes_before_a_cookie(gateway: Gateway, browser: Browser) -> None:
    session = browser.sign_in(ALICE)
    gateway.admit(BOB)
    made = browser.as_session(session, authorization=bearer(BOB))
    assert made.status == 200
    assert browser.as_session(session, authorization="Bearer nonsense").code == "token_refused"


def test_models_tools_are_called_by_no_cookie(browser: Browser) -> None:
    session = browser.sign_in(ALICE)
    message = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
    assert browser.ask("POST", "/mcp", message, baton_session=browser.named(session)).status == 401


def test_it_survives_lunch_and_not_the_night(world: World, browser: Browser) -> None:
    session = browser.sign_in(ALICE)
    world.clock.advance(COOKIE_SESSION_SECONDS - 1)
    assert browser.as_session(session, "/sessions/renew", "POST").status == 200
    world.clock.advance(COOKIE_SESSION_SECONDS)
    assert browser.as_session(session).code == "token_refused"


def test_twelve_hours_are_all_however_often_it_is_renewed(world: World, browser: Browser) -> None:
    session = browser.sign_in(ALICE)
    for _ in range(11):
        world.clock.advance(3_600)
        assert browser.as_session(session, "/sessions/renew", "POST").status == 200
    world.clock.advance(3_600)
    assert browser.as_session(session).code == "token_refused"


def test_it_ends_with_the_token_that_it_was_opened_with(gateway: Gateway, browser: Browser) -> None:
    made = gateway.post(ALICE, "/tokens", {"kind": "human", "subject": "alice"}).json
    opened = browser.ask("POST", "/sessions", {}, authorization=f"Bearer {made['token']}", baton_session="new")
    session = opened.json["session_id"]
    assert browser.as_session(session).status == 200
    gateway.delete(ALICE, f"/tokens/{made['id']}")
    assert browser.as_session(session).code == "token_refused"


def test_signing_out_ends_it_and_the_browser_forgets_it(browser: Browser) -> None:
    session, other = browser.sign_in(ALICE), browser.sign_in(BOB)
    assert browser.as_session(session, f"/tokens/{session}", "DELETE").status == 200
    assert list(browser.cookies) == [f"__Host-baton-{other}"]
    assert browser.as_session(session).status == 401


def test_it_opens_no_other(browser: Browser) -> None:
    session = browser.sign_in(ALICE)
    for path in ("/sessions", "/session-codes"):
        assert browser.ask("POST", path, {}, baton_session=browser.named(session)).code == "token_required"


def test_twenty_fit_into_the_headers_that_a_gateway_takes(browser: Browser) -> None:
    for _ in range(20):
        browser.sign_in(ALICE)
    assert len("; ".join(f"{name}={value}" for name, value in browser.cookies.items())) < 3_000


def test_no_answer_to_another_s_request_carries_a_cookie(gateway: Gateway, browser: Browser) -> None:
    session = browser.sign_in(ALICE)
    assert browser.as_session(session).headers["Vary"] == "Accept, Authorization, Baton-Session"
    assert browser.last == []
    assert json.dumps(gateway.get(agent("auditor"), "/tasks").headers).count("Cookie") == 0


# What a session in a cookie is answered otherwise than its human's token: it opens none, and no model has it.
OTHERWISE = {
    "open_a_session": "403 token_required",
    "create_session_code": "403 token_required",
    "renew_a_session": "200",
    "answer_a_message": "401",
    "create_token": "403 token_required",
}


def test_every_operation_answers_a_cookie_as_its_human() -> None:
    answers = {each.id: answered_a_cookie(each) for each in WITH_TOKEN}
    decided = {each: OTHERWISE.get(each, EXPECTED[each].human.rstrip("+-")) for each in answers}
    assert answers == decided


def answered_a_cookie(operation: Operation) -> str:
    workspace = populated_workspace().of_its_own(operation)
    browser, ids = Browser(workspace.gateway), workspace.ids()
    session, path = browser.sign_in(ALICE), operation.path.format_map(ids)
    query = "timeout=0" if "timeout" in operation.parameters("query") else QUERIES.get(operation.id, "")
    event = gateway_event(None, operation.method, path, workspace.body, query=query, headers=PAGE)
    event["headers"]["baton-session"] = browser.named(session)
    event["cookies"] = [f"{name}={value}" for name, value in browser.cookies.items()]
    answer = workspace.gateway.handle(route_of(operation.method, path), event)
    told = f"{answer['statusCode']} {json.loads(answer['body']).get('code', '')}" if answer["statusCode"] >= 400 else ""
    return (told or str(answer["statusCode"])).strip()
