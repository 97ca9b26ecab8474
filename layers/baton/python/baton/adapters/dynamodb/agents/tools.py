"""The store's tools."""

from __future__ import annotations

from collections.abc import Collection

from baton.adapters.dynamodb import keys
from baton.adapters.dynamodb.agents import tool_items
from baton.adapters.dynamodb.agents.catalogue import Catalogue, EntryVersion, read_catalogue
from baton.adapters.dynamodb.changes.change_items import change_put
from baton.adapters.dynamodb.table import Table
from baton.domain.access.workspace_change import WorkspaceChange
from baton.domain.agents.tool import Tool, Toolbox
from baton.ports.paging import Page


class Tools:
    def __init__(self, table: Table) -> None:
        self._table = table

    def toolbox(self, workspace: str) -> Toolbox:
        found, version = read_catalogue(self._table, keys.toolbox(workspace))
        return Toolbox(tuple(map(tool_items.tool_from, found)), version)

    def listed_tools(self, workspace: str, limit: int, cursor: str | None) -> Page:
        first, last = keys.tools_after(workspace, cursor)
        found, has_more = self._table.query_page(first.pk, limit, first=first.sk, last=last)
        tools = tuple(map(tool_items.tool_from, found))
        return Page(tools, tools[-1].name if has_more and tools else None)

    def named(self, workspace: str, names: Collection[str]) -> dict[str, Tool]:
        if not names:
            return {}
        found = self._table.get_many([keys.tool(workspace, name) for name in sorted(set(names))])
        return {tool.name: tool for tool in map(tool_items.tool_from, found.values())}

    def save_tool(self, tool: Tool, toolbox: Toolbox, change: WorkspaceChange | None = None) -> None:
        kept_at = keys.tool_version(tool.workspace, tool.name, tool.version)
        entry = EntryVersion(what="tool", item=tool_items.tool_item(tool), kept_at=kept_at)
        recorded = [] if change is None else [change_put(change)]
        Catalogue("toolbox", keys.toolbox(tool.workspace), toolbox.version).save(self._table, entry, *recorded)
