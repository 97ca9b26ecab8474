"""What agents ask people in the middle of their work: read whole, and decided on by the keys of approvals."""

from __future__ import annotations

import re
from typing import Any

import pytest

from baton.domain.access.rights import Right
from support.chromium import fetched
from support.console_looks import nothing_found
from support.values.tricks import TRICKS, only_text
from support.worlds.console_desk import Desk
from support.worlds.http_agents import ALICE
from support.worlds.world import human, person

REFUND = {"kind": "action", "text": "The parcel was lost", "tool": "refund", "arguments": {"amount": 100, "to": "Ada"}}
FORM = {
    "type": "object",
    "properties": {
        "name": {"type": "string", "title": "Whose account", "minLength": 2},
        "amount": {"type": "number", "minimum": 0, "maximum": 500},
        "parcels": {"type": "integer", "description": "How many were lost"},
        "urgent": {"type": "boolean"},
        "way": {"type": "string", "enum": ["bank", "voucher"], "default": "voucher"},
        "note": {"type": "string"},
    },
    "required": ["name", "amount", "urgent"],
}


def asked(desk: Desk, **changes: Any) -> dict[str, Any]:
    """A question of the agent that holds a task."""
    reply = desk.served.agents.say(desk.claim, "ask", **changes)
    assert reply.status == 201, reply.text
    question: dict[str, Any] = reply.json
    return question


def now(desk: Desk, question: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = desk.served.gateway.get(ALICE, path_of(question)).json
    return found


def path_of(question: dict[str, Any]) -> str:
    return f"/tasks/{question['task_id']}/questions/{question['id']}"


def opened(page: Any, desk: Desk, question: dict[str, Any]) -> Any:
    """The question's address. Returns the part of the page that shows it."""
    page.goto(f"{desk.served.url}#/approvals?question={question['id']}&of={question['task_id']}")
    whole = whole_of(page)
    whole.get_by_role("heading", level=2).first.wait_for()
    return whole


def whole_of(page: Any) -> Any:
    return page.get_by_role("region", name="What would be approved")


def until_live(page: Any) -> None:
    page.get_by_role("group", name="Decide").get_by_role("button").first.and_(page.locator(":enabled")).wait_for()


def with_fields(page: Any, **fields: Any) -> None:
    """The API tells more of one question than it does by now."""

    def more(route: Any) -> None:
        answer = fetched(route, if_none_match='"0"')
        route.fulfill(response=answer, json={**answer.json(), **fields})

    page.route(re.compile(r"/questions/qst_\w+$"), more)


def test_a_question_waits_beside_the_handoffs_and_is_counted(signed_in: Any, desk: Desk, expect: Any) -> None:
    asked(desk, kind="text", text="Which colour?")
    asked(desk, **REFUND)
    expect(signed_in.get_by_text("8 waiting")).to_be_visible()
    expect(signed_in).to_have_title("(8) Approvals · Baton")
    expect(signed_in.get_by_label("8 waiting")).to_be_visible()
    listed = signed_in.get_by_role("region", name="Asked in the middle of work").get_by_role("listitem")
    expect(listed).to_have_count(2)
    expect(listed.filter(has_text="refund")).to_contain_text("action")
    expect(listed.filter(has_text="Which colour?")).to_contain_text("question")
    signed_in.get_by_label("Filter by words").fill("parcel")
    expect(listed).to_have_count(1)


def test_an_action_is_shown_whole_and_approved_by_keyboard(signed_in: Any, desk: Desk, expect: Any) -> None:
    question = asked(desk, **REFUND, people=["alice", "bob"])
    signed_in.get_by_text("7 waiting").wait_for()
    signed_in.keyboard.press("j")
    whole = whole_of(signed_in)
    for text in ("refund", '"amount": 100', "The parcel was lost", "agent:qa", "alice, bob", "one person"):
        expect(whole.get_by_text(text).first).to_be_visible()
    expect(whole.get_by_title(f"Copy {question['digest']}")).to_be_visible()
    until_live(signed_in)
    with signed_in.expect_request("**/answer") as sent:
        signed_in.keyboard.press("a")
        expect(signed_in.get_by_text("Approved: refund")).to_be_visible()
    assert sent.value.post_data_json == {"outcome": "approved", "digest": question["digest"]}
    expect(signed_in.get_by_text("6 waiting")).to_be_visible()
    after = now(desk, question)
    assert (after["outcome"], after["approved_digest"]) == ("approved", question["digest"])
    expect(signed_in.locator(".item.at .open")).to_be_focused()


def test_an_approval_is_taken_back_before_it_is_sent(signed_in: Any, desk: Desk, expect: Any) -> None:
    question = asked(desk, **REFUND)
    opened(signed_in, desk, question)
    until_live(signed_in)
    signed_in.keyboard.press("a")
    expect(signed_in.get_by_role("button", name=re.compile("^Undo"))).to_be_visible()
    signed_in.keyboard.press("u")
    expect(signed_in.get_by_text("7 waiting")).to_be_visible()
    assert now(desk, question)["outcome"] == "open"


def test_an_action_is_approved_with_other_arguments(signed_in: Any, desk: Desk, expect: Any) -> None:
    question = asked(desk, **REFUND)
    opened(signed_in, desk, question)
    until_live(signed_in)
    signed_in.keyboard.press("e")
    dialog = signed_in.get_by_role("dialog")
    field = dialog.get_by_label("Arguments, as JSON")
    expect(field).to_be_focused()
    for wrong, told in (('{"amount": 50', "It isn't JSON"), ("[50]", "an object of JSON")):
        field.fill(wrong)
        dialog.get_by_role("button", name="Approve these").click()
        expect(dialog.get_by_role("alert")).to_contain_text(told)
        expect(field).to_have_value(wrong)
    field.fill('{"amount": 50, "to": "Ada"}')
    dialog.get_by_role("button", name="Approve these").click()
    expect(dialog).to_have_count(0)
    after = now(desk, question)
    assert after["decisions"][0]["arguments"] == {"amount": 50, "to": "Ada"}
    assert after["approved_digest"] not in {None, question["digest"]}


def test_a_long_number_is_shown_and_sent_as_it_is(signed_in: Any, desk: Desk, expect: Any) -> None:
    """A browser would make 12345678901234567000 of it."""
    question = asked(desk, **{**REFUND, "arguments": {"account": 12345678901234567890, "to": "x\u202ey\u200b"}})
    whole = opened(signed_in, desk, question)
    expect(whole.get_by_text("12345678901234567890")).to_be_visible()
    until_live(signed_in)
    signed_in.keyboard.press("e")
    field = signed_in.get_by_label("Arguments, as JSON")
    expect(field).to_have_value('{\n  "account": 12345678901234567890,\n  "to": "x\\u202ey\\u200b"\n}')
    signed_in.get_by_role("button", name="Approve these").click()
    expect(signed_in.get_by_role("dialog")).to_have_count(0)
    assert now(desk, question)["approved_digest"] == question["digest"]


def test_what_waits_is_counted_on_while_a_long_number_is_among_it(signed_in: Any, desk: Desk, expect: Any) -> None:
    count = signed_in.locator("nav a[href='#/approvals'] .count")
    expect(count).to_have_text("6")
    asked(desk, **{**REFUND, "arguments": {"account": 12345678901234567890}})
    expect(count).to_have_text("7")
    desk.served.agents.hand_off("architect", "auto-code")
    expect(count).to_have_text("8")


def test_a_question_is_answered_in_words(signed_in: Any, desk: Desk, expect: Any) -> None:
    question = asked(desk, kind="text", text="Which colour?")
    opened(signed_in, desk, question)
    until_live(signed_in)
    signed_in.keyboard.press("a")
    expect(signed_in.get_by_label("Your answer")).to_be_focused()
    signed_in.keyboard.type("Blue")
    signed_in.get_by_role("dialog").get_by_role("button", name="Answer").click()
    expect(signed_in.get_by_text("6 waiting")).to_be_visible()
    assert now(desk, question)["decisions"][0]["answer"] == "Blue"


def test_one_of_the_options_is_chosen_by_keyboard(signed_in: Any, desk: Desk, expect: Any) -> None:
    question = asked(desk, kind="choice", text="Which way?", options=["by train", "by ship"])
    opened(signed_in, desk, question)
    until_live(signed_in)
    signed_in.keyboard.press("a")
    signed_in.get_by_role("dialog").wait_for()
    signed_in.keyboard.press("ArrowDown")
    expect(signed_in.get_by_role("radio", name="by ship")).to_be_checked()
    signed_in.keyboard.press("Enter")
    expect(signed_in.get_by_role("dialog")).to_have_count(0)
    assert now(desk, question)["decisions"][0]["answer"] == "by ship"


def test_a_form_is_made_of_its_schema(signed_in: Any, desk: Desk, expect: Any) -> None:
    question = asked(desk, kind="form", text="Whom do we pay?", form=FORM)
    opened(signed_in, desk, question)
    until_live(signed_in)
    signed_in.keyboard.press("a")
    dialog = signed_in.get_by_role("dialog")
    nothing_found(signed_in)
    send = dialog.get_by_role("button", name="Answer")
    dialog.get_by_label("Whose account").fill("A")
    dialog.get_by_label("amount").fill(".5")
    dialog.get_by_label("parcels").fill("2")
    send.click()  # the browser asks for what is required
    dialog.get_by_role("group", name="urgent").get_by_label("no").check()
    send.click()
    expect(dialog.get_by_role("alert")).to_contain_text("It takes at least 2 characters, and has 1: “Whose account”")
    dialog.get_by_label("Whose account").fill("Ada")
    send.click()
    expect(dialog).to_have_count(0)
    answer = {"name": "Ada", "amount": 0.5, "parcels": 2, "urgent": False, "way": "voucher"}
    assert now(desk, question)["decisions"][0]["answer"] == answer


def test_a_refusal_takes_a_reason(signed_in: Any, desk: Desk, expect: Any) -> None:
    question = asked(desk, **REFUND)
    opened(signed_in, desk, question)
    until_live(signed_in)
    signed_in.keyboard.press("x")
    dialog = signed_in.get_by_role("dialog")
    dialog.get_by_role("button", name="Refuse").click()
    assert now(desk, question)["outcome"] == "open"
    dialog.get_by_label("Reason").fill("She was paid yesterday")
    dialog.get_by_role("button", name="Refuse").click()
    expect(dialog).to_have_count(0)
    after = now(desk, question)
    assert (after["outcome"], after["decisions"][0]["reason"]) == ("refused", "She was paid yesterday")
    opened(signed_in, desk, question)
    expect(whole_of(signed_in).get_by_text("It was refused.")).to_be_visible()


def test_of_two_people_who_are_needed_the_second_sees_what_the_first_said(
    signed_in: Any, desk: Desk, expect: Any
) -> None:
    question = asked(desk, **REFUND, needed=2)
    other = {"outcome": "approved", "digest": question["digest"], "arguments": {"amount": 10, "to": "Ada"}}
    assert desk.served.gateway.post(human(name="bob"), f"{path_of(question)}/answer", other).status == 200
    whole = opened(signed_in, desk, question)
    expect(whole.get_by_text("2 different people, who say the same")).to_be_visible()
    expect(whole.get_by_text("bob")).to_be_visible()
    expect(whole.locator(".changes")).to_have_text(re.compile(r"amount\s+was 100\s+now 10"))
    until_live(signed_in)
    whole.get_by_role("button", name="Approve these arguments, too").click()
    expect(signed_in.get_by_label("Arguments, as JSON")).to_have_value(re.compile('"amount": 10'))
    signed_in.get_by_role("button", name="Approve these", exact=True).click()
    expect(signed_in.get_by_role("dialog")).to_have_count(0)
    assert now(desk, question)["outcome"] == "approved"


def test_who_may_not_answer_sees_why(signed_in: Any, desk: Desk, expect: Any) -> None:
    question = asked(desk, **REFUND, people=["bob"])
    whole = opened(signed_in, desk, question)
    expect(whole.get_by_role("note")).to_contain_text("others are named below")
    expect(whole.get_by_role("button", name="Approve")).to_be_disabled()
    signed_in.keyboard.press("a")
    expect(signed_in.locator(".toast").last).to_contain_text("You may not decide on this")
    with_fields(signed_in, people=[], never=["human:alice"], answerable=False)
    whole = opened(signed_in, desk, asked(desk, **REFUND))
    expect(whole.get_by_text("you asked for it, or made the handoff")).to_be_visible()
    expect(whole.get_by_text("too few are left")).to_be_visible()
    signed_in.unroute_all(behavior="ignoreErrors")


def test_what_was_decided_meanwhile_is_said_and_stays(signed_in: Any, desk: Desk, expect: Any) -> None:
    question = asked(desk, **REFUND)
    whole = opened(signed_in, desk, question)
    until_live(signed_in)
    signed_in.keyboard.press("x")
    dialog = signed_in.get_by_role("dialog")
    dialog.get_by_label("Reason").fill("No")
    answer = {"outcome": "approved", "digest": question["digest"]}
    assert desk.served.gateway.post(human(name="bob"), f"{path_of(question)}/answer", answer).status == 200
    dialog.get_by_role("button", name="Refuse").click()
    expect(dialog.get_by_role("alert")).to_contain_text("Somebody was first")
    signed_in.keyboard.press("Escape")
    expect(whole.get_by_text("It was approved.")).to_be_visible()
    expect(whole.get_by_role("button", name="Approve")).to_have_count(0)


def test_an_approval_that_was_not_used_is_revoked(signed_in: Any, desk: Desk, expect: Any) -> None:
    question = asked(desk, **REFUND)
    answer = {"outcome": "approved", "digest": question["digest"]}
    assert desk.served.gateway.post(ALICE, f"{path_of(question)}/answer", answer).status == 200
    signed_in.goto(f"{desk.served.url}#/tasks/{question['task_id']}")
    part = signed_in.get_by_role("region", name="Asked of people")
    expect(part.get_by_text("It wasn't begun yet.")).to_be_visible()
    part.get_by_role("button", name="Revoke").click()
    signed_in.get_by_label("Reason").fill("Too soon")
    signed_in.get_by_role("button", name="Revoke it").click()
    expect(signed_in.get_by_role("dialog")).to_have_count(0)
    expect(part.get_by_text("It was approved, and revoked.")).to_be_visible()
    assert now(desk, question)["decisions"][-1]["reason"] == "Too soon"


def test_an_action_is_approved_now_and_later(signed_in: Any, desk: Desk, expect: Any) -> None:
    question = asked(desk, **REFUND)
    opened(signed_in, desk, question)
    until_live(signed_in)
    signed_in.keyboard.press("s")
    dialog = signed_in.get_by_role("dialog")
    nothing_found(signed_in)
    expect(dialog.get_by_label("these arguments")).to_be_checked()
    dialog.get_by_label("this tool").check()
    dialog.get_by_label("Until").fill("2030-01-01T00:00")
    dialog.get_by_label("Times").fill("3")
    dialog.get_by_role("button", name="Approve, now and later").click()
    assert now(desk, question)["outcome"] == "open"  # that is more than seven days ahead
    dialog.get_by_label("Until").fill(signed_in.evaluate(IN_TWO_DAYS))
    dialog.get_by_role("button", name="Approve, now and later").click()
    expect(dialog).to_have_count(0)
    (stands,) = desk.served.gateway.get(ALICE, "/standing-answers").json["items"]
    assert (stands["for"], stands["times"], stands["by"]) == ("tool", 3, "alice")
    later = asked(desk, **REFUND | {"arguments": {"amount": 7}})
    assert later["outcome"] == "approved"
    whole = opened(signed_in, desk, later)
    expect(whole.get_by_text("approved, by a standing answer")).to_be_visible()
    signed_in.goto(f"{desk.served.url}#/standing-answers")
    expect(signed_in.get_by_text("used 1 of 3 times, of which 1 weren't begun yet")).to_be_visible()
    signed_in.get_by_role("link", name="answer to this").click()
    expect(whole.get_by_text('"amount": 100')).to_be_visible()


def test_a_standing_answer_shows_the_agent_once_a_member_has_changed_it(
    signed_in: Any, desk: Desk, expect: Any
) -> None:
    question = asked(desk, **REFUND)
    target = f"/agents/{question['agent']}"
    assert desk.served.gateway.put(person(Right.MEMBER, "mia"), target, {"produces": ["reports"]}).status == 200
    opened(signed_in, desk, question)
    until_live(signed_in)
    for answer in ("Leave it waiting", "Approve for it as it is now"):
        signed_in.keyboard.press("s")
        signed_in.get_by_role("dialog").get_by_role("button", name="Approve, now and later").click()
        dialog = signed_in.get_by_role("dialog", name="has changed")
        expect(dialog).to_contain_text("human:mia has changed it since this question came")
        expect(dialog).to_contain_text("reports")
        assert desk.served.gateway.get(ALICE, "/standing-answers").json["items"] == []
        assert now(desk, question)["outcome"] == "open"
        dialog.get_by_role("button", name=answer).click()
        expect(dialog).to_have_count(0)
    expect(signed_in.get_by_text("Approved, now and later:")).to_be_visible()
    assert now(desk, question)["outcome"] == "approved"


IN_TWO_DAYS = "new Date(Date.now() + 2 * 86400000).toISOString().slice(0, 16)"
BEFORE = {"question_id": "qst_1", "task_id": "task_1", "by": ["bob"], "at": "2026-11-27T08:00:00.000Z"}
STANDING = {
    "for": "arguments",
    "id": "sta_1",
    "agent": "qa",
    "tool": "refund",
    "digest": "0" * 64,
    "arguments": {"amount": 100, "to": "Ada\u202e"},
    "by": "bob",
    "since": "2026-11-27T08:00:00.000Z",
    "until": "2099-11-27T08:00:00.000Z",
    "times": 10,
    "used": 3,
    "begun": 3,
    "task_id": "task_1",
    "question_id": "qst_1",
}


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_standing_answers_are_listed_and_revoked(signed_in: Any, desk: Desk, expect: Any, scheme: str) -> None:
    items = [STANDING, {**STANDING, "id": "sta_2", "tool": TRICKS[0], "digest": None, "arguments": None}]

    def standing(route: Any) -> None:
        if route.request.method == "DELETE":
            items[:] = [each for each in items if not route.request.url.endswith(f"/{each['id']}")]
            route.fulfill(status=204)
        else:
            route.fulfill(json={"items": items, "next_cursor": None})

    signed_in.route("**/standing-answers**", standing)
    signed_in.emulate_media(color_scheme=scheme, reduced_motion="reduce")
    signed_in.get_by_role("link", name="Standing answers").click()
    cards = signed_in.locator(".card")
    expect(cards).to_have_count(2)
    expect(cards.first).to_contain_text("used 3 of 10 times")
    expect(cards.first).to_contain_text("by bob")
    nothing_found(signed_in)
    only_text(signed_in)
    cards.last.get_by_role("button", name="Revoke").click()
    signed_in.get_by_role("button", name="Revoke it").click()
    expect(cards).to_have_count(1)


def test_what_differs_from_the_last_approval_is_shown(signed_in: Any, desk: Desk, expect: Any) -> None:
    question = asked(desk, **{**REFUND, "arguments": {"amount": 100, "to": {"name": "Ada"}, "fast": True}})
    before = {"question_id": "qst_0", "task_id": question["task_id"], "by": ["bob"], "at": "2026-11-20T08:00:00.000Z"}
    was = {"amount": 10, "to": {"name": "Ada", "a.b": None}}
    with_fields(signed_in, before={**before, "arguments": was})
    whole = opened(signed_in, desk, question)
    expect(whole.get_by_text("Other arguments were approved by bob")).to_be_visible()
    expect(whole.locator(".changes li")).to_have_text(
        [
            re.compile(r"^amount\s+was 10\s+now 100$"),
            re.compile(r'^to\["a.b"\]\s+was null\s+gone$'),
            re.compile(r"^fast\s+new\s+true$"),
        ]
    )
    signed_in.unroute_all(behavior="ignoreErrors")


@pytest.mark.parametrize("width", [1360, 390])
def test_what_an_agent_asks_is_text_in_its_box(signed_in: Any, desk: Desk, expect: Any, width: int) -> None:
    tricks = "\n".join(TRICKS)
    fields: dict[str, Any] = {trick[:60]: {"type": "string", "title": trick} for trick in TRICKS}
    fields[TRICKS[3]] = {"type": "string", "enum": TRICKS[:4], "enumNames": TRICKS[:4], "description": TRICKS[3]}
    form = {"type": "object", "properties": fields, "title": TRICKS[3], "description": TRICKS[0]}
    questions = [
        asked(desk, kind="action", text=tricks, tool=TRICKS[0], arguments={TRICKS[3]: TRICKS, "__proto__": TRICKS[1]}),
        asked(desk, kind="choice", text=TRICKS[3], options=TRICKS),
        asked(desk, kind="form", text=TRICKS[2], form=form),
    ]
    with_fields(signed_in, before={**BEFORE, "arguments": {"was": TRICKS}})
    signed_in.set_viewport_size({"width": width, "height": 860})
    for question in questions:
        whole = opened(signed_in, desk, question)
        expect(whole.get_by_text("Asked by", exact=True)).to_be_visible()
        expect(whole.locator(".mark").first).to_be_attached()
        only_text(signed_in)
        until_live(signed_in)
        for _ in range(2):  # what goes on for screens below is told first
            signed_in.keyboard.press("e" if question["kind"] == "action" else "a")
        expect(signed_in.get_by_role("dialog").get_by_role("heading")).to_have_text(
            re.compile("^(Answer|Approve with)")
        )
        only_text(signed_in)
        signed_in.keyboard.press("Escape")
    signed_in.goto(f"{desk.served.url}#/tasks/{desk.held['id']}")
    signed_in.get_by_role("region", name="Asked of people").wait_for()
    only_text(signed_in)
    signed_in.unroute_all(behavior="ignoreErrors")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_of_a_question(signed_in: Any, desk: Desk, expect: Any, scheme: str) -> None:
    signed_in.emulate_media(color_scheme=scheme, reduced_motion="reduce")
    question = asked(desk, **REFUND, needed=2)
    other = {"outcome": "approved", "digest": question["digest"], "arguments": {"amount": 10}}
    assert desk.served.gateway.post(human(name="bob"), f"{path_of(question)}/answer", other).status == 200
    was = {"amount": 7, "by": "post"}
    with_fields(signed_in, before={**BEFORE, "arguments": was}, answerable=False)
    opened(signed_in, desk, question)
    until_live(signed_in)
    nothing_found(signed_in)
    signed_in.unroute_all(behavior="ignoreErrors")


def test_large_arguments_are_whole_and_say_how_large_they_are(signed_in: Any, desk: Desk, expect: Any) -> None:
    question = asked(desk, **REFUND | {"arguments": {f"line{number}": "as it was" for number in range(1000)}})
    whole = opened(signed_in, desk, question)
    expect(whole.get_by_text("line999")).to_be_attached()
    size = re.compile(r"^2\d,\d{3} characters, 1,002 lines; it goes on inside of the box$")
    expect(whole.get_by_text(size)).to_be_visible()
    until_live(signed_in)
    signed_in.keyboard.press("a")
    expect(signed_in.get_by_text("more screens below")).to_be_visible()
    assert now(desk, question)["outcome"] == "open"


def test_who_is_in_the_group_may_answer_and_who_is_not_reads_why(signed_in: Any, desk: Desk, expect: Any) -> None:
    for members, words in ((["bob"], "others are named below"), (["alice"], "")):
        assert desk.served.gateway.put(ALICE, "/workspace/settings", {"groups": {"finance": members}}).status == 200
        whole = opened(signed_in, desk, asked(desk, **REFUND, group="finance"))
        expect(whole.get_by_text("the group finance")).to_be_visible()
        if words:
            expect(whole.get_by_role("note")).to_contain_text(words)
        else:
            until_live(signed_in)
        signed_in.goto(f"{desk.served.url}#/start")


def test_what_was_typed_outlives_the_session(signed_in: Any, desk: Desk, expect: Any) -> None:
    question = asked(desk, kind="choice", text="Which way?", options=["by train", "by ship"])
    opened(signed_in, desk, question)
    until_live(signed_in)
    signed_in.keyboard.press("a")
    signed_in.get_by_role("radio", name="by ship").check()
    over = {"title": "Over", "status": 401, "code": "token_refused"}
    signed_in.route("**/answer", lambda route: route.fulfill(status=401, json=over))
    signed_in.get_by_role("dialog").get_by_role("button", name="Answer").click()
    signed_in.get_by_label("Your token").fill(desk.served.token(ALICE))
    signed_in.unroute_all(behavior="ignoreErrors")
    signed_in.keyboard.press("Enter")
    expect(signed_in.get_by_role("radio", name="by ship")).to_be_checked()
    signed_in.get_by_role("dialog").get_by_role("button", name="Answer").click()
    expect(signed_in.get_by_role("dialog")).to_have_count(0)
    assert now(desk, question)["decisions"][0]["answer"] == "by ship"


def test_what_changes_while_one_reads_it_is_read_again_first(signed_in: Any, desk: Desk, expect: Any) -> None:
    question = asked(desk, **REFUND)
    whole = opened(signed_in, desk, question)
    until_live(signed_in)
    with_fields(signed_in, arguments={"amount": 999}, digest="f" * 64)
    expect(whole.get_by_role("alert")).to_contain_text("It was changed while you read it.")
    expect(whole.get_by_text('"amount": 100')).to_be_visible()
    expect(whole.get_by_role("button", name="Approve")).to_be_disabled()
    signed_in.keyboard.press("a")
    expect(signed_in.get_by_text("it isn't whole on the screen")).to_be_visible()
    whole.get_by_role("button", name="Read it as it is now").click()
    expect(whole.get_by_text('"amount": 999')).to_be_visible()
    until_live(signed_in)
    signed_in.keyboard.press("a")
    expect(signed_in.get_by_text("It stays as it is")).to_be_visible()  # the API has another digest
    assert now(desk, question)["outcome"] == "open"
    signed_in.unroute_all(behavior="ignoreErrors")


def test_a_task_says_that_it_waits_for_people_and_goes_on_with_the_answer(
    signed_in: Any, desk: Desk, expect: Any
) -> None:
    question = asked(desk, kind="text", text="Which colour?")
    assert desk.served.agents.say(desk.claim, "wait-for-answers", questions=[question["id"]]).status == 200
    signed_in.goto(f"{desk.served.url}#/tasks/{question['task_id']}")
    expect(signed_in.get_by_text("It waits for people's answers")).to_be_visible()
    signed_in.get_by_role("link", name="waits for people").click()
    until_live(signed_in)
    signed_in.keyboard.press("a")
    signed_in.get_by_label("Your answer").fill("Blue")
    signed_in.get_by_role("dialog").get_by_role("button", name="Answer").click()
    expect(signed_in.get_by_text("6 waiting")).to_be_visible()
    task = desk.served.gateway.get(ALICE, f"/tasks/{question['task_id']}").json
    assert task["state"] == "delegated"


def test_an_older_api_knows_no_questions(signed_in: Any, desk: Desk, expect: Any) -> None:
    gone = {"title": "Not found", "status": 404, "code": "not_found"}
    signed_in.route("**/questions?*", lambda route: route.fulfill(status=404, json=gone))
    signed_in.reload()
    expect(signed_in.get_by_text("6 waiting")).to_be_visible()
    expect(signed_in.get_by_role("alert")).to_have_count(0)
    signed_in.keyboard.press("j")
    until_live(signed_in)
    signed_in.route("**/tasks/*/questions", lambda route: route.fulfill(status=404, json=gone))
    for path, text in {"/start": "What is stuck", f"/tasks/{desk.held['id']}": "smoke tests passed"}.items():
        signed_in.goto(f"{desk.served.url}#{path}")
        expect(signed_in.get_by_text(text).first).to_be_visible()
        expect(signed_in.get_by_role("alert")).to_have_count(0)
    signed_in.unroute_all(behavior="ignoreErrors")
