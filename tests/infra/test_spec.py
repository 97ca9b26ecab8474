"""The specification's tables say what the code does."""

from __future__ import annotations

import re

from baton.domain.settings.settings import BOUNDS, SETTING_NAMES, Settings
from baton.domain.tasks.commands import TaskCommand, WorkerCommand
from infra.citations import ROOT
from support.values.schema import DOCUMENT

LIFECYCLE = ROOT / "docs/spec/lifecycle.md"
# Commands that the table of transitions tells of in other words.
IN_OTHER_WORDS = {"wait", "resume", "send-back", "overtake", "flag-closed-by-bot"}


def test_each_command_is_in_the_table_of_transitions() -> None:
    section = LIFECYCLE.read_text(encoding="utf-8").partition("\n## 1. ")[2].partition("\n## ")[0]
    verbs = {
        verb for cell in re.findall(r"^\| [^|]* \| ([^|]*) \|", section, re.MULTILINE) for verb in cell.split(", ")
    }
    named = [
        each.name for each in TaskCommand.__subclasses__() + WorkerCommand.__subclasses__() if "name" in vars(each)
    ]
    assert len(named) > 20
    assert sorted(set(named) - verbs - IN_OTHER_WORDS) == [], "has no row in docs/spec/lifecycle.md, section 1"


def test_settings_are_listed_with_their_defaults_and_bounds() -> None:
    section = LIFECYCLE.read_text(encoding="utf-8").partition("| setting |")[2].partition("\n## ")[0]
    rows = re.findall(r"^\| `(\w+)` \| ([^|]*) \| ([^|]*)\| ([^|]*)\|", section, re.MULTILINE)
    assert [name for name, *_ in rows] == list(SETTING_NAMES)
    numbers = {name: tuple(_number(each) for each in cells) for name, *cells in rows if name in BOUNDS}
    assert numbers == {name: (getattr(Settings(), name), *bounds) for name, bounds in BOUNDS.items()}
    words = {name: default.strip("`") for name, default, *_ in rows if default.startswith("`")}
    assert words == {name: str(getattr(Settings(), name)).replace("True", "true") for name in words}


def test_nothing_of_ours_is_promised_for_what_aws_answers_before_baton() -> None:
    """The gateway's 429 and 413, and its 500 and 503 for a function that failed or came too late: no problem details,
    and none of our headers."""
    responses = DOCUMENT["components"]["responses"]
    refusals = {name: each for name, each in responses.items() if not name.startswith("mcp-")}
    also_of_aws = {name.rpartition("-")[2] for name, each in refusals.items() if "application/json" in each["content"]}
    assert also_of_aws == {"413", "429", "500", "503"}
    assert all(
        each["content"].get("application/json", {"schema": {"type": "object"}}) == {"schema": {"type": "object"}}
        for each in refusals.values()
    )
    assert "Every answer of Baton's carries `X-Request-Id`" in DOCUMENT["info"]["description"]
    assert "has no `Retry-After`" in refusals["problem-429"]["description"]


def _number(cell: str) -> int:
    return int(cell.strip().replace(",", ""))
