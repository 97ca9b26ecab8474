"""A handoff tool is made, seen as a model sees it, and tried."""

from __future__ import annotations

from typing import Any

from support.worlds.console_desk import Desk
from support.worlds.http_agents import ALICE
from support.worlds.world import service


def test_a_tool_is_made_and_its_schema_shown(signed_in: Any, desk: Desk) -> None:
    signed_in.goto(f"{desk.served.url}#/new-tool")
    signed_in.get_by_label("Name").fill("handoff_to_ciso")
    signed_in.get_by_label("Description").first.fill("When somebody asks about security.")
    signed_in.get_by_label("Hands over to").select_option("ciso")
    signed_in.get_by_role("button", name="Add a variable").click()
    signed_in.get_by_label("Variable's name").fill("finding")
    signed_in.get_by_label("Variable's description").fill("What was found")
    signed_in.get_by_role("button", name="Save").click()
    signed_in.get_by_text('"What was found"').wait_for()
    made = desk.served.gateway.get(ALICE, "/tools/handoff_to_ciso").json
    assert (made["config"]["target_agent"], made["config"]["mode"], made["version"]) == ("ciso", "transfer", 1)
    signed_in.get_by_label("Arguments, as JSON").fill("{}")
    signed_in.get_by_role("button", name="Try", exact=True).click()
    signed_in.get_by_text("It would be refused.").wait_for()
    signed_in.get_by_label("Arguments, as JSON").fill('{"finding": "a leaked key"}')
    signed_in.get_by_role("button", name="Try", exact=True).click()
    signed_in.get_by_text("What the target gets").wait_for()


def test_the_schema_follows_the_form_and_a_wrong_field_leaves_the_last_good_one(signed_in: Any, desk: Desk) -> None:
    signed_in.goto(f"{desk.served.url}#/tools/handoff_to_qa")
    saved = desk.served.gateway.get(ALICE, "/tools/handoff_to_qa").json
    schema = signed_in.get_by_role("region", name="As a model sees it")
    signed_in.get_by_label("Description").first.fill("Whenever a test is missing.")
    schema.get_by_text("Whenever a test is missing.").wait_for()
    signed_in.get_by_role("button", name="Add a variable").click()
    signed_in.get_by_label("Variable's name").last.fill("module")
    schema.get_by_text('"module"').wait_for()
    signed_in.get_by_label("Variable's name").last.fill("no name")
    signed_in.get_by_role("group", name="Variables").locator(".wrong").wait_for()
    assert schema.get_by_text('"module"').is_visible()
    signed_in.get_by_label("Variable's name").last.fill("package")
    schema.get_by_text('"package"').wait_for()
    assert signed_in.locator(".wrong").count() == 0
    assert desk.served.gateway.get(ALICE, "/tools/handoff_to_qa").json == saved


def test_allowed_values_are_written_one_a_line_and_come_back_as_they_were(
    signed_in: Any, desk: Desk, expect: Any
) -> None:
    kept = {"name": "note", "type": "string", "required": False, "description": "", "enum": ["a, b", "1", "two\nlines"]}
    gateway, path = desk.served.gateway, "/tools/handoff_to_qa"
    assert gateway.put(ALICE, path, {"config": {"context_variables": [kept]}}).status == 200
    signed_in.goto(f"{desk.served.url}#{path}")
    expect(signed_in.get_by_label("Allowed values")).to_have_value('a, b\n1\n"two\\nlines"')
    signed_in.get_by_role("button", name="Add a variable").click()
    signed_in.get_by_label("Variable's name").last.fill("size")
    signed_in.get_by_text("Any value is allowed").click()
    choices = signed_in.get_by_label("Allowed values").last
    choices.press_sequentially("1\nlarge\n")
    signed_in.get_by_label("Variable's type").last.select_option("number")
    expect(signed_in.get_by_role("group", name="Variables").locator(".wrong")).to_contain_text("values of type number")
    choices.fill("1\n2.5\n")
    schema = signed_in.get_by_role("region", name="As a model sees it")
    expect(schema.get_by_text("2.5")).to_be_visible()
    signed_in.get_by_role("button", name="Save").click()
    signed_in.get_by_text("Saved", exact=True).wait_for()
    size = {"name": "size", "type": "number", "required": True, "description": "", "enum": [1, 2.5]}
    assert gateway.get(ALICE, path).json["config"]["context_variables"] == [kept, size]
    signed_in.get_by_role("button", name="Remove note").click()
    expect(signed_in.get_by_label("Allowed values")).to_have_value("1\n2.5\n")
    choices.fill("")
    expect(signed_in.get_by_text("Any value is allowed")).to_be_visible()
    signed_in.get_by_role("button", name="Save").click()
    expect(schema.get_by_text("2.5")).to_have_count(0)
    assert gateway.get(ALICE, path).json["config"]["context_variables"] == [{**size, "enum": []}]


def test_of_two_people_who_change_a_tool_the_second_keeps_the_fields_and_is_told(signed_in: Any, desk: Desk) -> None:
    signed_in.goto(f"{desk.served.url}#/tools/handoff_to_qa")
    signed_in.get_by_label("Instructions").fill("Mine.")
    changed = desk.served.gateway.put(ALICE, "/tools/handoff_to_qa", {"config": {"handoff_instructions": "Theirs."}})
    assert changed.status == 200
    signed_in.get_by_role("button", name="Save").click()
    signed_in.get_by_role("alert").get_by_text("Somebody changed it first").wait_for()
    assert signed_in.get_by_label("Instructions").input_value() == "Mine."


def test_a_suspended_tool_is_marked_and_resumed_for_the_target_that_was_shown(signed_in: Any, desk: Desk) -> None:
    gateway = desk.served.gateway
    assert gateway.put(service(), "/agents/qa", {"produces": ["reports"]}).status == 200
    signed_in.goto(f"{desk.served.url}#/tools")
    signed_in.get_by_text("suspended").wait_for()
    signed_in.get_by_role("link", name="handoff_to_qa").click()
    signed_in.get_by_text("save the tool to offer it again").wait_for()
    with signed_in.expect_request(lambda request: request.method == "PUT") as saving:
        signed_in.get_by_role("button", name="Save").click()
    signed_in.locator("header .state").get_by_text("offered").wait_for()
    assert saving.value.post_data_json["target_version"] == gateway.get(ALICE, "/agents/qa").json["version"]
