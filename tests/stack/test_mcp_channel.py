"""`baton-mcp serve --channel` as Claude Code drives it: a program over stdio that tells a live session what is new."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import count
from typing import Any
from uuid import uuid4

import pytest

from support.worlds.deployed import Client, Deployed
from support.worlds.forwarding_proxy import ForwardingProxy, forwarding_proxy
from support.worlds.stdio_program import environment
from support.worlds.tenant import Tenant

HELLO = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "claude-code", "version": "2"}}


@dataclass
class Session:
    """A client that takes news."""

    process: subprocess.Popen[str]
    ids: Iterator[int]

    def ask(self, method: str, **params: Any) -> Any:
        """The answer; no news may come before it."""
        number = next(self.ids)
        self.say({"id": number, "method": method, "params": params})
        told = self._heard()
        assert told["id"] == number, told
        return told["result"]

    def say(self, message: dict[str, Any]) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
        self.process.stdin.flush()

    def news(self) -> tuple[str, str]:
        """The next event, and its task."""
        told = self._heard()
        assert told["method"] == "notifications/claude/channel", told
        assert told["params"]["content"]
        return told["params"]["meta"]["event"], told["params"]["meta"]["task_id"]

    def watches(self) -> None:
        """It has looked for the first time: what was there by then is no news."""
        assert self.process.stderr is not None
        assert "telling of news" in self.process.stderr.readline()

    def _heard(self) -> Any:
        assert self.process.stdout is not None
        return json.loads(self.process.stdout.readline())


@contextmanager
def session(door: ForwardingProxy, by: Client, agent: str) -> Iterator[Session]:
    process = subprocess.Popen(
        [sys.executable, "-m", "baton_mcp", "serve", "--channel", "--every", "0.2"],
        env=environment(door.url, by.token, BATON_AGENT=agent),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        yield Session(process, count(1))
    finally:
        process.kill()
        process.communicate()


@pytest.fixture(scope="module")
def deployed(beside: Deployed) -> Deployed:
    return beside


@pytest.fixture
def door(deployed: Deployed) -> Iterator[ForwardingProxy]:
    with forwarding_proxy(deployed.stack) as made:
        yield made


def handed_off(by: Client, source: str, target: str) -> str:
    """A task, approved if a human asked for it."""
    body = {"source": {"agent": source}, "target": {"agent": target, "reason": "It knows"}, "summary": "Look"}
    return str(by.post("/handoffs", body, key=uuid4().hex)["task"]["id"])


def test_a_session_is_told_once_of_what_is_its_own_approved_came_back_or_ended(
    tenant: Tenant, door: ForwardingProxy
) -> None:
    def asked() -> str:
        return handed_off(tenant.human, "scout", "reviewer")

    tenant.age(asked(), 600)  # so that the first look finds it ready, though the time of an answer has no milliseconds
    with session(door, tenant.reviewer, "reviewer") as claude:
        assert claude.ask("initialize", **HELLO)["capabilities"]["experimental"] == {"claude/channel": {}}
        claude.say({"method": "notifications/initialized"})
        assert claude.ask("tools/list")["tools"]
        claude.watches()

        given, own = handed_off(tenant.reviewer, "reviewer", "scout"), asked()
        assert claude.news() == ("ready", own)
        tenant.human.post(f"/tasks/{given}/approve")
        assert claude.news() == ("approved", given)

        tenant.claim(own, lease_seconds=60)
        tenant.age(own, 600)  # the lease is over
        tenant.deployed.sweep()
        tenant.age(own, 600)  # and the pause before the next attempt
        assert claude.news() == ("came_back", own)

        with door.shut():
            claim = tenant.scout.post(f"/tasks/{given}/claim", {"worker": "w-1"})
            tenant.scout.post(f"/tasks/{given}/complete", {"claim_id": claim["claim_id"]}, key=uuid4().hex)
            meanwhile = asked()
            refused = claude.ask("tools/call", name="list_tasks", arguments={"agent": "reviewer"})
            assert refused["isError"]
            assert "Baton doesn't answer" in refused["content"][0]["text"]
        assert {claude.news(), claude.news()} == {("ready", meanwhile), ("done", given)}
        last = asked()
        assert claude.news() == ("ready", last)
