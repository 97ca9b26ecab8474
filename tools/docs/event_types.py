"""The types of events in docs/events.md and docs/spec/protocol.md, from the code.

event_types.py           write them
event_types.py --check   fail if they aren't what the code says
"""

from __future__ import annotations

import re
import sys
import textwrap
from pathlib import Path

from baton.domain.tasks.event_type import EventType
from tools.docs.made_page import DOCS, write_or_check

SPECIFICATION = str(Path("spec", "protocol.md"))


def events_page() -> str:
    rows = "".join(f"| `{each}` | {each.sentence} |\n" for each in EventType)
    head = "| type | what it tells |\n"
    return _with("events.md", rf"^{re.escape(head)}(?:\|.*\n)+", f"{head}| --- | --- |\n{rows}")


def specification() -> str:
    names = ", ".join(f"`{each}`" for each in EventType)
    item = textwrap.fill(f"- [Types](../events.md#the-types): {names}.", 120, subsequent_indent="  ")
    return _with(SPECIFICATION, r"^- \[Types\].*\n(?:  .*\n)+", f"{item}\n")


def _with(page: str, pattern: str, part: str) -> str:
    """Returns the page with its one part that is made. The rest is written by hand. Raises ``ValueError`` if the part
    isn't there once."""
    before, after = re.split(pattern, (DOCS / page).read_text(encoding="utf-8"), flags=re.MULTILINE)
    return f"{before}{part}{after}"


def main() -> int:
    return max(write_or_check("events.md", events_page), write_or_check(SPECIFICATION, specification))


if __name__ == "__main__":
    sys.exit(main())
