"""`baton-mcp serve`: the official client over stdio, and a channel, with Baton in this process."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from mcp import Client
from mcp.client.stdio import StdioServerParameters

import baton_mcp
from mcp_door.tools.catalogue import tools_of
from support.values.tokens import bearer
from support.worlds.http_agents import HttpAgents
from support.worlds.mcp_server import serving
from support.worlds.world import agent

pytestmark = pytest.mark.slow
CODER = agent("auto-code")


@pytest.fixture
def served() -> Iterator[tuple[str, HttpAgents]]:
    with serving() as (url, agents):
        agents.gateway.admit(CODER)
        yield url, agents


def environment(url: str, **more: str) -> dict[str, str]:
    return {
        "PATH": os.environ["PATH"],
        "PYTHONPATH": str(Path(baton_mcp.__file__).parents[1]),
        "BATON_URL": url,
        "BATON_TOKEN": bearer(CODER).removeprefix("Bearer "),
        **more,
    }


@pytest.mark.parametrize(("mode", "version"), [("auto", "2026-07-28"), ("legacy", "2025-11-25")])
def test_the_official_client_works_through_the_program(served: tuple[str, HttpAgents], mode: str, version: str) -> None:
    url, agents = served
    made = agents.hand_off()["task"]["id"]
    program = StdioServerParameters(
        command=sys.executable, args=["-m", "baton_mcp", "serve", "--tools", "worker"], env=environment(url)
    )

    async def work() -> tuple[str, set[str], Any, Any]:
        async with Client(program, mode=mode) as client:
            names = {each.name for each in (await client.list_tools()).tools}
            claim = (await client.call_tool("claim_next", {})).structured_content
            ids = {"task_id": claim["task_id"], "claim_id": claim["claim_id"]}
            done = (await client.call_tool("complete", {**ids, "output": 7})).structured_content
            refused = await client.call_tool("heartbeat", ids)
            return str(client.protocol_version), names, done, refused

    spoken, names, done, refused = asyncio.run(work())
    assert (spoken, names) == (version, set(tools_of("worker")))
    assert done["task_id"] == made
    assert refused.is_error
    assert "stale_claim" in refused.content[0].text


@contextmanager
def program(url: str, *arguments: str) -> Iterator[subprocess.Popen[str]]:
    process = subprocess.Popen(
        [sys.executable, "-m", "baton_mcp", "serve", *arguments],
        env=environment(url, BATON_AGENT="auto-code"),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


def test_a_session_is_told_of_a_task_that_is_its_own(served: tuple[str, HttpAgents]) -> None:
    url, agents = served
    with program(url, "--channel", "--every", "0.2") as process:
        hello = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}
        _say(process, {"id": 1, "method": "initialize", "params": hello})
        assert _heard(process)["result"]["capabilities"]["experimental"] == {"claude/channel": {}}
        _say(process, {"method": "notifications/initialized"})
        _say(process, {"id": 2, "method": "tools/list"})
        assert _heard(process)["result"]["tools"]
        assert process.stderr is not None
        assert "telling of news" in process.stderr.readline()  # what is there by now is no news
        made = agents.hand_off()["task"]["id"]
        told = _heard(process)
    assert told["method"] == "notifications/claude/channel"
    assert told["params"]["meta"] == {"event": "ready", "task_id": made}
    assert "claim_next takes it" in told["params"]["content"]


def _say(process: subprocess.Popen[str], message: dict[str, Any]) -> None:
    assert process.stdin is not None
    process.stdin.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
    process.stdin.flush()


def _heard(process: subprocess.Popen[str]) -> Any:
    assert process.stdout is not None
    return json.loads(process.stdout.readline())
