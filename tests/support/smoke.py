"""The smoke test, run as a user runs it."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from support.worlds.tenant import Tenant

ROOT = Path(__file__).parents[2]


@contextmanager
def smoking(api: str, token: str | None, **variables: str) -> Iterator[subprocess.Popen[str]]:
    """Starts the program with no variable of this process's environment but PATH."""
    given = {"PATH": os.environ["PATH"], "API": api, "TOKEN": token or "", "PYTHONUNBUFFERED": "1", **variables}
    process = subprocess.Popen(
        [sys.executable, "-m", "tools.admin.smoke"],
        cwd=ROOT,
        env=given,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    try:
        yield process
    finally:
        process.kill()
        process.wait()


def smoked(tenant: Tenant, token: str | None = None, **variables: str) -> tuple[int, str]:
    """Returns the program's exit status and output."""
    api = tenant.deployed.stack.api_url
    with smoking(api, token or tenant.human.token, **variables) as process:
        said, _ = process.communicate(timeout=240)
        return process.returncode, said


def left_open(tenant: Tenant) -> list[Any]:
    """Returns what smoke tests have left behind in the workspace: things that they should have ended, switched off or
    revoked."""
    own = [each for each in tenant.human.get("/agents?limit=100")["items"] if each["slug"].startswith("smoke-")]
    assert own, "it made no agents"
    found: list[Any] = [each["slug"] for each in own if each["active"]]
    for agent in own:
        path = f"/tasks?agent={agent['slug']}&state=needs,delegated,next,claimed,waiting&limit=100"
        found += [each["id"] for each in tenant.human.get(path)["items"]]
    tokens = tenant.human.get("/tokens?limit=100")["items"]
    return found + [
        each["subject"] for each in tokens if each["subject"].startswith("smoke-") and not each["revoked_at"]
    ]
