"""The store's tools."""

from __future__ import annotations

from typing import TYPE_CHECKING

from baton.adapters.dynamodb import keys
from baton.adapters.dynamodb.agents import tool_items
from baton.adapters.dynamodb.agents.registry import Registry, kept_version
from baton.adapters.dynamodb.puts import put_version
from baton.domain.agents.tool import Toolbox
from baton.ports import Page

if TYPE_CHECKING:
    from collections.abc import Collection

    from baton.adapters.dynamodb.table import Write
    from baton.domain.agents.tool import Tool


class Tools(Registry):
    def toolbox(self, workspace: str) -> Toolbox:
        found = list(self._table.query_all("#pk = :pk", {":pk": keys.tools(workspace)}))
        toolbox = keys.toolbox(workspace)
        tools = tuple(tool_items.tool_from(item) for item in found if item["sk"] != toolbox.sk)
        version = next((int(item["version"]) for item in found if item["sk"] == toolbox.sk), 0)
        return Toolbox(tools, version)

    def listed_tools(self, workspace: str, limit: int, cursor: str | None) -> Page:
        first, last = keys.tools_after(workspace, cursor)
        values = {":pk": first.pk, ":first": first.sk, ":last": last}
        found, has_more = self._table.query_page("#pk = :pk AND #sk BETWEEN :first AND :last", values, limit=limit)
        tools = tuple(map(tool_items.tool_from, found))
        return Page(tools, tools[-1].name if has_more and tools else None)

    def tools(self, workspace: str, names: Collection[str]) -> dict[str, Tool]:
        if not names:
            return {}
        found = self._table.get_many([keys.tool(workspace, name) for name in sorted(set(names))])
        return {tool.name: tool for tool in map(tool_items.tool_from, found.values())}

    def save_tool(self, tool: Tool, toolbox: Toolbox) -> None:
        item = tool_items.tool_item(tool)
        toolbox_item = {**keys.toolbox(tool.workspace)._asdict(), "version": toolbox.version + 1}
        kept = keys.tool_version(tool.workspace, tool.name, tool.version)

        def writes_for(token: str) -> list[Write]:
            return [
                put_version(item, tool.version, "tool"),
                put_version(toolbox_item, toolbox.version + 1, "toolbox"),
                kept_version(item, kept, token, "tool"),
            ]

        self._table.transact(writes_for, kept)
