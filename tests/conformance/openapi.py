"""Has docs/openapi.json judged by Spectral and Redocly, whose warnings count as errors. They come from npm's registry
at the first run. Exit status: 0 nothing found, 1 something, 2 they couldn't run."""

from __future__ import annotations

import argparse
import subprocess
import sys
from pathlib import Path

from conformance.node import Node

HERE = Path(__file__).parent
DOCUMENT = HERE.parents[1] / "docs" / "openapi.json"
PACKAGES = ("@stoplight/spectral-cli@6.16.3", "@redocly/cli@2.77.0")
JUDGES = {
    "spectral": ("lint", "--ruleset", str(HERE / "spectral.yaml"), "--fail-severity=warn", "--format=text"),
    "redocly": ("lint", "--config", str(HERE / "redocly.yaml"), "--format=stylish"),
}


def main() -> int:
    parser = argparse.ArgumentParser(description="The judges of docs/openapi.json")
    parser.add_argument("python", help="of the environment that has node")
    parser.add_argument("home", type=Path, help="where the judges are installed")
    parser.add_argument("document", type=Path, nargs="?", default=DOCUMENT)
    asked = parser.parse_args()
    node = Node(asked.python, asked.home.resolve())
    try:
        node.install(PACKAGES)
        found = {name: node.run(name, *arguments, str(asked.document)) for name, arguments in JUDGES.items()}
    except subprocess.SubprocessError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    for name, ran in found.items():
        print(f"{name}: {'nothing found' if ran.returncode == 0 else ran.stdout + ran.stderr}")
    return 1 if any(ran.returncode for ran in found.values()) else 0


if __name__ == "__main__":
    sys.exit(main())
