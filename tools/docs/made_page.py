"""A page of docs/ that is made from the code, whole or in part: the command line that writes it, or tells whether it is
up to date."""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Callable
from pathlib import Path

DOCS = Path(__file__).parents[2] / "docs"


def write_or_check(name: str, made: Callable[[], str]) -> int:
    """Writes docs/``name``, or with --check only compares. Returns the exit status: 1 if it isn't what is made."""
    parser = argparse.ArgumentParser(description=f"Write docs/{name} from the code.")
    parser.add_argument("--check", action="store_true", help="only tell whether it is up to date")
    is_check, path, text = parser.parse_args().check, DOCS / name, made()
    if not is_check:
        path.write_text(text, encoding="utf-8")
        return 0
    if path.exists() and path.read_text(encoding="utf-8") == text:
        return 0
    print(f"docs/{name} isn't what the code says: run `make openapi` and commit it", file=sys.stderr)
    return 1


def with_part(page: str, pattern: str, part: str) -> str:
    """Returns the page with its one part that is made. The rest is written by hand. Raises ``ValueError`` if the part
    isn't there once."""
    before, after = re.split(pattern, (DOCS / page).read_text(encoding="utf-8"), flags=re.MULTILINE)
    return f"{before}{part}{after}"


def with_rows(page: str, head: str, rows: list[str]) -> str:
    """Returns the page with these rows in its table of two columns that has this head."""
    table = f"{head}\n| --- | --- |\n"
    return with_part(page, rf"^{re.escape(head)}\n(?:\|.*\n)+", table + "".join(f"{row}\n" for row in rows))
