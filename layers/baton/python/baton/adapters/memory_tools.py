"""The part of the memory store that is about tools."""

from __future__ import annotations

from copy import deepcopy
from typing import TYPE_CHECKING

from baton.adapters.memory_registry import MemoryRegistry, page
from baton.domain.errors import Conflict
from baton.domain.tool import Toolbox

if TYPE_CHECKING:
    from collections.abc import Collection

    from baton.domain.tool import Tool
    from baton.ports import Page


class MemoryTools(MemoryRegistry):
    def __init__(self) -> None:
        super().__init__()
        self._toolboxes: dict[str, Toolbox] = {}

    def toolbox(self, workspace: str) -> Toolbox:
        with self._lock:
            return deepcopy(self._toolboxes.get(workspace, Toolbox()))

    def listed_tools(self, workspace: str, limit: int, cursor: str | None) -> Page:
        return page({tool.name: tool for tool in self.toolbox(workspace).tools}, limit, cursor)

    def tools(self, workspace: str, names: Collection[str]) -> dict[str, Tool]:
        return {tool.name: tool for tool in self.toolbox(workspace).tools if tool.name in names}

    def save_tool(self, tool: Tool, toolbox: Toolbox) -> None:
        with self._lock:
            held = self.toolbox(tool.workspace)
            last = held.get(tool.name)
            if held.version != toolbox.version or (last.version if last else 0) != tool.version - 1:
                raise Conflict("tool")
            others = [other for other in held.tools if other.name != tool.name]
            tools = tuple(sorted([*others, deepcopy(tool)], key=lambda each: each.name))
            self._toolboxes[tool.workspace] = Toolbox(tools, held.version + 1)
