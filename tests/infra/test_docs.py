"""The pages for readers are short, are found, and tell what the code and the template have."""

from __future__ import annotations

import re

import pytest

from baton.domain.settings.settings import SETTING_NAMES
from baton.domain.tasks.task import Flag
from infra.alarm_checks import GETTING_UP
from infra.citations import ROOT
from infra.docs import DECISIONS, LIMITS, MOST_LINES, README, linked, pages, rows, wrong_limits
from infra.template import FRONT_DOORS, load, of_type, shaped

COST = (ROOT / "docs/cost.md").read_text(encoding="utf-8")
ALARMS = (ROOT / "docs/alarms.md").read_text(encoding="utf-8")
OPERATIONS = (ROOT / "docs/operations.md").read_text(encoding="utf-8")
CODE = "../layers/baton/python/baton/domain/tasks/task.py"


def named(columns: int) -> list[tuple[str, ...]]:
    """The rows of the operator's tables, without their code marks."""
    return [tuple(cell.replace("`", "") for cell in row) for row in rows(OPERATIONS, columns)]


def test_the_readme_is_short_and_its_map_names_every_page() -> None:
    text = README.read_text(encoding="utf-8")
    assert len(text.splitlines()) <= MOST_LINES
    table = text.split("\n## Map of the docs\n")[1]
    assert sorted(str(page.relative_to(ROOT)) for page in pages() - linked(README, table)) == []


def test_every_decision_is_in_their_index() -> None:
    text = DECISIONS.read_text(encoding="utf-8")
    indexed = [cells[0][1:4] for cells in rows(text, 3)[1:]]
    assert indexed == sorted(page.name[:3] for page in DECISIONS.parent.glob("[0-9]*.md"))


def test_the_readme_begins_with_two_commands() -> None:
    start = README.read_text(encoding="utf-8").split("\n## Start\n")[1].split("```")[1]
    assert [line.partition("#")[0].strip() for line in start.splitlines()] == ["sh", "make run", "make test"]


def test_every_parameter_is_told_with_its_default() -> None:
    defaults = {name: default for name, default, _ in named(3)}
    given = {name: str(each["Default"]) or "empty" for name, each in load()["Parameters"].items()}
    assert {name: defaults.get(name) for name in given} == given


def test_every_alarm_is_told_with_what_to_do() -> None:
    """What it means, where to look, and what to do; and who is told."""
    told = {name: text for name, _, text in (each.partition("\n") for each in re.split(r"(?m)^##+ ", ALARMS))}
    there = set(of_type(load(), "AWS::CloudWatch::Alarm"))
    assert there <= set(told)
    assert [name for name in there if not re.search(r"\*Look\*.*\*Do\*", told[name], re.DOTALL)] == []
    topics = {row[0].split("`")[1]: row[1] for row in rows(ALARMS, 3) if row[0].startswith("[`")}
    assert topics == {name: "get up" if name in GETTING_UP else "tomorrow" for name in there}


def test_every_alert_is_told_with_what_to_do() -> None:
    assert {row[0] for row in named(4)} >= set(map(str, Flag))


@pytest.mark.parametrize("name", SETTING_NAMES)
def test_every_setting_is_told(name: str) -> None:
    assert f"`{name}`" in OPERATIONS


def test_every_limit_is_the_codes() -> None:
    parameters = {name: each["Default"] for name, each in load()["Parameters"].items()}
    text = LIMITS.read_text(encoding="utf-8")
    assert len(rows(text, 4)) > 60
    assert wrong_limits(text, parameters) == []


@pytest.mark.parametrize(
    ("limit", "name", "wrong"),
    [
        ("15 s to 12 h", "MAX_LEASE_SECONDS", 0),
        ("43,200 s", "MAX_LEASE_SECONDS", 0),
        ("15 s to 2 h", "MAX_LEASE_SECONDS", 1),
        ("112 h", "MAX_LEASE_SECONDS", 1),
        ("24 h", "NEXT_STALE_AFTER", 0),
        ("10", "MAX_BRANCHES", 0),
        ("100", "MAX_BRANCHES", 1),
    ],
)
def test_a_wrong_limit_is_noticed(limit: str, name: str, wrong: int) -> None:
    assert len(wrong_limits(f"| a thing | {limit} | [`{name}`]({CODE}) | 422 |", {})) == wrong


@pytest.mark.parametrize("front_door", FRONT_DOORS)
def test_what_alarms_cost_is_told(front_door: str) -> None:
    """AWS asks for each metric that an alarm watches."""
    alarms = of_type(shaped(load(), front_door), "AWS::CloudWatch::Alarm").values()
    watched = sum("MetricStat" in each for alarm in alarms for each in alarm.get("Metrics", [{"MetricStat": alarm}]))
    (row,) = [text for text in COST.splitlines() if text.startswith("| alarms")]
    assert f"{watched} with `{front_door}`" in row
    assert f"{watched / 10:.2f}" in row


def test_every_metric_that_costs_at_rest_is_told() -> None:
    """Those that a round without work counts."""
    handlers = [
        (ROOT / f"functions/{name}/handler.py").read_text() for name in ("sweep_stale_claims", "publish_events")
    ]
    counted = {name for text in handlers for name in re.findall(r'add_metric\("(\w+)"', text)}
    (row,) = [text for text in COST.splitlines() if text.startswith("| metrics of its own")]
    assert counted == set(re.findall(r"`(\w+)`", row))
    assert f"{len(counted) * 0.3:.2f}" in row


def test_the_month_at_rest_is_the_sum_of_its_parts() -> None:
    section = COST.split("\n## A month at rest\n")[1].split("\nA worker that waits")[0]
    amounts = [float(amount.strip("*")) for _, amount, _ in rows(section, 3) if re.fullmatch(r"\**[\d.]+\**", amount)]
    assert sum(amounts[:-1]) == pytest.approx(amounts[-1])
