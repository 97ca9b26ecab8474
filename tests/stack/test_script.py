"""The scripted model answers what ``BATON_SCRIPT`` says, in the deployed function too."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from uuid import uuid4

import pytest

import stack
from background import free_port

SCRIPT = 'agents: {{"*": [{{turns: [{{text: "{words}"}}]}}]}}'


@pytest.fixture
def home(tmp_path: Path) -> Iterator[Path]:
    yield tmp_path / "home"
    stack.down(tmp_path / "home")


def said(running: stack.Stack) -> object:
    with running.http(running.tokens["human"]) as client:
        client.put("/agents/parrot", json={"runtime": "run", "model": "scripted"}).raise_for_status()
        asked = {"agent": "parrot", "message": "Hello"}
        begun = client.post("/conversations", json=asked, headers={"Idempotency-Key": uuid4().hex})
        begun.raise_for_status()
        task = client.get(f"/tasks/{begun.json()['task']['id']}/await", params={"timeout": 25})
        return task.json()["output"]["message"]


def test_the_deployed_agents_follow_a_script_of_ours_as_it_is_now(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    script = tmp_path / "our script.yaml"
    monkeypatch.setenv("BATON_SCRIPT", str(script))
    for words in ("A parrot's words", "Other words"):
        script.write_text(SCRIPT.format(words=words))
        assert said(stack.up(home, free_port() if not home.exists() else None, notion_port=0)) == words
