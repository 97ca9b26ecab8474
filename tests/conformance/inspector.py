"""The Inspector's command line, as somebody uses it who looks at a server: it lists and calls, over HTTP and through
`baton-mcp`, in both eras."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from conformance.node import Node
from mcp_door.tools.catalogue import USUAL, tools_of
from support.worlds.stdio_program import environment

PACKAGE = "@modelcontextprotocol/inspector@2.12.0"
ERAS = ("modern", "legacy")
REFUSED = 5  # its exit status for a tool that refuses


@dataclass(frozen=True)
class Inspector:
    """``url``: of the API; ``token``: of an agent."""

    node: Node
    url: str
    token: str

    def ways(self) -> dict[str, list[str]]:
        """How it is told where the server is. A command comes last."""
        variables = environment(self.url, self.token)
        told = [f"-e{name}={value}" for name, value in variables.items()]
        return {
            "http": [f"{self.url}/mcp", "--transport", "http", "--header", f"Authorization: Bearer {self.token}"],
            "stdio": [*told, "--", sys.executable, "-m", "baton_mcp", "serve"],
        }

    def ask(self, way: str, era: str, method: str, *arguments: str) -> subprocess.CompletedProcess[str]:
        asked = ["--protocol-era", era, "--format", "json", "--quiet", "--method", method, *arguments]
        return self.node.run("mcp-inspector", "--cli", *asked, *self.ways()[way])

    def call(self, way: str, era: str, tool: str, **given: Any) -> subprocess.CompletedProcess[str]:
        return self.ask(way, era, "tools/call", "--tool-name", tool, "--tool-args-json", json.dumps(given))


def found_by_inspector(inspector: Inspector) -> Iterator[str]:
    """What isn't as it should be."""
    for way in inspector.ways():
        for era in ERAS:
            for wrong in _wrong(inspector, way, era):
                yield f"inspector, {way}, {era}: {wrong}"


def _wrong(inspector: Inspector, way: str, era: str) -> Iterator[str]:
    listed = inspector.ask(way, era, "tools/list", "--strict")
    if [each["name"] for each in _result(listed).get("tools", [])] != list(tools_of(USUAL)):
        yield f"the list isn't the tools: {_end(listed)}"
    kept = inspector.call(way, era, "remember", entry_type="finding", summary=f"It calls over {way}, {era}")
    entry_id = _data(kept).get("entry_id")
    found = inspector.call(way, era, "recall", query=f"calls over {way} {era}")
    if entry_id is None or entry_id not in [each["id"] for each in _data(found).get("entries", [])]:
        yield f"what it remembers isn't recalled: {_end(kept)} {_end(found)}"
    refused = inspector.call(way, era, "get_task", task_id="task_00000000000000000000000000")
    if refused.returncode != REFUSED or not _result(refused).get("isError"):
        yield f"a refusal isn't told as one: {_end(refused)}"


def _result(ended: subprocess.CompletedProcess[str]) -> dict[str, Any]:
    try:
        found: dict[str, Any] = json.loads(ended.stdout)["result"]
    except (ValueError, KeyError):
        return {}
    return found


def _data(ended: subprocess.CompletedProcess[str]) -> dict[str, Any]:
    return _result(ended).get("structuredContent") or {}


def _end(ended: subprocess.CompletedProcess[str]) -> str:
    return f"exit status {ended.returncode}, {(ended.stderr or ended.stdout)[-300:].strip()!r}"
