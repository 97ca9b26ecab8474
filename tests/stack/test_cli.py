"""The command line on the deployed stack: the protocol's chain, played by real `baton worker` processes, and a day in
which every command is used."""

from __future__ import annotations

import io
import json
import os
import shlex
import signal
import string
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest

import baton_cli
from baton_cli.main import run
from support.values.command_lines import LINES, PROCESSES, answer_schema, looks
from support.values.schema import violations
from support.worlds.deployed import Client, Deployed
from support.worlds.tenant import Tenant

CREW = {
    "architect": {"accepts": ["design_request"], "produces": ["specification"]},
    "auto-code": {"accepts": ["specification"], "produces": ["code"]},
    "qa": {"accepts": ["code"], "produces": ["test_results"]},
    "ciso": {"accepts": ["code"], "produces": ["security_report"]},
}
# What each of them does with a task of this title.
PROGRAM = """
import json, sys
title = json.load(sys.stdin)["task"]["title"]
def onwards(to, reason, **more):
    return {"baton": "complete", "continuation": {"suggested_next": to, "reason": reason}, **more}
made = [{"type": "code", "files_created": ["/src/auth/jwt.ts"], "files_modified": ["/src/app.ts"]}]
print(json.dumps({
    "Design authentication module": onwards("auto-code", "Implement auth module"),
    "Implement auth module": onwards("qa", "Test auth implementation", deliverables=made),
    "Test auth implementation": {
        "baton": "fail", "failure": {"type": "blocker", "description": "Missing test fixtures"},
        "rollback_request": {"target_agent": "auto-code", "reason": "Add test fixtures"}},
    "Add test fixtures": onwards("qa", "Retest auth implementation"),
    "Retest auth implementation": onwards("ciso", "Security review", verification={"tests_passing": True}),
    "Security review": {"baton": "complete", "output": "no findings"},
}[title]))
"""
DRAWN = [
    "architect",
    "Design authentication module",
    "Status: ✓ Completed",
    "auto-code",
    "Implement auth module",
    "Files: 1 created, 1 modified",
    "qa",
    "Test auth implementation",
    "Status: ⚠ Failed",
    "Reason: Missing test fixtures",
    "[ROLLBACK to auto-code]",
    "auto-code",
    "Add test fixtures",
    "qa",
    "Retest auth implementation",
    "Tests: passing",
    "ciso",
    "Security review",
    "Status: ✓ Completed",
]


@pytest.fixture(scope="module")
def deployed(beside: Deployed) -> Deployed:
    return beside


@pytest.fixture
def baton(tenant: Tenant, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Any:
    """Runs a command as the tenant's human: what it prints, whole."""
    assert tenant.human.token is not None
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("BATON_URL", tenant.deployed.stack.api_url)
    monkeypatch.setenv("BATON_TOKEN", tenant.human.token)

    def command(*line: str, code: int = 0) -> str:
        capsys.readouterr()
        ended = run(list(line))
        said = capsys.readouterr()
        assert ended == code, said.err
        return said.out

    return command


@contextmanager
def worker(tenant: Tenant, folder: Path) -> Iterator[subprocess.Popen[bytes]]:
    """One process that serves the whole crew, as a service that may speak for agents."""
    assert tenant.service.token is not None
    (folder / "work.py").write_text(PROGRAM)
    command = json.dumps([sys.executable, "work.py"])
    routes = folder / "agents.toml"
    routes.write_text("".join(f"[agents.{slug}]\ncommand = {command}\n" for slug in CREW))
    process = subprocess.Popen(
        [sys.executable, "-P", "-m", "baton_cli", "worker", "--routes", str(routes)],
        env={
            "PATH": os.environ["PATH"],
            "PYTHONPATH": str(Path(baton_cli.__file__).parents[1]),
            "BATON_URL": tenant.deployed.stack.api_url,
            "BATON_TOKEN": tenant.service.token,
        },
        stdout=subprocess.DEVNULL,
    )
    try:
        yield process
    finally:
        process.send_signal(signal.SIGTERM)
        assert process.wait(60) == 0


def test_the_documents_chain_is_played_by_workers_and_drawn(baton: Any, tenant: Tenant, tmp_path: Path) -> None:
    baton("agents", "import", "--data", json.dumps(CREW))
    for slug in CREW:
        baton("agents", "save", slug, "--approval", "auto")
    made = json.loads(
        baton("handoff", "create", "--from", "scout", "--to", "architect", "--reason", "Design authentication module")
    )
    workflow = made["task"]["workflow_id"]
    with worker(tenant, tmp_path):
        baton("handoff", "history", workflow, "--watch")
    drawn = baton("handoff", "history", made["handoff"]["handoff_id"], "--text")
    at = 0
    for each in DRAWN:
        at = drawn.find(each, at)
        assert at >= 0, f"{each} is missing, or not in its place:\n{drawn}"
        at += len(each)
    listed = json.loads(baton("handoff", "list", "--workflow", workflow, "--state", "any"))["items"]
    assert len(listed) == 6
    for each in listed:
        assert json.loads(baton("events", "verify", each["task_id"]))["matches_task"]
    failed = next(each for each in listed if each["state"] == "failed")
    assert "Missing test fixtures" in baton("handoff", "show", failed["handoff_id"], "--text")
    baton("await", failed["task_id"], code=1)
    baton("tasks", "show", "task_nobody", code=3)


@pytest.fixture
def checkout(tenant: Tenant, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A folder as a checkout's that runs this stack; make has nothing left to do in it."""
    folder = tmp_path / "checkout"
    (folder / "tools" / "stack").mkdir(parents=True)
    (folder / ".baton").mkdir()
    for part in ("template.yaml", "tools/stack/stack.py"):
        (folder / part).touch()
    (folder / "Makefile").write_text("stack stop run:\n\t@echo making $@\n")
    tokens = {"human": tenant.human.token, "service": tenant.service.token, "agents": {"scout": tenant.scout.token}}
    stack = {"api_url": tenant.deployed.stack.api_url, "tokens": tokens}
    (folder / ".baton" / "stack.json").write_text(json.dumps(stack))
    monkeypatch.setenv("BATON_CHECKOUT", str(folder))


@pytest.fixture
def database(tenant: Tenant) -> str:
    """A database in the stand-in for Notion."""
    url = f"{tenant.deployed.stack.notion_url}/control/databases"
    made = httpx.post(url, json={"title": tenant.name}, timeout=30, trust_env=False).raise_for_status().json()
    return str(made["id"])


def process(line: list[str], heard: str) -> tuple[int, str]:
    """What ends, or becomes another program: its exit code and what it printed."""
    ended = subprocess.run(
        [sys.executable, "-P", "-m", "baton_cli", *line],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(each for each in sys.path if each)},
        input=heard,
        stdout=subprocess.PIPE,
        text=True,
        timeout=60,
        check=False,
    )
    return ended.returncode, ended.stdout


def value_at(answer: Any, path: str) -> str:
    for part in path.split("."):
        answer = answer[int(part) if part.isdecimal() else part]
    return str(answer)


@pytest.mark.usefixtures("checkout")
def test_every_command_is_played_and_its_document_is_the_apis(
    baton: Any, tenant: Tenant, database: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    known = {"database": database}
    for each in LINES:
        speaker: Client = getattr(tenant, each.by)
        assert speaker.token is not None
        monkeypatch.setenv("BATON_TOKEN", speaker.token)
        monkeypatch.setattr(sys, "stdin", io.StringIO(each.heard))
        line = [string.Template(word).substitute(known) for word in shlex.split(each.text)]
        if each.command in PROCESSES:
            code, out = process(line, each.heard)
            assert code == each.exit, each.text
            assert not each.heard or json.loads(out)["result"], each.text
            continue
        out = baton(*line, code=each.exit)
        if not out:
            continue  # a refusal: its words are on the standard error
        if schema := answer_schema(each.command):
            answer = json.loads(out)
            assert list(violations(answer, schema, each.text)) == []
            known |= {name: value_at(answer, path) for name, path in each.kept.items()}
        if looks(each.command):
            assert baton(*line, "--text", code=each.exit), each.text
