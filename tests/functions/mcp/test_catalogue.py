"""What every conversation pays for: the list of tools (docs/spec/mcp.md §3)."""

from __future__ import annotations

from math import ceil
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from mcp_door.tools.catalogue import TOOLS, tools_of
from mcp_door.tools.inner_call import ROUTES
from mcp_door.tools.tool import McpTool
from support.worlds.mcp_client import McpClient, compact, tools_shown
from support.worlds.world import human

ALICE = human()
MOST_TOKENS = 2_500
# A tool or an argument more has to find room.
MOST_CHARACTERS = 8_750
# A public tokenizer makes 4.0 characters of such a list one token. Counted is an eighth more than that.
CHARACTERS_PER_TOKEN = 3.5
# What the protocol assumes of a tool that says nothing; of one that only reads, it asks for no more than that.
ASSUMED = {"readOnlyHint": False, "destructiveHint": True, "idempotentHint": False, "openWorldHint": True}
APPROVALS = {
    *("approve", "approve_next", "approve_several", "undo", "release_manual_review", "resolve", "dismiss"),
    *("release_held_claim", "close_manual_review", "give_answer", "revoke_an_approval"),
}


def tokens(shown: Any) -> int:
    return ceil(len(compact(shown)) / CHARACTERS_PER_TOKEN)


def test_the_tools_of_both_sides_cost_at_most_2500_tokens(client: McpClient) -> None:
    shown = tools_shown(client, ALICE, "usual")
    assert shown == client.ask(ALICE, "tools/list")["tools"], "what a client gets that asks for none"
    assert tokens(shown) <= MOST_TOKENS
    assert len(compact(shown)) <= MOST_CHARACTERS


def test_one_way_to_hand_over_is_shown_unless_all_are_asked_for(client: McpClient) -> None:
    ways = {"handoff", "twining_handoff", "create_handoff_marker"}
    for who in ("worker", "sender", "usual"):
        assert ways & tools_of(who).keys() == {"handoff"}
    assert ways <= tools_of("all").keys()


def test_each_half_of_the_tools_costs_less_than_both(client: McpClient) -> None:
    for_all = tools_shown(client, ALICE, "usual")
    for who in ("worker", "sender"):
        narrowed = tools_shown(client, ALICE, who)
        assert tokens(narrowed) <= 0.95 * tokens(for_all)
        assert [each for each in for_all if each in narrowed] == narrowed


def test_a_tool_outside_of_the_asked_half_is_unknown(client: McpClient) -> None:
    message = client.request("tools/call", name="claim_next", arguments={})
    reply = client.post(ALICE, message, query="tools=sender", **client.headers("tools/call", "claim_next"))
    assert reply.json["error"]["code"] == -32602


@pytest.mark.parametrize("tool", TOOLS, ids=lambda tool: tool.name)
def test_a_tool_is_shown_with_valid_schemas_and_each_hint_that_is_not_assumed_anyway(tool: McpTool) -> None:
    shown = tool.shown
    hints = ASSUMED | shown["annotations"]
    assert all(ASSUMED[name] is not hint for name, hint in shown["annotations"].items())
    assert (hints["readOnlyHint"], hints["openWorldHint"]) == (tool.reads, False)
    assert tool.reads or (hints["destructiveHint"], hints["idempotentHint"]) == (False, tool.is_repeatable)
    for name in ("inputSchema", "outputSchema"):
        assert shown[name]["type"] == "object"
        Draft202012Validator.check_schema(shown[name])
    assert "$ref" not in compact(shown)


@pytest.mark.parametrize("tool", TOOLS, ids=lambda tool: tool.name)
def test_arguments_are_flat_but_for_free_content_and_reports(tool: McpTool) -> None:
    nested = {
        name
        for name, schema in tool.shown["inputSchema"]["properties"].items()
        if "properties" in schema or "$ref" in schema
    }
    assert nested == set()


@pytest.mark.parametrize("tool", TOOLS, ids=lambda tool: tool.name)
def test_a_tool_plays_routes_that_there_are_and_reads_or_writes_as_it_hints(tool: McpTool) -> None:
    methods = {ROUTES[name].method for name in tool.plays}
    assert tool.reads == (methods == {"GET"})


def test_no_tool_approves() -> None:
    assert not APPROVALS & {name for tool in TOOLS for name in tool.plays}
    assert not APPROVALS & ROUTES.keys()


def test_the_usual_tools_are_those_of_both_sides() -> None:
    assert tools_of("worker").keys() | tools_of("sender").keys() == tools_of("usual").keys()
    assert list(tools_of("all")) == [tool.name for tool in TOOLS]
