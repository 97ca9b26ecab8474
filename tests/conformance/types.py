"""Has the client and each adapter judged by Pyright in its strict mode, each with what its own environment has. Pyright
comes from npm's registry at the first run. Exit status: 0 nothing found, 1 something, 2 it couldn't run."""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from conformance.node import Node

PACKAGES = Path(__file__).parents[2] / "packages"
PYRIGHT = ("pyright@1.1.414",)
# By the environment: the packages that are judged in it.
JUDGED = {
    "dev": ("baton-client",),
    "openai-agents": ("baton-openai-agents",),
    "langgraph": ("baton-langgraph",),
    "strands": ("baton-strands",),
    "pydantic-ai": ("baton-pydantic-ai",),
}


def main() -> int:
    parser = argparse.ArgumentParser(description="The judge of the types that users of the client see")
    parser.add_argument("environments", type=Path, help="the folder that has node, and an environment per framework")
    parser.add_argument("home", type=Path, help="where the judge is installed")
    asked = parser.parse_args()
    environments, home = asked.environments.resolve(), asked.home.resolve()
    node = Node(str(environments / "node/bin/python"), home)
    problems: list[str] = []
    try:
        node.install(PYRIGHT)
        for name, packages in JUDGED.items():
            problems += _problems(node, _project(home, environments / name, packages))
    except (subprocess.SubprocessError, ValueError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    print("\n".join(problems) or "the types of the client and of the adapters: nothing found")
    return 1 if problems else 0


def _problems(node: Node, project: Path) -> Iterator[str]:
    """Raises ``ValueError`` if it hasn't read a file."""
    ran = node.run("pyright", "--project", str(project), "--outputjson")
    said = json.loads(ran.stdout)
    if not said["summary"]["filesAnalyzed"]:
        raise ValueError(f"no file is read: {ran.stdout}{ran.stderr}")
    for each in said["generalDiagnostics"]:
        yield f"{each['file']}:{each['range']['start']['line'] + 1}: {each['message']}"


def _project(home: Path, environment: Path, packages: tuple[str, ...]) -> Path:
    """Writes what Pyright reads in place of options."""
    # Relative to the file, else they aren't read.
    sources = {
        each: os.path.relpath(PACKAGES / each / "src", home) for each in ("baton-client", "baton-testing", *packages)
    }
    settings = {
        "typeCheckingMode": "strict",
        "pythonVersion": "3.11",
        "include": [sources[each] for each in packages],
        "extraPaths": list(sources.values()),
        "venvPath": str(environment.parent),
        "venv": environment.name,
    }
    project = home / f"{environment.name}.json"
    project.write_text(json.dumps(settings), encoding="utf-8")
    return project


if __name__ == "__main__":
    sys.exit(main())
