"""Starts a stack of its own, deploys, and has it judged: by the public conformance suite in both eras, held against
tests/conformance/expected.yaml, and by the Inspector's command line. Needs npm's registry at the first run. Exit
status: 0 as expected, 1 not, 2 it couldn't run."""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from pathlib import Path

from conformance import inspector, suite
from conformance.node import Node
from conformance.verdict import Found, expected_from, problems
from support.worlds.forwarding_proxy import forwarding_proxy
from tools.stack import stack
from tools.stack.background import StackError

EXPECTED = Path(__file__).with_name("expected.yaml")
AGENT = "reviewer"


def main() -> int:
    parser = argparse.ArgumentParser(description="The judges of the Model Context Protocol")
    parser.add_argument("python", help="of the environment that has node")
    parser.add_argument("home", type=Path, help="where the judges are installed")
    asked = parser.parse_args()
    node = Node(asked.python, asked.home.resolve())
    try:
        node.install([suite.PACKAGE, inspector.PACKAGE])
        with tempfile.TemporaryDirectory(prefix="baton-conformance-") as home, stack.running(Path(home)) as running:
            wrong = list(judged(node, running))
    except (subprocess.SubprocessError, StackError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    for each in wrong:
        print(f"- {each}")
    print("NOT as expected." if wrong else "All as expected; tests/conformance/expected.yaml says why some fail.")
    return 1 if wrong else 0


def judged(node: Node, running: stack.Stack) -> list[str]:
    """Returns what isn't as expected. The suite can't send a token: the doorway does."""
    token = running.tokens["agents"][AGENT]
    with forwarding_proxy(running, token) as door:
        found = {version: suite.found_by_suite(node, f"{door.url}/mcp", version) for version in suite.VERSIONS}
        told(found)
        seen = list(inspector.found_by_inspector(inspector.Inspector(node, door.url, token)))
    print(f"inspector: lists and calls over HTTP and stdio, {len(seen)} problems", flush=True)
    return [*problems(expected_from(EXPECTED.read_text(encoding="utf-8")), found), *seen]


def told(found: dict[str, Found]) -> None:
    for version, scenarios in found.items():
        statuses = [status for checks in scenarios.values() for _, status in checks]
        passed, failed = statuses.count("SUCCESS"), statuses.count("FAILURE")
        print(f"{version}: {len(scenarios)} scenarios, {passed} checks passed, {failed} failed", flush=True)


if __name__ == "__main__":
    sys.exit(main())
