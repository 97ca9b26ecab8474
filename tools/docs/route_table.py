"""The table of routes in docs/api.md, from the routes that the functions declare.

route_table.py           write it
route_table.py --check   fail if it isn't what the code says
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Any

from tools.docs.made_page import with_rows, write_or_check
from tools.docs.openapi import TAGS, document

PAGED = {"limit", "cursor"}


def page() -> str:
    paths = document()["paths"]
    rows = [f"| {about} | {'; '.join(_routes(paths, tag))} |" for tag, about in TAGS.items()]
    return with_rows("api.md", "| about | routes |", rows)


def _routes(paths: dict[str, dict[str, Any]], tag: str) -> Iterator[str]:
    """Each path of the subject: its methods, its query without a page's parameters, and whether it needs no token."""
    for path, methods in paths.items():
        if operations := {method: each for method, each in methods.items() if tag in each["tags"]}:
            *others, last = map(str.upper, operations)
            shown = " ".join(f"`{each}`" for each in (*others, f"{last} {path}"))
            names = [name for each in operations.values() for name in _query(each)]
            asked = f" by {', '.join(f'`{name}`' for name in names)}" if names else ""
            is_open = any(each.get("security") == [] for each in operations.values())
            yield f"{shown}{asked}{' without a token' if is_open else ''}"


def _query(operation: dict[str, Any]) -> list[str]:
    asked = [each["name"] for each in operation["parameters"] if each.get("in") == "query"]
    return [name for name in asked if name not in PAGED]


def main() -> int:
    return write_or_check("api.md", page)


if __name__ == "__main__":
    sys.exit(main())
