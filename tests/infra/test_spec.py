"""The specification's tables say what the code does."""

from __future__ import annotations

import re

from baton.domain.access.settings import BOUNDS, SETTING_NAMES, Settings
from infra.citations import ROOT

LIFECYCLE = ROOT / "docs/spec/lifecycle.md"


def test_settings_are_listed_with_their_defaults_and_bounds() -> None:
    section = LIFECYCLE.read_text(encoding="utf-8").partition("| setting |")[2].partition("\n## ")[0]
    rows = re.findall(r"^\| `(\w+)` \| ([^|]*) \| ([^|]*)\| ([^|]*)\|", section, re.MULTILINE)
    assert [name for name, *_ in rows] == list(SETTING_NAMES)
    numbers = {name: tuple(_number(each) for each in cells) for name, *cells in rows if name in BOUNDS}
    assert numbers == {name: (getattr(Settings(), name), *bounds) for name, bounds in BOUNDS.items()}
    words = {name: default.strip("`") for name, default, *_ in rows if default.startswith("`")}
    assert words == {name: str(getattr(Settings(), name)).replace("True", "true") for name in words}


def _number(cell: str) -> int:
    return int(cell.strip().replace(",", ""))
