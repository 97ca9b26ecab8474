"""The table of the console's pictures, from those that `make pictures` takes.

pictures.py           write it
pictures.py --check   fail if it names others than there are
"""

from __future__ import annotations

import sys

from tools.docs.made_page import DOCS, with_rows, write_or_check

FOLDER = DOCS / "images" / "console"


def page() -> str:
    names = sorted(path.name.removesuffix("-light.webp") for path in FOLDER.glob("*-light.webp"))
    rows = [f"| {name.replace('-', ' ')} | {_linked(name, 'light')}, {_linked(name, 'dark')} |" for name in names]
    return with_rows("console-pictures.md", "| page | in both schemes |", rows)


def _linked(name: str, scheme: str) -> str:
    return f"[{scheme}](images/console/{name}-{scheme}.webp)"


if __name__ == "__main__":
    sys.exit(write_or_check("console-pictures.md", page))
