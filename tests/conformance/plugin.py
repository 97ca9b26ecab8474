"""Has the plugin for Claude Code, and the list that offers it, judged by Claude Code's own validator, with what its
directory refuses. It comes from npm's registry at the first run. Exit status: 0 nothing found, 1 something, 2 it
couldn't run."""

from __future__ import annotations

import argparse
import subprocess
import sys
from pathlib import Path

from conformance.node import Node

ROOT = Path(__file__).parents[2]
PACKAGES = ("@anthropic-ai/claude-code@2.1.330",)
# The installed command is put there by a script of the package, and no script of a package runs here.
CLAUDE = "../@anthropic-ai/claude-code/cli-wrapper.cjs"
JUDGED = (("--profile", "directory", str(ROOT / "packages/claude-code-plugin")), ("--strict", str(ROOT)))


def main() -> int:
    parser = argparse.ArgumentParser(description="The judge of packages/claude-code-plugin")
    parser.add_argument("python", help="of the environment that has node")
    parser.add_argument("home", type=Path, help="where the judge is installed")
    asked = parser.parse_args()
    node = Node(asked.python, asked.home.resolve())
    try:
        node.install(PACKAGES)
        ran = [node.run(CLAUDE, "plugin", "validate", *each) for each in JUDGED]
    except subprocess.SubprocessError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    for (*_, judged), each in zip(JUDGED, ran, strict=True):
        print(f"{judged}: {'nothing found' if each.returncode == 0 else each.stdout + each.stderr}")
    return 1 if any(each.returncode for each in ran) else 0


if __name__ == "__main__":
    sys.exit(main())
