"""Tools in the store: each changes only from the version that was read, and every version is kept."""

from __future__ import annotations

from dataclasses import fields, replace
from typing import Any

import pytest

from baton.adapters.dynamodb import keys
from baton.adapters.dynamodb.agents import tool_items
from baton.adapters.dynamodb.table import from_wire
from baton.domain.agents.needs_approval import NeedsApproval
from baton.domain.agents.tool import History, Tool, Toolbox, ToolMode, ToolType, Variable, VariableType
from baton.domain.errors import Conflict
from baton.domain.newer import member
from baton.ports.paging import Page
from baton.ports.store import Store
from support.clock import NOON
from support.faults.choke_point import no_fault
from support.values.runs import a_tool
from support.values.tasks import MS
from support.worlds.rig import Rig
from support.worlds.world import WORKSPACE

VARIABLES = (
    Variable(name="repo", required=True, description="Which one — «größe» 🔎", enum=("a", "", "日本語")),
    Variable(name="depth", type=VariableType.NUMBER, enum=(1, 1.5, 0, -0.25, 10**20)),
    Variable(name="deep", type=VariableType.BOOLEAN, enum=(True,)),
    Variable(name="options", type=VariableType.OBJECT, enum=({"a": [1, True, None, 1.0]}, {})),
    Variable(name="paths", type=VariableType.ARRAY),
)
FULL = a_tool(
    description="Hands it on.\n\tSlowly. 🧑‍🚀",
    mode=ToolMode.DELEGATE,
    context_variables=VARIABLES,
    handoff_instructions="Say what is wrong.",
    history=History.LAST_MESSAGE,
    active=False,
    needs_approval=NeedsApproval(people=("ada", "bob"), group="office", needed=2, not_author=True, within_seconds=600),
    created_at=NOON - MS,
    updated_at=NOON + MS,
    target_version=7,
    approval_given_by="human:ada",
    approval_given_at=NOON,
)
# Of its one kind, and of its first version.
ALIKE = {"type"}


def save(store: Store, *tools: Tool) -> None:
    for each in tools:
        store.tools.save_tool(each, store.tools.toolbox(each.workspace))


def test_an_empty_workspace_has_no_tools(store: Store) -> None:
    assert store.tools.toolbox(WORKSPACE) == Toolbox()
    assert store.tools.named(WORKSPACE, ["ask_auditor"]) == {}


@pytest.mark.parametrize("tool", [FULL, a_tool(), a_tool(description="", target_agent="")])
def test_a_tool_is_read_back_as_it_was_saved(store: Store, tool: Tool) -> None:
    save(store, tool)
    assert store.tools.toolbox(WORKSPACE) == Toolbox((tool,), 1)
    found = store.tools.named(WORKSPACE, ["ask_auditor"])
    assert found == {"ask_auditor": tool}
    assert repr(found["ask_auditor"]) == repr(tool), "1 is neither 1.0 nor true"


def test_a_tool_from_before_its_target_was_remembered_has_seen_no_version_of_it() -> None:
    item = tool_items.tool_item(a_tool(target_version=7))
    del item["target_version"]
    assert tool_items.tool_from(item) == a_tool()


def test_a_version_that_does_not_know_approvals_offers_no_model_a_tool_that_needs_them() -> None:
    item = tool_items.tool_item(a_tool(needs_approval=NeedsApproval()))
    assert not a_tool(type=member(ToolType, item["type"])).is_understood


def test_a_tool_that_lost_who_approves_it_asks_any_human() -> None:
    """A version that doesn't know the mark has saved the tool: it keeps the type as it found it."""
    item = tool_items.tool_item(a_tool(needs_approval=NeedsApproval(people=("ada",))))
    del item["needs_approval"]
    assert tool_items.tool_from(item) == a_tool(needs_approval=NeedsApproval())


def test_the_full_tool_is_a_full_one() -> None:
    usual = a_tool()
    same = {f.name for f in fields(Tool) if getattr(FULL, f.name) == getattr(usual, f.name)}
    assert same - ALIKE == {"workspace", "name", "target_agent", "version", "updated_by"}


def test_tools_are_listed_by_name_and_every_change_is_counted(store: Store) -> None:
    save(store, a_tool("z"), a_tool("ask"), a_tool("ask_more"), a_tool("a0"), a_tool("ask", version=2, active=False))
    toolbox = store.tools.toolbox(WORKSPACE)
    assert [tool.name for tool in toolbox.tools] == ["a0", "ask", "ask_more", "z"]
    assert (toolbox.version, toolbox.get("ask")) == (5, a_tool("ask", version=2, active=False))


def test_only_those_that_were_asked_for_and_are_there_are_found(store: Store) -> None:
    save(store, a_tool("ask"), a_tool("ask_more"), a_tool("other", active=False))
    assert store.tools.named(WORKSPACE, ["ask", "as", "ask", "other", "toolbox"]) == {
        "ask": a_tool("ask"),
        "other": a_tool("other", active=False),
    }
    assert store.tools.named(WORKSPACE, frozenset({"ask_more"})) == {"ask_more": a_tool("ask_more")}
    assert store.tools.named(WORKSPACE, []) == {}


def test_a_change_decided_before_another_tools_change_is_refused(store: Store) -> None:
    read = store.tools.toolbox(WORKSPACE)
    save(store, a_tool("a"))
    with pytest.raises(Conflict):
        store.tools.save_tool(a_tool("b"), read)
    assert store.tools.named(WORKSPACE, ["a", "b"]) == {"a": a_tool("a")}
    assert store.tools.toolbox(WORKSPACE).version == 1


@pytest.mark.parametrize("version", [1, 3])
def test_a_tool_changes_only_from_the_version_that_was_read(store: Store, version: int) -> None:
    save(store, a_tool())
    with pytest.raises(Conflict):
        save(store, a_tool(version=version, description="changed"))
    assert store.tools.toolbox(WORKSPACE) == Toolbox((a_tool(),), 1)


def test_what_is_read_is_nobody_elses(store: Store) -> None:
    given = a_tool(context_variables=(Variable(name="options", type=VariableType.OBJECT, enum=({"a": 1},)),))
    save(store, given)
    for shared in (
        given,
        store.tools.toolbox(WORKSPACE).tools[0],
        store.tools.named(WORKSPACE, [given.name])[given.name],
    ):
        shared.context_variables[0].enum[0]["a"] = "mine"
    assert store.tools.toolbox(WORKSPACE).tools[0].context_variables[0].enum == ({"a": 1},)


def test_every_version_is_kept_for_good(rig: Rig) -> None:
    versions = [FULL, replace(FULL, version=2, active=True), replace(FULL, version=3, updated_by="human:bob")]
    save(rig.store, *versions)
    partition = keys.tool_version(WORKSPACE, FULL.name, 1).pk
    kept = [item for item in map(from_wire, rig.items()) if item["pk"] == partition]
    assert [tool_items.tool_from(item) for item in sorted(kept, key=lambda item: item["sk"])] == versions


def test_a_tool_takes_two_calls_and_tools_by_name_one(rig: Rig) -> None:
    assert rig.count(lambda: save(rig.store, a_tool("a"))) == ["query", "transact_write_items"]
    names = [f"t{number}" for number in range(30)]
    assert rig.count(lambda: rig.store.tools.named(WORKSPACE, names)) == ["batch_get_item"]
    assert rig.count(lambda: rig.store.tools.named(WORKSPACE, [])) == []


FAULTS: list[Any] = ["timeout_after", "error_after", "timeout_before", "throttle"]


@pytest.mark.parametrize("fault", FAULTS)
def test_a_lost_reply_is_a_success_though_another_has_changed_it_since(rig: Rig, fault: str) -> None:
    read = rig.store.tools.toolbox(WORKSPACE)
    first = len(rig.choked.calls) + 1

    def plan(number: int, _operation: str) -> str | None:
        if number == first + 1 and fault.endswith("after"):  # between the write and the look at its witness
            save(rig.other_store, a_tool("other"), a_tool(version=2, updated_by="human:bob"))
        return fault if number == first else None

    rig.choked.plan = plan
    rig.store.tools.save_tool(a_tool(), read)
    rig.choked.plan = no_fault
    toolbox = rig.store.tools.toolbox(WORKSPACE)
    expected = (2, 3) if fault.endswith("after") else (1, 1)
    tool = toolbox.get("ask_auditor")
    assert tool is not None
    assert (tool.version, toolbox.version) == expected


def test_tools_are_listed_by_name_page_by_page(store: Store) -> None:
    names = ["a", "a_", "a_b", "a0", "ab", "b"]
    assert store.tools.listed_tools(WORKSPACE, 5, None) == Page(())
    save(store, *(a_tool(name=name) for name in names))
    for limit in (1, 2, 5, 6, 100):
        found: list[str] = []
        cursor = None
        for _ in range(len(names)):
            page = store.tools.listed_tools(WORKSPACE, limit, cursor)
            found += [tool.name for tool in page.items]
            cursor = page.cursor
            if cursor is None:
                break
        assert (found, cursor) == (sorted(names), None)
    assert [tool.name for tool in store.tools.listed_tools(WORKSPACE, 5, "aa").items] == ["ab", "b"]


def test_a_page_of_tools_reads_a_megabyte_and_no_more(rig: Rig) -> None:
    save(rig.store, *(a_tool(name=f"tool_{number}", handoff_instructions="x" * 300_000) for number in range(5)))
    pages: list[Page] = []

    def next_page() -> None:
        pages.append(rig.store.tools.listed_tools(WORKSPACE, 100, pages[-1].cursor if pages else None))

    while not pages or pages[-1].cursor is not None:
        assert rig.count(next_page) == ["query"]
    assert [tool.name for page in pages for tool in page.items] == [f"tool_{number}" for number in range(5)]
    assert len(pages) == 2
