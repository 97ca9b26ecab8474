"""The local stack itself: it is alone on loopback, keeps what it knows, and tells what is wrong."""

from __future__ import annotations

import os
import socket
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

import stack
from engine import StackError, free_port

pytestmark = pytest.mark.stack


@pytest.fixture
def home(tmp_path: Path) -> Iterator[Path]:
    """Where a test may start a stack of its own."""
    yield tmp_path
    stack.down(tmp_path)


def post(running: stack.Stack, token: str, path: str, body: dict[str, Any]) -> dict[str, Any]:
    with running.http(token) as client:
        response = client.post(path, json=body, headers={"Idempotency-Key": uuid4().hex})
    response.raise_for_status()
    answer: dict[str, Any] = response.json()
    return answer


def awaited(running: stack.Stack, task_id: str) -> dict[str, Any]:
    with running.http(running.tokens["human"]) as client:
        response = client.get(f"/tasks/{task_id}/await", params={"timeout": 25})
    response.raise_for_status()
    answer: dict[str, Any] = response.json()
    return answer


def escalated(running: stack.Stack, target: str) -> str:
    """A task of the scout's."""
    body = {
        "source_agent": "scout",
        "target_agent": target,
        "escalation_reason": "The nightly build fails",
        "source_digest_url": "https://example.com/digests/1",
        "task_priority": "high",
    }
    task_id: str = post(running, running.tokens["agents"]["scout"], "/handoff-markers", body)["task_id"]
    return task_id


def test_a_stack_goes_on_where_it_was_stopped_even_on_another_port(home: Path) -> None:
    first = stack.up(home, free_port())
    task_id = escalated(first, "auditor")
    held = escalated(first, "reviewer")
    post(first, first.tokens["human"], f"/tasks/{held}/approve-next", {})
    claim = post(first, first.tokens["agents"]["reviewer"], f"/tasks/{held}/claim", {})
    assert stack.down(home)
    assert not list((home / "tmp").glob("*"))

    second = stack.up(home, free_port())
    assert second.tokens == first.tokens
    (schedule,) = second.aws("scheduler").list_schedules()["Schedules"]
    assert (schedule["State"], schedule["Target"]["Arn"].rsplit(":")[-1]) == (
        "ENABLED",
        second.functions["SweepStaleClaims"],
    )
    post(second, second.tokens["agents"]["reviewer"], f"/tasks/{held}/complete", {"claim_id": claim["claim_id"]})
    post(second, second.tokens["human"], f"/tasks/{task_id}/approve", {})
    assert awaited(second, task_id)["state"] == "done"  # so that queue, mapping and roles are still there


def test_bringing_up_a_running_stack_again_changes_nothing(stack_home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_PROFILE", "one-that-no-file-has")
    said: list[str] = []
    before = stack.current(stack_home)
    assert stack.up(stack_home, say=said.append) == before
    assert said == ["nothing changed since the last deployment"]
    with pytest.raises(StackError, match="already runs on port"):
        stack.up(stack_home, free_port())


def test_the_tokens_are_readable_by_their_owner_only(stack_home: Path) -> None:
    assert stat.S_IMODE((stack_home / "stack.json").stat().st_mode) == 0o600


def test_the_engine_listens_on_loopback_only(stack_home: Path) -> None:
    port = stack.current(stack_home).port
    others = {info[4][0] for info in socket.getaddrinfo(socket.gethostname(), None, socket.AF_INET)} - {"127.0.0.1"}
    for address in {"127.0.0.2", *others}:
        with socket.socket() as probe:
            probe.settimeout(2)
            assert probe.connect_ex((str(address), port)) != 0


def test_a_taken_port_is_named(home: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(StackError, match=f"port {port} is taken"):
            stack.up(home, port)


def test_a_port_that_is_none_is_named(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BATON_PORT", "eighty")
    with pytest.raises(StackError, match="'eighty'"):
        stack.up(home)


def test_nothing_runs_where_nothing_was_started(home: Path) -> None:
    assert not stack.down(home)
    with pytest.raises(StackError, match="make stack"):
        stack.current(home)


def test_only_the_holder_of_the_lock_is_ever_signalled(home: Path) -> None:
    """A process id that was written down may belong to somebody else by now: here it is this test's."""
    (home / "engine.lock").write_text(f'{{"pid": {os.getpid()}, "port": 1}}')
    assert not stack.down(home)
