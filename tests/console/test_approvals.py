"""Deciding on what waits, by keyboard and many at once."""

from __future__ import annotations

import re
from typing import Any

from support.chromium import fetched
from support.worlds.console_desk import Desk, at_once
from support.worlds.http_agents import ALICE, message
from support.worlds.world import agent, human, service


def test_one_reads_what_would_be_approved_and_approves_it_by_keyboard(signed_in: Any, desk: Desk) -> None:
    signed_in.keyboard.press("j")
    whole = signed_in.get_by_role("region", name="What would be approved")
    for text in (
        "Implement sessions",
        "Includes unit tests",
        "No new dependency",
        "a revoked token must not live on",
        "400,000",
    ):
        whole.get_by_text(text).wait_for()
    _until_live(signed_in)
    signed_in.keyboard.press("a")
    signed_in.get_by_role("status").get_by_text("Approved").wait_for()
    assert _task(desk, desk.whole["id"])["state"] == "delegated"
    trail = desk.served.gateway.get(ALICE, f"/tasks/{desk.whole['id']}/events").json["events"]
    assert trail[-1]["principal"] == {"kind": "human", "id": "alice"}


def test_an_approval_is_taken_back_while_its_window_is_open(signed_in: Any, desk: Desk) -> None:
    signed_in.keyboard.press("j")
    _until_live(signed_in)
    signed_in.keyboard.press("a")
    signed_in.get_by_role("button", name=re.compile("^Undo")).wait_for()
    signed_in.keyboard.press("u")
    signed_in.get_by_text("Taken back").wait_for()
    assert _task(desk, desk.whole["id"])["state"] == "needs"


def test_a_list_of_half_a_minute_ago_will_do_until_one_has_decided(signed_in: Any, desk: Desk) -> None:
    """What one did oneself is seen at once, however late the table's stream is."""
    with signed_in.expect_request(_takes_an_old_queue):
        signed_in.keyboard.press("j")
    _until_live(signed_in)
    with signed_in.expect_request(lambda request: _asks_the_queue(request) and not _takes_an_old_queue(request)):
        signed_in.keyboard.press("a")
    signed_in.get_by_text("5 waiting").wait_for()
    assert _task(desk, desk.whole["id"])["state"] == "delegated"
    with signed_in.expect_request(_takes_an_old_queue):
        """The next look again takes an old one."""


def test_a_dismissal_takes_a_reason_and_can_be_undone_before_it_is_sent(signed_in: Any, desk: Desk) -> None:
    for is_undone in (True, False):
        signed_in.goto(f"{desk.served.url}#/approvals?task={desk.whole['id']}")
        signed_in.get_by_role("region", name="What would be approved").get_by_role("button", name="Dismiss").click()
        signed_in.get_by_label("Reason").fill("The design has changed")
        signed_in.get_by_role("dialog").get_by_role("button", name="Dismiss").click()
        undo = signed_in.get_by_role("button", name=re.compile("^Undo"))
        undo.wait_for()
        if is_undone:
            undo.click()
        else:
            undo.wait_for(state="detached")
            signed_in.get_by_text("6 waiting").wait_for(state="detached")
    task = _task(desk, desk.whole["id"])
    trail = desk.served.gateway.get(ALICE, f"/tasks/{desk.whole['id']}/events").json["events"]
    assert task["state"] == "cancelled"
    assert len([each for each in trail if "The design has changed" in str(each["data"])]) == 1


def test_who_leaves_the_page_has_decided(signed_in: Any, desk: Desk) -> None:
    signed_in.keyboard.press("j")
    _until_live(signed_in)
    signed_in.keyboard.press("n")
    signed_in.get_by_role("button", name=re.compile("^Undo")).wait_for()
    signed_in.goto("about:blank")
    _until_state(desk, desk.whole["id"], "next")


def test_a_whole_group_is_approved_at_once_and_stands_whole_on_the_screen_before(signed_in: Any, desk: Desk) -> None:
    signed_in.get_by_role("link", name="By direction").click()
    signed_in.get_by_label("Mark all of this group: passes work on").first.check()
    signed_in.get_by_role("heading", name="4 marked").wait_for()
    whole = _whole(signed_in)
    for text in ("Add a limit to the sign-in form", "Say which field was wrong", "Log the request id", "400,000"):
        whole.get_by_text(text).first.wait_for()
    whole.get_by_role("button", name="Approve all").and_(signed_in.locator(":enabled")).wait_for()
    signed_in.keyboard.press("a")
    signed_in.get_by_text("Approved: 4 tasks").wait_for()
    assert len(_needs(desk)) == 2


def test_a_held_key_decides_once(signed_in: Any, desk: Desk, expect: Any) -> None:
    for number, key in enumerate("an", 1):
        signed_in.keyboard.press("j")
        _until_live(signed_in)
        for _ in range(12):
            signed_in.keyboard.down(key)
            signed_in.wait_for_timeout(30)
        signed_in.keyboard.up(key)
        expect(signed_in.get_by_text(f"{6 - number} waiting")).to_be_visible()
    signed_in.wait_for_timeout(500)
    assert [asked for asked, _ in desk.served.answered if asked.startswith("POST /approvals")] == ["POST /approvals"]


def test_a_held_key_goes_on_through_the_list(signed_in: Any, desk: Desk, expect: Any) -> None:
    for _ in range(8):
        signed_in.keyboard.down("j")
    signed_in.keyboard.up("j")
    expect(signed_in.locator(".item").last).to_have_class(re.compile(r"\bat\b"))


def test_a_held_enter_presses_a_button_once(signed_in: Any, desk: Desk, expect: Any) -> None:
    signed_in.get_by_role("link", name="By direction").click()
    signed_in.get_by_label("Mark all of this group: passes work on").first.check()
    button = signed_in.get_by_role("button", name="Unmark")
    button.focus()
    signed_in.evaluate("addEventListener('click', () => { window.clicks = (window.clicks ?? 0) + 1; })")
    for _ in range(4):
        signed_in.keyboard.down("Enter")
    signed_in.keyboard.up("Enter")
    assert signed_in.evaluate("window.clicks") == 1


def test_nothing_is_decided_before_its_content_is_on_the_screen(signed_in: Any, desk: Desk, expect: Any) -> None:
    held: list[Any] = []
    signed_in.route("**/handoffs/*", lambda route: held.append(route))
    for path in (f"/approvals?task={desk.whole['id']}", f"/tasks/{desk.whole['id']}"):
        signed_in.goto(f"{desk.served.url}#{path}")
        for name in ("Approve", "Next", "Defer", "Split", "Dismiss"):
            expect(signed_in.get_by_role("button", name=re.compile(f"^{name} [a-z]$"))).to_be_disabled()
        for key in "an":
            signed_in.keyboard.press(key)
            expect(signed_in.get_by_text("it isn't whole on the screen").last).to_be_visible()
        for key in "dsx":
            signed_in.keyboard.press(key)
        expect(signed_in.get_by_role("dialog")).to_have_count(0)
    assert held
    signed_in.unroute("**/handoffs/*")  # what was held goes on
    signed_in.reload()
    _until_live(signed_in)
    assert _task(desk, desk.whole["id"])["state"] == "needs"
    signed_in.keyboard.press("a")
    signed_in.get_by_text("Approved: ").wait_for()


def test_all_that_is_asked_is_on_the_screen(signed_in: Any, desk: Desk, expect: Any) -> None:
    asked = desk.served.agents.hand_off(
        "architect",
        "auto-code",
        target={"agent": "auto-code", "reason": "Try the migration"},
        expectations={"deadline": "2099-01-01T00:00:00Z", "fail_on_deadline": True},
        rollback={"on_failure": "architect", "checkpoint_id": "ckpt_of_last_week"},
    )
    signed_in.goto(f"{desk.served.url}#/approvals?task={asked['task']['id']}")
    for text in ("the task fails then", "ckpt_of_last_week"):
        expect(_whole(signed_in).get_by_text(text)).to_be_visible()


def test_a_review_of_what_names_a_checkpoint_is_read(signed_in: Any, desk: Desk, expect: Any) -> None:
    back = {"on_failure": "architect", "checkpoint_id": "ckpt_of_last_week"}
    asked = message("architect", "architect", target={"agent": "architect", "reason": "Once more"}, rollback=back)
    assert desk.served.gateway.post(agent("architect"), "/handoffs", asked).status == 409
    reviews = desk.served.gateway.get(ALICE, "/manual-reviews").json["items"]
    review = next(each for each in reviews if each["source_agent"] == "architect")
    signed_in.goto(f"{desk.served.url}#/reviews/{review['id']}")
    expect(
        signed_in.get_by_role("region", name="What a release lets through").get_by_text("ckpt_of_last_week").first
    ).to_be_visible()


def test_what_came_back_since_a_service_changed_its_agent_says_so(signed_in: Any, desk: Desk, expect: Any) -> None:
    gateway, task = desk.served.gateway, desk.whole["id"]
    with at_once(desk.served):
        assert gateway.post(ALICE, f"/tasks/{task}/approve", {}).status == 200
    assert gateway.put(service(), "/agents/auto-code", {"produces": ["reports"]}).status == 200
    assert gateway.post(agent("auto-code"), f"/tasks/{task}/claim", {}).status == 409
    signed_in.goto(f"{desk.served.url}#/approvals?task={task}")
    said = _whole(signed_in).get_by_role("note")
    expect(said).to_contain_text("It was approved by alice")
    expect(said).to_contain_text("service:ci changed auto-code: produces")
    signed_in.goto(f"{desk.served.url}#/tasks/{task}")
    trail = gateway.get(ALICE, f"/tasks/{task}/events").json["events"]
    token = next(each["data"]["token"] for each in trail if each["type"] == "approved")
    expect(signed_in.get_by_text(f"token {token}").first).to_be_visible()


def test_agent_that_a_service_changed_meanwhile_is_shown_before_it_is_approved_for(
    signed_in: Any, desk: Desk, expect: Any
) -> None:
    task = desk.whole["id"]
    assert desk.served.gateway.put(service(), "/agents/auto-code", {"produces": ["reports"]}).status == 200
    for answer, state in (("Leave it waiting", "needs"), ("Approve for it as it is now", "delegated")):
        signed_in.goto(f"{desk.served.url}#/approvals?task={task}")
        expect(_whole(signed_in).get_by_text("Implement sessions")).to_be_visible()
        _until_live(signed_in)
        signed_in.keyboard.press("a")
        dialog = signed_in.get_by_role("dialog", name="auto-code has changed")
        expect(dialog).to_contain_text("service:ci has changed it since this task came")
        expect(dialog).to_contain_text("reports")
        assert _task(desk, task)["state"] == "needs"
        dialog.get_by_role("button", name=answer).click()
        expect(dialog).to_have_count(0)
        _until_state(desk, task, state)


def test_what_goes_on_for_screens_below_is_approved_only_by_who_was_told(
    signed_in: Any, desk: Desk, expect: Any
) -> None:
    long = {"state": {f"line{number}": "as it was" for number in range(400)}}
    for number, reason in enumerate(("Archive the log", "Archive the rest")):
        target = {"agent": "auto-code", "reason": reason}
        task = desk.served.agents.hand_off("architect", "auto-code", target=target, context=long)["task"]["id"]
        signed_in.goto(f"{desk.served.url}#/approvals?task={task}")
        expect(_whole(signed_in).get_by_text("line399")).to_be_attached()
        _until_live(signed_in)
        if number == 0:
            signed_in.keyboard.press("a")
            expect(signed_in.get_by_text("more screens below")).to_be_visible()
            assert _task(desk, task)["state"] == "needs"
        else:
            signed_in.get_by_text(task).scroll_into_view_if_needed()
        signed_in.keyboard.press("a")
        expect(signed_in.get_by_text(f"Approved: {reason}")).to_be_visible()
        assert _task(desk, task)["state"] == "delegated"


def test_what_can_not_be_read_is_not_decided_on(signed_in: Any, desk: Desk, expect: Any) -> None:
    signed_in.route("**/handoffs/*", lambda route: route.fulfill(status=503, json={"title": "Down", "status": 503}))
    signed_in.keyboard.press("j")
    expect(signed_in.get_by_text("The handoff can't be read")).to_be_visible()
    signed_in.keyboard.press("a")
    expect(signed_in.get_by_role("button", name="Approve")).to_be_disabled()
    assert _task(desk, desk.whole["id"])["state"] == "needs"


def test_a_decision_names_what_was_on_the_screen_and_the_trail_keeps_it(signed_in: Any, desk: Desk) -> None:
    seen = _task(desk, desk.whole["id"])
    signed_in.keyboard.press("j")
    _until_live(signed_in)
    with signed_in.expect_request("**/approvals") as sent:
        signed_in.keyboard.press("a")
    asked = {"task_id": seen["id"], "revision": seen["revision"], "digest": seen["digest"]}
    assert sent.value.post_data_json == {"items": [asked]}
    signed_in.get_by_text("Approved: ").wait_for()
    trail = desk.served.gateway.get(ALICE, f"/tasks/{seen['id']}/events").json["events"]
    assert trail[-1]["data"]["seen"] == seen["digest"]


def test_what_differs_from_what_was_shown_is_not_approved(signed_in: Any, desk: Desk, expect: Any) -> None:
    """The API has other words than the screen: as if they had been changed since."""
    was = _task(desk, desk.whole["id"])["digest"]

    def older(route: Any) -> None:
        answer = fetched(route)
        route.fulfill(response=answer, body=answer.text().replace(was, "0" * 64))

    signed_in.route(re.compile(r"/(handoffs/ho_|tasks\?state=needs)"), older)
    signed_in.reload()
    signed_in.get_by_text("6 waiting").wait_for()
    signed_in.keyboard.press("j")
    _until_live(signed_in)
    signed_in.keyboard.press("a")
    expect(signed_in.get_by_text("stays as it is")).to_be_visible()
    assert _task(desk, desk.whole["id"])["state"] == "needs"
    signed_in.unroute_all(behavior="ignoreErrors")


def test_a_text_that_changes_while_one_reads_it_is_read_again_first(signed_in: Any, desk: Desk, expect: Any) -> None:
    was = _task(desk, desk.whole["id"])["digest"]
    signed_in.keyboard.press("j")
    _until_live(signed_in)

    def newer(route: Any) -> None:
        answer = fetched(route, if_none_match='"0"')
        route.fulfill(response=answer, body=answer.text().replace(was, "f" * 64).replace("No new", "Any new"))

    signed_in.route(re.compile(r"/(handoffs/ho_|tasks\?state=needs)"), newer)
    expect(signed_in.get_by_text("It was changed while you read it.")).to_be_visible()
    expect(_whole(signed_in).get_by_text("No new dependency")).to_be_visible()
    signed_in.keyboard.press("a")
    expect(signed_in.get_by_role("button", name=re.compile("^Approve"))).to_be_disabled()
    signed_in.get_by_role("button", name="Read it as it is now").click()
    expect(_whole(signed_in).get_by_text("Any new dependency", exact=True)).to_be_visible()
    changed = signed_in.get_by_role("region", name="What was changed").get_by_role("listitem")
    expect(changed).to_have_count(1)
    expect(changed).to_contain_text("expectations.constraints[0] was")
    _until_live(signed_in)
    assert _task(desk, desk.whole["id"])["state"] == "needs"
    signed_in.unroute_all(behavior="ignoreErrors")


def test_what_says_the_same_is_shown_once_and_decided_on_together(signed_in: Any, desk: Desk, expect: Any) -> None:
    for _ in range(2):
        asks = {"agent": "qa", "reason": "Try the new sign-in page"}
        desk.served.agents.hand_off("ciso", "qa", target=asks, context={"variables": {"amount": 1}})
    asks = {"agent": "qa", "reason": "Try the new sign-in page"}
    desk.served.agents.hand_off("ciso", "qa", target=asks, context={"variables": {"amount": 1_000_000}})
    signed_in.get_by_role("link", name="By direction").click()
    group = signed_in.get_by_role("group").filter(has_text="ciso").filter(has_text="qa")
    expect(group.get_by_role("listitem")).to_have_count(3)
    group.get_by_label("Mark all of this group").check()
    expect(signed_in.get_by_role("heading", name="3 marked")).to_be_visible()
    expect(_whole(signed_in).get_by_text(re.compile(r'"amount": 1\s'))).to_have_count(1)
    expect(_whole(signed_in).get_by_text('"amount": 1000000')).to_have_count(1)
    _until_live(signed_in)
    with signed_in.expect_request("**/approvals") as sent:
        signed_in.keyboard.press("a")
    assert len({each["digest"] for each in sent.value.post_data_json["items"]}) == 2
    signed_in.get_by_text("Approved: 3 tasks").wait_for()


def test_each_decision_has_its_undo_while_it_can_be_undone(signed_in: Any, desk: Desk, expect: Any) -> None:
    desk.served.gateway.put(ALICE, "/workspace/settings", {"dispatch_delay_seconds": 60})
    signed_in.keyboard.press("j")
    for left in range(5, -1, -1):
        _until_live(signed_in)
        signed_in.keyboard.press("a")
        expect(signed_in.get_by_text("Nothing waits" if left == 0 else f"{left} waiting").first).to_be_visible()
    expect(signed_in.get_by_text("4 more can be undone")).to_be_visible()
    signed_in.get_by_role("button", name="Show").click()
    expect(signed_in.get_by_role("button", name=re.compile("^Undo"))).to_have_count(6)
    for _ in range(6):
        signed_in.keyboard.press("u")
    expect(signed_in.get_by_text("6 waiting")).to_be_visible()
    assert len(_needs(desk)) == 6


def test_of_two_people_the_second_is_told_who_was_first(signed_in: Any, desk: Desk, expect: Any) -> None:
    signed_in.keyboard.press("j")
    _until_live(signed_in)
    desk.served.gateway.post(human(name="bob"), f"/tasks/{desk.whole['id']}/dismiss", {"reason": "Not now"})
    signed_in.keyboard.press("a")
    expect(signed_in.get_by_text(re.compile(r"stays as it is \(bob: "))).to_be_visible()
    assert _task(desk, desk.whole["id"])["state"] == "cancelled"


def test_a_link_to_what_was_decided_leads_to_what_became_of_it(signed_in: Any, desk: Desk, expect: Any) -> None:
    signed_in.goto(f"{desk.served.url}#/approvals?task={desk.held['id']}")
    signed_in.get_by_text("doesn't wait any more").wait_for()
    signed_in.get_by_role("link", name="See what became of it").click()
    expect(signed_in.get_by_text("holds it as laptop-3")).to_be_visible()
    assert signed_in.url.endswith(f"#/tasks/{desk.held['id']}")


def test_what_another_hands_over_appears_by_itself(signed_in: Any, desk: Desk, expect: Any) -> None:
    desk.served.agents.hand_off("ciso", "qa", target={"agent": "qa", "reason": "Try the new sign-in page"})
    expect(signed_in.get_by_text("Try the new sign-in page")).to_be_visible()
    expect(signed_in.get_by_text("7 waiting")).to_be_visible()


def test_a_list_shows_what_another_part_of_the_page_has_read_first(signed_in: Any, desk: Desk, expect: Any) -> None:
    """The navigation asks for what the list shows by the same address: to the list, its answer is 304 then."""
    tree = signed_in.locator("script[src]").get_attribute("src").removesuffix("/app.js")
    for number in range(2):
        asks = {"agent": "qa", "reason": f"Try page {number}"}
        desk.served.agents.hand_off("ciso", "qa", target=asks)
        signed_in.evaluate(
            "async (api) => (await import(api)).read('/tasks?state=needs&limit=100')", f"{tree}/core/api.js"
        )
        expect(signed_in.get_by_text(f"Try page {number}")).to_be_visible()


def test_what_has_not_changed_is_not_sent_again(signed_in: Any, desk: Desk) -> None:
    for path in ("/approvals", f"/tasks/{desk.held['id']}"):
        signed_in.goto(f"{desk.served.url}#{path}")
        _unchanged(signed_in, 4)  # all of the page has been read once
        desk.served.answered.clear()
        _unchanged(signed_in, 6)
        reads = [status for asked, status in desk.served.answered if asked.startswith("GET") and "/wait" not in asked]
        assert set(reads) == {304}, desk.served.answered


def test_of_two_people_whom_a_rule_asks_for_the_first_is_told_that_it_waits(
    signed_in: Any, desk: Desk, expect: Any
) -> None:
    rules = {"approval_rules": [{"target": "qa", "people": ["alice", "bob"], "needed": 2}]}
    assert desk.served.gateway.put(ALICE, "/workspace/settings", rules).status == 200
    asks = {"agent": "qa", "reason": "Try the new sign-in page"}
    task = desk.served.agents.hand_off("ciso", "qa", target=asks)["task"]["id"]
    signed_in.goto(f"{desk.served.url}#/approvals?task={task}")
    for text in ("2 different people", "It needs 2 approvals by alice, bob. 0 of 2 so far."):
        expect(_whole(signed_in).get_by_text(text)).to_be_visible()
    _until_live(signed_in)
    signed_in.keyboard.press("a")
    expect(signed_in.get_by_text("It waits for others to approve it, too.")).to_be_visible()
    signed_in.goto(f"{desk.served.url}#/approvals?task={task}")
    expect(_whole(signed_in).get_by_text("You approved it, and it waits for others.")).to_be_visible()
    expect(_whole(signed_in).get_by_text("Approved so far by alice: 1 of 2.")).to_be_visible()
    expect(signed_in.locator(".item").last.get_by_text("you approved, 1 of 2")).to_be_visible()
    expect(_whole(signed_in).get_by_role("button", name="Change your decision")).to_be_enabled()
    expect(_whole(signed_in).get_by_role("button", name=re.compile("^Approve"))).to_have_count(0)
    signed_in.keyboard.press("a")
    expect(signed_in.get_by_text("You approved it, and it waits for others. Dismiss it")).to_be_visible()
    assert desk.served.gateway.post(human(name="bob"), f"/tasks/{task}/approve", {}).status == 200
    assert _task(desk, task)["state"] == "delegated"


def test_ready_work_that_a_rule_holds_back_is_approved_by_the_rules_people(
    signed_in: Any, desk: Desk, expect: Any
) -> None:
    rules = {"approval_rules": [{"target": "qa", "people": ["alice", "carla"], "needed": 2}]}
    assert desk.served.gateway.put(ALICE, "/workspace/settings", rules).status == 200
    said = {"source": {"agent": "bob"}, "target": {"reason": "Deploy the sign-in page"}}
    task = desk.served.gateway.post(human(name="bob"), "/handoffs", said).json["task"]["id"]
    assert _task(desk, task)["state"] == "delegated"
    signed_in.goto(f"{desk.served.url}#/approvals?task={task}")
    signed_in.reload()  # the page reads the settings once a minute
    expect(signed_in.locator(".item").get_by_text("held back from qa")).to_be_visible()
    for text in ("It is ready, and other agents may claim it.", "qa can't claim it before 2 of alice, carla"):
        expect(_whole(signed_in).get_by_text(text)).to_be_visible()
    expect(_whole(signed_in).get_by_role("button", name="Dismiss")).to_have_count(0)
    _until_live(signed_in)
    signed_in.keyboard.press("x")
    expect(signed_in.get_by_text("here you can only approve it")).to_be_visible()
    signed_in.keyboard.press("a")
    signed_in.get_by_role("status").get_by_text("Approved").wait_for()
    assert _task(desk, task)["state"] == "delegated"
    trail = desk.served.gateway.get(ALICE, f"/tasks/{task}/events").json["events"]
    assert (trail[-1]["type"], trail[-1]["data"]["by"]) == ("approval_given", "alice")


def test_no_network_is_said_and_mends_itself(signed_in: Any, desk: Desk, expect: Any) -> None:
    desk.served.is_away = True
    notice = signed_in.get_by_text("The API doesn't answer")
    expect(notice).to_be_visible()
    desk.served.is_away = False
    expect(notice).to_have_count(0)


def _unchanged(page: Any, count: int) -> None:
    for _ in range(count):
        with page.expect_response(lambda answer: answer.status == 304):
            pass


def _whole(page: Any) -> Any:
    return page.get_by_role("region", name="What would be approved")


def _until_live(page: Any) -> None:
    """What would be approved is on the screen, whole."""
    page.locator(".one[aria-busy=true]").wait_for(state="detached")
    page.get_by_role("button", name=re.compile("^Approve")).and_(page.locator(":enabled")).wait_for()


def _task(desk: Desk, task_id: str) -> dict[str, Any]:
    task: dict[str, Any] = desk.served.gateway.get(ALICE, f"/tasks/{task_id}").json
    return task


def _needs(desk: Desk) -> list[dict[str, Any]]:
    items: list[dict[str, Any]] = desk.served.gateway.get(ALICE, "/tasks", query="state=needs").json["items"]
    return items


def _until_state(desk: Desk, task_id: str, state: str) -> None:
    query = f"state={state}&timeout=10"
    found = desk.served.gateway.get(ALICE, f"/tasks/{task_id}/await", query=query).json
    assert found["state"] == state


def _asks_the_queue(request: Any) -> bool:
    return "/tasks?state=needs" in request.url


def _takes_an_old_queue(request: Any) -> bool:
    return _asks_the_queue(request) and request.headers.get("cache-control") == "max-age=30"
