"""Warnings about requests: the command and the console give the same ones, for every case and every planted trap."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import astuple
from pathlib import Path
from typing import Any

import pytest

from baton_cli.request_warnings import Finding, report
from baton_cli.request_warnings.amounts import amount_of
from baton_cli.request_warnings.findings import KINDS
from baton_cli.request_warnings.gist import gist_of
from baton_cli.request_warnings.sources import confusable_agents
from support.warnings import javascript
from support.warnings.cases import cases, values
from support.warnings.traps import TRAPS, Trap, traps, usual

CASES = cases()
# A pattern that backtracks takes minutes for these; a loaded machine takes a second or two.
CHARACTERS, MOST_SECONDS = 20_000, 10
HOSTILE = ["a", "a.", "a/", "/", "@", " ", "\n", "1", "1.", "-", "'", "' ", "/*", "or ", "; ", "http://", "\u0430", "$"]


def rows(found: list[Any]) -> list[list[str]]:
    return [list(astuple(each)) if isinstance(each, Finding) else list(each.values()) for each in found]


def as_expected(case: dict[str, Any], warnings: list[Any], usual: list[Any], notable: list[Any], similar: Any) -> None:
    assert rows(warnings)[:12] == case["warnings"]
    assert rows(usual)[:12] == case["usual"]
    assert rows(notable) == case["notable"]
    assert similar == case["similar"]


@pytest.mark.parametrize("case", CASES, ids=[each["name"] for each in CASES])
def test_the_command_warns_as_the_case_says(case: dict[str, Any]) -> None:
    found = report(case["now"], case["earlier"])
    as_expected(case, found.warnings, found.usual, found.notable, found.similar)


def test_the_console_warns_as_every_case_says(tmp_path: Path) -> None:
    if (node := javascript.node_command()) is None:
        pytest.skip("no Node.js: make setup brings it")
    found = javascript.reports(node, CASES, tmp_path)
    for case, each in zip(CASES, found, strict=True):
        as_expected(case, each["warnings"], each["usual"], each["notable"], each["similar"])


def test_each_value_is_marked_as_the_cases_say(tmp_path: Path) -> None:
    made = values()
    mine = [rows(report(each["now"], each["earlier"]).warnings) for each in made]
    assert [problem for each, found in zip(made, mine, strict=True) if (problem := problem_of(each, found))] == []
    if (node := javascript.node_command()) is None:
        pytest.skip("no Node.js: make setup brings it")
    assert [rows(each["warnings"]) for each in javascript.reports(node, made, tmp_path)] == mine


def problem_of(case: dict[str, Any], found: list[list[str]]) -> str:
    kinds = {kind for kind, at, *_ in found if at.startswith(case["at"])}
    if case["is_marked"]:
        return "" if case["kind"] in kinds else f"{case['value']}: no {case['kind']}, but {kinds}"
    return f"{case['value']}: {kinds}" if kinds else ""


def test_a_row_of_an_action_names_the_amount_and_the_target_first(tmp_path: Path) -> None:
    payment = {
        "note": "x",
        "currency": "EUR",
        "to": "ada@acme.example",
        "amount": 120,
        "iban": "DE02120300000000202051",
    }
    assert gist_of(payment) == [
        ("amount", "120"),
        ("to", "ada@acme.example"),
        ("iban", "DE02120300000000202051"),
    ]
    if (node := javascript.node_command()) is None:
        pytest.skip("no Node.js: make setup brings it")
    requests = [{"now": {"arguments": payment}, "earlier": []}, *CASES]
    found = javascript.reports(node, requests, tmp_path)
    for request, each in zip(requests, found, strict=True):
        assert [tuple(one) for one in each["gist"]] == gist_of(request["now"].get("arguments") or {})


def test_an_agent_whose_name_looks_like_another_ones_is_named(tmp_path: Path) -> None:
    task, slugs = {"source_agent": "support", "target_agent": "bi11ing"}, ["support", "billing", "bi11ing"]
    assert list(confusable_agents(task, slugs)) == [Finding("confusable", "target.agent", "bi11ing", "billing")]
    assert list(confusable_agents({**task, "target_agent": None}, slugs)) == []
    if (node := javascript.node_command()) is None:
        pytest.skip("no Node.js: make setup brings it")
    (found,) = javascript.reports(node, [{"now": {}, "earlier": [], "task": task, "slugs": slugs}], tmp_path)
    assert rows(found["agents"]) == [["confusable", "target.agent", "bi11ing", "billing"]]


def hostile(text: str) -> dict[str, Any]:
    whole = text * (CHARACTERS // len(text))
    now = {"text": whole, "arguments": {"x": f"{whole}x"}}
    return {"now": now, "earlier": [{"text": "why", "arguments": {"x": whole[:100]}}]}


def runs() -> Iterator[dict[str, Any]]:
    """Requests with a long run of one character in a word, beside earlier amounts: they found two quadratic parsers."""
    for character in "aA1.,/\\@-_':([`~%\u00a0\u2019":
        for before, after in (("", "a"), ("1", "1"), ("/", "!")):
            run = before + character * CHARACTERS + after
            now = {"text": f"Pay {run} EUR", "arguments": {"amount": run, "to": run}}
            earlier = {"text": "Pay 100 EUR", "arguments": {"amount": "100 EUR", "to": "ada"}}
            yield {"now": now, "earlier": [earlier] * 3}


@pytest.mark.parametrize("request_", [*map(hostile, HOSTILE), *runs()])
def test_no_text_takes_the_command_long_to_inspect(request_: dict[str, Any]) -> None:
    request = request_
    began = time.monotonic()
    report(request["now"], request["earlier"])
    assert time.monotonic() - began < MOST_SECONDS


def test_no_text_takes_the_console_long_to_inspect(tmp_path: Path) -> None:
    if (node := javascript.node_command()) is None:
        pytest.skip("no Node.js: make setup brings it")
    began = time.monotonic()
    javascript.reports(node, [*map(hostile, HOSTILE), *runs()], tmp_path)
    assert time.monotonic() - began < 2 * MOST_SECONDS


@pytest.mark.parametrize(
    ("written", "amount"),
    [
        ("49", 49),
        ("49.00", 49),
        ("1,000.50", 1000.5),
        ("1.000,50", 1000.5),
        ("1.000", 1000),
        ("0.500", 0.5),
        ("49,5", 49.5),
        ("€80", 80),
        ("80EUR", 80),
        ("-54", -54),
        ("10k", 10_000),
        ("2M", 2_000_000),
        ("1'000'000", 1_000_000),
        ("1 000 000,50 EUR", 1_000_000.5),
        ("9 million", 9_000_000),
        ("9 Milliarden EUR", 9_000_000_000),
        ("2 crores", 20_000_000),
        ("EUR 2 lakh", 200_000),
        ("5 m", 5),
        ("12 40", None),
        ("2026-11-28", None),
        ("order", None),
        (True, None),
        (10**400, float("inf")),
    ],
)
def test_an_amount_is_read_from_a_word(written: Any, amount: float | None) -> None:
    assert amount_of(written) == amount


def is_marked(trap: Trap, warnings: list[list[str]]) -> bool:
    return any(kind == trap.kind and at == trap.at for kind, at, *_ in warnings)


def test_the_traps_are_of_every_kind_at_every_place() -> None:
    found = traps()
    assert len(found) == TRAPS
    assert {each.item for each in found} == {"handoff", "action", "question"}
    assert {each.kind for each in found} >= set(KINDS) - {"uninspected", "uncompared", "first", "unlike", "lookalike"}


def test_the_command_marks_every_trap() -> None:
    missed = [each for each in traps() if not is_marked(each, rows(report(each.body, each.earlier).warnings))]
    assert [(each.item, each.at, each.name) for each in missed] == []


def test_the_console_marks_every_trap(tmp_path: Path) -> None:
    if (node := javascript.node_command()) is None:
        pytest.skip("no Node.js: make setup brings it")
    planted = traps()
    found = javascript.reports(node, [{"now": each.body, "earlier": each.earlier} for each in planted], tmp_path)
    missed = [t for t, each in zip(planted, found, strict=True) if not is_marked(t, rows(each["warnings"]))]
    assert [(each.item, each.at, each.name) for each in missed] == []


@pytest.mark.parametrize("item", ["handoff", "action"])
def test_a_usual_request_has_no_warning(item: str) -> None:
    for number in range(4, 12):
        assert report(usual(item, number), [usual(item, each) for each in range(4)]).warnings == []
