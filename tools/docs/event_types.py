"""The types of events in docs/events.md and docs/spec/protocol.md, from the code.

event_types.py           write them
event_types.py --check   fail if they aren't what the code says
"""

from __future__ import annotations

import sys
import textwrap
from pathlib import Path

from baton.domain.tasks.event_type import EventType
from tools.docs.made_page import with_part, with_rows, write_or_check

SPECIFICATION = str(Path("spec", "protocol.md"))


def events_page() -> str:
    return with_rows("events.md", "| type | what it tells |", [f"| `{each}` | {each.sentence} |" for each in EventType])


def specification() -> str:
    names = ", ".join(f"`{each}`" for each in EventType)
    item = textwrap.fill(f"- [Types](../events.md#the-types): {names}.", 120, subsequent_indent="  ")
    return with_part(SPECIFICATION, r"^- \[Types\].*\n(?:  .*\n)+", f"{item}\n")


def main() -> int:
    return max(write_or_check("events.md", events_page), write_or_check(SPECIFICATION, specification))


if __name__ == "__main__":
    sys.exit(main())
