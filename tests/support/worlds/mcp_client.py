"""A client of the MCP door, in this process, for both eras of the protocol."""

from __future__ import annotations

import json
from dataclasses import dataclass
from itertools import count
from typing import Any

from baton.domain.access.principal import Principal
from mcp_door.protocol import CAPABILITIES_KEY, MODERN, VERSION_KEY
from support.gateway import Gateway, Reply

HANDSHAKE = "2025-11-25"
ERAS = (MODERN, HANDSHAKE)
META = {VERSION_KEY: MODERN, CAPABILITIES_KEY: {}}


@dataclass(frozen=True)
class ToolAnswer:
    """A tool's answer."""

    result: dict[str, Any]

    @property
    def text(self) -> str:
        (content,) = self.result["content"]
        return str(content["text"])

    @property
    def is_error(self) -> bool:
        return bool(self.result["isError"])

    @property
    def data(self) -> Any:
        return self.result["structuredContent"]

    @property
    def code(self) -> str:
        """The code of a refusal."""
        assert self.is_error, self.text
        if self.text.startswith("{"):
            return str(json.loads(self.text.partition("\n")[0])["code"])
        return self.text.partition("(")[2].partition(")")[0]


class McpClient:
    def __init__(self, gateway: Gateway, version: str = MODERN) -> None:
        self.gateway, self.version = gateway, version
        self._ids = count(1)

    def post(self, by: Principal | None, body: Any, *, query: str = "", **headers: str) -> Reply:
        """Posts any body. ``headers``: names with underscores in place of hyphens."""
        return self.send(by, "POST", "/mcp", body, query=query, **headers)

    def send(self, by: Principal | None, method: str, path: str, body: Any = None, **options: str) -> Reply:
        query = options.pop("query", "")
        headers = {name.replace("_", "-"): value for name, value in options.items()}
        return self.gateway.send(by, method, path, body, query=query, headers=headers)

    def request(self, method: str, **params: Any) -> dict[str, Any]:
        """Returns a request in the form of this version of the protocol."""
        meta = {"_meta": META} if self.version == MODERN else {}
        return {"jsonrpc": "2.0", "id": next(self._ids), "method": method, "params": {**params, **meta}}

    def headers(self, method: str, name: str | None = None) -> dict[str, str]:
        if self.version != MODERN:
            return {"mcp_protocol_version": self.version}
        named = {} if name is None else {"mcp_name": name}
        return {"mcp_protocol_version": MODERN, "mcp_method": method, **named}

    def ask(self, by: Principal, method: str, *, query: str = "", **params: Any) -> Any:
        """Returns the result of a method that succeeds."""
        reply = self.post(by, self.request(method, **params), query=query, **self.headers(method, params.get("name")))
        assert reply.status == 200, reply.text
        return reply.json["result"]

    def call(self, by: Principal, tool: str, /, **arguments: Any) -> ToolAnswer:
        return ToolAnswer(self.ask(by, "tools/call", query="tools=all", name=tool, arguments=arguments))

    def done(self, by: Principal, tool: str, /, **arguments: Any) -> Any:
        """Returns the data of a call that succeeds."""
        told = self.call(by, tool, **arguments)
        assert not told.is_error, told.text
        return told.data


def tools_shown(client: McpClient, by: Principal, who: str = "all") -> list[dict[str, Any]]:
    shown: list[dict[str, Any]] = client.ask(by, "tools/list", query=f"tools={who}")["tools"]
    return shown


def compact(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
