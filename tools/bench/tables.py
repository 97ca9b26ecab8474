"""Plain, aligned tables."""

from __future__ import annotations

from collections.abc import Sequence


def table(title: str, headers: Sequence[str], rows: Sequence[Sequence[str]], note: str = "", *, left: int = 1) -> None:
    """``left``: how many columns begin with their text; the others end with it, as numbers do."""
    widths = [max(len(row[column]) for row in [headers, *rows]) for column in range(len(headers))]
    print(f"\n{title}")
    for row in [headers, ["─" * width for width in widths], *rows]:
        cells = [
            text.ljust(width) if column < left else text.rjust(width)
            for column, (text, width) in enumerate(zip(row, widths, strict=True))
        ]
        print("  " + "  ".join(cells).rstrip())
    for line in note.splitlines():
        print(f"  {line}")


def number(value: float) -> str:
    """Without a fraction that is none."""
    return f"{value:.1f}".removesuffix(".0")


def pasted(title: str, headers: Sequence[str], rows: Sequence[Sequence[str]], note: str = "") -> None:
    """As a table of Markdown, for a page of the documents."""
    print(f"\n{title}\n")
    for row in [headers, ["---"] * len(headers), *rows]:
        print(f"| {' | '.join(row)} |", flush=True)
    print(f"\n{note}" if note else "")
