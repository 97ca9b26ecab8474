"""The public conformance suite: what each of its scenarios finds."""

from __future__ import annotations

import json
import re
import tempfile
from pathlib import Path

from conformance.node import Node
from conformance.verdict import Found

PACKAGE = "@modelcontextprotocol/conformance@0.2.0-alpha.12"
VERSIONS = ("2026-07-28", "2025-11-25")
_FOLDER = re.compile(r"server-(.+)-\d{4}-\d\d-\d\dT[\d-]+Z")


def found_by_suite(node: Node, url: str, version: str) -> Found:
    """Returns what each scenario found: the status of each of its checks. The suite ends with 1 while any check fails;
    what was expected is decided by ``problems``."""
    with tempfile.TemporaryDirectory(prefix="baton-conformance-") as folder:
        node.run("conformance", "server", "--url", url, "--suite", "all", "--spec-version", version, "-o", folder)
        return {
            named[1]: [(each["id"], each["status"]) for each in json.loads((path / "checks.json").read_bytes())]
            for path in sorted(Path(folder).iterdir())
            if (named := _FOLDER.fullmatch(path.name))
        }
