"""A program that starts before Baton finds its tools later, and tells its client."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import Any

import httpx2
import pytest

from baton_mcp.mcp_connection import McpConnection, Unanswered
from baton_mcp.serve import ToolListing
from support.fakes.httpx_wires import HttpxWires
from support.worlds.stdio_program import environment

TOOLS = {"jsonrpc": "2.0", "id": 1, "result": {"tools": []}}
HELLO = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "claude-code", "version": "2"}}


def answering(*answers: httpx2.Response | Exception) -> McpConnection:
    """A door that gives these answers, and the last one from then on."""
    left = list(answers)

    def answered(_request: httpx2.Request) -> httpx2.Response:
        answer = left.pop(0) if len(left) > 1 else left[0]
        if isinstance(answer, Exception):
            raise answer
        return answer

    http = httpx2.AsyncClient(base_url="https://baton.example", transport=httpx2.MockTransport(answered))
    return McpConnection(HttpxWires(http), "usual")


async def told(door: McpConnection) -> list[str]:
    """Lists once, and waits for what a client is told afterwards."""
    listing, heard, said = ToolListing(), asyncio.Event(), []

    async def tell() -> None:
        said.append("changed")
        heard.set()

    with pytest.raises(Unanswered):
        await listing.ask(door)
    assert not listing.listed.is_set()
    task = asyncio.create_task(listing.tell_when_found(door, tell, 0))
    for _ in range(50):
        await asyncio.sleep(0)
        if heard.is_set():
            break
    assert not said or (await listing.ask(door)) == TOOLS["result"]
    task.cancel()
    return said


def test_a_client_that_got_no_list_is_told_once_there_is_one() -> None:
    away, up = httpx2.ConnectError("no route"), httpx2.Response(200, json=TOOLS)
    assert asyncio.run(told(answering(away, away, httpx2.Response(503), up))) == ["changed"]


def test_what_a_human_has_to_mend_is_not_asked_for_again() -> None:
    data = {"code": "token_refused", "detail": "The token isn't valid."}
    error = {"code": -32600, "message": "No", "data": data}
    refused = httpx2.Response(401, json={"jsonrpc": "2.0", "id": 1, "error": error})
    assert asyncio.run(told(answering(refused))) == []


@pytest.mark.parametrize("status", [401, 403, 404])
def test_a_page_of_the_network_in_place_of_the_list_needs_no_human(status: int) -> None:
    page, up = httpx2.Response(status, text="<html>Sign in</html>"), httpx2.Response(200, json=TOOLS)
    assert asyncio.run(told(answering(page, page, up))) == ["changed"]


class _Late(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["Content-Length"]))
        body = json.dumps(TOOLS).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: Any) -> None:
        """Nothing is said."""


def test_the_program_tells_its_client_when_baton_has_come() -> None:
    server = HTTPServer(("127.0.0.1", 0), _Late, bind_and_activate=False)
    server.server_bind()  # the port is taken, and nobody listens: a connection is refused
    port = server.server_address[1]
    process = subprocess.Popen(
        [sys.executable, "-m", "baton_mcp", "serve", "--every", "0.05"],
        env={**environment(f"http://127.0.0.1:{port}", "t"), "HOME": os.devnull},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdin is not None
    assert process.stdout is not None

    def say(**message: Any) -> None:
        assert process.stdin is not None
        process.stdin.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
        process.stdin.flush()

    try:
        say(id=1, method="initialize", params=HELLO)
        assert json.loads(process.stdout.readline())["result"]["capabilities"]["tools"] == {"listChanged": True}
        say(method="notifications/initialized")
        say(id=2, method="tools/list")
        assert "Baton doesn't answer" in json.loads(process.stdout.readline())["error"]["message"]
        server.server_activate()
        threading.Thread(target=server.serve_forever, daemon=True).start()
        assert json.loads(process.stdout.readline())["method"] == "notifications/tools/list_changed"
        say(id=3, method="tools/list")
        assert json.loads(process.stdout.readline())["result"]["tools"] == []
    finally:
        process.kill()
        process.communicate()
        server.shutdown()
        server.server_close()
