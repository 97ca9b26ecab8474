"""What the pages for readers have to name: each other, the stack's parameters and alarms, and the code's limits."""

from __future__ import annotations

import importlib
import re
from datetime import timedelta
from pathlib import Path
from typing import Any

from infra.citations import PACKAGE, ROOT

README = ROOT / "README.md"
DECISIONS = ROOT / "docs/decisions/README.md"
MOST_LINES = 200
LIMITS = ROOT / "docs/limits.md"

_LINK = re.compile(r"(?<!!)\[`?([^\]`]+)`?\]\(([^)\s#]+)[^)\s]*\)")


def linked(page: Path, text: str) -> set[Path]:
    """The files that a page at ``page`` links to."""
    return {(page.parent / target).resolve() for _, target in _LINK.findall(text) if "://" not in target}


def pages() -> set[Path]:
    """Every page that a reader may look for; decisions have an index of their own."""
    return {*(ROOT / "docs").glob("*.md"), *(ROOT / "docs/guides").glob("*.md"), *(ROOT / "docs/spec").glob("*.md")}


def rows(text: str, columns: int) -> list[list[str]]:
    """The cells of every table's rows with so many columns, without the headers."""
    found = [[cell.strip() for cell in line.strip("|").split(" | ")] for line in text.splitlines() if line[:1] == "|"]
    return [cells for cells in found if len(cells) == columns and not set(cells[0]) <= set("- :|")]


def wrong_limits(text: str, parameters: dict[str, Any]) -> list[str]:
    """Rows (what, limit, where it is set, what is seen) whose limit lacks a number that its place in the code has.
    ``parameters``: the defaults of the template's."""
    return [
        f"{what}: {limit!r} doesn't tell {name} = {value}"
        for what, limit, place, _ in rows(text, 4)
        for name, target in _LINK.findall(place)
        for value in (_values(name, target) if target.endswith(".py") else [parameters.get(name)])
        if isinstance(value, int | float | timedelta) and not _is_told(value, limit)
    ]


def _values(name: str, target: str) -> list[Any]:
    """The value of a constant, or a field's default with its bounds; of anything else, the thing itself. Raises for an
    unknown name."""
    file = (LIMITS.parent / target).resolve()
    start = PACKAGE.parent if PACKAGE in file.parents else ROOT / "functions"
    module: Any = importlib.import_module(".".join(file.relative_to(start).with_suffix("").parts))
    owner, _, member = name.rpartition(".")
    if not owner:
        return [getattr(module, name)]
    fields = getattr(module, owner).__dataclass_fields__
    if member not in fields:
        return [getattr(getattr(module, owner), member)]
    return [fields[member].default, *getattr(module, "BOUNDS", {}).get(member, ())]


def _is_told(value: float | timedelta, limit: str) -> bool:
    """A number in any of the units that people write."""
    number = value.total_seconds() if isinstance(value, timedelta) else value
    spelt = [f"{number:,.10g}" if number < 1_000 else f"{int(number):,}", f"{number / 1_000_000:g} MB"]
    units = {"KiB": 1_024, "min": 60, "h": 3_600, "days": 86_400}
    spelt += [f"{number / size:g} {unit}" for unit, size in units.items()]
    return any(re.search(rf"(?<![\d.,]){re.escape(each)}(?![\d]|[.,]\d)", limit) for each in spelt)
