"""How the findings of the public conformance suite are judged."""

from __future__ import annotations

from pathlib import Path

from conformance import verdict
from conformance.verdict import Expected, problems

FILE = Path(verdict.__file__).with_name("expected.yaml")
EXPECTED = Expected(whole={"v1": ["list"]}, failing={"audio": "no audio"})
GOOD = {"v1": {"list": [("order", "SUCCESS"), ("more", "SKIPPED")], "call": [("audio", "FAILURE")]}}


def test_what_is_as_expected_is_no_problem() -> None:
    assert list(problems(EXPECTED, GOOD)) == []


def test_a_failure_without_a_reason_is_a_problem() -> None:
    found = {"v1": {**GOOD["v1"], "ping": [("answers", "FAILURE")]}}
    assert list(problems(EXPECTED, found)) == ["v1 ping: answers fails, and no reason is known"]


def test_a_reason_that_nothing_needs_is_a_problem() -> None:
    found = {"v1": {**GOOD["v1"], "call": [("audio", "SUCCESS")]}}
    assert list(problems(EXPECTED, found)) == ["audio is expected to fail, and doesn't: take it out"]


def test_a_scenario_that_has_to_pass_whole_passes_whole() -> None:
    excused = Expected(whole={"v1": ["call"]}, failing={"audio": "no audio"})
    assert list(problems(excused, {"v1": {"call": [("text", "SUCCESS"), ("audio", "FAILURE")]}})) == [
        "v1 call: has to pass whole, and audio fails"
    ]


def test_a_scenario_that_was_not_played_has_not_passed() -> None:
    assert "v1 list: has to pass whole, and passed nothing" in list(problems(EXPECTED, {}))


def test_a_scenario_that_has_to_pass_in_part_leaves_out_no_check() -> None:
    expected = Expected(whole={}, failing={"audio": "no audio"}, partly={"v1": {"list": 1, "call": 1}})
    assert list(problems(expected, GOOD)) == ["v1 call: 0 checks pass, and 1 have to"]


def test_each_check_in_the_file_has_one_reason() -> None:
    expected = verdict.expected_from(FILE.read_text(encoding="utf-8"))
    assert len(expected.failing) == FILE.read_text(encoding="utf-8").count("\n    - ")
    assert set(expected.whole) == {"2026-07-28", "2025-11-25"}
