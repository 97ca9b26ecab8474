"""What one looks for is found by a few letters: ids, pages, actions, agents, and tasks of all days."""

from __future__ import annotations

from typing import Any

import pytest

from support.console_looks import nothing_found
from support.values.tricks import TRICKS, only_text
from support.worlds.console_desk import Desk, approved
from support.worlds.http_agents import ALICE
from support.worlds.world import agent


@pytest.fixture
def find(signed_in: Any) -> Any:
    """Opens the palette, and types. Returns what is chosen."""

    def open_and_type(text: str) -> Any:
        signed_in.keyboard.press("Control+k")
        signed_in.get_by_role("combobox", name="Find").fill(text)
        return signed_in.locator("[role=option][aria-selected=true]")

    return open_and_type


def option(page: Any, name: str) -> Any:
    return page.get_by_role("option", name=name)


def test_a_pasted_id_of_any_kind_opens_what_it_names(signed_in: Any, desk: Desk, find: Any, expect: Any) -> None:
    gateway = desk.served.gateway
    checkpoint = gateway.get(ALICE, f"/tasks/{desk.held['id']}/checkpoints").json["items"][0]["checkpoint_id"]
    warning = {"kind": "slow", "message": "Look at it", "severity": "warning", "task_id": desk.held["id"]}
    alert = gateway.post(ALICE, "/alerts", warning).json
    asked = {"claim_id": desk.claim["claim_id"], "kind": "text", "text": "Which one?"}
    question = gateway.post(agent("qa"), f"/tasks/{desk.held['id']}/ask", asked).json
    places = {
        desk.held["id"]: f"#/tasks/{desk.held['id']}",
        f"https://baton.example/tasks/{desk.whole['id']}?x=1": f"#/tasks/{desk.whole['id']}",
        desk.whole["handoff_id"]: f"#/tasks/{desk.whole['id']}",
        desk.whole["workflow_id"]: f"#/tasks/{desk.whole['id']}",
        checkpoint: f"#/tasks/{desk.held['id']}",
        desk.talk: f"#/chat/{desk.talk}",
        desk.review["id"]: f"#/reviews/{desk.review['id']}",
        desk.entry["id"]: f"#/memory/{desk.entry['id']}",
        alert["id"]: f"#/tasks/{desk.held['id']}",
        question["id"]: f"#/approvals?question={question['id']}&of={desk.held['id']}",
    }
    for id_, place in places.items():
        signed_in.goto(f"{desk.served.url}#/start")
        expect(find(f" {id_} ")).to_contain_text("Open the")
        signed_in.keyboard.press("Enter")
        expect(signed_in).to_have_url(f"{desk.served.url}{place}")
        expect(signed_in.get_by_role("dialog")).to_have_count(0)


def test_an_id_that_names_nothing_says_so_and_what_was_typed_stays(signed_in: Any, find: Any, expect: Any) -> None:
    find("ho_01hzzzzzzzzzzzzzzzzzzzzzzz")
    signed_in.keyboard.press("Enter")
    expect(signed_in.get_by_role("alert")).to_contain_text("No such handoff")
    expect(signed_in.get_by_role("combobox", name="Find")).to_have_value("ho_01hzzzzzzzzzzzzzzzzzzzzzzz")
    signed_in.keyboard.press("Escape")
    expect(signed_in.get_by_role("dialog")).to_have_count(0)


def test_pages_agents_tasks_and_the_memory_are_found_without_a_mouse(
    signed_in: Any, desk: Desk, find: Any, expect: Any
) -> None:
    for text, wanted, place in (
        ("stand", "Standing answers", "#/standing-answers"),
        ("release candidate", "Try the release candidate of 2.4", f"#/tasks/{desk.held['id']}"),
        ("queue for each kind", "One queue for each kind of work", f"#/memory/{desk.entry['id']}"),
        ("sign-in safe", "Is the new sign-in safe?", "#/"),
    ):
        find(text)
        expect(option(signed_in, wanted).first).to_be_visible()
        for _ in range(30):
            if wanted in signed_in.locator("[role=option][aria-selected=true]").inner_text():
                break
            signed_in.keyboard.press("ArrowDown")
        signed_in.keyboard.press("Enter")
        expect(signed_in.get_by_role("dialog")).to_have_count(0)
        assert place in signed_in.url
    expect(find("auto-code")).to_contain_text("auto-code")


def test_an_action_of_the_page_at_hand_is_done(signed_in: Any, find: Any, expect: Any) -> None:
    signed_in.keyboard.press("j")
    expect(signed_in.get_by_role("button", name="Dismiss")).to_be_enabled()
    find("dismiss")
    option(signed_in, "dismiss").first.click()
    dialog = signed_in.get_by_role("dialog")
    expect(dialog.get_by_label("Reason")).to_be_visible()
    signed_in.keyboard.press("Escape")
    find("sign out")
    signed_in.keyboard.press("Enter")
    expect(signed_in.get_by_label("Your token")).to_be_visible()
    signed_in.keyboard.press("Control+k")
    expect(signed_in.get_by_role("combobox")).to_have_count(0)


def test_the_palette_is_a_combobox_gives_the_focus_back_and_axe_finds_nothing(
    signed_in: Any, find: Any, expect: Any
) -> None:
    button = signed_in.get_by_role("button", name="Find")
    button.focus()
    button.press("Enter")
    field = signed_in.get_by_role("combobox", name="Find")
    expect(field).to_be_focused()
    field.fill("session")
    expect(option(signed_in, "A person's token").first).to_be_visible()
    for _ in range(3):
        chosen = signed_in.locator("[role=option][aria-selected=true]")
        expect(field).to_have_attribute("aria-activedescendant", chosen.get_attribute("id"))
        signed_in.keyboard.press("ArrowDown")
    for scheme in ("light", "dark"):
        signed_in.emulate_media(color_scheme=scheme, reduced_motion="reduce")
        nothing_found(signed_in)
    signed_in.keyboard.press("Escape")
    expect(button).to_be_focused()


def test_a_search_says_how_far_it_got_and_goes_on(signed_in: Any, desk: Desk, find: Any, expect: Any) -> None:
    for number in range(40):
        approved(desk.served, "architect", "qa", f"Count to {number}: zebra")
    find("zebra")
    dialog = signed_in.get_by_role("dialog")
    tasks = dialog.locator("[role=group][aria-label=Tasks] [role=option]")
    expect(tasks).to_have_count(26)
    expect(dialog.get_by_role("status")).to_contain_text("searched to")
    option(signed_in, "Older tasks: go on").dispatch_event("click")  # a click of the mouse scrolls, which goes on, too
    expect(tasks).to_have_count(40)
    expect(dialog.get_by_role("status")).to_contain_text("searched to the beginning")


def test_the_page_of_a_search_keeps_its_filters_in_the_address(
    signed_in: Any, desk: Desk, find: Any, expect: Any
) -> None:
    wanted = approved(desk.served, "architect", "qa", "Blue one", metadata={"labels": {"team": "blue"}})
    approved(desk.served, "architect", "qa", "Red one", metadata={"labels": {"team": "red"}})
    find("team")
    option(signed_in, "All tasks with these words").click()
    expect(signed_in.get_by_role("link", name="Red one")).to_be_visible()
    expect(signed_in.get_by_label("Words")).to_have_value("team")
    signed_in.get_by_label("Label").fill("TEAM=blue")
    signed_in.keyboard.press("Enter")
    expect(signed_in.get_by_role("link", name="Red one")).to_have_count(0)
    expect(signed_in.get_by_role("link", name="Blue one")).to_be_visible()
    expect(signed_in.get_by_text("1 found. Searched to the beginning.")).to_be_visible()
    assert "label=TEAM%3Dblue" in signed_in.url
    signed_in.reload()
    signed_in.get_by_role("link", name="Blue one").click()
    expect(signed_in).to_have_url(f"{desk.served.url}#/tasks/{wanted['id']}")
    signed_in.goto(f"{desk.served.url}#/search?q=unheard")
    expect(signed_in.get_by_text("No task fits")).to_be_visible()


def test_a_search_that_stops_says_so_and_goes_on_when_asked(signed_in: Any, desk: Desk, expect: Any) -> None:
    refuse = signed_in.context.route
    refuse("**/tasks/search?*", lambda route: route.fulfill(status=503, json={"title": "Busy", "code": "busy"}))
    signed_in.goto(f"{desk.served.url}#/search?q=sessions")
    expect(signed_in.get_by_role("alert")).to_contain_text("Busy")
    signed_in.context.unroute("**/tasks/search?*")
    signed_in.get_by_role("button", name="Try again").click()
    expect(signed_in.get_by_role("link", name="The build is red")).to_be_visible()


@pytest.mark.parametrize("width", [1360, 390])
def test_what_an_agent_wrote_is_text_in_the_palette_too(
    signed_in: Any, desk: Desk, find: Any, width: int, expect: Any
) -> None:
    signed_in.set_viewport_size({"width": width, "height": 860})
    for trick in TRICKS:
        approved(desk.served, "architect", "qa", f"zebra {trick}", metadata={"labels": {"zebra": trick[:190]}})
        said = {"entry_type": "finding", "scope": "src", "summary": f"zebra {trick}"[:200], "detail": trick}
        desk.served.gateway.post(ALICE, "/blackboard", said)
    find("zebra")
    expect(option(signed_in, "zebra").nth(len(TRICKS))).to_be_visible()
    only_text(signed_in)
    nothing_found(signed_in)
    signed_in.keyboard.press("Escape")
    signed_in.goto(f"{desk.served.url}#/search?q=zebra")
    expect(signed_in.get_by_role("link", name="zebra").first).to_be_visible()
    only_text(signed_in)
    nothing_found(signed_in)
